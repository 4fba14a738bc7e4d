"""Paths that are in RAM on every Linux system: tmpfs at /dev/shm and /run/shm, and the devices of brd and zram."""

import re

from poolproof.load.model import Load

_MEMORY = (
    (re.compile(r"/(?:dev|run)/shm/"), "tmpfs"),
    (re.compile(r"/dev/ram\d+$"), "a RAM disk (brd)"),
    (re.compile(r"/dev/zram\d+$"), "zram"),
)


def memory_of(load: Load) -> str | None:
    """Return what holds all files of the load, if it is RAM; None otherwise, or if a path is unknown."""
    paths = {extent.file for part in load.parts for extent in part.extents}
    found = {next((name for pattern, name in _MEMORY if pattern.match(path)), None) for path in paths}
    return found.pop() if len(found) == 1 else None
