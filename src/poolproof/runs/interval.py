"""An interval for the mean of a few trials: Student's t, the trials as units."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

# Two-sided 95 % quantiles of Student's t for 1 to 30 degrees of freedom; any statistics handbook's table.
_T95 = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
    2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip
_Z95 = 1.960


@dataclass(frozen=True)
class Interval:
    """A mean with its 95 % interval; `low` and `high` are None when one value alone is known."""

    mean: float
    low: float | None = None
    high: float | None = None

    @property
    def half_width(self) -> float | None:
        """Half the interval's width; None without an interval."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2


def mean_interval(values: Sequence[float]) -> Interval | None:
    """The mean of the values and its 95 % interval, never below 0; None for no values."""
    if not values:
        return None
    mean = math.fsum(values) / len(values)
    if len(values) == 1:
        return Interval(mean)
    variance = math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)
    half = _t95(len(values) - 1) * math.sqrt(variance / len(values))
    return Interval(mean, max(0.0, mean - half), mean + half)


def ratio_interval(values: Sequence[float], base: Sequence[float]) -> Interval | None:
    """The ratio of two means and its 95 % interval, by Welch's t-test on logarithms; None where either is empty or 0.

    On logarithms a ratio is a difference, and the interval can't cross 0. Source: Welch (1947), Biometrika 34, 28-35.
    """
    if not values or not base or min(*values, *base) <= 0:
        return None
    upper, lower = [math.log(value) for value in values], [math.log(value) for value in base]
    difference = math.fsum(upper) / len(upper) - math.fsum(lower) / len(lower)
    if len(values) < 2 or len(base) < 2:
        return Interval(math.exp(difference))
    shares = [_variance(upper) / len(upper), _variance(lower) / len(lower)]
    if sum(shares) == 0:
        return Interval(math.exp(difference), math.exp(difference), math.exp(difference))
    freedom = sum(shares) ** 2 / (shares[0] ** 2 / (len(upper) - 1) + shares[1] ** 2 / (len(lower) - 1))
    half = _t95(max(1, math.floor(freedom))) * math.sqrt(sum(shares))
    return Interval(math.exp(difference), math.exp(difference - half), math.exp(difference + half))


def _variance(values: Sequence[float]) -> float:
    mean = math.fsum(values) / len(values)
    return math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)


def _t95(freedom: int) -> float:
    return _T95[freedom - 1] if freedom <= len(_T95) else _Z95
