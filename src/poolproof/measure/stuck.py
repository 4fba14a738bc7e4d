"""A fio that hangs: its time is over, nothing moves at any disk, and it does not end.

It happens: of some two thousand trials of a grid in a lab one fio was still there five minutes later. Why is not known;
fio has had deadlocks between the thread that writes its statuses and its jobs (axboe/fio, pull requests 2076 and 2137),
and OpenZFS may wait for memory for ever. So it is ended, and what it waited for is kept.
"""

from collections.abc import Sequence

from poolproof.errors import FioError
from poolproof.evidence.sampler import CounterReading, reading_at
from poolproof.rules.model import Finding
from poolproof.units import format_duration

STILL_S = 60.0
"""A disk that is busy with something moves a byte in that time, also one whose cache is being emptied."""


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
        """For the trial that was made in its place."""
        return Finding("work-done", "notes", f"this is the second try: in the first, {self.message}", self.hint)


def stand_still(readings: Sequence[CounterReading], leaves: int, since_s: float) -> bool:
    """Whether not a byte moved at the leaves for STILL_S up to the last reading, all of them after `since_s`.

    `since_s`: by the clock of the readings. The leaves' counters are the first of each reading; of none nothing is
    known.
    """
    if not leaves or not readings or readings[-1].at_s - since_s < STILL_S:
        return False
    last = readings[-1]
    return _moved(last, leaves) == _moved(reading_at(readings, last.at_s - STILL_S), leaves)


def _moved(reading: CounterReading, leaves: int) -> list[tuple[float, float]]:
    return [(each.read_bytes, each.write_bytes) for each in reading.counters[:leaves]]
