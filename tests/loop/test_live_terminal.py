"""`poolproof run` on an 80×24 terminal shows a live screen, and then leaves a clean terminal with the table."""

import contextlib
import errno
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Iterator

import pytest

from tests.loop.command import POOLPROOF
from tests.loop.testbed import Testbed

pytestmark = pytest.mark.parallel

_CAMPAIGN = """
question: Which is it?
devices: {a: {file: 512M}}
layouts: {plain: a | ext4, found: 'dir {data}'}
workloads:
  reads: {rw: randread, bs: 16k, size: 32m}
measure: {trials: 1, time: 2s, seed: 3}
"""
_LIMIT_S = 300.0
_ENTER, _LEAVE, _SHOW_CURSOR = "\x1b[?1049h", "\x1b[?1049l", "\x1b[?25h"


class Terminal:
    """A pseudo-terminal of 80×24 characters in which poolproof runs.

    `text`: everything that poolproof has written.
    """

    def __init__(self, *arguments: str) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        env = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "NO_COLOR")}
        env |= {"TERM": "xterm-256color", "PYTHONUTF8": "1"}
        self.process = subprocess.Popen(
            [POOLPROOF, *arguments], stdin=theirs, stdout=theirs, stderr=theirs, env=env, start_new_session=True
        )
        os.close(theirs)
        self._written, self._closed = b"", False

    @property
    def text(self) -> str:
        return self._written.decode(errors="replace")

    @property
    def after(self) -> str:
        """Return what is left on the terminal after the live screen, without colours."""
        return re.sub(r"\x1b\[[0-9;?]*[a-z]", "", self.text.rpartition(_LEAVE)[2])

    def read_until(self, condition: Callable[[], bool]) -> None:
        """Read the output until the condition is true. The test fails at the time limit, or if poolproof ends first."""
        until = time.monotonic() + _LIMIT_S
        while not condition():
            assert time.monotonic() < until and not self._closed, self.text[-2000:]
            if select.select([self._ours], [], [], 0.2)[0]:
                self._read()

    def _read(self) -> None:
        try:
            found = os.read(self._ours, 65536)
        except OSError as error:
            if error.errno != errno.EIO:  # the error on Linux if the other side has been closed
                raise
            found = b""
        self._written += found
        self._closed = not found

    def resize(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self._ours, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read_to_the_end(self) -> int:
        """Read all remaining output, and return the exit code."""
        self.read_until(lambda: self._closed)
        return self.process.wait(_LIMIT_S)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(30)
        self.process.kill()
        self.process.wait(10)
        os.close(self._ours)


@contextlib.contextmanager
def terminal(*arguments: str) -> Iterator[Terminal]:
    made = Terminal(*arguments)
    try:
        yield made
    finally:
        made.close()


def _words(testbed: Testbed) -> list[str]:
    return [word for word in testbed.words(testbed.campaign(_CAMPAIGN)) if word != "--json"]


def test_a_run_leaves_a_clean_terminal_and_the_table(testbed: Testbed) -> None:
    with terminal(*_words(testbed)) as shown:
        shown.read_until(lambda: "fio is measuring" in shown.text)
        shown.resize(12, 40)
        assert shown.read_to_the_end() == 0
        assert shown.text.count(_ENTER) == shown.text.count(_LEAVE) == 1
        assert "of 2 trials" in shown.text and "disks" in shown.text
        assert _SHOW_CURSOR in shown.text.rpartition("\x1b[?25l")[2]
        assert "reads, IOPS" in shown.after and "found" in shown.after and "of 2 trials" not in shown.after
        assert "Traceback" not in shown.text


def test_ctrl_c_leaves_a_clean_terminal_and_says_how_to_resume(testbed: Testbed) -> None:
    with terminal(*_words(testbed)) as shown:
        shown.read_until(lambda: "fio is measuring" in shown.text)
        shown.process.send_signal(signal.SIGINT)
        assert shown.read_to_the_end() == 130, shown.text[-2000:]
        assert shown.text.count(_ENTER) == shown.text.count(_LEAVE) == 1
        assert "poolproof: stopping and cleaning up" in shown.after
        assert "poolproof resume" in shown.after and "Traceback" not in shown.text


@pytest.mark.parametrize("word", ["--plain", pytest.param("--json", marks=pytest.mark.slow)])
def test_lines_instead_of_the_screen(testbed: Testbed, word: str) -> None:
    with terminal(*_words(testbed), word) as shown:
        assert shown.read_to_the_end() == 0
        assert _ENTER not in shown.text and "[2/2]" in shown.text


def test_a_run_can_be_watched_from_another_terminal(testbed: Testbed) -> None:
    started = testbed.start(_CAMPAIGN.replace("time: 2s", "time: 6s"))
    started.wait_for(lambda: (testbed.runs / "run" / ".lock").exists(), "it did not begin")
    live = testbed.runs / "run" / "live.jsonl"
    with terminal("watch", str(testbed.runs / "run")) as shown:
        shown.read_until(live.exists)  # the running trial's rates, for processes that watch the run
        assert shown.read_to_the_end() == 0
        assert not live.exists()
        assert started.wait().code == 0
        assert shown.text.count(_ENTER) == shown.text.count(_LEAVE) == 1
        assert "reads, IOPS" in shown.after and "The run has ended." in shown.after
