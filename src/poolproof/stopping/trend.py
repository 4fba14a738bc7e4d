"""Is the figure still changing: a drift, or a step from one level to another?

Both are fitted by least squares, and tested against the long-run error of what the fit leaves. The instant of a step is
chosen by the data, so it must clear the supremum's bound: 12.35 for the square of t at 1 % (Andrews 1993, Econometrica
61, 821-856, table I: one parameter, 15 % at each end left out). A change smaller than half the tolerance is none.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from poolproof.statistics.students_t import quantile
from poolproof.stopping.autoregression import LongRun, joined, long_run
from poolproof.stopping.model import Reason

_SIGNIFICANCE = 0.01
_SUPREMUM = math.sqrt(12.35)
_NORMAL = 2.576
_EDGE = 0.15
_SHARE = 0.5
_MOST_BINS = 300


@dataclass(frozen=True)
class _Change:
    """A fit: by how much the figure changed, with its t and the squares that the fit leaves."""

    by: float
    t: float
    bound: float
    left: float

    @property
    def is_there(self) -> bool:
        return abs(self.t) > self.bound


def trend(values: Sequence[float], interval_s: float, until: float, trial: int) -> Reason | None:
    """The drift or the step of a series, whichever tells more of it; None where neither exceeds half the tolerance.

    A drift counts by what it does in the `trial` samples of the whole trial: to cut off a start as warm-up hides none.
    """
    size = math.ceil(len(values) / _MOST_BINS)
    values, trial, interval_s = joined(values, size), trial // size, interval_s * size
    mean = math.fsum(values) / len(values)
    drift, (step, at) = _drift(values), _step(values)
    moves = ((drift, drift.by * trial / len(values)), (step, step.by))
    found = [change for change, by in moves if change.is_there and abs(by) > _SHARE * until * mean]
    if not found:
        return None
    if min(found, key=lambda change: change.left) is drift:
        return _drift_reason(drift.by / mean, interval_s * len(values))
    return _step_reason(step.by / mean, interval_s * at)


def _drift(values: Sequence[float]) -> _Change:
    count = len(values)
    middle = (count - 1) / 2
    spread = count * (count * count - 1) / 12
    slope = math.fsum((at - middle) * value for at, value in enumerate(values)) / spread
    left = [value - slope * (at - middle) for at, value in enumerate(values)]
    rest = long_run(left)
    by = slope * count
    # the variance of a slope over correlated samples is 12 / n³ times the spectrum at zero
    error = math.sqrt(12) * rest.standard_error
    return _Change(by, _ratio(by, error), quantile(1 - _SIGNIFICANCE / 2, rest.freedom), _squares(left, rest))


def _step(values: Sequence[float]) -> tuple[_Change, int]:
    """The best step, and the sample at which it comes."""
    count = len(values)
    shift = values[0]
    sums = list(accumulate(value - shift for value in values))
    total = sums[-1]
    edge = max(2, math.ceil(_EDGE * count))
    at = max(range(edge, count - edge + 1), key=lambda k: (sums[k - 1] - k * total / count) ** 2 / (k * (count - k)))
    before, after = sums[at - 1] / at + shift, (total - sums[at - 1]) / (count - at) + shift
    left = [value - before for value in values[:at]] + [value - after for value in values[at:]]
    rest = long_run(left)
    error = rest.standard_error * math.sqrt(count * (1 / at + 1 / (count - at)))
    bound = _SUPREMUM * quantile(1 - _SIGNIFICANCE / 2, rest.freedom) / _NORMAL
    by = after - before
    return _Change(by, _ratio(by, error), bound, _squares(left, rest)), at


def _ratio(by: float, error: float) -> float:
    if error == 0:
        return math.inf if by else 0.0
    return by / error


def _squares(left: Sequence[float], rest: LongRun) -> float:
    return math.fsum((value - rest.mean) ** 2 for value in left)


def _drift_reason(by: float, over_s: float) -> Reason:
    word = "rises" if by > 0 else "falls"
    return Reason("drift", f"it {word} by {abs(by):.0%} over {over_s:.3g} s", {"by": by, "over_s": over_s})


def _step_reason(by: float, at_s: float) -> Reason:
    word = "up" if by > 0 else "down"
    return Reason("step", f"it goes {word} by {abs(by):.0%} after {at_s:.3g} s", {"by": by, "at_s": at_s})
