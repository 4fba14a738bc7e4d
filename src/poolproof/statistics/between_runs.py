"""The between-run variance: how much a cell's results differ between runs of the same campaign.

The trials of a run usually share the day, the build and the place on the disk, so they cannot show how much these
factors matter. Only other runs can. Every run yields one sample per cell: the mean logarithm of the cell's values. The
variance of these samples is the sum of the between-run variance and the within-run variance. It is estimated like the
variance between trials, with a prior from all cells if there are at least eight. The within-run variance is then
subtracted, because intervals and tests include it anyway.

With fewer cells, it is unknown how much their variances differ. In this case, the pooled variance of all other cells,
s0², counts as a sample variance with d0 degrees of freedom. It is combined with the cell's own variance s², which has d
degrees of freedom:

    variance = (d0 s0² + d s²) / (d0 + d), with d0 + d degrees of freedom
    trigamma(d0 / 2) = trigamma(n / 2) + U²

The left side of the second equation is the variance of the logarithm of a sample variance with d0 degrees of freedom.
The right side adds its two causes: the n degrees of freedom of the other cells, and the differences between cells. U is
the assumed standard deviation of the logarithm of a cell's variance, 0.7. With U = 0, all cells would be assumed to
vary equally, so the interval of a cell that varies more would be too narrow. If a cell varies significantly more than
the others, only its own variance is used.

The result is the distribution of the true variance, given such a sample variance. Intervals and tests therefore need no
special rule for few degrees of freedom.
"""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from poolproof.statistics.comparison import Difference, LogMean, ratio_of
from poolproof.statistics.distributions import f_upper_tail, trigamma, trigamma_inverse
from poolproof.statistics.shared_variance import (
    CERTAIN,
    Points,
    VariancePrior,
    fit_prior,
    scaled,
    summed,
    variance_of,
)

LEAST_FREEDOM = 3
"""The minimum degrees of freedom for using a between-run variance without a prior."""
_SIGNIFICANCE = 0.01
_UNEQUAL = 0.7
"""U: the assumed standard deviation of the logarithm of a cell's variance.

For the logarithm of the standard deviation, it is half as large, 0.35, which corresponds to a factor of 1.4.
"""

Key = TypeVar("Key", bound=Hashable)

_NODES, _TAIL = 24, 9.0
"""The number of points that represent a distribution, and the exponent at which its tails are cut off.

Points with a weight below e^−9 of the largest weight are left out.
"""


@dataclass(frozen=True)
class _Spread:
    """The sample variance of a cell over several runs.

    `freedom`: the degrees of freedom of the variance.
    `inside`: the mean within-run variance.
    """

    variance: float
    freedom: float
    inside: float

    def with_other(self, other: "_Spread", sign: int = 1) -> "_Spread":
        """Return the mean of this variance and another one, weighted by their degrees of freedom.

        With a `sign` of −1, the other variance is removed from this one, which already contains it.
        """
        one, two = self.freedom, sign * other.freedom
        if one + two <= 0:
            return _NONE
        variance = (one * self.variance + two * other.variance) / (one + two)
        inside = (one * self.inside + two * other.inside) / (one + two)
        return _Spread(max(0.0, variance), one + two, max(0.0, inside))

    @property
    def of_another(self) -> "_Spread":
        """Return this variance as an estimate for a different cell.

        The estimate has fewer degrees of freedom, because cells differ in their variance.
        """
        scatter = trigamma(self.freedom / 2) + _UNEQUAL**2
        return replace(self, freedom=2 * trigamma_inverse(scatter))

    @property
    def distribution(self) -> Points:
        """Return the distribution of the true variance, which is a scaled inverse chi-square distribution."""
        if not self.variance:
            return CERTAIN
        half = self.freedom / 2
        lowest, highest = -math.log1p(_TAIL / half), _TAIL / half + math.sqrt(2 * _TAIL / half)
        step = (highest - lowest) / (_NODES - 1)
        logs = [lowest + step * at for at in range(_NODES)]
        weights = [math.exp(half * (1 - log - math.exp(-log))) for log in logs]
        total = math.fsum(weights)
        return tuple((self.variance * math.exp(log), weight / total) for log, weight in zip(logs, weights, strict=True))


_NONE = _Spread(0.0, 0, 0.0)


@dataclass(frozen=True)
class BetweenRuns(Generic[Key]):
    """The between-run variance of each cell, estimated from several runs."""

    _cells: Mapping[Key, _Spread]
    _prior: VariancePrior | None
    _pooled: _Spread | None

    @property
    def is_known(self) -> bool:
        """True if any cell's between-run variance is known."""
        return self._prior is not None or self._pooled is not None

    def widened(self, key: Key, mean: LogMean) -> LogMean:
        """Return a run's mean with the between-run variance added to its error.

        If its own variance or the between-run variance is unknown, the mean is returned unchanged.
        """
        return self.added(mean, key, mean, 1.0)

    def added(self, total: LogMean, key: Key, mean: LogMean, weight: float) -> LogMean:
        """Return `total` with the between-run variance of a cell, multiplied by `weight`, added to its error.

        `mean`: the cell's mean, to which `total` gives this weight.

        Between runs, all cells of a layout may change in the same way, for example because its files are in another
        place on the disk. For this reason, the factor is not the square of the weight (see `mixture`).
        """
        if total.parts is None:
            return total
        return replace(total, known=summed(total.known, scaled(self._between(key, inside_of(mean)), weight)))

    def between_two(self, key: Key, apart: Difference) -> Difference:
        """Return the difference between two runs of a cell, with the between-run variance added for both runs.

        If its own variance or the between-run variance is unknown, the difference is returned unchanged.
        """
        if apart.error is None:
            return apart
        return replace(apart, known=summed(apart.known, scaled(self._between(key, 0.0), 2)))

    def _between(self, key: Key, inside: float) -> Points:
        """Return the distribution of a cell's between-run variance.

        `inside`: the within-run variance, which is subtracted from the estimate if fewer than two runs measured the
        cell.
        """
        own = self._cells.get(key) or _Spread(0.0, 0, inside)
        if self._prior is not None and not self._prior.is_exceeded(own.variance, own.freedom):
            totals = self._prior.posterior(own.variance, own.freedom)
            return tuple((max(0.0, total - own.inside), weight) for total, weight in totals)
        if self._pooled is None:
            return CERTAIN
        spread, others = own, self._pooled.with_other(own, -1)
        if others.freedom:
            others = others.of_another
            if own.freedom < LEAST_FREEDOM or not _exceeds(own, others):
                spread = others.with_other(own)
        return tuple((max(0.0, total - spread.inside), weight) for total, weight in spread.distribution)


def between_runs(samples: Mapping[Key, Sequence[LogMean]]) -> BetweenRuns[Key]:
    """Estimate the between-run variance of each cell.

    `samples`: the cell's means, one per run. All runs must have been measured in the same way.
    """
    found = {key: _spread(means) for key, means in samples.items() if len(means) > 1}
    groups = ([ratio_of(each.mean - means[0].mean) for each in means] for means in samples.values())
    freedom = sum(each.freedom for each in found.values())
    pooled = None
    if freedom >= LEAST_FREEDOM:
        variance = math.fsum(each.freedom * each.variance for each in found.values()) / freedom
        inside = math.fsum(each.freedom * each.inside for each in found.values()) / freedom
        pooled = _Spread(variance, freedom, inside)
    return BetweenRuns(found, fit_prior(groups), pooled)


def inside_of(mean: LogMean) -> float:
    """Return the expected within-run variance of a run's mean, estimated from its own trials and the prior."""
    known = math.fsum(variance * weight for variance, weight in mean.known)
    return known + math.fsum(variance for variance, _ in mean.parts or ())


def _exceeds(own: _Spread, others: _Spread) -> bool:
    """True if a cell's variance significantly exceeds that of the other cells (F-test, 1% level)."""
    ratio = own.variance / others.variance if others.variance else math.inf
    return f_upper_tail(ratio, own.freedom, others.freedom) < _SIGNIFICANCE


def _spread(means: Sequence[LogMean]) -> _Spread:
    inside = math.fsum(map(inside_of, means)) / len(means)
    return _Spread(variance_of([each.mean for each in means]), len(means) - 1, inside)
