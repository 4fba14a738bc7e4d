"""Estimate the variance of each cell of a run with the help of all other cells.

Two or three trials say almost nothing about their variance, but cells measured under similar conditions have similar
variances. The logarithms of these variances are assumed to be normally distributed. The mean and variance of this
distribution, the prior, are estimated by moments from the sample variances of all cells. The prior's variance is
increased by its own standard error, because too narrow a prior would make confidence intervals too short, while too
wide a prior only makes them longer. Bayes' theorem then yields the distribution of each cell's own variance, over which
intervals and tests integrate.

A few cells may vary far more than all others, for example if btrfs raid1 reads from a hard disk in one trial and from
an SSD in the next. Such outliers are excluded from the prior (compare Phipson et al. 2016, Annals of Applied Statistics
10, 946). Otherwise, they would widen it so much that no difference between the other cells would be significant. For a
cell whose variance significantly exceeds the prior, the prior is not used.

This method replaces the moderated t (Smyth 2004, Statistical Applications in Genetics and Molecular Biology 3, 3),
which adds the prior's degrees of freedom to each cell's own. With it, the difference between two cells would count the
same prior twice. `python -m benchmarks.false_winners` measures the error rates of this method, and docs/compare.md also
has those of the moderated t.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from poolproof.statistics.distributions import (
    digamma,
    f_upper_tail,
    pentagamma,
    quantile,
    trigamma,
    trigamma_inverse,
    upper_tail,
)

LEAST_GROUPS = 8
"""The minimum number of groups with two or more samples for fitting a prior."""
MOST_FREEDOM = 30.0
LEAST_DEVIATION = 1e-4
LEAST_SCATTER = math.sqrt(0.05)
_SIGNIFICANCE = 0.01
_WIDEST_SCATTER = math.sqrt(trigamma(1.0))  # with a wider prior, a single value has no interval
_OUTLIERS = 8  # at most one in 8 groups is an outlier
_MOST_OUTLIERS = 16
_CERTAIN_FREEDOM = 1e6  # with so many denominator degrees of freedom, F is distributed like χ² / d
_REACH = 4.5
_NODES_PER_DEVIATION = 1.25
_LEAST_NODES = 16
_LEAST_WEIGHT = 1e-12
_MOST_POINTS = 32
_LEAST_LOG = -600.0

Points = tuple[tuple[float, float], ...]
"""A discrete distribution of a variance, as pairs of a variance and its probability."""

CERTAIN: Points = ((0.0, 1.0),)
"""The distribution of a variance that is known to be 0."""


@dataclass(frozen=True)
class VariancePrior:
    """The distribution of the variance within groups of samples, relative to the square of each group's mean.

    `deviation`: the typical relative standard deviation.
    `scatter`: the standard deviation of the logarithm of the variance. With 0.7, most variances are within a factor of
    4 of the typical one.
    `has_outliers`: True if some groups were excluded because they vary far more than the others.
    """

    deviation: float
    scatter: float
    has_outliers: bool = False

    @property
    def freedom(self) -> float:
        """Return the degrees of freedom of a sample variance with this scatter, but at most `MOST_FREEDOM`."""
        return min(MOST_FREEDOM, 2 * trigamma_inverse(self.scatter**2))

    def is_exceeded(self, variance: float, freedom: float) -> bool:
        """True if a relative variance significantly exceeds the typical one (F-test, 1% level)."""
        ratio = variance / self.deviation**2
        return freedom > 0 and f_upper_tail(ratio, freedom, self.freedom) < _SIGNIFICANCE

    def tail(self, variance: float, freedom: float) -> float:
        """Return the probability that the sample variance of a group is at least `variance`."""
        points = self.posterior(0.0, 0.0)
        return sum(weight * f_upper_tail(variance / value, freedom, _CERTAIN_FREEDOM) for value, weight in points)

    def posterior(self, variance: float, freedom: float) -> Points:
        """Return the distribution of a group's true variance, given its sample variance and degrees of freedom.

        Both variances are relative to the square of the group's mean. With 0 degrees of freedom, the result is the
        prior itself.
        """
        centre = 2 * math.log(self.deviation)
        found = []
        for node in nodes(self.scatter, freedom):
            log = centre + self.scatter * node
            value = math.exp(log)
            found.append((value, -0.5 * node * node - 0.5 * freedom * (log + variance / value)))
        return normalized(found)


def nodes(scatter: float, freedom: float) -> list[float]:
    """Return the positions, in standard deviations, at which the distribution of a variance's logarithm is evaluated.

    `scatter`: the standard deviation of that logarithm.
    `freedom`: the degrees of freedom of the samples, which make the distribution narrower.
    """
    count = math.ceil(2 * _REACH * _NODES_PER_DEVIATION * math.sqrt(1 + scatter**2 * freedom / 2))
    count = max(_LEAST_NODES, count)
    return [_REACH * (2 * at / (count - 1) - 1) for at in range(count)]


def normalized(found: Sequence[tuple[float, float]], least: float = _LEAST_WEIGHT) -> Points:
    """Return the distribution for pairs of a variance and the logarithm of its weight.

    Points whose probability is at most `least` are left out.
    """
    highest = max(weight for _, weight in found)
    weights = [(value, math.exp(weight - highest)) for value, weight in found]
    total = math.fsum(weight for _, weight in weights)
    return tuple((value, weight / total) for value, weight in weights if weight > least * total)


def fit_prior(groups: Iterable[Sequence[float]], least: float = LEAST_DEVIATION) -> VariancePrior | None:
    """Fit a prior to the groups with two or more samples, or return None if there are fewer than eight such groups.

    Values that are not finite are ignored, and so are groups of zeros. Relative deviations are raised to at least
    `least`, because samples in the same histogram bin look equal.

    Outliers, i.e. groups that vary far more than the others, are excluded. At first, up to an eighth of the groups,
    those with the largest variances, count as outliers. They are put back one by one, smallest variance first, until a
    variance is too large for the prior of the groups below it. This test has a level of 1% divided by the number of
    groups.
    """
    finite = [[value for value in group if math.isfinite(value)] for group in groups]
    used = [group for group in finite if len(group) > 1 and math.fsum(group) > 0]
    if len(used) < LEAST_GROUPS:
        return None
    halves = [(len(group) - 1) / 2 for group in used]
    variances = [max(relative_variance(group), least**2) for group in used]
    logs = [math.log(v) - digamma(half) + math.log(half) for v, half in zip(variances, halves, strict=True)]
    order = sorted(range(len(used)), key=logs.__getitem__)
    outliers = min(len(used) // _OUTLIERS, len(used) - LEAST_GROUPS, _MOST_OUTLIERS)
    while True:
        kept = order[: len(order) - outliers]
        prior = _fit([logs[at] for at in kept], [halves[at] for at in kept])
        if not outliers:
            return prior
        nearest = order[len(kept)]
        if prior.tail(variances[nearest], 2 * halves[nearest]) < _SIGNIFICANCE / len(used):
            return replace(prior, has_outliers=True)
        outliers -= 1


def _fit(logs: Sequence[float], halves: Sequence[float]) -> VariancePrior:
    """Return the prior for these logarithms of variances. `halves`: half of each variance's degrees of freedom."""
    count = len(logs)
    centre = math.fsum(logs) / count
    scatter = raised_variance(logs, math.fsum(map(pentagamma, halves)) / count)
    sampling = math.fsum(map(trigamma, halves)) / count
    between = max(scatter - sampling, LEAST_SCATTER**2)
    error_of_centre = (between + sampling) / count
    return VariancePrior(math.exp(centre / 2), math.sqrt(between + error_of_centre))


def raised_variance(values: Sequence[float], fourth_cumulant: float) -> float:
    """Return the sample variance plus its standard error.

    `fourth_cumulant`: the fourth cumulant of the values' distribution. It is ψ‴(d/2) for the logarithm of a sample
    variance with d degrees of freedom. If d is small, the scatter of such logarithms is much less certain than that of
    normal values.

    Source: Stuart and Ord, Kendall's Advanced Theory of Statistics, volume 1, chapter 12 (the variance of k₂).
    """
    variance, count = variance_of(values), len(values)
    return variance + math.sqrt(fourth_cumulant / count + 2 * variance**2 / (count - 1))


def relative_variance(group: Sequence[float]) -> float:
    """Return the sample variance relative to the square of the mean, or 0 for a single value."""
    mean = math.fsum(group) / len(group)
    return variance_of([value / mean for value in group])


def variance_of(values: Sequence[float]) -> float:
    """Return the sample variance, or 0 for a single value."""
    mean = math.fsum(values) / len(values)
    return math.fsum((value - mean) ** 2 for value in values) / max(1, len(values) - 1)


def has_interval(count: int, prior: VariancePrior | None) -> bool:
    """True if `count` values are enough for a confidence interval.

    Two values always are. A single value is enough if the groups have similar variances.
    """
    return count > 1 or (prior is not None and prior.scatter <= _WIDEST_SCATTER and not prior.has_outliers)


@dataclass(frozen=True)
class MeanError:
    """The error distribution of a mean or of a difference of means, centred on 0. Its variance is the sum of two parts.

    `known`: the distribution of the part that was estimated with a prior.
    `estimated`, `freedom`: the part that was estimated from the samples alone, and its degrees of freedom.
    """

    known: Points = CERTAIN
    estimated: float = 0.0
    freedom: float = 1.0

    @property
    def is_zero(self) -> bool:
        """True if the error is 0, because the samples agree to the last digit."""
        return not (self.estimated or self._normal_parts)

    def tail(self, distance: float) -> float:
        """Return the probability that the error is at least `distance`."""
        if self.is_zero:
            return 0.0 if distance > 0 else 1.0
        if not self.estimated:
            return sum([half * math.erfc(distance * scale) for scale, half in self._normal_parts])
        return sum(weight * self._tail_at(variance, distance) for variance, weight in self.known)

    def reach(self, risk: float) -> float:
        """Return the distance that the error exceeds with probability `risk`, which must be below 0.5."""
        if self.is_zero:
            return 0.0
        if self.known == CERTAIN:
            return quantile(1 - risk, self.freedom) * math.sqrt(self.estimated)
        if not self.estimated:
            return self._reach_of_normals(risk)
        low, high = 0.0, math.sqrt(self.estimated + max(variance for variance, _ in self.known))
        while self.tail(high) > risk:
            low, high = high, high * 2
        while high - low > 1e-5 * high:
            middle = (low + high) / 2
            low, high = (middle, high) if self.tail(middle) > risk else (low, middle)
        return (low + high) / 2

    def _reach_of_normals(self, risk: float) -> float:
        """Return `reach` without an estimated part, by Newton's method.

        From 0, its steps never go too far, because the tail is a convex function of the distance. The reach is 0 if the
        error is 0 with a probability of more than 1 - 2 risk.
        """
        reach, step = 0.0, math.inf
        while step > 1e-7 * reach:
            density = sum([half * scale * math.exp(-((reach * scale) ** 2)) for scale, half in self._normal_parts])
            step = (self.tail(reach) - risk) * math.sqrt(math.pi) / (2 * density)
            reach += step
        return max(0.0, reach)

    @cached_property
    def _normal_parts(self) -> Points:
        """The distribution as a sum of normal distributions: for each, 1/√(2 variance) and half its weight.

        Points without variance are left out, because they add nothing to the tail.
        """
        return tuple((1 / math.sqrt(2 * variance), 0.5 * weight) for variance, weight in self.known if variance)

    def _tail_at(self, variance: float, distance: float) -> float:
        total = variance + self.estimated
        t = distance / math.sqrt(total)
        # Satterthwaite's formula, in which the known variance has infinite degrees of freedom
        freedom = self.freedom * (total / self.estimated) ** 2 if self.freedom >= 2 else self.freedom
        return upper_tail(t, freedom)


@dataclass(frozen=True)
class Sampled:
    """What a cell's own samples say about their variance, and the prior with which its error was estimated.

    `variance`, `freedom`: the relative sample variance and its degrees of freedom.
    `least`: a lower bound on the relative standard error of the mean.
    `factor`: the factor by which the variance of the mean is increased, because measuring stopped when it looked small.
    """

    variance: float
    freedom: int
    least: float
    factor: float
    prior: VariancePrior

    def error(self, variance: float) -> float:
        """Return the variance of the mean if the samples have this true variance."""
        return max(variance / (self.freedom + 1), self.least**2) * self.factor

    def log_likelihood(self, log: float) -> float:
        """Return the logarithm of the likelihood of a true variance, which is given as its logarithm."""
        return -0.5 * self.freedom * (log + self.variance / math.exp(max(log, _LEAST_LOG)))


def scaled(points: Points, factor: float, least: float = 0.0) -> Points:
    """Return the distribution of a variance that is multiplied by `factor` and then raised to at least `least`."""
    return tuple((max(variance * factor, least), weight) for variance, weight in points)


def summed(one: Points, other: Points) -> Points:
    """Return the distribution of the sum of two independent variances.

    If both distributions have several points, the result has at most 32.
    """
    if len(one) == 1 or len(other) == 1:
        return tuple((a + b, p * q) for a, p in one for b, q in other)
    return condensed([(a + b, p * q) for a, p in one for b, q in other])


def condensed(points: Sequence[tuple[float, float]]) -> Points:
    """Return the distribution with at most 32 positive variances. A variance of 0 remains a point of its own."""
    positive = [variance for variance, _ in points if variance]
    if len(positive) < len(points):
        zero = math.fsum(weight for variance, weight in points if not variance)
        return ((0.0, zero), *(condensed([point for point in points if point[0]]) if positive else ()))
    least = min(positive)
    base = math.log(least)
    width = (math.log(max(positive)) - base) / _MOST_POINTS or 1.0
    totals, weights = [0.0] * _MOST_POINTS, [0.0] * _MOST_POINTS
    log, last = math.log, _MOST_POINTS - 1
    for variance, weight in points:
        at = min(last, int((log(variance) - base) / width))
        totals[at] += variance * weight
        weights[at] += weight
    return tuple((total / weight, weight) for total, weight in zip(totals, weights, strict=True) if weight)
