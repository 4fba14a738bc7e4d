"""What the host reports about the test files: holes, unwritten extents, and pages in RAM."""

import re
from collections.abc import Sequence

from poolproof.errors import CommandError
from poolproof.evidence.model import TestFile
from poolproof.hosts.base import Host

_LIMIT_S = 60.0
_MOST_PATHS = 1000
_EXTENT = re.compile(r"^\s*\d+:\s+\d+\.\.\s*\d+:\s+\d+\.\.\s*\d+:\s+(\d+):(.*)$", re.MULTILINE)
_BLOCKS_OF = re.compile(r"\((\d+) blocks? of (\d+) bytes\)")


def list_files(host: Host, directory: str) -> tuple[str, ...]:
    """Return all regular files below a directory, sorted.

    Other file systems mounted below the directory are not searched.

    Raises:
        CommandFailed: there is no such directory, or part of the directory cannot be read.
    """
    argv = ["find", directory, "-xdev", "-type", "f", "-print0"]
    found = host.run(argv, timeout_s=_LIMIT_S).stdout.split("\0")
    return tuple(sorted(path for path in found if path))


def inspect(host: Host, paths: Sequence[str]) -> tuple[TestFile, ...]:
    """Return each file's size, the bytes in holes, and the unwritten bytes (None if `filefrag` fails).

    Holes are ranges with no allocated blocks. On a file system with compression, the bytes that compression saves count
    as holes.

    Raises a CommandFailed if a file does not exist.
    """
    rows = [[int(field) for field in line.split()] for line in _lines(host, ["stat", "--format=%s %b %B"], paths)]
    return tuple(
        TestFile(path, size, max(0, size - blocks * block_bytes), _unwritten(host, path))
        for path, (size, blocks, block_bytes) in zip(paths, rows, strict=True)
    )


def resident_bytes(host: Host, paths: Sequence[str]) -> tuple[int, ...] | None:
    """Return how many bytes of each file are in the page cache; None if `fincore` fails."""
    argv = ["fincore", "--bytes", "--noheadings", "--output", "RES"]
    try:
        return tuple(int(line) for line in _lines(host, argv, paths) if line.strip())
    except CommandError:
        return None


def _lines(host: Host, argv: Sequence[str], paths: Sequence[str]) -> list[str]:
    """Return the output of a command, one line per path. A long list of paths is spread over several invocations."""
    groups = [paths[first : first + _MOST_PATHS] for first in range(0, len(paths), _MOST_PATHS)]
    return [line for some in groups for line in host.run([*argv, *some], timeout_s=_LIMIT_S).stdout.splitlines()]


def _unwritten(host: Host, path: str) -> int | None:
    try:
        completed = host.run(["filefrag", "-v", path], timeout_s=_LIMIT_S, check=False)
    except CommandError:
        return None
    unit = _BLOCKS_OF.search(completed.stdout)
    if completed.returncode != 0 or unit is None:
        return None
    extents = _EXTENT.findall(completed.stdout)
    return sum(int(blocks) for blocks, flags in extents if "unwritten" in flags) * int(unit[2])
