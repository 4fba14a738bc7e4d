"""An interval for the mean of a few trials: Student's t, the trials as units.

`spread`: how much trials differ in the other cells of the run, where they are enough to tell: with it a few trials are
a moderated t, and one alone has an interval (`stopping/spread.py`).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from poolproof.statistics.students_t import quantile
from poolproof.stopping.freedom import welch_freedom
from poolproof.stopping.model import VariancePrior
from poolproof.stopping.spread import moderated

CONFIDENCE = 0.95
_LEAST_FREEDOM = 2.0
"""Of a spread, for one trial alone to have an interval."""


@dataclass(frozen=True)
class Interval:
    """A mean with its 95 % interval; `low` and `high` are None when one value alone is known."""

    mean: float
    low: float | None = None
    high: float | None = None

    @property
    def half_width(self) -> float | None:
        """Half the interval's width; None without an interval."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2


def mean_interval(values: Sequence[float], spread: VariancePrior | None = None) -> Interval | None:
    """The mean of the values and its 95 % interval, never below 0; None for no values."""
    if not values:
        return None
    mean = math.fsum(values) / len(values)
    if not tells(len(values), spread):
        return Interval(mean)
    square = mean**2 or 1.0  # variances are shared relative to the mean
    variance, freedom = moderated(_variance(values) / square, len(values) - 1, spread)
    half = t_factor(freedom) * math.sqrt(square * variance / len(values))
    return Interval(mean, max(0.0, mean - half), mean + half)


def tells(count: int, spread: VariancePrior | None) -> bool:
    """Whether so many trials have an interval."""
    return count > 1 or (spread is not None and spread.freedom >= _LEAST_FREEDOM)


def ratio_interval(
    values: Sequence[float],
    base: Sequence[float],
    resolution: float = 0.0,
    spreads: tuple[VariancePrior | None, VariancePrior | None] = (None, None),
) -> Interval | None:
    """The ratio of two means and its 95 % interval, by Welch's t-test on logarithms; None where either is empty or 0.

    `resolution` is the least standard error that a mean can have, relative: that of the bin in which a percentile lies.
    On logarithms a ratio is a difference, and the interval can't cross 0. Source: Welch (1947), Biometrika 34, 28-35.
    """
    if not values or not base or min(*values, *base) <= 0:
        return None
    upper, lower = [math.log(value) for value in values], [math.log(value) for value in base]
    difference = math.fsum(upper) / len(upper) - math.fsum(lower) / len(lower)
    sides = tuple(zip((upper, lower), spreads, strict=True))
    if not all(tells(len(side), spread) for side, spread in sides):
        return Interval(math.exp(difference))
    found = [(len(side), *moderated(_variance(side), len(side) - 1, spread)) for side, spread in sides]
    shares = [(max(variance / count, resolution**2), freedom) for count, variance, freedom in found]
    total = sum(share for share, _ in shares)
    if total == 0:
        return Interval(math.exp(difference), math.exp(difference), math.exp(difference))
    half = t_factor(welch_freedom(shares[:1], shares[1:])) * math.sqrt(total)
    return Interval(math.exp(difference), math.exp(difference - half), math.exp(difference + half))


def t_factor(freedom: float) -> float:
    """How many standard errors a two-sided 95 % interval reaches to each side."""
    return quantile((1 + CONFIDENCE) / 2, freedom)


def _variance(values: Sequence[float]) -> float:
    mean = math.fsum(values) / len(values)
    return math.fsum((value - mean) ** 2 for value in values) / max(1, len(values) - 1)
