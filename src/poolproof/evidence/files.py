"""The state of the test files: holes, unwritten extents, pages in RAM."""

import re
from collections.abc import Iterator, Sequence

from poolproof.errors import CommandError
from poolproof.evidence.model import TestFile
from poolproof.hosts.base import Host

_LIMIT_S = 60.0
_MOST_PATHS = 1000
_EXTENT = re.compile(r"^\s*\d+:\s+\d+\.\.\s*\d+:\s+\d+\.\.\s*\d+:\s+(\d+):(.*)$", re.MULTILINE)
_BLOCKS_OF = re.compile(r"\((\d+) blocks? of (\d+) bytes\)")


def list_files(host: Host, directory: str) -> tuple[str, ...]:
    """Return every regular file under a directory, sorted.

    Raises:
        CommandFailed: there is no such directory.
    """
    argv = ["find", directory, "-xdev", "-type", "f", "-print0"]
    found = host.run(argv, timeout_s=_LIMIT_S).stdout.split("\0")
    return tuple(sorted(path for path in found if path))


def inspect(host: Host, paths: Sequence[str]) -> tuple[TestFile, ...]:
    """Return size, holes and unwritten bytes of each file; None if the host can't report them."""
    if not paths:
        return ()
    sizes = _sizes(host, paths)
    return tuple(
        TestFile(path, size, _holes(size, allocated), _unwritten(host, path))
        for path, (size, allocated) in zip(paths, sizes, strict=True)
    )


def resident_bytes(host: Host, paths: Sequence[str]) -> tuple[int, ...] | None:
    """Return the bytes of each file in the page cache; None if `fincore` fails."""
    if not paths:
        return ()
    argv = ["fincore", "--bytes", "--noheadings", "--output", "RES"]
    try:
        said = [host.run([*argv, *some], timeout_s=_LIMIT_S).stdout for some in _batches(paths)]
    except CommandError:
        return None
    return tuple(int(line) for text in said for line in text.split())


def _batches(paths: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield the paths in groups that fit on a command line."""
    for first in range(0, len(paths), _MOST_PATHS):
        yield paths[first : first + _MOST_PATHS]


def _sizes(host: Host, paths: Sequence[str]) -> list[tuple[int, int]]:
    said = [host.run(["stat", "--format=%s %b %B", *some], timeout_s=_LIMIT_S).stdout for some in _batches(paths)]
    rows = [[int(field) for field in line.split()] for text in said for line in text.splitlines()]
    return [(size, blocks * block_bytes) for size, blocks, block_bytes in rows]


def _holes(size_bytes: int, allocated_bytes: int) -> int:
    """Return the bytes without a block. A compressing file system (`Target.compression`) allocates fewer, too."""
    return max(0, size_bytes - allocated_bytes)


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
