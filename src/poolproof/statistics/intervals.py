"""95 % intervals of means and of ratios of means, by Student's t and Welch's t.

With a `VariancePrior` a few values get a moderated t, and even a single value has an interval.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from poolproof.statistics.distributions import quantile
from poolproof.statistics.variances import VariancePrior, moderated, variance_of

CONFIDENCE = 0.95
_LEAST_FREEDOM = 2.0
"""Degrees of freedom that a prior needs to give a single value an interval."""


@dataclass(frozen=True)
class Interval:
    """A mean with its 95 % interval. `low` and `high` are None if nothing says how precise it is."""

    mean: float
    low: float | None = None
    high: float | None = None

    @property
    def half_width(self) -> float | None:
        """Return half the width of the interval; None without an interval."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2


def mean_interval(values: Sequence[float], prior: VariancePrior | None = None) -> Interval | None:
    """Return the mean of the values and its 95 % interval, cut at 0; None for no values."""
    if not values:
        return None
    mean = math.fsum(values) / len(values)
    if not has_interval(len(values), prior):
        return Interval(mean)
    square = mean**2 or 1.0  # a prior is relative to the mean
    variance, freedom = moderated(variance_of(values) / square, len(values) - 1, prior)
    half = t_factor(freedom) * math.sqrt(square * variance / len(values))
    return Interval(mean, max(0.0, mean - half), mean + half)


def has_interval(count: int, prior: VariancePrior | None) -> bool:
    """True if this many values have an interval: two or more, or one with a prior that says enough."""
    return count > 1 or (prior is not None and prior.freedom >= _LEAST_FREEDOM)


def t_factor(freedom: float) -> float:
    """Return the half width of a two-sided 95 % interval, in standard errors."""
    return quantile((1 + CONFIDENCE) / 2, freedom)
