"""While fio runs: its own rate beside the disks', told once a second if anybody hears; its end once it is known.

A fio that hangs is ended, too (`stuck.py`).
"""

import contextlib
import math
import threading
import time
from types import TracebackType

from poolproof.errors import PoolproofError
from poolproof.evidence.sampler import Sampler
from poolproof.hosts.base import Host
from poolproof.measure.ending import Ending
from poolproof.measure.events import LiveRates
from poolproof.measure.fio_report import FioReport
from poolproof.measure.fio_run import interrupt_fio, report_path
from poolproof.measure.rate_publisher import RatePublisher
from poolproof.measure.status import Status
from poolproof.measure.stuck import end_stuck, stand_still
from poolproof.stopping.model import StoppingDecision

_EVERY_S = 1.0
_JOIN_S = 70.0  # a look at the host may take as long as the time limit of one
_SHORTEST_PAUSE_S = 0.2
_START_S = 0.3


class Watch:
    """Watches a fio from a thread of its own, from `begins` until the context is left.

    `report` holds what fio said so far. `decision` is the one for which fio was ended, None as long as it was not.
    `stuck`: what a fio that hung waited for, which was killed then; None as long as none was. `most_s`: after so many
    seconds it should end by itself; None: it is not looked at whether it hangs.
    """

    def __init__(
        self,
        host: Host,
        scratch: str,
        sampler: Sampler,
        teller: RatePublisher | None = None,
        ending: Ending | None = None,
        most_s: float | None = None,
    ) -> None:
        self.decision: StoppingDecision | None = None
        self.stuck: tuple[str, ...] | None = None
        self._host, self._scratch, self._sampler = host, scratch, sampler
        self._teller, self._ending = teller, ending
        self.report = FioReport(host, report_path(scratch), 0.0)
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._begun = self._due = 0.0
        self._most_s = math.inf if most_s is None else most_s
        self._over_at_s = math.inf  # by the host's clock

    def __enter__(self) -> "Watch":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join(_JOIN_S)

    def begins(self, at_s: float) -> None:
        """fio is about to start; `at_s` is that moment by the host's clock."""
        self.report.begun_at_s = at_s
        self._over_at_s = at_s + self._most_s
        self._begun = time.monotonic()
        if self._ending is not None:
            self._due = self._begun + _START_S + self._ending.ramp_s + self._ending.rule.min_s
        if self._teller is not None or self._ending is not None:
            self._thread = threading.Thread(target=self._watch, name="live", daemon=True)
            self._thread.start()

    def _watch(self) -> None:
        while not self._stop.wait(self._pause_s()):
            self._end_if_stuck()
            heard = self._teller is not None and self._teller.is_heard()
            if not heard and not self._is_due:
                continue
            before = self.report.statuses[-1] if self.report.statuses else None
            # A host that can't be asked just now is a matter for the thread that waits for fio.
            with contextlib.suppress(PoolproofError):
                self.report.read_on()
                if heard:
                    self._tell_rates(before)
                if self._is_due:
                    self._end_if_known()

    @property
    def _is_due(self) -> bool:
        """Whether the rule is to be asked."""
        return self._ending is not None and self.decision is None and time.monotonic() >= self._due

    def _pause_s(self) -> float:
        pauses = [] if self._teller is None else [_EVERY_S]
        if self._ending is not None and self.decision is None:
            pauses.append(max(_SHORTEST_PAUSE_S, self._due - time.monotonic()))
        return min(pauses, default=_EVERY_S)

    def _tell_rates(self, before: Status | None) -> None:
        if self._teller is not None:
            now = self.report.statuses[-1] if self.report.statuses else None
            elapsed_s = time.monotonic() - self._begun
            self._teller.tell(LiveRates(elapsed_s, _rate(before, now), _leaf_rate(self._sampler)))

    def _end_if_stuck(self) -> None:
        sampler = self._sampler
        if self.stuck is None and stand_still(sampler.readings, len(sampler.leaves), self._over_at_s):
            with contextlib.suppress(PoolproofError):
                self.stuck = end_stuck(self._host, self._scratch)

    def _end_if_known(self) -> None:
        if self._ending is None:
            return
        decision = self._ending.judge_report(self.report)
        if decision.done:
            interrupt_fio(self._host, self._scratch)
            self.decision = decision
            if math.isfinite(self._over_at_s):
                self._over_at_s = min(self._over_at_s, self.report.begun_at_s + time.monotonic() - self._begun)
        elif decision.next_s is not None:
            ran_s = self.report.statuses[-1].ran_s if self.report.statuses else 0.0
            self._due = time.monotonic() + decision.next_s - ran_s


def _rate(before: Status | None, now: Status | None) -> float | None:
    if before is None or now is None or now.at_s <= before.at_s or now.moved_bytes < before.moved_bytes:
        return None
    return (now.moved_bytes - before.moved_bytes) / (now.at_s - before.at_s)


def _leaf_rate(sampler: Sampler) -> float:
    """Bytes per second of all leaves over the last second of samples."""
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
