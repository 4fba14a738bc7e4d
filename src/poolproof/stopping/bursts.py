"""Bursts and stalls that weigh: how many were seen, for a mean that rests on a few of them is luck.

A sample is part of one where it is six robust deviations (1.4826 times the median absolute deviation: Hampel 1974, JASA
69, 383-393) and a quarter of the median away from the median: the cache of a disk that fills once, a flush of dirty
memory, one long stall. Of k of them their number is known to 1/√k; few make no mean, and with more the interval of the
mean has half their number as degrees of freedom.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from poolproof.stopping.model import Reason

_DEVIATIONS = 6 * 1.4826
_SHARE_OF_MEDIAN = 0.25
_MOST_OF_TIME = 0.25
_GAPS = 100
_LEVEL = 1 / 3
_LEVEL_BEGINS = 3
_LEVEL_BEGINS_SHARE = 0.1


@dataclass(frozen=True)
class Bursts:
    """How many came, how many samples they took in all, and by what share they move the mean."""

    episodes: int
    samples: int
    moved: float

    def reason(self, interval_s: float, enough: int) -> Reason:
        """Why too few of them do not make a mean."""
        name = ("burst" if self.moved > 0 else "stall") + ("s" if self.episodes > 1 else "")
        seconds = self.samples * interval_s
        sentence = f"{self.episodes} {name} of {seconds:.2g} s in all move the mean by {abs(self.moved):.1%}"
        figures = {"episodes": self.episodes, "enough": enough, "seconds": seconds, "moved": self.moved}
        return Reason("burst", f"{sentence}; it takes {enough} to know how often they come", figures)


def bursts(values: Sequence[float], start: int, until: float) -> Bursts | None:
    """The bursts or stalls of a series that move its mean by more than half the tolerance; None without such.

    The first `start` samples were cut off as warm-up; a burst that began with the series is part of that.
    """
    mean = math.fsum(values) / len(values)
    median = statistics.median(values[start:])
    spread = statistics.median([abs(value - median) for value in values[start:]])
    limit = max(_DEVIATIONS * spread, _SHARE_OF_MEDIAN * abs(median))
    far = [at for at, value in enumerate(values) if abs(value - median) > limit]
    counted = _first_counted(far, start)
    far = [at for at in far if at >= counted]
    moved = math.fsum(values[at] - median for at in far) / (len(values) * mean)
    if not far or len(far) > _MOST_OF_TIME * len(values) or abs(moved) <= until / 2:
        return None
    return Bursts(_episodes(far, max(2, len(values) // _GAPS)), len(far), moved)


def _first_counted(far: Sequence[int], start: int) -> int:
    """The first sample that may be a burst: `start` where the warm-up began far away, be it a level or a ramp."""
    before = [at for at in far if at < start]
    is_level = (
        bool(before) and len(before) >= _LEVEL * start and before[0] < max(_LEVEL_BEGINS, start * _LEVEL_BEGINS_SHARE)
    )
    is_ramp = before == list(range(len(before)))
    return start if is_level or is_ramp else 0


def _episodes(far: Sequence[int], gap: int) -> int:
    """How many runs of samples these are, those less than `gap` apart taken as one."""
    return sum(1 for before, at in zip([-gap - 1, *far], far, strict=False) if at - before > gap)
