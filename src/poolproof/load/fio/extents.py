"""Which bytes of which file each clone of a job walks: what two clones share, what a run touches at most.

Measured with fio 3.33: a job with `offset` and `size` walks [offset, offset + size); `size` is split evenly over the
files of a job; `filesize` times the number of files caps `size`; with `offset_increment` clone i starts i increments
later. `io_size` changes how much is moved, not where.
"""

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol


class Walker(Protocol):
    """What a job says of its files and of the bytes that it walks, as `fio.job.Job` does; None: not told."""

    @property
    def name(self) -> str: ...
    @property
    def directory(self) -> str | None: ...
    @property
    def filenames(self) -> tuple[str, ...]: ...
    @property
    def nrfiles(self) -> int: ...
    @property
    def numjobs(self) -> int: ...
    @property
    def size_bytes(self) -> int | None: ...
    @property
    def filesize_bytes(self) -> int | None: ...
    @property
    def offset_bytes(self) -> int: ...
    @property
    def offset_increment_bytes(self) -> int: ...
    def percent(self, name: str) -> int | None: ...
    def text(self, name: str) -> str | None: ...


@dataclass(frozen=True)
class Extent:
    """Bytes [start, end) of a file; `end` is infinite where the size is not known. `scale` tells what is counted:
    bytes, or per cent of the file. The files that a clone makes for itself count as one.
    """

    file: str
    start: float
    end: float
    scale: str = "bytes"


def extents_of(job: Walker) -> tuple[Extent, ...]:
    """One extent for each clone and file of the job."""
    scale, offset, increment, length = _region(job)
    return tuple(
        Extent(file, start, start + length, scale)
        for clone in range(job.numjobs)
        for start in (offset + clone * increment if clone else offset,)
        for file in _files(job, clone)
    )


def most_sharers(extents: Iterable[Extent]) -> int:
    """The largest number of extents that hold the same byte."""
    return max((_deepest(group) for group in _by_file(extents).values()), default=0)


def union_bytes(extents: Iterable[Extent]) -> int | None:
    """Bytes in at least one extent; None when an extent has no known size."""
    groups = _by_file(extents)
    if not groups or any(scale != "bytes" for _, scale in groups):
        return None
    total = sum(_covered(group) for group in groups.values())
    return None if math.isinf(total) else int(total)


def _by_file(extents: Iterable[Extent]) -> dict[tuple[str, str], list[Extent]]:
    groups: dict[tuple[str, str], list[Extent]] = defaultdict(list)
    for extent in extents:
        groups[extent.file, extent.scale].append(extent)
    return groups


def _deepest(extents: list[Extent]) -> int:
    edges = sorted([(extent.start, 1) for extent in extents] + [(extent.end, -1) for extent in extents])
    depth = deepest = 0
    for _, change in edges:
        depth += change
        deepest = max(deepest, depth)
    return deepest


def _covered(extents: list[Extent]) -> float:
    covered = 0.0
    reached = -math.inf
    for extent in sorted(extents, key=lambda item: (item.start, item.end)):
        covered += max(0.0, extent.end - max(extent.start, reached))
        reached = max(reached, extent.end)
    return covered


def _region(job: Walker) -> tuple[str, float, float, float]:
    """(scale, offset, increment, length for each file). Offsets in per cent and sizes in bytes cannot be compared, so
    each such offset is a scale of its own: extents that start at the same per cent may share, others may not.
    """
    offset_percent, increment_percent = job.percent("offset"), job.percent("offset_increment")
    length_percent = job.percent("size")
    if offset_percent is None and increment_percent is None:
        if length_percent is not None and not job.offset_increment_bytes:
            return ("percent", 0.0, 0.0, float(length_percent)) if not job.offset_bytes else _unknown(job)
        return "bytes", float(job.offset_bytes), float(job.offset_increment_bytes), _length(job)
    if length_percent is not None and not job.offset_bytes and not job.offset_increment_bytes:
        return "percent", float(offset_percent or 0), float(increment_percent or 0), float(length_percent)
    return _unknown(job)


def _unknown(job: Walker) -> tuple[str, float, float, float]:
    """A scale of its own; clones lie apart where there is an increment."""
    moves = bool(job.percent("offset_increment") or job.offset_increment_bytes)
    return f"from {job.text('offset')}, {job.text('size')}", 0.0, math.inf if moves else 0.0, math.inf


def _length(job: Walker) -> float:
    """Bytes of each file that a clone walks; of all its files where it makes its own."""
    parts = len(job.filenames) or 1
    sizes = []
    if job.size_bytes is not None:
        sizes.append(job.size_bytes / parts)
    if job.filesize_bytes is not None:
        sizes.append(job.filesize_bytes * job.nrfiles / parts)
    return min(sizes) if sizes else math.inf


def _files(job: Walker, clone: int) -> list[str]:
    """The files of one clone. Without a `filename` the name holds the job's and the clone's number."""
    directory = (job.directory or "").rstrip("/")
    if job.filenames:
        return [_joined(directory, name) for name in job.filenames]
    shared = job.text("filename_format") is not None and "$jobnum" not in (job.text("filename_format") or "")
    owner = job.name if shared else f"{job.name}.{clone}"
    return [_joined(directory, owner)]


def _joined(directory: str, name: str) -> str:
    return f"{directory}/{name}" if directory else name
