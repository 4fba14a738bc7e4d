"""The time for which a load's threads were ready to run but waiting for a processor.

The second number in /proc/PID/task/TID/schedstat is the time in nanoseconds that a thread has spent on a run queue
(Documentation/scheduler/sched-stats.rst in the kernel). The file is read while the load runs, because it disappears
when the thread ends. Kernels without CONFIG_SCHED_INFO do not have it.
"""

import contextlib
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from poolproof.errors import PoolproofError

_LINE = re.compile(r"^/proc/\d+/task/(\d{1,19})/schedstat:(\d{1,20}) (\d{1,20}) \d+$", re.MULTILINE)
_FIRST_S, _SHORTEST_S, _LONGEST_S, _SHARE = 0.25, 0.5, 2.0, 0.1
_LEAST_OBSERVED_S = 0.2
_JOIN_S = 40.0


@dataclass(frozen=True)
class _ThreadTimes:
    """The time that a thread was observed, ran and waited between its first and last samples, in seconds."""

    observed_s: float
    ran_s: float
    waited_s: float


@dataclass
class RunDelays:
    """Samples the run delays of the load's threads in a background thread.

    Sampling starts with the call of `begins` and stops when the context ends.
    `read`: returns one line for each running thread: the path of its schedstat file, a colon, and the file's contents.
    """

    read: Callable[[], str]
    samples: dict[str, list[tuple[float, int, int]]] = field(default_factory=dict)

    def __enter__(self) -> "RunDelays":
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        return self

    def __exit__(self, *_error: Any) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join(_JOIN_S)

    def begins(self) -> None:
        """Start sampling. Must be called just before the load starts."""
        self._thread = threading.Thread(target=self._sample, name="run delay", daemon=True)
        self._thread.start()

    def _sample(self) -> None:
        begun = time.monotonic()
        pause_s = _FIRST_S
        with contextlib.suppress(PoolproofError):  # without these samples, only this evidence is missing
            while not self._stop.wait(pause_s):
                self.add(self.read(), time.monotonic())
                pause_s = min(_LONGEST_S, max(_SHORTEST_S, _SHARE * (time.monotonic() - begun)))

    def add(self, text: str, at_s: float) -> None:
        for thread, (ran_ns, waited_ns) in parse_delays(text).items():
            self.samples.setdefault(thread, [])[1:] = [(at_s, ran_ns, waited_ns)]

    @property
    def share(self) -> float | None:
        """The average fraction of the time that the load's threads waited for a processor, or None if it is unknown.

        Threads are weighted by their running plus waiting time, so mostly idle monitoring threads hardly count.
        """
        threads = [each for samples in self.samples.values() if (each := _times_of(samples)) is not None]
        wanted_s = sum(each.ran_s + each.waited_s for each in threads)
        if not wanted_s:
            return None
        shares = ((each.ran_s + each.waited_s) * each.waited_s / each.observed_s for each in threads)
        return min(1.0, sum(shares) / wanted_s)


def _times_of(samples: Sequence[tuple[float, int, int]]) -> _ThreadTimes | None:
    (first_s, first_ran, first_waited), (last_s, last_ran, last_waited) = samples[0], samples[-1]
    if last_s - first_s < _LEAST_OBSERVED_S:
        return None
    return _ThreadTimes(last_s - first_s, max(0, last_ran - first_ran) / 1e9, max(0, last_waited - first_waited) / 1e9)


def parse_delays(text: str) -> Mapping[str, tuple[int, int]]:
    """Return the time that each thread has run and waited so far in nanoseconds, keyed by thread ID."""
    return {thread: (int(ran), int(waited)) for thread, ran, waited in _LINE.findall(text)}
