"""Confidence intervals for the means of few samples.

Two samples say almost nothing about their variance (t is 12.7), but groups of samples that were taken under similar
conditions have similar variances. A `VariancePrior` describes the variances of all groups. The distribution of a
group's variance, given its own samples and the prior, determines its interval. Even a single sample can then have an
interval, unless the groups differ too widely.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from poolproof.statistics.shared_variance import CERTAIN, MeanError, VariancePrior, has_interval, scaled, variance_of

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Interval:
    """A mean and its confidence interval: 95 %, or the confidence that the campaign's `until` requests.

    `low` and `high` are None if there is no interval.
    """

    mean: float
    low: float | None = None
    high: float | None = None

    @classmethod
    def around(cls, mean: float, half: float | None) -> "Interval":
        """Return the interval from `mean` - `half` to `mean` + `half`. If `half` is None, there is no interval.

        The interval is cut off at 0, because no metric is negative.
        """
        return cls(mean) if half is None else cls(mean, max(0.0, mean - half), mean + half)

    @property
    def half_width(self) -> float | None:
        """Return half the width of the interval, or None if there is no interval."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2


def standard_error(values: Sequence[float]) -> float:
    """Return the standard error of the mean of at least two independent values, without a prior."""
    return math.sqrt(variance_of(values) / len(values))


def error_of_mean(
    variance: float, count: int, prior: VariancePrior | None, *, within: float = 0.0, least: float = 0.0
) -> MeanError:
    """Return the error distribution of a mean. `variance` is the relative sample variance of its `count` samples.

    `within` is the relative standard error of a single sample, if known. Samples that agree by chance are not treated
    as more precise than that. `least` is the smallest relative standard error of the mean that the resolution of the
    measurement allows. If the variance significantly exceeds the prior (F-test, 1 % level), the prior is not used.
    """
    freedom = count - 1
    if prior is None or prior.is_exceeded(variance, freedom):
        return MeanError(CERTAIN, max(max(variance, within**2) / count, least**2), freedom)
    floor = max(within**2 / count, least**2)
    return MeanError(scaled(prior.posterior(variance, freedom), 1 / count, floor))


def mean_interval(
    values: Sequence[float],
    prior: VariancePrior | None = None,
    resolution: float = 0.0,
    *,
    risk: float = 1 - CONFIDENCE,
) -> Interval | None:
    """Return the mean of the values and its interval, cut off at 0. None if there are no values.

    The interval misses the true mean with probability `risk`. The relative standard error of the mean is at least
    `resolution`, because rates count whole I/Os and fio sorts latencies into bins.
    """
    if not values:
        return None
    mean = math.fsum(values) / len(values)
    if not has_interval(len(values), prior):
        return Interval(mean)
    square = mean**2 or 1.0  # variances are relative to the mean
    least = resolution if mean else 0.0
    error = error_of_mean(variance_of(values) / square, len(values), prior, least=least)
    return Interval.around(mean, error.reach(risk / 2) * math.sqrt(square))
