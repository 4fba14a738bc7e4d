"""Which programs run on this machine, which is also the far end of every ssh in these tests."""

import os
import time
from collections.abc import Callable
from pathlib import Path


def running(text: str) -> list[str]:
    """The command lines that hold `text`, words apart by single blanks."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            said = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        except OSError:
            continue
        if text in said and int(folder.name) != os.getpid():
            found.append(said)
    return found


def await_true(condition: Callable[[], bool], limit_s: float = 60.0) -> None:
    """Wait until it is so; fails when it is not in time."""
    deadline = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)
