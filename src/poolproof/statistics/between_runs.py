"""The variance between runs: how much the results of a cell differ from run to run of the same campaign.

The trials of a run share what differs between runs (the day, the build, the place on a disk), so they can't show it.
Each run gives one sample per cell, its mean logarithm. These samples vary by the variance between runs plus the error
inside each run. The variance of the samples is estimated like the variance between trials: with a prior from all cells
if there are at least eight, otherwise from all cells together, or from the cell alone if it varies significantly more.
The error inside the runs is then subtracted, because intervals and tests include it anyway.
"""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from poolproof.statistics.comparison import Difference, LogMean, ratio_of, welch_freedom
from poolproof.statistics.distributions import f_upper_tail
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
"""The fewest degrees of freedom for which a variance between runs is used without a prior."""
_SIGNIFICANCE = 0.01

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class _Spread:
    """The sample variance of a cell's runs, its degrees of freedom, and the mean variance inside the runs."""

    variance: float
    freedom: int
    inside: float


@dataclass(frozen=True)
class BetweenRuns(Generic[Key]):
    """The variance between runs of each cell, from samples of several runs."""

    _cells: Mapping[Key, _Spread]
    _prior: VariancePrior | None
    _pooled: _Spread | None

    @property
    def is_known(self) -> bool:
        """True if the variance between runs of some cell is known."""
        return self._prior is not None or self._pooled is not None

    def widened(self, key: Key, mean: LogMean) -> LogMean:
        """Return the mean of one run with the variance between runs added; unchanged if either variance is unknown."""
        if mean.parts is None:
            return mean
        known, estimated, freedom = self._between(key, inside_of(mean))
        parts = mean.parts
        if estimated:
            parts = (*parts, (estimated, freedom / 2))  # the means of other cells have the same estimate
        return replace(mean, known=summed(mean.known, known), parts=parts)

    def between_two(self, key: Key, apart: Difference) -> Difference:
        """Return the difference of a cell between two runs with twice the variance between runs added.

        It is unchanged if either variance is unknown.
        """
        if apart.error is None:
            return apart
        known, estimated, freedom = self._between(key, 0.0)
        error, least = apart.error, apart.freedom
        if estimated:
            shares = ((error**2, least),) if error else ()
            error, least = math.sqrt(error**2 + 2 * estimated), welch_freedom(shares, ((2 * estimated, freedom),))
        return replace(apart, known=summed(apart.known, scaled(known, 2)), error=error, freedom=least)

    def _between(self, key: Key, inside: float) -> tuple[Points, float, float]:
        """Return the variance between runs: its distribution or, without a prior, an estimate and its freedom.

        `inside` is subtracted for a cell that no other run has.
        """
        own = self._cells.get(key) or _Spread(0.0, 0, inside)
        if self._prior is not None and not self._prior.is_exceeded(own.variance, own.freedom):
            totals = self._prior.posterior(own.variance, own.freedom)
            return tuple((max(0.0, total - own.inside), weight) for total, weight in totals), 0.0, 1.0
        spread = self._pooled
        if own.freedom >= LEAST_FREEDOM and (spread is None or _exceeds(own, spread)):
            spread = own
        if spread is None:
            return CERTAIN, 0.0, 1.0
        return CERTAIN, max(0.0, spread.variance - spread.inside), float(max(1, spread.freedom))


def between_runs(samples: Mapping[Key, Sequence[LogMean]]) -> BetweenRuns[Key]:
    """Return the variance between runs. `samples` has a mean for each cell and each run, all measured alike."""
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
    """Return the expected variance of the mean of a run, as its own trials and the prior of its run show it."""
    known = math.fsum(variance * weight for variance, weight in mean.known)
    return known + math.fsum(variance for variance, _ in mean.parts or ())


def _exceeds(own: _Spread, pooled: _Spread) -> bool:
    """True if the variance of a cell is significantly larger than that of all cells together (an F-test at 1 %)."""
    ratio = own.variance / pooled.variance if pooled.variance else math.inf
    return f_upper_tail(ratio, own.freedom, pooled.freedom) < _SIGNIFICANCE


def _spread(means: Sequence[LogMean]) -> _Spread:
    inside = math.fsum(map(inside_of, means)) / len(means)
    return _Spread(variance_of([each.mean for each in means]), len(means) - 1, inside)
