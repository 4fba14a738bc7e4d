"""Tests for warm-up, drift, steps, bursts, two levels and periods in a series.

`tolerance` is relative to the mean. Effects that are small compared with it are ignored.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from operator import mul

from poolproof.statistics.autocorrelation import LongRun, batch_means, long_run
from poolproof.statistics.distributions import quantile

_MOST_BINS = 300
MOST_WARM_UP = 1 / 3
"""The largest fraction of a series that may be cut off as warm-up."""
_WARM_UP_BATCH = 5
_WARM_UP_BATCHES = 10
_WARM_UP_LEAST_LEFT = 10
_WARM_UP_SIGNIFICANCE = 0.001
_CHANGE_SIGNIFICANCE = 0.01
_STEP_SUPREMUM = math.sqrt(12.35)
_STEP_EDGE = 0.15
_NORMAL_99 = 2.576
_BURST_DEVIATIONS = 6 * 1.4826
_BURST_SHARE_OF_MEDIAN = 0.25
_BURST_MOST_OF_TIME = 0.25
_BURST_GAPS = 100
_LEVEL = 1 / 3
_LEVEL_BEGINS = 3
_LEVEL_BEGINS_SHARE = 0.1
_MODE_BATCHES = 60
_MODE_DEVIATIONS = 4.0
_MODE_LEAST_SHARE = 0.1
_MODE_SIGNIFICANCE = 0.05
_PERIOD_BINS = 200
_PEAK = 0.5
_TROUGH = 0.2
_PEAK_DEVIATIONS = 3.2
LEAST_PERIODS = 3


def warm_up(values: Sequence[float], tolerance: float) -> int:
    """Return the number of warm-up samples at the start of a series, by MSER-5.

    White's rule (1997, Simulation 69, 323-334; Spratt added the batches of five in 1998) cuts the series at the point
    that minimizes the squared standard error of the remaining samples. Every series has such a minimum. The samples
    before it therefore count as warm-up only if they differ from the rest significantly and by more than the tolerance.
    The number is large if the series never levels off. If there are no such samples, or more than a third, but the
    series begins with its only burst or stall, this is the warm-up.
    """
    cut = _significant_cut(values, tolerance)
    return cut if 0 < cut <= MOST_WARM_UP * len(values) else _initial_burst(values) or cut


def _significant_cut(values: Sequence[float], tolerance: float) -> int:
    cut = _mser_cut(values)
    if cut == 0 or len(values) - cut < _WARM_UP_LEAST_LEFT:
        return 0
    rest = long_run(batch_means(values[cut:], math.ceil((len(values) - cut) / _MOST_BINS)))
    change = math.fsum(values[:cut]) / cut - rest.mean
    error = rest.standard_error * math.sqrt(1 + (len(values) - cut) / cut)
    is_chance = abs(change) <= quantile(1 - _WARM_UP_SIGNIFICANCE / 2, rest.freedom) * error
    return 0 if is_chance or abs(change) <= tolerance * rest.mean else cut


def _initial_burst(values: Sequence[float]) -> int:
    """Return the length of the burst or stall at the start, or 0 if there is none or if it is not the only one.

    For example, a disk cache takes the first writes at once. In a short series, the MSER statistic alone often misses
    this: its minimum may be among the last batches, or the rest may be too correlated for a significant difference.
    """
    far = _far_from_median(values, 0)
    is_initial = far == list(range(len(far))) and len(far) <= _BURST_MOST_OF_TIME * len(values)
    return len(far) if is_initial else 0


def _mser_cut(values: Sequence[float]) -> int:
    """Return the number of samples to cut off in order to minimize the MSER statistic of the remaining batches.

    This statistic is the sum of their squared deviations, divided by the square of their number.
    """
    size = max(1, min(_WARM_UP_BATCH, len(values) // _WARM_UP_BATCHES))
    batches = batch_means(values, size)
    shift = batches[-1]
    total = squares = 0.0
    best, cut = math.inf, 0
    for count, value in enumerate(reversed(batches), start=1):
        total += value - shift
        squares += (value - shift) ** 2
        if count <= len(batches) // _WARM_UP_BATCHES:
            continue
        statistic = max(0.0, squares - total * total / count) / count**2
        if statistic <= best:
            best, cut = statistic, len(batches) - count
    return cut * size + len(values) % size if cut else 0


@dataclass(frozen=True)
class SeriesChange:
    """A drift or step fitted to a series.

    `by`: the size of the change, relative to the mean.
    `at`: the position of the step, as a fraction of the series' length, or None for a drift.
    """

    by: float
    at: float | None


@dataclass(frozen=True)
class _Fit:
    """A fitted change of size `by`, which is significant if |t| exceeds `bound`.

    `residual`: the residual sum of squares.
    """

    by: float
    t: float
    bound: float
    residual: float


def change(values: Sequence[float], tolerance: float, whole: int) -> SeriesChange | None:
    """Return a drift or a step, whichever fits the series better, or None if neither matters.

    `whole`: the length of the series before its warm-up was cut off. A drift is extrapolated to this length before it
    is compared with the tolerance, but the result gives its size over `values` alone.

    A change matters if it is significant and larger than half the tolerance. Both kinds are fitted by least squares and
    tested against the long-run error of the residuals. The position of a step is estimated from the data, so its t must
    exceed the bound for the supremum: 12.35 for t² at 1% (Andrews 1993, Econometrica 61, 821-856, table I: one
    parameter, 15% trimmed at each end).
    """
    size = math.ceil(len(values) / _MOST_BINS)
    values, whole = batch_means(values, size), whole // size
    mean = math.fsum(values) / len(values)
    drift, (step, at) = _fit_drift(values), _fit_step(values)
    candidates = ((drift, drift.by * whole / len(values)), (step, step.by))
    found = [fit for fit, by in candidates if abs(fit.t) > fit.bound and abs(by) > tolerance * mean / 2]
    if not found:
        return None
    best = min(found, key=lambda fit: fit.residual)
    return SeriesChange(best.by / mean, None if best is drift else at / len(values))


def slope(values: Sequence[float]) -> float:
    """Return the slope of the least-squares line, as the change per sample."""
    count = len(values)
    middle = (count - 1) / 2
    return math.fsum((at - middle) * value for at, value in enumerate(values)) * 12 / (count * (count * count - 1))


def _fit_drift(values: Sequence[float]) -> _Fit:
    count, per_sample = len(values), slope(values)
    residuals = [value - per_sample * (at - (count - 1) / 2) for at, value in enumerate(values)]
    rest = long_run(residuals)
    by = per_sample * count
    # the variance of a slope over correlated samples is 12 / n³ times the spectrum at zero
    error = math.sqrt(12) * rest.standard_error
    bound = quantile(1 - _CHANGE_SIGNIFICANCE / 2, rest.freedom)
    return _fit(by, error, bound, residuals, rest)


def _fit_step(values: Sequence[float]) -> tuple[_Fit, int]:
    count = len(values)
    shift = values[0]
    sums = list(accumulate(value - shift for value in values))
    total = sums[-1]
    edge = max(2, math.ceil(_STEP_EDGE * count))
    at = max(range(edge, count - edge + 1), key=lambda k: (sums[k - 1] - k * total / count) ** 2 / (k * (count - k)))
    before, after = sums[at - 1] / at + shift, (total - sums[at - 1]) / (count - at) + shift
    residuals = [value - before for value in values[:at]] + [value - after for value in values[at:]]
    rest = long_run(residuals)
    error = rest.standard_error * math.sqrt(count * (1 / at + 1 / (count - at)))
    bound = _STEP_SUPREMUM * quantile(1 - _CHANGE_SIGNIFICANCE / 2, rest.freedom) / _NORMAL_99
    return _fit(after - before, error, bound, residuals, rest), at


def _fit(by: float, error: float, bound: float, residuals: Sequence[float], rest: LongRun) -> _Fit:
    t = by / error if error else math.inf if by else 0.0
    return _Fit(by, t, bound, math.fsum((value - rest.mean) ** 2 for value in residuals))


@dataclass(frozen=True)
class Bursts:
    """The bursts or stalls in a series.

    `episodes`: the number of bursts or stalls.
    `samples`: their total length, in samples.
    `moved`: their effect on the mean, as a fraction of the mean. It is positive for bursts and negative for stalls.
    """

    episodes: int
    samples: int
    moved: float


def bursts(values: Sequence[float], start: int, tolerance: float) -> Bursts | None:
    """Find bursts or stalls, such as a single long stall, flushes of dirty memory, or a disk cache that fills once.

    `start`: the number of samples cut off as warm-up. A burst that began with the series belongs to the warm-up and is
    ignored.

    A sample belongs to a burst or stall if its distance from the median exceeds both a quarter of the median and six
    robust deviations (1.4826 times the median absolute deviation: Hampel 1974, JASA 69, 383-393). Returns None if
    bursts or stalls move the mean by at most half the tolerance, or if they make up more than a quarter of the series.
    """
    mean = math.fsum(values) / len(values)
    median = statistics.median(values[start:])
    far = _far_from_median(values, start)
    counted = _first_counted(far, start)
    far = [at for at in far if at >= counted]
    moved = math.fsum(values[at] - median for at in far) / (len(values) * mean)
    if not far or len(far) > _BURST_MOST_OF_TIME * len(values) or abs(moved) <= tolerance / 2:
        return None
    gap = max(2, len(values) // _BURST_GAPS)
    episodes = 1 + sum(at - before > gap for before, at in pairwise(far))
    return Bursts(episodes, len(far), moved)


def _far_from_median(values: Sequence[float], start: int) -> list[int]:
    """Return the indices of the samples that are in a burst or stall. The median is that of the samples from `start`"""
    median = statistics.median(values[start:])
    spread = statistics.median([abs(value - median) for value in values[start:]])
    limit = max(_BURST_DEVIATIONS * spread, _BURST_SHARE_OF_MEDIAN * abs(median))
    return [at for at, value in enumerate(values) if abs(value - median) > limit]


def _first_counted(far: Sequence[int], start: int) -> int:
    """Return the index of the first sample that may belong to a burst.

    It is 0 if the warm-up contains a burst that does not belong to it, and otherwise `start`. Bursts belong to the
    warm-up if their samples are the first of the series, or if they begin near its start and make up at least a third
    of the warm-up.
    """
    before = [at for at in far if at < start]
    is_ramp = before == list(range(len(before)))
    is_early = bool(before) and before[0] < max(_LEVEL_BEGINS, start * _LEVEL_BEGINS_SHARE)
    return start if is_ramp or (is_early and len(before) >= _LEVEL * start) else 0


@dataclass(frozen=True)
class Modes:
    """The two levels between which a series alternates.

    `low`, `high`: the two levels.
    `share`: the fraction of samples at the lower level.
    `changes`: the number of changes from one level to the other.
    """

    low: float
    high: float
    share: float
    changes: int


def modes(values: Sequence[float], tolerance: float) -> Modes | None:
    """Return the two levels between which a series alternates, or None if it has only one level.

    One-dimensional 2-means divides the batch means into the two groups with the smallest sum of squares. Even for a
    normal sample, the means of these groups are 2.6 within-group deviations apart. They therefore count as two levels
    only if they are more than four deviations and more than twice the tolerance apart. Each group must also contain at
    least a tenth of the batches. A few low or high batches of a skewed sample are as far apart, but in random order.
    The levels must therefore last: there must be significantly fewer changes than in a random order (at 5%, by the runs
    test of Wald and Wolfowitz 1940, Annals of Mathematical Statistics 11, 147-162).
    """
    size = max(1, len(values) // _MODE_BATCHES)
    batches = batch_means(values, size)
    low, high, within, limit, share = _two_means(batches)
    mean = math.fsum(batches) / len(batches)
    changes = sum((a > limit) != (b > limit) for a, b in pairwise(batches))
    is_apart = high - low > max(_MODE_DEVIATIONS * within, 2 * tolerance * mean)
    is_split = is_apart and _MODE_LEAST_SHARE <= share <= 1 - _MODE_LEAST_SHARE
    count = sum(value <= limit for value in batches)
    lasts = is_split and changes_tail(changes, count, len(batches) - count) < _MODE_SIGNIFICANCE
    return Modes(low, high, share, changes) if lasts else None


def changes_tail(changes: int, count: int, others: int) -> float:
    """Return the probability of at most this many changes between two kinds of samples in random order.

    `count`, `others`: the number of samples of each kind.
    """
    orders = 0
    for runs in range(2, changes + 2):
        one, other = runs // 2 - 1, (runs + 1) // 2 - 1  # the boundaries within each kind
        ways = math.comb(count - 1, one) * math.comb(others - 1, other)
        orders += ways + math.comb(count - 1, other) * math.comb(others - 1, one)
    return orders / math.comb(count + others, count)


def _two_means(batches: Sequence[float]) -> tuple[float, float, float, float, float]:
    """Divide the batches into a lower and an upper group.

    Returns the means of the two groups, the within-group deviation, the threshold between the groups, and the fraction
    of batches in the lower group.
    """
    ranked = sorted(batches)
    count = len(ranked)
    shift = ranked[0]
    sums = list(accumulate(value - shift for value in ranked))
    squares = list(accumulate((value - shift) ** 2 for value in ranked))
    at = max(range(1, count), key=lambda k: sums[k - 1] ** 2 / k + (sums[-1] - sums[k - 1]) ** 2 / (count - k))
    low, high = sums[at - 1] / at, (sums[-1] - sums[at - 1]) / (count - at)
    within = max(0.0, squares[-1] - at * low**2 - (count - at) * high**2) / count
    return low + shift, high + shift, math.sqrt(within), (ranked[at - 1] + ranked[at]) / 2, at / count


def period(values: Sequence[float], tolerance: float) -> int | None:
    """Return the period of a series in samples, or None if it has no period that matters.

    The period is the lag of the autocorrelation's highest peak after its first trough. It matters because the mean of a
    window with an incomplete period depends on where the window ends. A period is ignored if an incomplete one would
    move the mean by less than a third of the tolerance.
    """
    size = max(1, len(values) // _PERIOD_BINS)
    bins = batch_means(values, size)
    mean = math.fsum(bins) / len(bins)
    centred = [value - mean for value in bins]
    variance = sum(map(mul, centred, centred)) / len(bins)
    if variance <= 0 or math.sqrt(variance) <= tolerance * mean / 3:
        return None
    found = _peak([_correlation(centred, lag, variance) for lag in range(len(bins) // 2 + 1)], len(bins))
    if found is None or not _recurs(centred, found, variance):
        return None
    weight = math.sqrt(variance) * found / len(bins) / mean
    return found * size if weight > tolerance / 3 else None


def without_period(values: Sequence[float], samples: int) -> list[float]:
    """Return the series without its periodic component. Its mean stays the same.

    The series must consist of whole periods.
    """
    mean = math.fsum(values) / len(values)
    count = len(values) // samples
    profile = [math.fsum(values[phase::samples]) / count - mean for phase in range(samples)]
    return [value - profile[at % samples] for at, value in enumerate(values)]


def _correlation(centred: Sequence[float], lag: int, variance: float) -> float:
    return math.fsum(map(mul, centred, centred[lag:])) / (len(centred) - lag) / variance


def _recurs(centred: Sequence[float], lag: int, variance: float) -> bool:
    """True if the series repeats again after two periods, or is too short to tell.

    Two bursts alone therefore do not make a series periodic.
    """
    if LEAST_PERIODS * lag > len(centred):
        return True
    return max(_correlation(centred, at, variance) for at in (2 * lag - 1, 2 * lag, 2 * lag + 1)) > _PEAK / 2


def _peak(correlations: Sequence[float], count: int) -> int | None:
    trough = next((lag for lag, height in enumerate(correlations) if height < _TROUGH), None)
    if trough is None or trough >= len(correlations) - 1:
        return None
    lag = max(range(trough, len(correlations) - 1), key=lambda at: correlations[at])
    height = correlations[lag]
    is_top = height >= correlations[lag + 1] and height >= correlations[lag - 1]
    is_significant = height > max(_PEAK, _PEAK_DEVIATIONS / math.sqrt(count - lag))
    return lag if is_top and is_significant else None
