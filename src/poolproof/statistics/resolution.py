"""The precision of values that are counted in whole units or sorted into bins.

The true value may be anywhere in an interval around the measured one, with equal probability. The standard deviation of
such a uniform distribution is the interval's half width divided by √3.
"""

import math
from collections.abc import Iterable

from poolproof.statistics.shared_variance import LEAST_DEVIATION


def step_deviation(step: float, total: float) -> float:
    """Return the relative standard deviation of a total whose rounding error is at most one unit (`step`)."""
    return step / total / math.sqrt(3)


def bin_deviation(width: float) -> float:
    """Return the relative standard deviation due to binning alone, because a value may be anywhere in its bin.

    It is a lower bound on the deviation, and applies even if all values are in the same bin.

    `width`: the width of the bin relative to the value.
    """
    return step_deviation(width / 2, 1.0)


def widest_bin_deviation(widths: Iterable[float], default: float) -> float:
    """Return the `bin_deviation` of the widest bin, but at least `LEAST_DEVIATION`.

    The relative width of a bin is limited to 1.

    `default`: the width to use if there are no bins.
    """
    return max(LEAST_DEVIATION, bin_deviation(min(max(widths, default=default), 1.0)))
