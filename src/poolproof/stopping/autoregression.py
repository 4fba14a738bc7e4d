"""The standard error of the mean of correlated samples, by an autoregressive model of them.

The variance of a mean of n correlated samples is the spectrum at frequency zero over n (Heidelberger and Welch 1981,
CACM 24, 233-245). An autoregressive model gives that spectrum from few samples (Fishman 1971, Management Science 18,
21-38): s² / (1 − Σφ)². Its order is chosen by the corrected criterion of Akaike (Hurvich and Tsai 1989, Biometrika 76,
297-307). Least-squares and Yule-Walker coefficients are too small in short series, by (1 + 3φ) / n for one coefficient
(Kendall 1954, Biometrika 41, 403-404), which alone would make intervals of 95 % hold 70 times in 100; it is corrected.
docs/stopping.md has the coverage that was measured, beside that of batch means.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import mul

from poolproof.statistics.students_t import quantile

_HIGHEST_ORDER = 10
_SAMPLES_PER_ORDER = 6
_LARGEST_SUM = 0.999


@dataclass(frozen=True)
class LongRun:
    """The mean of a series and how well it is known.

    `effective` is the number of independent samples that would tell the mean as well, at most the number there are.
    `freedom` is its half: Fishman's degrees of freedom for one coefficient.
    """

    mean: float
    standard_error: float
    effective: float

    @property
    def freedom(self) -> int:
        """Degrees of freedom of the standard error, at least 1."""
        return max(1, math.floor(self.effective / 2))

    def half_width(self, confidence: float) -> float:
        """Half the interval of the mean, in the unit of the series."""
        return quantile((1 + confidence) / 2, self.freedom) * self.standard_error


def long_run(values: Sequence[float]) -> LongRun:
    """Mean, standard error and effective number of the samples, of which there are ten or more."""
    count = len(values)
    mean = math.fsum(values) / count
    covariances = _autocovariances([value - mean for value in values], _orders(count))
    if covariances[0] <= (1e-12 * mean) ** 2:
        return LongRun(mean, 0.0, count)
    order, residual, total = _best(covariances, count)
    variance = covariances[0] * count / (count - 1)
    at_zero = residual * count / (count - order - 1) / (1 - _unbiased(total, order, count)) ** 2
    at_zero = max(at_zero, variance)  # samples that alternate are not believed to tell more than independent ones
    return LongRun(mean, math.sqrt(at_zero / count), count * variance / at_zero)


def joined(values: Sequence[float], size: int) -> Sequence[float]:
    """The means of `size` samples each; those at the start that make no whole one are left out."""
    if size == 1:
        return values
    return [math.fsum(values[at : at + size]) / size for at in range(len(values) % size, len(values), size)]


def _orders(count: int) -> int:
    return max(1, min(_HIGHEST_ORDER, count // _SAMPLES_PER_ORDER))


def _autocovariances(centred: Sequence[float], most: int) -> list[float]:
    return [sum(map(mul, centred, centred[lag:])) / len(centred) for lag in range(most + 1)]


def _best(covariances: Sequence[float], count: int) -> tuple[int, float, float]:
    """(order, variance of the residuals, sum of the coefficients) of the model that Akaike's criterion chooses."""
    _, order, residual, total = min(
        (_criterion(residual, order, count), order, residual, sum(coefficients))
        for order, (coefficients, residual) in enumerate(_levinson(covariances), start=1)
    )
    return order, residual, total


def _criterion(residual: float, order: int, count: int) -> float:
    unbiased = residual * count / (count - order - 1)
    return count * math.log(max(unbiased, 1e-300)) + 2 * (order + 1) * count / (count - order - 2)


def _levinson(covariances: Sequence[float]) -> Iterator[tuple[list[float], float]]:
    """Yule-Walker coefficients and residual variance for the orders from 1: the recursion of Levinson and Durbin."""
    coefficients: list[float] = []
    residual = covariances[0]
    for order in range(1, len(covariances)):
        told = sum(map(mul, coefficients, covariances[order - 1 : 0 : -1]))
        last = (covariances[order] - told) / residual
        coefficients = [a - last * b for a, b in zip(coefficients, reversed(coefficients), strict=True)] + [last]
        residual *= 1 - last * last
        if residual <= 0:
            return
        yield coefficients, residual


def _unbiased(total: float, order: int, count: int) -> float:
    """The sum of the coefficients without its bias; for more than one coefficient Kendall's term grows with them."""
    return min(max(0.0, total + (1 + (order + 2) * total) / count), _LARGEST_SUM)
