"""Confidence intervals for the means of few samples, from Student's t and from the variance of other groups of samples.

Two samples say almost nothing about their variance (t is 12.7), but groups of samples that were taken under similar
conditions have similar variances. The moderated t (Smyth 2004, Statistical Applications in Genetics and Molecular
Biology 3, 3) fits a scaled inverse χ² distribution to the variances of all groups, by the moments of their logarithms.
The variance of each group is then replaced by a weighted mean of the group's variance and the typical variance, and
their degrees of freedom are added up. Even a single sample can then have an interval, unless the groups differ so
widely that the fit has too few degrees of freedom.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from poolproof.statistics.distributions import digamma, f_upper_tail, quantile, trigamma, trigamma_inverse

CONFIDENCE = 0.95
LEAST_GROUPS = 8
"""The minimum number of groups with two or more samples that is needed to fit a prior."""
MOST_FREEDOM = 30.0
LEAST_DEVIATION = 1e-4
_SIGNIFICANCE = 0.01
_LEAST_FREEDOM = 2.0  # of a prior that gives a single value an interval


@dataclass(frozen=True)
class Interval:
    """A mean and its confidence interval: 95 %, or the confidence that the campaign's `until` requests.

    `low` and `high` are None if there is no interval.
    """

    mean: float
    low: float | None = None
    high: float | None = None

    @property
    def half_width(self) -> float | None:
        """Return half the width of the interval; None without an interval."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2


@dataclass(frozen=True)
class VariancePrior:
    """The typical standard deviation within a group, relative to the group's mean, and its degrees of freedom."""

    deviation: float
    freedom: float

    def is_exceeded(self, variance: float, freedom: float) -> bool:
        """True if a relative variance is significantly larger than the typical variance (an F-test at 1 %)."""
        ratio = variance / self.deviation**2
        return freedom > 0 and f_upper_tail(ratio, freedom, self.freedom) < _SIGNIFICANCE

    def pooled(self, variance: float, freedom: float, mean: float = 1.0) -> float:
        """Return the mean of the group's variance and the typical variance, weighted by their degrees of freedom.

        `mean` is the group's mean. If `variance` is already relative to the mean, `mean` must be 1.
        """
        typical = (self.deviation * mean) ** 2
        return (freedom * variance + self.freedom * typical) / (freedom + self.freedom)


def fit_prior(groups: Iterable[Sequence[float]], least: float = LEAST_DEVIATION) -> VariancePrior | None:
    """Return the typical variance of groups with two or more samples; None if there are fewer than eight such groups.

    Groups whose samples are all 0 are ignored. Relative deviations below `least` count as `least`, because samples in
    the same histogram bin look equal.
    """
    used = [group for group in groups if len(group) > 1 and math.fsum(group) > 0]
    if len(used) < LEAST_GROUPS:
        return None
    freedoms = [len(group) - 1 for group in used]
    variances = [max(_relative_variance(group), least**2) for group in used]
    logs = [math.log(v) - digamma(f / 2) + math.log(f / 2) for v, f in zip(variances, freedoms, strict=True)]
    centre = math.fsum(logs) / len(logs)
    scatter = math.fsum((value - centre) ** 2 for value in logs) / (len(logs) - 1)
    own = math.fsum(trigamma(f / 2) for f in freedoms) / len(freedoms)
    freedom = MOST_FREEDOM if scatter <= own else min(MOST_FREEDOM, 2 * trigamma_inverse(scatter - own))
    return VariancePrior(math.exp((centre + digamma(freedom / 2) - math.log(freedom / 2)) / 2), freedom)


def _relative_variance(group: Sequence[float]) -> float:
    mean = math.fsum(group) / len(group)
    return variance_of([value / mean for value in group])


def variance_of(values: Sequence[float]) -> float:
    """Return the sample variance; 0 for a single value."""
    mean = math.fsum(values) / len(values)
    return math.fsum((value - mean) ** 2 for value in values) / max(1, len(values) - 1)


def moderated(variance: float, freedom: float, prior: VariancePrior | None) -> tuple[float, float]:
    """Return a relative variance combined with the prior, and its degrees of freedom.

    A variance that significantly exceeds the prior (an F-test at 1 %) is returned unchanged.
    """
    if prior is None or prior.is_exceeded(variance, freedom):
        return variance, freedom
    return prior.pooled(variance, freedom), freedom + prior.freedom


def mean_interval(values: Sequence[float], prior: VariancePrior | None = None) -> Interval | None:
    """Return the mean of the values and its 95 % interval, cut off at 0. None if there are no values."""
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
    """True if this many values have an interval: two or more values, or one if the prior is sufficiently reliable."""
    return count > 1 or (prior is not None and prior.freedom >= _LEAST_FREEDOM)


def t_factor(freedom: float) -> float:
    """Return half the width of a two-sided 95 % interval as a multiple of the standard error."""
    return quantile((1 + CONFIDENCE) / 2, freedom)
