"""List the processes of this machine, which is also the remote host for all ssh connections in these tests."""

import os
import time
from collections.abc import Callable
from pathlib import Path


def running(text: str) -> list[str]:
    """Return the command lines that contain `text`, with their arguments separated by a space."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            said = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        except OSError:
            continue
        if text in said and int(folder.name) != os.getpid():
            found.append(said)
    return found


def wait_until_true(condition: Callable[[], bool], limit_s: float = 60.0) -> None:
    """Wait until the condition is true. The test fails if the time limit is reached."""
    deadline = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)
