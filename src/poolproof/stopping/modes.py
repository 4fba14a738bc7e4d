"""Two speeds between which a series goes to and fro: how often it changed, for a mean over two changes is luck.

The batch means are split in two where the squares within are least (two-means in one dimension). A normal sample so
split has its halves 2.6 deviations apart; four and more mean two modes. The mean is
known no better than the number of changes between them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from poolproof.stopping.autoregression import joined
from poolproof.stopping.model import Reason

_BATCHES = 60
_APART = 4.0
_LEAST_SHARE = 0.1


@dataclass(frozen=True)
class Modes:
    """Two levels, the share of the lower, and how often the series changed between them."""

    low: float
    high: float
    share: float
    changes: int

    def reason(self) -> Reason:
        """Why too few changes do not make a mean."""
        times = "once" if self.changes == 1 else f"{self.changes} times"
        sentence = f"it stands still for {self.share:.0%} of the time, and changed {times}"
        if self.low > 0:
            sentence = f"it has two speeds, {self.high / self.low - 1:.0%} apart, and changed between them {times}"
        return Reason("bimodal", sentence, {"low": self.low, "high": self.high, "changes": self.changes})


def modes(values: Sequence[float], until: float) -> Modes | None:
    """The two levels of a series, further apart than twice the tolerance; None where it has one."""
    size = max(1, len(values) // _BATCHES)
    batches = joined(values, size)
    low, high, within, limit, share = _split(batches)
    mean = math.fsum(batches) / len(batches)
    changes = sum((a > limit) != (b > limit) for a, b in pairwise(batches))
    is_split = high - low > max(_APART * within, 2 * until * mean) and _LEAST_SHARE <= share <= 1 - _LEAST_SHARE
    return Modes(low, high, share, changes) if is_split else None


def _split(batches: Sequence[float]) -> tuple[float, float, float, float, float]:
    """(lower mean, upper mean, deviation within, the value between them, share of the lower)."""
    ranked = sorted(batches)
    count = len(ranked)
    shift = ranked[0]
    sums = list(accumulate(value - shift for value in ranked))
    squares = list(accumulate((value - shift) ** 2 for value in ranked))
    at = max(range(1, count), key=lambda k: sums[k - 1] ** 2 / k + (sums[-1] - sums[k - 1]) ** 2 / (count - k))
    low, high = sums[at - 1] / at, (sums[-1] - sums[at - 1]) / (count - at)
    within = max(0.0, squares[-1] - at * low**2 - (count - at) * high**2) / count
    return low + shift, high + shift, math.sqrt(within), (ranked[at - 1] + ranked[at]) / 2, at / count
