"""Confidence intervals for means of few samples.

Two samples say almost nothing about their variance (t is 12.7). However, groups of samples taken under similar
conditions have similar variances, which a `VariancePrior` describes. A group's interval is based on the distribution of
its variance, given the prior and its own samples. With a prior, even a single sample can have an interval, unless the
groups differ too widely in their variance.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from poolproof.statistics.shared_variance import CERTAIN, MeanError, VariancePrior, has_interval, scaled, variance_of

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Interval:
    """A mean and its confidence interval. `low` and `high` are None if the mean has no interval.

    The confidence level is 95%, or the one requested by the campaign's `until`.
    """

    mean: float
    low: float | None = None
    high: float | None = None

    @classmethod
    def around(cls, mean: float, half: float | None) -> "Interval":
        """Return the interval `mean` ± `half`, or a mean without an interval if `half` is None.

        The lower bound is at least 0, because no metric is negative.
        """
        return cls(mean) if half is None else cls(mean, max(0.0, mean - half), mean + half)

    @property
    def half_width(self) -> float | None:
        """Return the half width of the interval, or None if the mean has no interval."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2


def standard_error(values: Sequence[float]) -> float:
    """Return the standard error of the mean of two or more independent values, without a prior."""
    return math.sqrt(variance_of(values) / len(values))


def error_of_mean(
    variance: float, count: int, prior: VariancePrior | None, *, within: float = 0.0, least: float = 0.0
) -> MeanError:
    """Return the error distribution of a mean of `count` samples.

    `variance`: the relative sample variance.
    `within`: the relative standard error of each sample, if known. It limits the precision of samples that agree by
    chance.
    `least`: a lower bound on the relative standard error of the mean, given by the resolution of the measurement.

    If the samples' variance significantly exceeds the prior (F-test, 1% level), the prior is not used.
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
    """Return the mean of the values with its confidence interval, cut off at 0, or None if there are no values.

    `resolution`: a lower bound on the relative standard error of the mean, because load generators count whole I/Os and
    sort latencies into bins.
    `risk`: the probability that the interval misses the true mean.
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
