"""A load: the I/O requested from a load generator, in terms that apply to every generator."""

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from poolproof.campaign.generator_option import DEFAULT_GENERATOR


@dataclass(frozen=True)
class Extent:
    """The range of bytes [start, end) in a file. `end` is infinite if the size is unknown.

    `scale`: the unit of `start` and `end`: "bytes", "percent" of the file, or the name of a separate scale. Only
    extents on the same scale can be compared.

    All files created by a clone are treated as one file.
    """

    file: str
    start: float
    end: float
    scale: str = "bytes"


@dataclass(frozen=True)
class LoadPart:
    """One part of a load: a single kind of I/O, done by one or more clones. In fio, a part is a job.

    Operations: the part `reads`, `writes` or `trims`, at random offsets if `is_random`. `random_share` is the fraction
    of I/Os that start at a new random offset. The others continue at the end of the previous I/O. Block sizes range
    from `block_bytes` to `max_block_bytes`.

    Amount: each clone works on `size_bytes` bytes of its files (None if unknown), but transfers `io_size_bytes` bytes
    if that is set. `runtime_s` is the time limit, not counting the `ramp_s` seconds before the measurement. A
    `time_based` part starts over after transferring all its bytes, until the time limit. A part that
    `waits_for_previous` starts after all earlier parts have ended. A part that `starts_late` has a fixed or random
    start delay.

    Concurrency: the part has `clones` clones (fio's numjobs), each with a requested queue depth of `depth`. If
    `is_synchronous`, the engine waits for each I/O before submitting the next. `queue` is the maximum number of
    outstanding I/Os of all clones combined. Each clone locks `locked_bytes` bytes of RAM, and has `depth` buffers. If
    the part writes, each of them takes `buffer_bytes`, or `max_block_bytes` if that is 0.

    Files: each clone uses `files` files, each created with at least `file_bytes` bytes (0 if only as large as the part
    of it that is used). If the part `makes_new_files`, it creates all of them and removes them at the
    end. `extents` lists the byte ranges that each clone covers. If `may_use_page_cache`, the kernel's page cache may
    serve I/O that is not `direct`.

    Sync: `syncs` is True if the part makes written data durable in any way. `sync_every` is the number of writes
    between two fsync or fdatasync calls.

    Data: the part `verifies` its own writes, or `only_verifies` those of an earlier run. If `refills_buffers`, every
    write has new data. `compress_percentage` is the percentage of each buffer that is requested to be compressible, or
    None if not set. If `repeats_pattern`, every buffer is filled with one short pattern.

    Other: if `averages_runs`, the generator prints the mean rate and the mean latency of several runs, so their product
    (the number of I/Os in flight) can exceed `queue`. `source` is the part in the generator's own format, for the
    generator itself and for rules about its options.
    """

    name: str
    reads: bool = False
    writes: bool = False
    trims: bool = False
    is_random: bool = False
    random_share: float = 1.0
    block_bytes: int = 4096
    max_block_bytes: int = 4096
    size_bytes: int | None = None
    io_size_bytes: int | None = None
    runtime_s: float | None = None
    ramp_s: float = 0.0
    time_based: bool = False
    waits_for_previous: bool = False
    starts_late: bool = False
    clones: int = 1
    depth: int = 1
    queue: int = 1
    is_synchronous: bool = False
    locked_bytes: int = 0
    buffer_bytes: int = 0
    files: int = 1
    file_bytes: int = 0
    makes_new_files: bool = False
    extents: tuple[Extent, ...] = ()
    direct: bool = False
    may_use_page_cache: bool = True
    syncs: bool = False
    syncs_at_end: bool = False
    sync_every: int | None = None
    writes_are_synchronous: bool = False
    verifies: bool = False
    only_verifies: bool = False
    refills_buffers: bool = False
    zero_buffers: bool = False
    compress_percentage: int | None = None
    repeats_pattern: bool = False
    repeats_offsets: bool = False
    invalidates_cache: bool = False
    rate_limited: bool = False
    thinks: bool = False
    measures_latency: bool = True
    averages_runs: bool = False
    source: object | None = field(default=None, compare=False, repr=False)

    @property
    def is_mixed(self) -> bool:
        """True if the part both reads and writes."""
        return self.reads and self.writes

    @property
    def is_sequential(self) -> bool:
        return not self.is_random

    @property
    def commits_each_write(self) -> bool:
        """True if every write is durable when it completes, or is synced before the next write starts.

        A sync call covers only completed writes. fio does not wait for other I/Os in flight before it issues the call,
        so sync calls make each write durable only if a clone has a single I/O in flight. They also have to be for the
        file that was written, but with several files, fio syncs the file that is next in turn.
        """
        syncs_each = self.sync_every == 1 and self.queue_each == 1 and self.files == 1
        return self.writes_are_synchronous or syncs_each

    @property
    def queue_each(self) -> int:
        """The maximum number of outstanding I/Os of one clone."""
        return self.queue // self.clones if self.clones else self.queue

    @cached_property
    def shares_one_file(self) -> bool:
        """True if several clones access the same bytes of a file."""
        return self.clones > 1 and _most_sharers(self.extents) > 1


@dataclass(frozen=True)
class Load:
    """The parts of one run of a load generator, in order. `generator` is the generator's name."""

    parts: tuple[LoadPart, ...]
    generator: str = DEFAULT_GENERATOR

    @cached_property
    def phases(self) -> tuple[tuple[LoadPart, ...], ...]:
        """The parts, grouped into phases. Parts of the same phase run concurrently, and phases one after another."""
        phases: list[list[LoadPart]] = []
        for part in self.parts:
            if part.waits_for_previous or not phases:
                phases.append([])
            phases[-1].append(part)
        return tuple(tuple(phase) for phase in phases)

    @property
    def makes_new_files(self) -> bool:
        """True if every part creates all the files that it uses."""
        return bool(self.parts) and all(part.makes_new_files for part in self.parts)

    @property
    def clones(self) -> int:
        """The total number of clones in all parts."""
        return sum(part.clones for part in self.parts)

    @cached_property
    def queue(self) -> int:
        """The maximum number of outstanding I/Os in any phase."""
        return max((sum(part.queue for part in phase) for phase in self.phases), default=0)

    @property
    def reads(self) -> bool:
        return any(part.reads for part in self.parts)

    @property
    def writes(self) -> bool:
        return any(part.writes for part in self.parts)

    @property
    def ramp_s(self) -> float:
        """The longest ramp time of any part, in seconds."""
        return max((part.ramp_s for part in self.parts), default=0.0)

    @cached_property
    def end_bytes(self) -> int:
        """The highest known byte offset that the load reaches in any file or device, or 0 if none is known."""
        ends = (extent.end for extent in _extents(self.parts) if extent.scale == "bytes")
        return int(max((end for end in ends if not math.isinf(end)), default=0))

    @cached_property
    def sharers(self) -> int:
        """The largest number of clones that access the same byte during one phase, or 1 if no two clones overlap."""
        return max((sharers_at_once(phase) for phase in self.phases), default=0)

    @property
    def shares_one_file(self) -> bool:
        """True if several clones, of one part or of several, access the same bytes of a file in one phase."""
        return self.sharers > 1

    @cached_property
    def unique_bytes(self) -> int | None:
        """The number of distinct bytes that the load can access, or None if a size is unknown or not in bytes."""
        groups = _by_file(_extents(self.parts))
        if not groups or any(scale != "bytes" for _, scale in groups):
            return None
        total = sum(map(_covered, groups.values()))
        return None if math.isinf(total) else int(total)

    @cached_property
    def created_bytes(self) -> int:
        """The total size in bytes of the files that the load needs. They can be larger than the parts that it uses.

        A file begins at 0, wherever the load starts in it.
        """
        sizes: dict[str, int] = {}
        for part in self.parts:
            for extent in part.extents:  # a path in `extents` may stand for several files of a clone
                files = part.files * part.clones // len(part.extents)
                reached = 0.0 if extent.scale != "bytes" or math.isinf(extent.end) else extent.end
                before = (files - 1) * extent.start if reached else 0.0
                each = max(part.file_bytes * files, int(reached + before))
                sizes[extent.file] = max(sizes.get(extent.file, 0), each)
        return sum(sizes.values())

    @property
    def asked_s(self) -> float | None:
        """The requested measurement time of all phases in seconds, or None if a part has no time limit."""
        longest = [[part.runtime_s for part in phase] for phase in self.phases]
        if not longest or any(seconds is None for phase in longest for seconds in phase):
            return None
        return sum(max(seconds for seconds in phase if seconds is not None) for phase in longest)

    @property
    def planned_s(self) -> float | None:
        """The expected duration of all phases in seconds, including ramps, or None if a part has no time limit."""
        if any(part.runtime_s is None for part in self.parts):
            return None
        return sum(max((part.runtime_s or 0.0) + part.ramp_s for part in phase) for phase in self.phases)


def sharers_at_once(parts: Iterable[LoadPart]) -> int:
    """Return the largest number of clones that would access the same byte if all parts ran at the same time."""
    return max(1, _most_sharers(_extents(parts)))


def _extents(parts: Iterable[LoadPart]) -> list[Extent]:
    return [extent for part in parts for extent in part.extents]


def _by_file(extents: Iterable[Extent]) -> dict[tuple[str, str], list[Extent]]:
    groups: dict[tuple[str, str], list[Extent]] = defaultdict(list)
    for extent in extents:
        groups[extent.file, extent.scale].append(extent)
    return groups


def _most_sharers(extents: Iterable[Extent]) -> int:
    deepest = 0
    for group in _by_file(extents).values():
        depth = 0
        for _, change in sorted([(extent.start, 1) for extent in group] + [(extent.end, -1) for extent in group]):
            depth += change
            deepest = max(deepest, depth)
    return deepest


def _covered(extents: Iterable[Extent]) -> float:
    covered, reached = 0.0, -math.inf
    for extent in sorted(extents, key=lambda item: (item.start, item.end)):
        covered += max(0.0, extent.end - max(extent.start, reached))
        reached = max(reached, extent.end)
    return covered
