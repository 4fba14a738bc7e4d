"""What the host knows about the test files: holes, unwritten extents, and pages in RAM."""

import bisect
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from poolproof.errors import CommandError, HostError, as_word
from poolproof.evidence.model import TestFile
from poolproof.hosts.base import Host
from poolproof.hosts.numbers import whole_numbers

_LIMIT_S = 60.0
_MOST_PATHS = 1000
_EXTENT = re.compile(r"^\s*\d+:\s+\d+\.\.\s*\d+:\s+(\d{1,19})\.\.\s*\d+:\s+(\d{1,19}):(.*)$", re.MULTILINE)
_NO_PLACE = ("unwritten", "encoded", "inline", "delalloc", "unknown")  # the address of such an extent means nothing
_BLOCKS_OF = re.compile(r"\((\d+) blocks? of (\d{1,9}) bytes\)")


def list_files(host: Host, directory: str) -> tuple[str, ...]:
    """Return the paths of all regular files below a directory, sorted.

    Other file systems that are mounted below the directory are not searched. Raises CommandFailed if the directory does
    not exist, or part of it cannot be read.
    """
    argv = ["find", directory, "-xdev", "-type", "f", "-print0"]
    found = host.run(argv, timeout_s=_LIMIT_S).stdout.split("\0")
    return tuple(sorted(path for path in found if path))


def inspect(host: Host, paths: Sequence[str]) -> tuple[TestFile, ...]:
    """Return the size of each file, and the number of its bytes that are in holes, unwritten or shared.

    Holes are ranges without allocated blocks, including those that a file system frees by compressing data. Bytes are
    shared if an earlier extent of these files is stored in the same place. If `filefrag` fails, the numbers of
    unwritten and shared bytes are None. Raises CommandFailed if a file does not exist, and a
    HostError if `stat` prints something other than three numbers for each file.
    """
    rows = [whole_numbers(line, "stat", 3) for line in _lines(host, ["stat", "--format=%s %b %B"], paths)]
    if len(rows) != len(paths):
        raise HostError(f"stat printed {len(rows)} lines for {len(paths)} test files", f"stat {as_word(paths[0])}")
    places = _Places()
    return tuple(
        _with_extents(TestFile(path, size, max(0, size - blocks * block_bytes)), _extents(host, path), places)
        for path, (size, blocks, block_bytes) in zip(paths, rows, strict=True)
    )


def resident_bytes(host: Host, paths: Sequence[str]) -> tuple[int, ...] | None:
    """Return the number of each file's bytes that are in the page cache, or None if `fincore` fails."""
    argv = ["fincore", "--bytes", "--noheadings", "--output", "RES"]
    try:
        return whole_numbers(" ".join(_lines(host, argv, paths)), "fincore")
    except CommandError:
        return None


def _lines(host: Host, argv: Sequence[str], paths: Sequence[str]) -> list[str]:
    """Run a command on the paths and return its output, which has one line per path.

    A long list of paths is split over several calls.
    """
    groups = [paths[first : first + _MOST_PATHS] for first in range(0, len(paths), _MOST_PATHS)]
    return [line for some in groups for line in host.run([*argv, *some], timeout_s=_LIMIT_S).stdout.splitlines()]


class _StoredExtent(NamedTuple):
    """An extent: its location and size on the file system in bytes, and its FIEMAP flags."""

    start: int
    size_bytes: int
    flags: str


@dataclass
class _Places:
    """The ranges of the file system that extents use, sorted and without overlaps."""

    ranges: list[tuple[int, int]] = field(default_factory=list)

    def add(self, start: int, end: int) -> int:
        """Add a range and return the number of its bytes that were already in use."""
        first = bisect.bisect_left(self.ranges, start, key=lambda known: known[1])
        last = bisect.bisect_right(self.ranges, end, key=lambda known: known[0])
        met = self.ranges[first:last]
        used = sum(max(0, min(end, to) - max(start, at)) for at, to in met)
        self.ranges[first:last] = [(min([start, *(at for at, _ in met)]), max([end, *(to for _, to in met)]))]
        return used


def _with_extents(file: TestFile, extents: Sequence[_StoredExtent] | None, places: _Places) -> TestFile:
    if extents is None:
        return file
    stored = [extent for extent in extents if not any(flag in extent.flags for flag in _NO_PLACE)]
    return replace(
        file,
        unwritten_bytes=sum(extent.size_bytes for extent in extents if "unwritten" in extent.flags),
        shared_bytes=sum(places.add(extent.start, extent.start + extent.size_bytes) for extent in stored),
    )


def _extents(host: Host, path: str) -> tuple[_StoredExtent, ...] | None:
    try:
        completed = host.run(["filefrag", "-v", path], timeout_s=_LIMIT_S, check=False)
    except CommandError:
        return None
    unit = _BLOCKS_OF.search(completed.stdout)
    if completed.returncode != 0 or unit is None:
        return None
    size = int(unit[2])
    return tuple(
        _StoredExtent(int(start) * size, int(blocks) * size, flags)
        for start, blocks, flags in _EXTENT.findall(completed.stdout)
    )
