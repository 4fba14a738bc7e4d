"""Variances of few samples: what other samples say about them, and the degrees of freedom of their sums.

Two samples say almost nothing about their own variance (t is 12.7). But groups of samples that were taken under similar
conditions have similar variances. Smyth (2004, Statistical Applications in Genetics and Molecular Biology 3, 3) treats
the variances of many small groups as draws from one scaled inverse χ² distribution, fits it by the moments of their
logarithms, and gives each group the weighted mean of its own variance and the typical one, with the degrees of freedom
of both: the moderated t. If the groups differ widely, the fit gives few degrees of freedom, and each group is on its
own.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from poolproof.statistics.distributions import digamma, f_upper_tail, trigamma, trigamma_inverse

LEAST_GROUPS = 8
"""The least number of groups with two or more samples that a prior is fitted to."""
MOST_FREEDOM = 30.0
LEAST_DEVIATION = 1e-4
_SIGNIFICANCE = 0.01

Shares = Sequence[tuple[float, float]]
"""Variances of means, each with its degrees of freedom."""


@dataclass(frozen=True)
class VariancePrior:
    """The typical standard deviation within a group, relative to its mean, and the degrees of freedom of that."""

    deviation: float
    freedom: float

    def is_exceeded(self, variance: float, freedom: float) -> bool:
        """True if a relative variance is larger than chance explains (an F-test at 1 %)."""
        ratio = variance / self.deviation**2
        return freedom > 0 and f_upper_tail(ratio, freedom, self.freedom) < _SIGNIFICANCE

    def pooled(self, variance: float, freedom: float, mean: float = 1.0) -> float:
        """Return the mean of a group's variance and the typical one, weighted by their degrees of freedom.

        `mean` is the group's mean; 1 if `variance` is relative to it.
        """
        typical = (self.deviation * mean) ** 2
        return (freedom * variance + self.freedom * typical) / (freedom + self.freedom)


def fit_prior(groups: Iterable[Sequence[float]], least: float = LEAST_DEVIATION) -> VariancePrior | None:
    """Return the typical variance of the groups with two or more samples; None if there are fewer than eight of them.

    `least` is the smallest relative deviation that is believed: samples in the same bin of a histogram look equal.
    """
    samples = [_relative_variance(group, least) for group in groups if len(group) > 1 and math.fsum(group) > 0]
    if len(samples) < LEAST_GROUPS:
        return None
    logs = [math.log(variance) - digamma(freedom / 2) + math.log(freedom / 2) for variance, freedom in samples]
    centre = math.fsum(logs) / len(logs)
    scatter = math.fsum((value - centre) ** 2 for value in logs) / (len(logs) - 1)
    own = math.fsum(trigamma(freedom / 2) for _, freedom in samples) / len(samples)
    freedom = MOST_FREEDOM if scatter <= own else min(MOST_FREEDOM, 2 * trigamma_inverse(scatter - own))
    return VariancePrior(math.exp((centre + digamma(freedom / 2) - math.log(freedom / 2)) / 2), freedom)


def _relative_variance(group: Sequence[float], least: float) -> tuple[float, int]:
    """Return the variance relative to the squared mean, and its degrees of freedom."""
    mean = math.fsum(group) / len(group)
    return max(variance_of([value / mean for value in group]), least**2), len(group) - 1


def variance_of(values: Sequence[float]) -> float:
    """Return the sample variance; 0 for a single value."""
    mean = math.fsum(values) / len(values)
    return math.fsum((value - mean) ** 2 for value in values) / max(1, len(values) - 1)


def moderated(variance: float, freedom: float, prior: VariancePrior | None) -> tuple[float, float]:
    """Return a relative variance combined with the prior, and its degrees of freedom.

    A variance larger than that of other groups is returned unchanged (an F-test at 1 %).
    """
    if prior is None or prior.is_exceeded(variance, freedom):
        return variance, freedom
    return prior.pooled(variance, freedom), freedom + prior.freedom


def welch_freedom(one: Shares, other: Shares = ()) -> float:
    """Return the degrees of freedom of a sum of variances: Satterthwaite (1946), Biometrics Bulletin 2, 110.

    The result is rounded down. It is 1 if either of two sides has fewer than two degrees of freedom, as from two
    samples: the formula alone would give a 95 % interval that covers the truth 89 times in 100 for 2 samples against 5,
    and 94 to 95 times for 3 against 3 or more.
    """
    if one and other and min(_satterthwaite(one), _satterthwaite(other)) < 2:
        return 1
    return max(1, math.floor(_satterthwaite((*one, *other)) + 1e-9))


def _satterthwaite(shares: Shares) -> float:
    total = math.fsum(share for share, _ in shares)
    if not total:
        return min(freedom for _, freedom in shares)
    return 1 / math.fsum((share / total) ** 2 / freedom for share, freedom in shares if share)
