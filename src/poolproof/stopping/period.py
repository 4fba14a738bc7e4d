"""Does a series repeat: a transaction group every five seconds, a flush every thirty?

A period shows as a peak of the autocorrelation behind its first trough. A window that cuts a period has a mean that
depends on where it was cut; so only whole ones are used, and it must hold three for the mean to be known.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from operator import mul

from poolproof.stopping.autoregression import joined
from poolproof.stopping.model import Reason

_BINS = 200
_HIGH = 0.5
_LOW = 0.2
_DEVIATIONS = 3.2
LEAST_PERIODS = 3


@dataclass(frozen=True)
class Period:
    """A period in samples, and the part of a mean that a cut period moves."""

    samples: int
    weight: float

    def reason(self, interval_s: float, count: int) -> Reason:
        """Why the mean of a window that holds fewer than three periods is not known."""
        period_s, seen_s = self.samples * interval_s, count * interval_s
        sentence = f"it repeats every {period_s:.3g} s, and {seen_s:.3g} s hold less than {LEAST_PERIODS} periods"
        return Reason("periodic", sentence, {"period_s": period_s, "seen_s": seen_s})


def period(values: Sequence[float], until: float) -> Period | None:
    """The period of a series that would move its mean by more than a third of the tolerance; None without one."""
    size = max(1, len(values) // _BINS)
    bins = joined(values, size)
    mean = math.fsum(bins) / len(bins)
    centred = [value - mean for value in bins]
    variance = sum(map(mul, centred, centred)) / len(bins)
    if variance <= 0 or math.sqrt(variance) <= until * mean / 3:
        return None
    found = _peak([_correlation(centred, lag, variance) for lag in range(len(bins) // 2 + 1)], len(bins))
    if found is None or not _comes_again(centred, found, variance):
        return None
    weight = math.sqrt(variance) * found / len(bins) / mean
    return Period(found * size, weight) if weight > until / 3 else None


def whole_periods(values: Sequence[float], found: Period) -> Sequence[float]:
    """The last whole periods of a series."""
    return values[len(values) % found.samples :]


def without_period(values: Sequence[float], found: Period) -> list[float]:
    """A series of whole periods without what repeats, its mean kept."""
    mean = math.fsum(values) / len(values)
    count = len(values) // found.samples
    profile = [math.fsum(values[phase :: found.samples]) / count - mean for phase in range(found.samples)]
    return [value - profile[at % found.samples] for at, value in enumerate(values)]


def _correlation(centred: Sequence[float], lag: int, variance: float) -> float:
    return math.fsum(map(mul, centred, centred[lag:])) / (len(centred) - lag) / variance


def _comes_again(centred: Sequence[float], lag: int, variance: float) -> bool:
    """Whether two periods on, where the series is long enough, it is alike too: two bursts alone are no period."""
    if LEAST_PERIODS * lag > len(centred):
        return True
    return max(_correlation(centred, at, variance) for at in (2 * lag - 1, 2 * lag, 2 * lag + 1)) > _HIGH / 2


def _peak(correlations: Sequence[float], count: int) -> int | None:
    """The lag of the highest peak behind the first trough, where it is no chance."""
    trough = next((lag for lag, height in enumerate(correlations) if height < _LOW), None)
    if trough is None or trough >= len(correlations) - 1:
        return None
    lag = max(range(trough, len(correlations) - 1), key=lambda at: correlations[at])
    height = correlations[lag]
    is_top = height >= correlations[lag + 1] and height >= correlations[lag - 1]
    is_sure = height > max(_HIGH, _DEVIATIONS / math.sqrt(count - lag))
    return lag if is_top and is_sure else None
