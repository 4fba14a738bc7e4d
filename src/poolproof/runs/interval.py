"""An interval for the mean of a few trials: Student's t, the trials as units."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from poolproof.stopping.freedom import welch_freedom
from poolproof.student import quantile

CONFIDENCE = 0.95


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


def mean_interval(values: Sequence[float]) -> Interval | None:
    """The mean of the values and its 95 % interval, never below 0; None for no values."""
    if not values:
        return None
    mean = math.fsum(values) / len(values)
    if len(values) == 1:
        return Interval(mean)
    variance = math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)
    half = t_factor(len(values) - 1) * math.sqrt(variance / len(values))
    return Interval(mean, max(0.0, mean - half), mean + half)


def ratio_interval(values: Sequence[float], base: Sequence[float], resolution: float = 0.0) -> Interval | None:
    """The ratio of two means and its 95 % interval, by Welch's t-test on logarithms; None where either is empty or 0.

    `resolution` is the least standard error that a mean can have, relative: that of the bin in which a percentile lies.
    On logarithms a ratio is a difference, and the interval can't cross 0. Source: Welch (1947), Biometrika 34, 28-35.
    """
    if not values or not base or min(*values, *base) <= 0:
        return None
    upper, lower = [math.log(value) for value in values], [math.log(value) for value in base]
    difference = math.fsum(upper) / len(upper) - math.fsum(lower) / len(lower)
    if len(values) < 2 or len(base) < 2:
        return Interval(math.exp(difference))
    shares = [(max(_variance(side) / len(side), resolution**2), len(side) - 1) for side in (upper, lower)]
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
    return math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)
