"""How precisely a value can be known if it is counted in steps or sorted into bins.

The true value may be anywhere in an interval around the measured one, with equal probability. The standard deviation of
such a uniform distribution is half its width over √3.
"""

import math
from collections.abc import Iterable

from poolproof.statistics.shared_variance import LEAST_DEVIATION


def step_deviation(step: float, total: float) -> float:
    """Return the relative standard deviation of a total whose error is at most one unit in either direction."""
    return step / total / math.sqrt(3)


def bin_deviation(width: float) -> float:
    """Return the relative standard deviation that results from binning alone.

    The value may be anywhere in its bin. `width` is the width of the bin as a share of the value. Even if all values
    are in the same bin, their deviation must not be taken to be smaller.
    """
    return step_deviation(width / 2, 1.0)


def widest_bin_deviation(widths: Iterable[float], default: float) -> float:
    """Return `bin_deviation` of the widest of these bins, but at least `LEAST_DEVIATION`.

    No bin counts as wider than its value. `default` is the width to use if there are no bins.
    """
    return max(LEAST_DEVIATION, bin_deviation(min(max(widths, default=default), 1.0)))
