"""The confidence interval of the mean of repeated measurements, each of which has its own standard error.

The measurement may be repeated until the interval is narrow enough.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from poolproof.statistics.distributions import f_upper_tail
from poolproof.statistics.intervals import error_of_mean
from poolproof.statistics.shared_variance import (
    CERTAIN,
    LEAST_DEVIATION,
    LEAST_SCATTER,
    MeanError,
    VariancePrior,
    variance_of,
)

_SIGNIFICANCE = 0.01


@dataclass(frozen=True)
class PooledError:
    """The root mean square of the standard errors of several measurements, with its degrees of freedom."""

    error: float
    freedom: float


def pooled_error(errors: Iterable[tuple[float, float]]) -> PooledError | None:
    """Return the pooled standard error, or None if there are no errors.

    `errors`: pairs of a standard error and its degrees of freedom.
    """
    pairs = tuple(errors)
    if not pairs:
        return None
    square = math.fsum(error**2 for error, _ in pairs) / len(pairs)
    return PooledError(math.sqrt(square), math.fsum(freedom for _, freedom in pairs))


def means_disagree(means: Sequence[float], within: PooledError | None, tolerance: float) -> bool:
    """True if the means differ by more than the tolerance, and by more than their own errors explain.

    The second condition is an F-test at the 1% level. Means without known errors never disagree.

    `tolerance`: relative to the overall mean.
    """
    if within is None or max(means) - min(means) <= tolerance * math.fsum(means) / len(means):
        return False
    if within.error == 0:
        return True
    return f_upper_tail(variance_of(means) / within.error**2, len(means) - 1, within.freedom) < _SIGNIFICANCE


def repeated_half_width(
    error: MeanError, count: int, least_count: int, confidence: float, prior: VariancePrior | None
) -> float:
    """Return the half width of the confidence interval of a mean of `count` measurements.

    Both the half width and `error` are relative to the mean. With more than `least_count` measurements, the interval is
    widened, because measuring could have stopped after each of them, at a moment when the interval happened to be
    narrow.
    """
    half = error.reach((1 - confidence) / 2)
    return half * (1 + stopping_share(error, count, least_count, prior) / 2)


def stopping_share(error: MeanError, count: int, least_count: int, prior: VariancePrior | None) -> float:
    """Return the fraction by which a standard error may be underestimated.

    Measuring stops once the standard error looks small, which can happen by chance. The fraction is the relative
    standard error of a standard deviation, or 0 if there are at most `least_count` measurements.
    """
    if count <= least_count:
        return 0.0
    freedom = count - 1 + (prior.freedom if prior is not None and error.known is not CERTAIN else 0.0)
    return 1 / math.sqrt(2 * freedom)


def least_half_width(least_count: int, most_count: int, confidence: float, resolution: float) -> float:
    """Return the smallest half width that is possible with this resolution, relative to the mean.

    It is computed for both `least_count` and `most_count` measurements with the best possible prior, and the smaller
    value is returned.
    """
    best = VariancePrior(resolution or LEAST_DEVIATION, LEAST_SCATTER)
    return min(
        repeated_half_width(error_of_mean(0.0, count, best, least=resolution), count, least_count, confidence, best)
        for count in (least_count, most_count)
    )
