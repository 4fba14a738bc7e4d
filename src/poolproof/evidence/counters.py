"""The kernel's counters of block devices (in sysfs), read once or sampled throughout a trial.

The fields of a `stat` file (Documentation/block/stat.rst) are:

- reads, merged reads, sectors of 512 bytes read, and milliseconds spent on reads
- the same four fields for writes
- requests in flight, milliseconds with requests in flight, and the total wait of all requests in milliseconds
- the same four fields for discards
- flushes, and milliseconds spent on flushes

Older kernels provide only the first 11 or 15 of these 17 fields.
"""

import bisect
import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from poolproof.devices.model import Leaf
from poolproof.errors import CommandError, HostError
from poolproof.hosts.base import FileMissing, Host, HostUnreachable, Tick, host_named
from poolproof.hosts.numbers import whole_numbers

_JOIN_S = 10.0
_SECTOR_BYTES = 512
_WRAP = 1 << 32


@dataclass(frozen=True)
class Counters:
    """The totals that a block device has counted since it appeared.

    `in_flight`: the current number of requests in flight. It is the only field that is not a total.
    `*_ios`: the number of requests. With most drivers, `write_ios` includes flushes.
    `*_merges`: the number of requests that were merged into others.
    `flush_ios`: the number of flushes, or None if the kernel does not report it (before Linux 5.5).
    """

    read_ios: int = 0
    read_bytes: int = 0
    read_ms: int = 0
    write_ios: int = 0
    write_bytes: int = 0
    write_ms: int = 0
    in_flight: int = 0
    busy_ms: int = 0
    flush_ios: int | None = None
    flush_ms: int = 0
    read_merges: int = 0
    write_merges: int = 0

    @property
    def counts(self) -> bool:
        """True if the device has ever counted a request. If not, its counters prove nothing."""
        return bool(self.read_ios or self.write_ios or self.read_bytes or self.write_bytes)


def parse_counters(text: str) -> Counters | None:
    """Parse the contents of a `stat` file.

    Returns None if there are too few fields, which means that the device is gone. Raises a HostError if a field is
    something other than a number.
    """
    fields = whole_numbers(text, "a counter file in /sys")
    if len(fields) < 11:
        return None
    return Counters(
        read_ios=fields[0],
        read_bytes=fields[2] * _SECTOR_BYTES,
        read_ms=fields[3],
        write_ios=fields[4],
        write_bytes=fields[6] * _SECTOR_BYTES,
        write_ms=fields[7],
        in_flight=fields[8],
        busy_ms=fields[9],
        flush_ios=fields[15] if len(fields) > 15 else None,
        flush_ms=fields[16] if len(fields) > 16 else 0,
        read_merges=fields[1],
        write_merges=fields[5],
    )


def difference(later: Counters, earlier: Counters) -> Counters:
    """Return the increase of the counters between two samples. `in_flight` is copied from the later sample."""
    return _of_both(earlier, later, _grown)


def between(earlier: Counters, later: Counters, share: float) -> Counters:
    """Interpolate linearly between two samples of the counters.

    `share`: a number from 0 (the earlier sample) to 1 (the later sample).
    """
    return _of_both(earlier, later, lambda first, second: first + round(_grown(first, second) * share))


def _grown(first: int, second: int) -> int:
    """Return the increase of a counter between two samples.

    The kernel prints milliseconds as 32-bit numbers, which wrap around to 0 after 49 days (part_stat_show in
    block/genhd.c). A large decrease is therefore taken to be a wraparound. A small one means that the device was
    replaced, and is returned as a negative number.
    """
    return second - first + (_WRAP if second - first < -_WRAP // 2 else 0)


def _of_both(earlier: Counters, later: Counters, total: Callable[[int, int], int]) -> Counters:
    """Combine two samples by applying `total` to each pair of totals. `in_flight` is copied from the later sample."""
    totals = vars(later).keys() - {"in_flight", "flush_ios"}
    known = earlier.flush_ios is not None and later.flush_ios is not None
    flushes = total(earlier.flush_ios or 0, later.flush_ios or 0) if known else None
    changed = {name: total(getattr(earlier, name), getattr(later, name)) for name in totals}
    return replace(later, flush_ios=flushes, **changed)


class CounterFile(NamedTuple):
    """A counter file: its path, and the name of its host (an empty string for the run's main host)."""

    host: str
    path: str


@dataclass(frozen=True)
class CounterReading:
    """One sample of all counter files.

    `at_s`: the time of the sample in seconds since 1970, according to the clock of the first file's host.
    `counters`: the counters of each file, in the order of `files`.
    """

    at_s: float
    counters: tuple[Counters, ...]
    files: tuple[CounterFile, ...] = ()


@dataclass
class Sampler:
    """Samples counter files in a background thread while the context is open, and appends the samples to `readings`.

    The files are those of the disks, then those of the disks below loop files, then `more`. If all files are on the
    same host, that host streams their contents. Otherwise, they are read from every host for each sample.

    When the context ends, a HostError is raised if a file contained something other than numbers.
    """

    run_host: Host
    leaves: Sequence[Leaf]
    interval_s: float
    more: Sequence[CounterFile] = ()
    readings: list[CounterReading] = field(default_factory=list)

    @property
    def dating_host(self) -> Host:
        """The host of the first counter file. Samples are timestamped by its clock."""
        return host_named(self.run_host, self.files[0].host if self.files else "")

    def __post_init__(self) -> None:
        self.files = counter_files(self.leaves, self.more)
        self._stop = threading.Event()
        self._failure: HostError | None = None
        self._stream: AbstractContextManager[Iterator[Tick]] = contextlib.nullcontext(self._ticks())
        if len({file.host for file in self.files}) <= 1:
            self._stream = self.dating_host.stream([file.path for file in self.files], self.interval_s)

    def __enter__(self) -> "Sampler":
        ticks = self._stream.__enter__()

        def collect() -> None:
            try:
                for tick in ticks:
                    self.readings.append(_reading(tick, self.files))
            except HostError as error:
                self._failure = error

        self._thread = threading.Thread(target=collect, name="sampler", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error: Any) -> None:
        self._stop.set()
        self._stream.__exit__(*error)
        self._thread.join(_JOIN_S)
        if self._failure is not None and error[0] is None:
            raise self._failure

    def _ticks(self) -> Iterator[Tick]:
        """Read the files repeatedly until the context ends or a host stops responding."""
        with contextlib.suppress(HostUnreachable, CommandError):
            while not self._stop.is_set():
                yield _read(self.run_host, self.files)
                self._stop.wait(self.interval_s)


def counter_files(leaves: Sequence[Leaf], more: Sequence[CounterFile] = ()) -> tuple[CounterFile, ...]:
    """Return the counter files of the disks, then those of the disks below loop files, then `more`, each only once."""
    above = [CounterFile(leaf.host, leaf.counter) for leaf in leaves]
    below = [CounterFile(leaf.host, leaf.below.counter) for leaf in leaves if leaf.below is not None]
    return tuple(dict.fromkeys((*above, *below, *more)))


def read_now(run_host: Host, leaves: Sequence[Leaf], more: Sequence[CounterFile] = ()) -> CounterReading:
    """Read all counter files once.

    Raises:
        FileMissing: a counter file cannot be read, because its device is gone.
        HostUnreachable: the connection was lost.
    """
    files = counter_files(leaves, more)
    tick = _read(run_host, files)
    gone = [file.path for file, text in zip(files, tick.texts, strict=True) if not text]
    if gone:
        raise FileMissing(f"{', '.join(gone)} cannot be read")
    return _reading(tick, files)


def _read(run_host: Host, files: Sequence[CounterFile]) -> Tick:
    """Return the current contents of the files, and the time according to the clock of the first file's host."""
    texts: dict[CounterFile, str] = {}
    ticks: list[Tick] = []
    for name in dict.fromkeys(file.host for file in files) or ("",):
        there = [file for file in files if file.host == name]
        tick = host_named(run_host, name).read_files([file.path for file in there])
        texts |= zip(there, tick.texts, strict=True)
        ticks.append(tick)
    return Tick(ticks[0].at_s, tuple(texts[file] for file in files))


def _reading(tick: Tick, files: tuple[CounterFile, ...]) -> CounterReading:
    return CounterReading(tick.at_s, tuple(parse_counters(text) or Counters() for text in tick.texts), files)


def reading_at(readings: Sequence[CounterReading], at_s: float) -> CounterReading:
    """Return the counters at the given time, interpolated between the samples before and after it.

    If the time is before the first sample or after the last one, that sample is returned.
    """
    index = bisect.bisect_left([reading.at_s for reading in readings], at_s)
    if index == 0:
        return readings[0]
    if index == len(readings):
        return readings[-1]
    earlier, later = readings[index - 1], readings[index]
    share = (at_s - earlier.at_s) / (later.at_s - earlier.at_s)
    counters = tuple(between(a, b, share) for a, b in zip(earlier.counters, later.counters, strict=True))
    return CounterReading(at_s, counters, earlier.files)
