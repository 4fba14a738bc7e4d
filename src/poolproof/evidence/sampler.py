"""Read every leaf's counters, at marked moments and all through a trial."""

import bisect
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import TracebackType

from poolproof.devices.model import Leaf
from poolproof.evidence.counters import Counters, between, parse_counters
from poolproof.hosts.base import FileMissing, Host, Tick

_JOIN_S = 10.0


@dataclass(frozen=True)
class CounterReading:
    """All counters at one moment: seconds since 1970 by the host's clock, and one entry for each counter file."""

    at_s: float
    counters: tuple[Counters, ...]


@dataclass
class Sampler:
    """Samples the counter files from a thread of its own between entering and leaving the context.

    `paths` are the leaves' counter files, those of the disks below loop files after them, then `more`; `readings` grows
    meanwhile.
    """

    host: Host
    leaves: Sequence[Leaf]
    interval_s: float
    more: Sequence[str] = ()
    readings: list[CounterReading] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.paths = counter_paths(self.leaves, self.more)
        self._thread: threading.Thread | None = None

    def __enter__(self) -> "Sampler":
        self._stream = self.host.stream(self.paths, self.interval_s)
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
        self.readings.append(_reading(tick.at_s, tick.texts))


def counter_paths(leaves: Sequence[Leaf], more: Sequence[str] = ()) -> tuple[str, ...]:
    """Each leaf's counter file, then the distinct ones below loop files, then those of `more`, each once."""
    above = [leaf.counter for leaf in leaves]
    below = [leaf.below.counter for leaf in leaves if leaf.below is not None]
    return tuple(dict.fromkeys((*above, *below, *more)))


def read_now(host: Host, leaves: Sequence[Leaf], more: Sequence[str] = ()) -> CounterReading:
    """The counters at this moment by the host's clock.

    Raises:
        FileMissing: a leaf is gone.
        HostUnreachable: the link broke.
    """
    paths = counter_paths(leaves, more)
    tick = host.read_files(paths)
    gone = [path for path, text in zip(paths, tick.texts, strict=True) if not text]
    if gone:
        raise FileMissing(f"{', '.join(gone)} cannot be read")
    return _reading(tick.at_s, tick.texts)


def _reading(at_s: float, texts: Sequence[str]) -> CounterReading:
    return CounterReading(at_s, tuple(parse_counters(text) or Counters() for text in texts))


def reading_at(readings: Sequence[CounterReading], at_s: float) -> CounterReading:
    """The counters at a moment between readings, by straight line; outside them, the nearest reading."""
    index = bisect.bisect_left([reading.at_s for reading in readings], at_s)
    if index == 0:
        return readings[0]
    if index == len(readings):
        return readings[-1]
    earlier, later = readings[index - 1], readings[index]
    share = (at_s - earlier.at_s) / (later.at_s - earlier.at_s)
    counters = tuple(between(a, b, share) for a, b in zip(earlier.counters, later.counters, strict=True))
    return CounterReading(at_s, counters)
