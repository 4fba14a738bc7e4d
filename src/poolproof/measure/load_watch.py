"""Watch the load: publish its rate and those of the disks, and stop it when its result is precise or when it hangs.

In about one of two thousand lab trials, fio was still running five minutes after its time limit, for an unknown reason.
fio has had deadlocks between its status thread and its jobs (axboe/fio, pull requests 2076 and 2137), and OpenZFS can
wait for memory forever. poolproof therefore kills a load generator that hangs, and reports the functions in which its
threads were waiting.
"""

import contextlib
import math
import threading
import time
from collections.abc import Sequence

from poolproof.errors import FioError, PoolproofError
from poolproof.evidence.counters import CounterReading, Sampler, reading_at
from poolproof.hosts.base import Host
from poolproof.load.generator import LoadGenerator, Status
from poolproof.measure.ending import Ending
from poolproof.measure.model import Listener, LiveRates
from poolproof.results.runs.directory import RunDirectory
from poolproof.results.runs.live_rates import LiveLine, LiveNotes
from poolproof.results.runs.model import TrialKey
from poolproof.rules.model import Finding
from poolproof.rules.work_done import WORK_DONE
from poolproof.stopping.model import StoppingDecision
from poolproof.units import format_duration

_EVERY_S = 1.0
_JOIN_S = 70.0  # a read from the host may take as long as its time limit
_SHORTEST_PAUSE_S = 0.2
_START_S = 0.3

STILL_S = 60.0
"""A disk that is being written to always transfers some data within this time (in seconds), even during a flush."""

_PROBED_BYTES = 64 * 2**20
"""The number of bytes that other programs may read from a leaf device in STILL_S. blkid reads about 1 MiB."""


class LoadStuck(FioError):
    """Raised if the load generator named `name` hung and was killed."""

    def __init__(self, waits: Sequence[str], name: str) -> None:
        functions = ", ".join(dict.fromkeys(waits)) or "unknown kernel functions"
        super().__init__(
            f"{name} did not end in time and was killed after it had performed no I/O for {format_duration(STILL_S)}; "
            f"its threads were waiting in {functions}",
            f"look for a hung file system in dmesg; if there is none, {name} itself may hang when it ends: try a "
            "newer version",
        )

    @property
    def note(self) -> Finding:
        """Return a note for a trial that was repeated because of this hang."""
        return Finding(
            WORK_DONE, "notes", f"this trial was repeated, because on the first attempt, {self.message}", self.hint
        )


def makes_no_progress(
    readings: Sequence[CounterReading], leaves: int, statuses: Sequence[Status], since_s: float
) -> bool:
    """True if the load generator has made no progress in the last STILL_S seconds.

    Progress means that the load generator reports I/Os or syncs, that a leaf device writes, or that a leaf device reads
    more than other programs do when they look for file systems.

    `readings`: the samples, each of which begins with the counters of the leaf devices.
    `leaves`: the number of leaf devices. If it is 0, the result is False.
    `since_s`: the time from which a lack of progress counts, by the samples' clock. The result is False until STILL_S
    seconds later.
    """
    if not leaves or not readings or readings[-1].at_s - since_s < STILL_S:
        return False
    from_s = readings[-1].at_s - STILL_S
    disks = zip(reading_at(readings, from_s).counters[:leaves], readings[-1].counters[:leaves], strict=True)
    if any(a.write_bytes != b.write_bytes or b.read_bytes - a.read_bytes >= _PROBED_BYTES for a, b in disks):
        return False
    earlier = [status for status in statuses if status.at_s <= from_s]
    return not statuses or (bool(earlier) and _work_done(earlier[-1]) == _work_done(statuses[-1]))


def _work_done(status: Status) -> tuple[int, int]:
    return status.ios, status.syncs


class RatePublisher:
    """Publishes a trial's rates to the run's listener and to other processes that watch the run directory."""

    def __init__(self, listener: Listener, run: RunDirectory, key: TrialKey) -> None:
        self._listener, self._key = listener, key
        self._notes = LiveNotes(run)
        self._is_watched = False

    def is_heard(self) -> bool:
        """True if the listener or another process needs the rates. Must be called before each `tell`."""
        self._is_watched = self._notes.are_wanted
        return self._listener.wants_live or self._is_watched

    def tell(self, rates: LiveRates) -> None:
        """Publish the rates of the last second. Called by the thread that watches the load generator."""
        if self._listener.wants_live:
            self._listener.live(rates)
        if self._is_watched:
            layout, workload, number, state = self._key
            now = (rates.elapsed_s, rates.fio_bytes_per_s, rates.leaf_bytes_per_s)
            self._notes.write(LiveLine(layout, workload, number, *now, state))


class LoadWatch:
    """Watches a running load generator from a background thread, from the call of `begins` until the context ends.

    `publisher`, `ending`: if both are None, the load generator is not watched, so hangs are not detected either.
    `most_s`: the time, in seconds, after which the load generator should have ended. If it is None, hangs are not
    detected.
    `report`: the load generator's reports so far.
    `decision`: the decision to stop the load generator, or None if it was not stopped.
    `stuck`: the functions in which the load generator's threads were waiting when it was killed because it hung, or
    None if it did not hang.
    """

    def __init__(
        self,
        host: Host,
        generator: LoadGenerator,
        scratch: str,
        sampler: Sampler,
        publisher: RatePublisher | None = None,
        ending: Ending | None = None,
        most_s: float | None = None,
    ) -> None:
        self.decision: StoppingDecision | None = None
        self.stuck: tuple[str, ...] | None = None
        self._host, self._scratch, self._sampler = host, scratch, sampler
        self._publisher, self._ending = publisher, ending
        self._generator = generator
        self.report = generator.live_report(host, scratch)
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._begun = self._due = 0.0
        self._most_s = math.inf if most_s is None else most_s
        self._over_at_s = math.inf  # by the host's clock

    def __enter__(self) -> "LoadWatch":
        return self

    def __exit__(self, *_error: object) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join(_JOIN_S)

    def begins(self, at_s: float, clock_ahead_s: float) -> None:
        """Start watching. Must be called just before the load generator is started.

        `at_s`: the current time by the clock of the counters' timestamps.
        `clock_ahead_s`: the number of seconds by which the host's wall clock is ahead of that clock.
        """
        self.report.begun_at_s, self.report.clock_ahead_s = at_s, clock_ahead_s
        self._over_at_s = at_s + self._most_s
        self._begun = time.monotonic()
        if self._ending is not None:
            self._due = self._begun + _START_S + self._ending.ramp_s + self._ending.rule.min_s
        if self._publisher is not None or self._ending is not None:
            self._thread = threading.Thread(target=self._watch, name="live", daemon=True)
            self._thread.start()

    def _watch(self) -> None:
        while not self._stop.wait(self._pause_s()):
            self._end_if_stuck()
            publisher = self._publisher if self._publisher is not None and self._publisher.is_heard() else None
            if publisher is None and not self._is_due:
                continue
            before = self._last_status
            # If the host cannot be reached now, the thread that waits for the load generator reports it.
            with contextlib.suppress(PoolproofError):
                self.report.read_on()
                if publisher is not None:
                    rate = _rate(before, self._last_status)
                    publisher.tell(LiveRates(time.monotonic() - self._begun, rate, _leaf_rate(self._sampler)))
                if self._is_due:
                    self._end_if_precise()

    @property
    def _last_status(self) -> Status | None:
        return self.report.statuses[-1] if self.report.statuses else None

    @property
    def _is_due(self) -> bool:
        """True if the stopping rule should be applied now."""
        return self._ending is not None and self.decision is None and time.monotonic() >= self._due

    def _pause_s(self) -> float:
        pauses = [] if self._publisher is None else [_EVERY_S]
        if self._ending is not None and self.decision is None:
            pauses.append(max(_SHORTEST_PAUSE_S, self._due - time.monotonic()))
        return min(pauses, default=_EVERY_S)

    def _end_if_stuck(self) -> None:
        sampler, report = self._sampler, self.report
        # The reports are read only if the samples show no progress, because reading them takes a command.
        if self.stuck is not None or not makes_no_progress(sampler.readings, len(sampler.leaves), (), self._over_at_s):
            return
        with contextlib.suppress(PoolproofError):
            report.read_on()
            if makes_no_progress(sampler.readings, len(sampler.leaves), report.statuses, self._over_at_s):
                self.stuck = self._generator.kill(self._host, self._scratch)

    def _end_if_precise(self) -> None:
        if self._ending is None:
            return
        decision = self._ending.judge_report(self.report)
        if decision.done:
            self._generator.interrupt(self._host, self._scratch)
            self.decision = decision
            if math.isfinite(self._over_at_s):
                self._over_at_s = min(self._over_at_s, self.report.begun_at_s + time.monotonic() - self._begun)
        elif decision.next_s is not None:
            ran_s = self._last_status.ran_s if self._last_status else 0.0
            self._due = time.monotonic() + decision.next_s - ran_s


def _rate(before: Status | None, now: Status | None) -> float | None:
    if before is None or now is None or now.at_s <= before.at_s or now.moved_bytes < before.moved_bytes:
        return None
    return (now.moved_bytes - before.moved_bytes) / (now.at_s - before.at_s)


def _leaf_rate(sampler: Sampler) -> float:
    """Return the rate of all leaf devices together over the last second, in bytes per second, or 0 if unknown."""
    readings = list(sampler.readings)
    if len(readings) < 2:
        return 0.0
    last = readings[-1]
    first = next((reading for reading in reversed(readings) if last.at_s - reading.at_s >= _EVERY_S), readings[0])
    leaves = len(sampler.leaves)
    moved = sum(
        b.read_bytes + b.write_bytes - a.read_bytes - a.write_bytes
        for a, b in zip(first.counters[:leaves], last.counters[:leaves], strict=True)
    )
    return moved / (last.at_s - first.at_s) if last.at_s > first.at_s else 0.0
