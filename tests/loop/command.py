"""Run the `poolproof` command as a user does, with arguments, output and an exit code."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

POOLPROOF = str(Path(sys.executable).with_name("poolproof"))
NOBODY = 65534
"""The user ID of a user without any rights."""

_READ = "+dac_read_search"
AS_NOBODY = (
    *("setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups"),
    # Python and its packages may be in a home directory that others can't enter. This permits only reading.
    *(f"--{which}-caps=-all,{_READ}" for which in ("inh", "ambient")),
    f"--bounding-set=-all,{_READ}",
)
"""A command that runs another one as nobody."""

_LIMIT_S = 300.0
_END_S = 60.0
_MEET_S = 90.0
_POLL_S = 0.002


@dataclass(frozen=True)
class Answer:
    """The output and the exit code of a finished poolproof process."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Return the JSON object that `--json` printed. Standard output must contain nothing else."""
        return json.loads(self.out)

    @property
    def error(self) -> dict[str, Any]:
        """Return the error that `--json` printed.

        The test fails if it printed no error, or if a traceback was printed.
        """
        assert "Traceback" not in self.out + self.err, self.err
        error: dict[str, Any] = self.json["error"]
        assert error["exit_code"] == self.code
        return error


def ask(
    *arguments: str,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    before: Sequence[str] = (),
    limit_s: float = _LIMIT_S,
) -> Answer:
    """Run poolproof until it ends.

    `env`: changes to the environment.
    `before`: a command that runs poolproof, such as setpriv.
    `limit_s`: the time limit in seconds. The command is then terminated, so that it removes its layouts, and the test
    fails.
    """
    changed = {**os.environ, **(env or {})}
    argv = [*before, POOLPROOF, *arguments]
    pipe = subprocess.PIPE
    with subprocess.Popen(argv, stdout=pipe, stderr=pipe, text=True, cwd=cwd, env=changed) as process:
        try:
            out, err = process.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            process.terminate()  # so that it cleans up, because a mount without a server would make later tests fail
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.communicate(timeout=max(_END_S, limit_s / 3))
            process.kill()
            raise
    return Answer(process.returncode, out, err)


class Started:
    """A poolproof process that the test can watch, signal or kill while it runs. Its output is written to files."""

    def __init__(self, folder: Path, *arguments: str, path: str = "") -> None:
        self._out, self._err = folder / "started.out", folder / "started.err"
        with self._out.open("w") as out, self._err.open("w") as err:
            self._process = subprocess.Popen(
                [POOLPROOF, *arguments],
                stdout=out,
                stderr=err,
                stdin=subprocess.DEVNULL,
                env={**os.environ, "PATH": path + os.environ["PATH"]},
            )

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    @property
    def err(self) -> str:
        """Return everything that was written to standard error so far."""
        return self._err.read_text()

    def wait_for_program(self, name: str, word: str = "", seconds: float = _MEET_S) -> None:
        """Wait until poolproof runs the given program with an argument that contains `word`."""
        self.wait_for(lambda: self.runs(name, word), f"it did not run {name} {word}", seconds)

    def wait_for(self, condition: Callable[[], bool], failure: str, seconds: float = _MEET_S) -> None:
        """Wait until the condition is true. The test fails if poolproof ends first or the time limit is reached."""
        deadline = time.monotonic() + seconds
        while not condition():
            assert self.running, f"{failure}; poolproof ended and said: {self.err}{self._out.read_text()}"
            assert time.monotonic() < deadline, f"{failure} within {seconds} s"
            time.sleep(_POLL_S)

    def runs(self, name: str, word: str = "") -> bool:
        """True if a child process runs the program.

        The first word of its command line may be a shell, because a slowed program is a script.
        """
        return any(
            name in {Path(text).name for text in argv[:2]} and word in " ".join(argv) for argv in self._children()
        )

    def _children(self) -> list[list[str]]:
        found = []
        for list_ in Path(f"/proc/{self._process.pid}/task").glob("*/children"):
            with contextlib.suppress(OSError):
                found += [Path(f"/proc/{pid}/cmdline").read_text().split("\0") for pid in list_.read_text().split()]
        return found

    def signal(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def kill(self) -> None:
        """Kill poolproof with SIGKILL, as a crash would. Its child processes keep running."""
        self._process.kill()
        self._process.wait(10)

    def wait(self, seconds: float = _LIMIT_S) -> Answer:
        code = self._process.wait(seconds)
        return Answer(code, self._out.read_text(), self._err.read_text())
