"""The mean of a few trials on the logarithmic scale, and how surely two of them differ: Welch's t-test.

On logarithms a ratio is a difference, twice and half count alike, and a mix of workloads is a weighted mean. Source:
Welch (1947), Biometrika 34, 28-35.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from poolproof.campaign.model import LOWER_IS_BETTER, Metric
from poolproof.results.runs.extremes import Extremes
from poolproof.results.runs.interval import Interval, t_factor, tells
from poolproof.statistics.students_t import upper_tail
from poolproof.stopping.freedom import welch_freedom
from poolproof.stopping.model import VariancePrior
from poolproof.stopping.percentile import BIN_DEVIATION
from poolproof.stopping.spread import moderated

BIN_VARIANCE = BIN_DEVIATION**2
"""Variance, on logarithms, of a latency that is known to its bin only: the same bin in every trial proves no more."""


@dataclass(frozen=True)
class VarianceTerm:
    """The variance of one mean, with its degrees of freedom."""

    variance: float
    freedom: float


@dataclass(frozen=True)
class LogMean:
    """The mean logarithm of trials, turned so that more is better. `parts` is None where nothing tells how sure.

    `below` and `above`: how far the truth may lie from it besides, because a rate changes; no trial more narrows that.
    """

    mean: float
    parts: tuple[VarianceTerm, ...] | None
    below: float = 0.0
    above: float = 0.0

    def figure(self, metric: Metric) -> Interval:
        """The geometric mean of the trials in the metric's own unit, with its 95 % interval: what tests compare."""
        alone = difference(self, LogMean(0.0, ())).interval
        if metric not in LOWER_IS_BETTER:
            return alone
        low, high = (None if bound is None else 1 / bound for bound in (alone.high, alone.low))
        return Interval(1 / alone.mean, low, high)


def log_mean(values: Sequence[float], metric: Metric, spread: VariancePrior | None = None) -> LogMean | None:
    """The trials of one cell; None for no trials, and where one of them measured 0, which has no logarithm.

    `spread`: how much trials differ in the other cells of the run, where these are enough to tell.
    """
    if not values or min(values) <= 0:
        return None
    lower_is_better = metric in LOWER_IS_BETTER
    logs = [-math.log(value) if lower_is_better else math.log(value) for value in values]
    count, mean = len(logs), math.fsum(logs) / len(logs)
    if not tells(count, spread):
        return LogMean(mean, None)
    own = math.fsum((value - mean) ** 2 for value in logs) / max(1, count - 1)
    variance, freedom = moderated(own, count - 1, spread)
    return LogMean(mean, (VarianceTerm(max(variance / count, BIN_VARIANCE if lower_is_better else 0.0), freedom),))


def between(log: LogMean, metric: Metric, extremes: Extremes) -> LogMean:
    """The same mean, which may lie anywhere between these."""
    below, above = extremes.reach(log.mean, metric)
    return replace(log, below=below, above=above)


def mixture(means: Iterable[tuple[float, LogMean]]) -> LogMean:
    """The mean of several cells by their weights, which add up to 1: the logarithm of a geometric mean of speeds."""
    total, below, above, parts, known = 0.0, 0.0, 0.0, [], True
    for weight, each in means:
        total += weight * each.mean
        below += weight * each.below
        above += weight * each.above
        known = known and each.parts is not None
        parts += [VarianceTerm(weight**2 * part.variance, part.freedom) for part in each.parts or ()]
    return LogMean(total, tuple(parts) if known else None, below, above)


@dataclass(frozen=True)
class Difference:
    """How much better one mean is than another, on logarithms. `error` is None where there is no test.

    `below` and `above`: how far the truth may lie from it besides its error. Tests take the worse end of that.
    """

    log: float
    error: float | None
    freedom: float
    below: float = 0.0
    above: float = 0.0

    @property
    def interval(self) -> Interval:
        """How many times as fast, with its own 95 % interval: 2 is twice as fast, also for latencies."""
        if self.error is None:
            return Interval(math.exp(self.log))
        half = t_factor(self.freedom) * self.error if self.error else 0.0
        low, high = self.log - half - self.below, self.log + half + self.above
        return Interval(math.exp(self.log), math.exp(low), math.exp(high))

    def p_above(self, bound: float) -> float:
        """How likely so high a difference is where the truth is no more than `bound`: small means, it is above."""
        return self._tail(self.log - self.below - bound)

    def p_below(self, bound: float) -> float:
        """The same for a truth of `bound` or more: small means, it is below."""
        return self._tail(bound - self.log - self.above)

    def _tail(self, distance: float) -> float:
        assert self.error is not None, "no test without an error"
        if self.error == 0:  # rate-limited trials can agree to the last digit
            return 0.0 if distance > 0 else 1.0
        return upper_tail(distance / self.error, self.freedom)


def difference(one: LogMean, other: LogMean) -> Difference:
    """How much better `one` is than `other`; without a test where nothing tells how sure either is."""
    log = one.mean - other.mean
    if one.parts is None or other.parts is None:
        return Difference(log, None, 0.0)
    sides = [[(part.variance, part.freedom) for part in side] for side in (one.parts, other.parts)]
    total = math.fsum(variance for side in sides for variance, _ in side)
    freedom = welch_freedom(*sides) if total else 1
    return Difference(log, math.sqrt(total), freedom, one.below + other.above, one.above + other.below)
