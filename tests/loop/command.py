"""The `poolproof` command as its users run it: a program with arguments, output and an exit code."""

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
_LIMIT_S = 300.0
_END_S = 60.0
_MEET_S = 90.0
_POLL_S = 0.002


@dataclass(frozen=True)
class Answer:
    """What a poolproof said when it ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What `--json` printed: the one object that is all of standard output."""
        return json.loads(self.out)

    @property
    def error(self) -> dict[str, Any]:
        """The error that `--json` printed; fails where there is none, or where a traceback came out."""
        assert "Traceback" not in self.out + self.err, self.err
        error: dict[str, Any] = self.json["error"]
        assert error["exit_code"] == self.code
        return error


def ask(
    *arguments: str, cwd: Path | None = None, env: Mapping[str, str] | None = None, before: Sequence[str] = ()
) -> Answer:
    """Run poolproof to its end. `env` changes the environment; `before` is a program that runs it, as setpriv."""
    changed = {**os.environ, **(env or {})}
    argv = [*before, POOLPROOF, *arguments]
    pipe = subprocess.PIPE
    with subprocess.Popen(argv, stdout=pipe, stderr=pipe, text=True, cwd=cwd, env=changed) as process:
        try:
            out, err = process.communicate(timeout=_LIMIT_S)
        except subprocess.TimeoutExpired:
            process.terminate()  # so that it takes down what it built: a dead mount would fail the tests that follow
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.communicate(timeout=_END_S)
            process.kill()
            raise
    return Answer(process.returncode, out, err)


class Started:
    """A poolproof that runs beside the test, to be watched, signalled or killed; its output goes to files."""

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
        """What it wrote to standard error so far."""
        return self._err.read_text()

    def await_program(self, name: str, word: str = "", seconds: float = _MEET_S) -> None:
        """Wait until poolproof runs that program with an argument that holds the word."""
        self.await_that(lambda: self._runs(name, word), f"it did not run {name} {word}", seconds)

    def await_that(self, condition: Callable[[], bool], complaint: str, seconds: float = _MEET_S) -> None:
        """Wait for a condition; fails when poolproof ends or the seconds are over before."""
        deadline = time.monotonic() + seconds
        while not condition():
            assert self.running, f"{complaint}; poolproof ended and said: {self.err}{self._out.read_text()}"
            assert time.monotonic() < deadline, f"{complaint} within {seconds} s"
            time.sleep(_POLL_S)

    def _runs(self, name: str, word: str) -> bool:
        """A slow program is a script: its shell comes first."""
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
        """End poolproof itself with SIGKILL, as a crash would; what it started lives on."""
        self._process.kill()
        self._process.wait(10)

    def wait(self, seconds: float = _LIMIT_S) -> Answer:
        code = self._process.wait(seconds)
        return Answer(code, self._out.read_text(), self._err.read_text())
