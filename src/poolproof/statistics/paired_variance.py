"""Estimate the variances of two cells together, for a comparison of many pairs of cells.

A workload that varies much in one run also varies much in the next. The samples of one cell of a pair therefore also
help to estimate the variance of the other cell, which matters if both have only two or three samples. The logarithms of
both variances are assumed to be normally distributed, each with the prior of its run, and to be correlated. The
correlation follows from the scatter of the ratio of both variances over all pairs, which is estimated by moments. Like
the prior, it is widened by its own standard error: a correlation that is too low only makes intervals longer.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from poolproof.statistics.comparison import LogMean
from poolproof.statistics.distributions import digamma, pentagamma, trigamma
from poolproof.statistics.shared_variance import (
    CERTAIN,
    LEAST_DEVIATION,
    LEAST_GROUPS,
    LEAST_SCATTER,
    Points,
    Sampled,
    condensed,
    nodes,
    normalized,
    raised_variance,
)

Pair = tuple[LogMean, LogMean]

_HIGHEST_CORRELATION = 0.99
_LEAST_WEIGHT = 1e-9


def estimated_together(pairs: Sequence[Pair]) -> list[Pair]:
    """Return the pairs with errors that were estimated together: the first mean of a pair then has the error of both.

    The results are only valid for differences between the two means of a pair. Pairs whose variances were not estimated
    with a prior are returned unchanged, and so are all pairs if fewer than eight have two or more samples on both
    sides.
    """
    scatter = _scatter_of_ratios(pairs)
    return list(pairs) if scatter is None else [_estimated(pair, scatter) for pair in pairs]


def _sampled(pairs: Sequence[Pair]) -> Iterator[tuple[Sampled, Sampled]]:
    for one, other in pairs:
        if one.sampled is not None and other.sampled is not None:
            yield one.sampled, other.sampled


def _scatter_of_ratios(pairs: Sequence[Pair]) -> float | None:
    """Return the variance of the logarithm of the ratio of both true variances, or None with too few pairs."""
    used = [sides for sides in _sampled(pairs) if all(side.freedom for side in sides)]
    if len(used) < LEAST_GROUPS:
        return None
    logs = [_unbiased_log(one) - _unbiased_log(other) for one, other in used]
    halves = [side.freedom / 2 for sides in used for side in sides]
    sampling, cumulant = (math.fsum(map(of, halves)) / len(used) for of in (trigamma, pentagamma))
    return max(raised_variance(logs, cumulant) - sampling, 2 * LEAST_SCATTER**2)


def _unbiased_log(side: Sampled) -> float:
    half = side.freedom / 2
    return math.log(max(side.variance, side.least**2, LEAST_DEVIATION**2)) - digamma(half) + math.log(half)


def _estimated(pair: Pair, scatter: float) -> Pair:
    one, other = pair
    if one.sampled is None or other.sampled is None:
        return pair
    scatters = one.sampled.prior.scatter, other.sampled.prior.scatter
    correlation = (scatters[0] ** 2 + scatters[1] ** 2 - scatter) / (2 * scatters[0] * scatters[1])
    if correlation <= 0:
        return pair
    joint = _joint_error(one.sampled, other.sampled, min(correlation, _HIGHEST_CORRELATION))
    return replace(one, known=joint), replace(other, known=CERTAIN)


def _joint_error(one: Sampled, other: Sampled, correlation: float) -> Points:
    """Return the distribution of the sum of both means' variances, given the samples of both cells."""
    apart = math.sqrt(1 - correlation**2)
    scatter, exp = other.prior.scatter, math.exp
    steps = [(scatter * apart * z, 0.5 * z * z) for z in nodes(scatter * apart, other.freedom)]
    half, least, factor = 0.5 * other.freedom, other.least**2, other.factor
    found = []
    for x in nodes(one.prior.scatter, one.freedom + other.freedom):
        log = 2 * math.log(one.prior.deviation) + one.prior.scatter * x
        of_one, error = -0.5 * x * x + one.log_likelihood(log), one.error(exp(log))
        centre = 2 * math.log(other.prior.deviation) + scatter * correlation * x
        for step, square in steps:  # `log_likelihood` and `error` of the other cell, without the calls
            log = centre + step
            variance = exp(log)
            weight = of_one - square - half * (log + other.variance / variance)
            found.append((error + max(variance / (other.freedom + 1), least) * factor, weight))
    return condensed(normalized(found, _LEAST_WEIGHT))
