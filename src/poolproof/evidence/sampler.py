"""Read the counters of every leaf of a host, at single moments and throughout a trial."""

import bisect
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import TracebackType

from poolproof.devices.model import Leaf
from poolproof.evidence.counters import Counters, between, parse_counters
from poolproof.hosts.base import FileMissing, Host, Tick, host_named

_JOIN_S = 10.0


@dataclass(frozen=True)
class CounterReading:
    """All counters at one moment: seconds since 1970 by the host's clock, and one entry for each counter file.

    `host`: the name of the host; empty: the run's one host.
    """

    at_s: float
    counters: tuple[Counters, ...]
    host: str = ""


@dataclass
class Sampler:
    """Reads the counter files of leaves on one host in its own thread while the context lasts; `readings` grows.

    `paths`: the leaves' counter files, then those of the disks below loop files, then `more`.
    """

    run_host: Host
    leaves: Sequence[Leaf]
    interval_s: float
    more: Sequence[str] = ()
    readings: list[CounterReading] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._host_name = _host_of(self.leaves)
        self.paths = counter_paths(self.leaves, self.more)
        self._thread: threading.Thread | None = None

    def __enter__(self) -> "Sampler":
        self._stream = host_named(self.run_host, self._host_name).stream(self.paths, self.interval_s)
        ticks = self._stream.__enter__()

        def collect() -> None:
            for tick in ticks:
                self._keep(tick)

        self._thread = threading.Thread(target=collect, name="sampler", daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stream.__exit__(kind, error, trace)
        if self._thread is not None:
            self._thread.join(_JOIN_S)

    def _keep(self, tick: Tick) -> None:
        self.readings.append(_reading(tick, self._host_name))


def counter_paths(leaves: Sequence[Leaf], more: Sequence[str] = ()) -> tuple[str, ...]:
    """Return each leaf's counter file, then those of the disks below loop files, then `more`, each once."""
    above = [leaf.counter for leaf in leaves]
    below = [leaf.below.counter for leaf in leaves if leaf.below is not None]
    return tuple(dict.fromkeys((*above, *below, *more)))


def read_now(run_host: Host, leaves: Sequence[Leaf], more: Sequence[str] = ()) -> CounterReading:
    """Return the counters at this moment by the host's clock. All leaves must be on one host.

    Raises:
        FileMissing: a leaf is gone.
        HostUnreachable: the link broke.
    """
    paths = counter_paths(leaves, more)
    name = _host_of(leaves)
    tick = host_named(run_host, name).read_files(paths)
    gone = [path for path, text in zip(paths, tick.texts, strict=True) if not text]
    if gone:
        raise FileMissing(f"{', '.join(gone)} cannot be read")
    return _reading(tick, name)


def _host_of(leaves: Sequence[Leaf]) -> str:
    """The one host that has the leaves. Each host has its own clock, so leaves on two hosts need two samplers."""
    names = {leaf.host for leaf in leaves} or {""}
    if len(names) > 1:
        raise ValueError(f"leaves on several hosts: {', '.join(sorted(names))}")
    return names.pop()


def _reading(tick: Tick, host: str) -> CounterReading:
    return CounterReading(tick.at_s, tuple(parse_counters(text) or Counters() for text in tick.texts), host)


def reading_at(readings: Sequence[CounterReading], at_s: float) -> CounterReading:
    """Return the counters at a moment, interpolated between two readings; outside them, the nearest reading."""
    index = bisect.bisect_left([reading.at_s for reading in readings], at_s)
    if index == 0:
        return readings[0]
    if index == len(readings):
        return readings[-1]
    earlier, later = readings[index - 1], readings[index]
    share = (at_s - earlier.at_s) / (later.at_s - earlier.at_s)
    counters = tuple(between(a, b, share) for a, b in zip(earlier.counters, later.counters, strict=True))
    return CounterReading(at_s, counters, earlier.host)
