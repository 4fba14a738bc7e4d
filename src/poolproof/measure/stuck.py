"""A fio that hangs: its time is over, no disk moves a byte, and it does not end.

In a grid of some two thousand trials in a lab, one fio was still running five minutes after its time. The cause is not
known. fio has had deadlocks between the thread that writes its statuses and its jobs (axboe/fio, pull requests 2076 and
2137), and OpenZFS may wait for memory forever. poolproof kills such a fio and reports what its threads waited for.
"""

from collections.abc import Sequence

from poolproof.errors import FioError
from poolproof.evidence.sampler import CounterReading, reading_at
from poolproof.rules.model import Finding
from poolproof.units import format_duration

STILL_S = 60.0
"""A busy disk moves at least one byte in this time, even while its cache is being flushed."""


class FioStuck(FioError):
    """fio hung and was killed."""

    def __init__(self, waits: Sequence[str]) -> None:
        where = ", ".join(dict.fromkeys(waits)) or "nothing that the kernel names"
        super().__init__(
            f"fio's time was over, nothing moved at any disk for {format_duration(STILL_S)}, and it did not end: "
            f"it was killed; its threads waited in {where}",
            "look for a hung file system in dmesg; fio itself may hang at its end, too: a newer one may help",
        )

    @property
    def note(self) -> Finding:
        """The finding for the trial that replaced this one."""
        return Finding("work-done", "notes", f"this is the second try: in the first, {self.message}", self.hint)


def stand_still(readings: Sequence[CounterReading], leaves: int, since_s: float) -> bool:
    """True if no leaf device moved a byte in the STILL_S before the last reading, and that time is after `since_s`.

    `since_s` is by the clock of the readings. The first counters of each reading are those of the leaf devices. Without
    leaf devices the result is False.
    """
    if not leaves or not readings or readings[-1].at_s - since_s < STILL_S:
        return False
    last = readings[-1]
    return _moved(last, leaves) == _moved(reading_at(readings, last.at_s - STILL_S), leaves)


def _moved(reading: CounterReading, leaves: int) -> list[tuple[float, float]]:
    return [(each.read_bytes, each.write_bytes) for each in reading.counters[:leaves]]
