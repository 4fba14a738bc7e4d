"""How much trials differ in this campaign: what every cell tells about the others.

Two trials tell next to nothing about their own variance (t is 12.7). Yet the cells of a campaign share the machine, and
their variances resemble one another. Smyth (2004, Statistical Applications in Genetics and Molecular Biology 3, 3)
takes the variances of many small samples as draws from one scaled inverse χ² distribution, fits it by moments of their
logarithms, and gives each sample the weighted mean of its own variance and the typical one, with the degrees of freedom
of both: the moderated t. Where the cells differ widely among themselves the fit gives few degrees, and each is alone.
"""

import math
from collections.abc import Sequence

from poolproof.statistics.students_t import f_upper_tail
from poolproof.stopping.model import TrialMean, VariancePrior

LEAST_CELLS = 8
"""With fewer cells that have two trials nothing is told."""
MOST_FREEDOM = 30.0
LEAST_DEVIATION = 1e-4
_DOUBT = 0.01


def spread_of(cells: Sequence[Sequence[TrialMean]], least: float = LEAST_DEVIATION) -> VariancePrior | None:
    """The typical deviation between trials, from all cells with two or more; None where fewer than eight have that.

    `least`: the deviation, relative, below which trials that are alike prove nothing, as those in one bin.
    """
    samples = [_sample(cell, least) for cell in cells if len(cell) > 1 and math.fsum(trial.mean for trial in cell) > 0]
    if len(samples) < LEAST_CELLS:
        return None
    logs = [math.log(variance) - _digamma(freedom / 2) + math.log(freedom / 2) for variance, freedom in samples]
    centre = math.fsum(logs) / len(logs)
    scatter = math.fsum((value - centre) ** 2 for value in logs) / (len(logs) - 1)
    own = math.fsum(_trigamma(freedom / 2) for _, freedom in samples) / len(samples)
    freedom = MOST_FREEDOM if scatter <= own else min(MOST_FREEDOM, 2 * _trigamma_inverse(scatter - own))
    return VariancePrior(math.exp((centre + _digamma(freedom / 2) - math.log(freedom / 2)) / 2), freedom)


def moderated(variance: float, freedom: float, spread: VariancePrior | None) -> tuple[float, float]:
    """A variance from a few trials, relative, with what the other cells tell; and its degrees of freedom then.

    Of a cell that differs by more than the others do (an F-test at 1 %) its own trials alone count.
    """
    if spread is None or is_unlike(variance, freedom, spread):
        return variance, freedom
    return weighed(variance, freedom, spread), freedom + spread.freedom


def weighed(variance: float, freedom: float, spread: VariancePrior, mean: float = 1.0) -> float:
    """The variance of a few trials of that mean and the typical one together, each by its degrees of freedom."""
    typical = (spread.deviation * mean) ** 2
    return (freedom * variance + spread.freedom * typical) / (freedom + spread.freedom)


def is_unlike(variance: float, freedom: float, spread: VariancePrior) -> bool:
    """Whether the trials of a cell, by their variance relative to the mean, differ by more than those of the others."""
    return freedom > 0 and f_upper_tail(variance / spread.deviation**2, freedom, spread.freedom) < _DOUBT


def _sample(cell: Sequence[TrialMean], least: float) -> tuple[float, int]:
    """(variance relative to the mean, degrees of freedom)."""
    mean = math.fsum(trial.mean for trial in cell) / len(cell)
    variance = math.fsum((trial.mean / mean - 1) ** 2 for trial in cell) / (len(cell) - 1)
    return max(variance, least**2), len(cell) - 1


def _digamma(x: float) -> float:
    """ψ(x) for x > 0: the recurrence up to 8, then the asymptotic series (DLMF 5.11.2)."""
    shift = 0.0
    while x < 8:
        shift, x = shift - 1 / x, x + 1
    square = 1 / (x * x)
    return shift + math.log(x) - 0.5 / x - square * (1 / 12 - square * (1 / 120 - square / 252))


def _trigamma(x: float) -> float:
    """ψ′(x) for x > 0, in the same way."""
    shift = 0.0
    while x < 8:
        shift, x = shift + 1 / (x * x), x + 1
    square = 1 / (x * x)
    return shift + 1 / x + square / 2 + square / x * (1 / 6 - square * (1 / 30 - square / 42))


def _trigamma_inverse(value: float) -> float:
    """The x > 0 at which ψ′(x) is this value, by halving: ψ′ falls from ∞ to 0."""
    low, high = 1e-3, 1e6
    while high > low * (1 + 1e-9):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if _trigamma(middle) > value else (low, middle)
    return low
