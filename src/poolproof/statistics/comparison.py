"""Compare means on a logarithmic scale: test each difference, and describe the outcome in one word.

On a logarithmic scale, a ratio becomes a difference, doubling and halving have the same size, and the combination of
several quantities becomes a weighted mean. If all variances are estimated only from the cells' own samples, the test is
Welch's t-test (1947, Biometrika 34, 28-35). If the variances have a prior, the test integrates over the distribution of
both cells' variances (`shared_variance`).

The effect x is the smallest difference that matters: `faster` means more than x faster, `slower` more than x slower,
and `same` within x. The first two use a two-sided minimum-effect test, and `same` uses two one-sided tests (Schuirmann
1987, J. Pharmacokinetics and Biopharmaceutics 15, 657-680). At most one of the three words can have a p-value below
0.5, and the smallest of the three is the p-value of the difference. Holm's step-down procedure (1979, Scandinavian
Journal of Statistics 6, 65-70) corrects the p-values of all differences. With 95% confidence, all words are then
correct, including their directions (Finner 1999, Annals of Statistics 27, 274-289). If no word is significant, the
difference is `undecided`.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from poolproof.statistics.intervals import CONFIDENCE, Interval, error_of_mean
from poolproof.statistics.repeated_means import stopping_share
from poolproof.statistics.shared_variance import (
    CERTAIN,
    MeanError,
    Points,
    Sampled,
    VariancePrior,
    has_interval,
    scaled,
    summed,
    variance_of,
)

TEST = "a t-test on logarithms"
CORRECTION = "with Holm's correction"
"""The names of the test and of the correction for multiple tests, as printed in outputs."""

LEAST_EFFECT = 0.02
"""The default smallest difference that matters, as a fraction: 0.02 is 2%."""

_LEAST_ERROR = 1e-6
_LARGEST_LOG = 700.0

Shares = tuple[tuple[float, float], ...]
"""The variances of several means, each with its degrees of freedom."""

Logs = tuple[tuple[float, tuple[float, ...]], ...]
"""A weighted sum of means, as pairs of a mean's weight and the logarithms of its samples."""

Word = Literal["faster", "slower", "same", "undecided"]
WORDS: tuple[Word, ...] = ("faster", "slower", "same", "undecided")


@dataclass(frozen=True)
class LogMean:
    """A mean of logarithms, or a weighted sum of such means. Its sign is chosen so that higher is better.

    `parts`: the variances estimated only from a mean's own trials. None if any variance is unknown.
    `known`: the distribution of the remaining variance, which was estimated with a prior.
    `below`, `above`: the amounts by which the true mean may be lower or higher if the rate was changing. More trials do
    not reduce them.
    `logs`: the samples, for tests that need more than the mean and its error.
    `sampled`: for a single mean whose error was estimated with a prior, the data for another estimate.
    """

    mean: float
    parts: Shares | None
    below: float = 0.0
    above: float = 0.0
    known: Points = CERTAIN
    logs: Logs = field(default=(), compare=False, repr=False)
    sampled: Sampled | None = field(default=None, compare=False, repr=False)

    def interval(self, *, lower_is_better: bool, risk: float = 1 - CONFIDENCE) -> Interval:
        """Return the geometric mean in the unit of the values, with its confidence interval.

        `risk`: the probability that the interval misses the true mean.
        """
        turned = difference(self, LogMean(0.0, ())).interval_at(risk)
        if not lower_is_better:
            return turned
        low, high = (None if bound is None else 1 / bound for bound in (turned.high, turned.low))
        return Interval(1 / turned.mean, low, high)


def log_mean(
    values: Sequence[float],
    prior: VariancePrior | None = None,
    *,
    lower_is_better: bool = False,
    resolution: float = 0.0,
    least_count: int | None = None,
) -> LogMean | None:
    """Return the mean logarithm of the values, or None if there are no values or one of them is not positive.

    `resolution`: a lower bound on the relative standard error of the mean, because load generators count whole I/Os and
    sort latencies into bins.
    `least_count`: the number of values that are measured in any case. If there are more, measuring stopped once the
    mean looked precise enough, so the standard error is increased to compensate.
    """
    if not values or min(values) <= 0:
        return None
    logs = tuple(-math.log(value) if lower_is_better else math.log(value) for value in values)
    count, mean, own = len(logs), math.fsum(logs) / len(logs), ((1.0, logs),)
    if not has_interval(count, prior):
        return LogMean(mean, None, logs=own)
    error = error_of_mean(variance_of(logs), count, prior, least=resolution)
    least_count = count if least_count is None else least_count
    share = stopping_share(error, count, least_count, prior)
    if error.known is CERTAIN:
        return LogMean(mean, ((error.estimated * (1 + share) ** 2, error.freedom),), logs=own)
    # only part of what is known about the variance comes from the cell's own trials
    factor = (1 + share / 2) ** 2
    sampled = Sampled(variance_of(logs), count - 1, resolution, factor, prior) if prior is not None else None
    return LogMean(mean, (), known=scaled(error.known, factor), logs=own, sampled=sampled)


def mixture(means: Iterable[tuple[float, LogMean]], *, independent: bool = True) -> LogMean:
    """Return the weighted mean of (weight, mean) pairs, whose weights must sum to 1.

    The result is the logarithm of a weighted geometric mean.

    `independent`: whether the errors of the means are independent. If they are not, their variances are multiplied by
    the weights rather than by their squares: for any correlation, (Σ w σ)² ≤ Σ w σ² is an upper bound on the variance.
    """
    weighted = tuple(means)
    shares = [weight**2 if independent else weight for weight, _ in weighted]
    both = [(share, each) for share, (_, each) in zip(shares, weighted, strict=True)]
    parts = [(share * variance, freedom) for share, each in both for variance, freedom in each.parts or ()]
    known = CERTAIN
    for share, each in both:
        known = summed(known, scaled(each.known, share))
    return LogMean(
        mean=sum(weight * each.mean for weight, each in weighted),
        known=known,
        parts=None if any(each.parts is None for _, each in weighted) else tuple(parts),
        below=sum(weight * each.below for weight, each in weighted),
        above=sum(weight * each.above for weight, each in weighted),
        logs=tuple((weight * share, logs) for weight, each in weighted for share, logs in each.logs),
    )


def ratio_of(log: float) -> float:
    """Return the ratio with this logarithm, limited to the range of a float.

    The limit is needed because damaged files may contain any logarithm.
    """
    return math.exp(min(max(log, -_LARGEST_LOG), _LARGEST_LOG))


@dataclass(frozen=True)
class Difference:
    """The difference between two mean logarithms.

    `error`: the standard error, counting only the variance estimated from the two cells' own samples. None if the
    difference cannot be tested.
    `known`: the distribution of the remaining variance, which was estimated with a prior.
    `below`, `above`: the amounts by which the true difference may be lower or higher if a rate was changing. Each test
    assumes the less favourable extreme.
    `logs`: the samples of both sides.

    Decisions and eliminations depend only on these values. A different test, such as a permutation test, would
    therefore change only this module.
    """

    log: float
    error: float | None
    freedom: float
    below: float = 0.0
    above: float = 0.0
    known: Points = CERTAIN
    logs: tuple[Logs, Logs] = field(default=((), ()), compare=False, repr=False)

    @property
    def interval(self) -> Interval:
        """Return the ratio of the means with its 95% confidence interval, not corrected for multiple comparisons.

        A ratio of 2 means twice as fast, for latencies too. `low` and `high` are None if the difference cannot be
        tested.
        """
        return self.interval_at(1 - CONFIDENCE)

    @property
    def repeated(self) -> Interval:
        """Return the ratio of the means with a 95% prediction interval for a repeat with the same number of trials.

        The interval combines the errors of the measurement and of its repeat. Variance between builds or days is
        included only as far as the means' errors include it. `low` and `high` are None if the difference cannot be
        tested.
        """
        return self.repeated_at(1 - CONFIDENCE)

    def interval_at(self, risk: float) -> Interval:
        """Return the ratio of the means with its confidence interval.

        `risk`: the probability that the interval misses the true ratio.
        """
        return self._around(risk, 1.0)

    def repeated_at(self, risk: float) -> Interval:
        """Return the ratio of the means with a prediction interval for a repeat with the same number of trials.

        `risk`: the probability that the repeat falls outside the interval.
        """
        return self._around(risk, math.sqrt(2))

    def _around(self, risk: float, factor: float) -> Interval:
        if self.error is None:
            return Interval(ratio_of(self.log))
        half = factor * self._distribution.reach(risk / 2)
        low, high = self.log - half - self.below, self.log + half + self.above
        return Interval(ratio_of(self.log), ratio_of(low), ratio_of(high))

    def lower_bound(self, risk: float) -> float:
        """Return a lower confidence bound on the difference of mean logarithms, at the confidence level 1 - risk."""
        return self.log - self.below - max(_LEAST_ERROR, self._distribution.reach(risk))

    def p_above(self, bound: float) -> float:
        """Return the p-value for the hypothesis that the true difference is at most `bound`."""
        return self._tail(self.log - self.below - bound)

    def p_below(self, bound: float) -> float:
        """Return the p-value for the hypothesis that the true difference is at least `bound`."""
        return self._tail(bound - self.log - self.above)

    def _tail(self, distance: float) -> float:
        return self._distribution.tail(distance)

    @property
    def _distribution(self) -> MeanError:
        assert self.error is not None, "a test needs an estimate of the error"
        return MeanError(self.known, self.error**2, self.freedom)


def difference(one: LogMean, other: LogMean) -> Difference:
    """Return how much better `one` is than `other`. It cannot be tested if the variance of either is unknown."""
    log, logs = one.mean - other.mean, (one.logs, other.logs)
    if one.parts is None or other.parts is None:
        return Difference(log, None, 0.0, logs=logs)
    total = math.fsum(variance for side in (one.parts, other.parts) for variance, _ in side)
    freedom = welch_freedom(one.parts, other.parts) if total else 1.0
    known = summed(one.known, other.known)
    below, above = one.below + other.above, one.above + other.below
    return Difference(log, math.sqrt(total), freedom, below, above, known, logs)


def welch_freedom(one: Shares, other: Shares) -> float:
    """Return the degrees of freedom of the sum of two sides' variances, rounded down. Either side may be empty.

    The formula is from Satterthwaite (1946), Biometrics Bulletin 2, 110. If neither side is empty and one of them has
    fewer than two degrees of freedom, as with two samples, the result is 1. Without this rule, a 95% confidence
    interval for 2 samples against 5 would cover the true difference only 89 times in 100.
    """
    if one and other and min(_satterthwaite(one), _satterthwaite(other)) < 2:
        return 1
    return max(1, math.floor(_satterthwaite((*one, *other)) + 1e-9))


def _satterthwaite(shares: Shares) -> float:
    total = math.fsum(share for share, _ in shares)
    if not total:
        return min(freedom for _, freedom in shares)
    return 1 / math.fsum((share / total) ** 2 / freedom for share, freedom in shares if share)


def ratio_interval(
    values: Sequence[float],
    base: Sequence[float],
    resolution: float = 0.0,
) -> Interval | None:
    """Return the ratio of two geometric means with its 95% confidence interval, which contains only positive ratios.

    None if either sequence is empty or contains a value that is not positive.
    """
    upper = log_mean(values, resolution=resolution)
    lower = log_mean(base, resolution=resolution)
    return None if upper is None or lower is None else difference(upper, lower).interval


@dataclass(frozen=True)
class ComparisonDecision:
    """The word that describes a difference, with its p-value before and after Holm's correction.

    Both p-values are None if the difference cannot be tested.
    """

    word: Word
    p: float | None = None
    p_holm: float | None = None


def decide(differences: Sequence[Difference], effect: float) -> tuple[ComparisonDecision, ...]:
    """Describe each difference in one word. With 95% confidence, all words are correct.

    `effect`: the smallest difference that matters, as a fraction: 0.02 is 2%.
    """
    nearest = [None if each.error is None else _nearest_word(each, effect) for each in differences]
    corrected = iter(holm([found[1] for found in nearest if found is not None]))
    decisions = []
    for found in nearest:
        if found is None:
            decisions.append(ComparisonDecision("undecided"))
        else:
            word, p, p_holm = *found, next(corrected)
            decisions.append(ComparisonDecision(word if p_holm <= 1 - CONFIDENCE else "undecided", p, p_holm))
    return tuple(decisions)


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Return the p-values after Holm's correction, in their original order."""
    corrected = [0.0] * len(p_values)
    highest = 0.0
    for rank, at in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[at]))
        corrected[at] = highest
    return tuple(corrected)


def _nearest_word(each: Difference, effect: float) -> tuple[Word, float]:
    low, high = math.log1p(-effect), math.log1p(effect)
    candidates: tuple[tuple[Word, float], ...] = (
        ("faster", min(1.0, 2 * each.p_above(high))),
        ("slower", min(1.0, 2 * each.p_below(low))),
        ("same", max(each.p_above(low), each.p_below(high))),
    )
    return min(candidates, key=lambda candidate: candidate[1])


@dataclass(frozen=True)
class Behind:
    """The lead of the best contender over one that was eliminated.

    `times`: the factor by which the leader is better.
    `least`: a lower confidence bound on `times`. The probability that it is wrong is at most `risk_of_a_test`.
    """

    leader: str
    times: float
    least: float


Scores = Mapping[str, LogMean | None]
"""The mean logarithm of each contender, keyed by name, or None if it has too few samples for a test."""


def eliminated(contenders: Scores, confidence: float, checkpoints: int) -> Mapping[str, Behind]:
    """Return the contenders that are significantly worse than the leader, each with the leader's lead over it.

    `checkpoints`: the maximum number of calls of this function.

    This is successive elimination, as in racing algorithms (Maron and Moore 1994, NIPS 6; Birattari et al. 2002, GECCO,
    with t-tests). A contender is eliminated as soon as it is significantly worse than the leader. By Bonferroni's
    inequality, the best contender is eliminated with a probability of at most 1 - confidence, provided that no single
    test exceeds its own risk. docs/stopping.md has simulations. Raises a ValueError if `checkpoints` is below 1 or
    `confidence` is not between 0 and 1.
    """
    if checkpoints < 1 or not 0 < confidence < 1:
        raise ValueError(
            f"{checkpoints} checkpoints, confidence {confidence:g}: checkpoints must be at least 1, "
            "and confidence between 0 and 1"
        )
    leader = leader_of(contenders)
    best = contenders[leader] if leader is not None else None
    if leader is None or best is None:
        return {}
    risk = risk_of_a_test(confidence, len(contenders), checkpoints)
    others = {name: score for name, score in contenders.items() if name != leader and score is not None}
    leads = {name: difference(best, score) for name, score in others.items()}
    bounds = {name: lead.lower_bound(risk) for name, lead in leads.items()}
    return {
        name: Behind(leader, ratio_of(leads[name].log), ratio_of(bound)) for name, bound in bounds.items() if bound > 0
    }


def leader_of(contenders: Scores) -> str | None:
    """Return the name of the contender with the best mean, or None if no contender has a mean."""
    means = {name: score.mean for name, score in contenders.items() if score is not None}
    return max(means, key=means.__getitem__, default=None)


def risk_of_a_test(confidence: float, contenders: int, checkpoints: int) -> float:
    """Return the risk of a single test: 1 - confidence, divided by the number of tests.

    At each checkpoint, the leader is tested against every other contender.
    """
    return (1 - confidence) / (max(1, contenders - 1) * checkpoints)
