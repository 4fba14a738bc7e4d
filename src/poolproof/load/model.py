"""A load: what a load generator is asked to do, in words that hold for every generator."""

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

DEFAULT_GENERATOR = "fio"


@dataclass(frozen=True)
class Extent:
    """Bytes [start, end) of a file; `end` is infinite if the size is not known.

    `scale` is the unit: "bytes", "percent" of the file, or a separate scale if positions cannot be compared. The files
    that a clone creates for itself count as one.
    """

    file: str
    start: float
    end: float
    scale: str = "bytes"


@dataclass(frozen=True)
class LoadPart:
    """One part of a load: I/O of one kind, done by one or several clones. In fio, a job.

    Operations: `reads`, `writes`, `trims`, `is_random`; `block_bytes` and `max_block_bytes` bound the block size.

    Amount: each clone works on `size_bytes` of its files (None: not known) and moves `io_size_bytes`, if that was given
    separately. `runtime_s` limits the time; `ramp_s` are the seconds before it that do not count. A `time_based` part
    starts again when its size is done. A part that `waits_for_previous` starts after all parts before it.

    Concurrency: `depth` I/Os are requested for each of `clones`. `is_synchronous`: the engine submits an I/O and waits
    for it. `queue` is the number of I/Os that can be outstanding at once, over all clones.

    Files: `files` for each clone; `extents` are the bytes that each clone covers, one extent for each clone and file.
    `may_use_page_cache`: the kernel's page cache may answer, unless the I/O is `direct`.

    Sync: `syncs` if durability is requested in any way. `sync_every` is the number of writes between two fsync or
    fdatasync calls.

    Data: `refills_buffers` writes fresh bytes every time; `compress_percentage` is how much of a buffer is meant to
    compress, None if not chosen.

    `source` is the generator's own form of this part, for the generator and for rules about it.
    """

    name: str
    reads: bool = False
    writes: bool = False
    trims: bool = False
    is_random: bool = False
    block_bytes: int = 4096
    max_block_bytes: int = 4096
    size_bytes: int | None = None
    io_size_bytes: int | None = None
    runtime_s: float | None = None
    ramp_s: float = 0.0
    time_based: bool = False
    waits_for_previous: bool = False
    clones: int = 1
    depth: int = 1
    queue: int = 1
    is_synchronous: bool = False
    files: int = 1
    extents: tuple[Extent, ...] = ()
    direct: bool = False
    may_use_page_cache: bool = True
    syncs: bool = False
    syncs_at_end: bool = False
    sync_every: int | None = None
    writes_are_synchronous: bool = False
    verifies: bool = False
    refills_buffers: bool = False
    zero_buffers: bool = False
    compress_percentage: int | None = None
    repeats_offsets: bool = False
    invalidates_cache: bool = False
    rate_limited: bool = False
    thinks: bool = False
    measures_latency: bool = True
    source: object | None = field(default=None, compare=False, repr=False)

    @property
    def is_mixed(self) -> bool:
        """True if it both reads and writes."""
        return self.reads and self.writes

    @property
    def is_sequential(self) -> bool:
        return not self.is_random

    @property
    def commits_each_write(self) -> bool:
        """True if every write is on stable storage before the next one."""
        return self.writes_are_synchronous or self.sync_every == 1

    @cached_property
    def shares_one_file(self) -> bool:
        """True if several clones cover the same bytes of a file."""
        return self.clones > 1 and _most_sharers(self.extents) > 1


@dataclass(frozen=True)
class Load:
    """The parts of one run of a load generator, in order. `generator` is the name of the one that runs it."""

    parts: tuple[LoadPart, ...]
    generator: str = DEFAULT_GENERATOR

    @cached_property
    def phases(self) -> tuple[tuple[LoadPart, ...], ...]:
        """The parts that run at once, phase after phase."""
        phases: list[list[LoadPart]] = []
        for part in self.parts:
            if part.waits_for_previous or not phases:
                phases.append([])
            phases[-1].append(part)
        return tuple(tuple(phase) for phase in phases)

    @property
    def clones(self) -> int:
        """The number of clones over all parts."""
        return sum(part.clones for part in self.parts)

    @cached_property
    def queue(self) -> int:
        """The number of I/Os that can be outstanding at once, in the phase with most."""
        return max((sum(part.queue for part in phase) for phase in self.phases), default=0)

    @property
    def reads(self) -> bool:
        return any(part.reads for part in self.parts)

    @property
    def writes(self) -> bool:
        return any(part.writes for part in self.parts)

    @property
    def ramp_s(self) -> float:
        """The longest ramp of any part, in seconds."""
        return max((part.ramp_s for part in self.parts), default=0.0)

    @cached_property
    def end_bytes(self) -> int:
        """The end of the furthest byte of a file or device that the load reaches; 0 if none is known."""
        return int(max((extent.end for extent in _extents(self.parts) if not math.isinf(extent.end)), default=0))

    @cached_property
    def sharers(self) -> int:
        """The largest number of clones that cover the same byte at once; 1 if each covers separate bytes."""
        return max((max(1, _most_sharers(_extents(phase))) for phase in self.phases), default=0)

    @property
    def shares_one_file(self) -> bool:
        """True if several clones, of one part or of several, cover the same bytes of a file at once."""
        return self.sharers > 1

    @cached_property
    def unique_bytes(self) -> int | None:
        """The bytes that the load can touch, each counted once; None if a size is not known."""
        groups = _by_file(_extents(self.parts))
        if not groups or any(scale != "bytes" for _, scale in groups):
            return None
        total = sum(map(_covered, groups.values()))
        return None if math.isinf(total) else int(total)

    @property
    def asked_s(self) -> float | None:
        """The requested length of the measured window in seconds, over all phases; None if a phase has no limit."""
        longest = [[part.runtime_s for part in phase] for phase in self.phases]
        if not longest or any(seconds is None for phase in longest for seconds in phase):
            return None
        return sum(max(seconds for seconds in phase if seconds is not None) for phase in longest)

    @property
    def planned_s(self) -> float | None:
        """The seconds after which all parts should have ended, ramps included; None if one ends with its work."""
        if any(part.runtime_s is None for part in self.parts):
            return None
        return sum(max((part.runtime_s or 0.0) + part.ramp_s for part in phase) for phase in self.phases)


def _extents(parts: Iterable[LoadPart]) -> list[Extent]:
    return [extent for part in parts for extent in part.extents]


def _by_file(extents: Iterable[Extent]) -> dict[tuple[str, str], list[Extent]]:
    groups: dict[tuple[str, str], list[Extent]] = defaultdict(list)
    for extent in extents:
        groups[extent.file, extent.scale].append(extent)
    return groups


def _most_sharers(extents: Iterable[Extent]) -> int:
    """Return the largest number of extents that contain the same byte."""
    deepest = 0
    for group in _by_file(extents).values():
        depth = 0
        for _, change in sorted([(extent.start, 1) for extent in group] + [(extent.end, -1) for extent in group]):
            depth += change
            deepest = max(deepest, depth)
    return deepest


def _covered(extents: Iterable[Extent]) -> float:
    """Return the bytes in at least one of the extents of a file."""
    covered, reached = 0.0, -math.inf
    for extent in sorted(extents, key=lambda item: (item.start, item.end)):
        covered += max(0.0, extent.end - max(extent.start, reached))
        reached = max(reached, extent.end)
    return covered
