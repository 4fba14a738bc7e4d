"""Bound the error of results whose rate changes.

The confidence interval across trials is valid if the rate is steady, or if its changes happen at random and average out
within a trial. If the rate drifts, jumps or comes in bursts in most trials, trials of the same length may agree with
each other and still all be wrong. Each trial is then divided into tenths. The true value is assumed to be between the
lowest and the highest value of any tenth, with that range widened by the interval across trials. docs/stopping.md shows
how often this range contained the true value in recorded runs, and docs/compare.md has simulations of both cases.

If the changes are rare, but the rate rises or falls in each trial, the true value may be where this trend leads, but
not on the other side of the mean.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from poolproof.metrics import LOWER_IS_BETTER, MetricId, metric_of
from poolproof.results.runs.disturbed import is_disturbed, is_mostly_disturbed
from poolproof.results.runs.model import Trial
from poolproof.statistics.comparison import LogMean
from poolproof.statistics.distributions import t_half_width
from poolproof.statistics.intervals import standard_error
from poolproof.statistics.shared_variance import variance_of
from poolproof.stopping.model import IMPRECISE, NotConverged
from poolproof.verdicts import has_values

_LEAST_STEADY = 3
_MOST_OF_RANGE = 0.4
_SIGNIFICANCE = 0.2


def reasons_within(trials: Sequence[Trial]) -> tuple[NotConverged, ...]:
    """Return the reasons why trials did not converge, each once."""
    found: dict[str, NotConverged] = {}
    for trial in trials:
        if trial.settling is not None and not trial.settling.settled and has_values(trial.verdict):
            for reason in trial.settling.reasons:
                found.setdefault(reason.name, reason)
    return tuple(found.values())


def unsteady_reasons(trials: Sequence[Trial]) -> tuple[str, ...]:
    """Return the names of the reasons why the rate changed within trials.

    Trials with a changing rate may agree with each other and still all be wrong. The result is empty if the spread of
    the trials shows how large their error is, because the changes are rare and not a trend that all trials share.
    """
    names = tuple(dict.fromkeys(name for trial in trials for name in _changes_in(trial)))
    return () if names and _are_rare(trials) and not _is_systematic(_trends(trials)) else names


def _are_rare(trials: Sequence[Trial]) -> bool:
    """True if the changes of the rate average out within a trial, unless they are a trend that all trials share.

    This is assumed if the rate was steady in enough of the trials, and varies much more within the trials than from
    trial to trial. If it varies about as much from trial to trial, it may change so slowly that most trials missed the
    change.
    """
    changed, steady = _changed_and_steady(trials)
    if steady < max(_LEAST_STEADY, changed):
        return False
    values = [value for trial in trials if (value := trial.value(trial.metric))]
    ranges = [found for trial in trials if (found := _log_range(trial)) is not None]
    if min(len(ranges), len(_trends(trials))) < len(values):
        return False
    return math.sqrt(variance_of([*map(math.log, values)])) <= _MOST_OF_RANGE * math.fsum(ranges) / len(ranges)


def _trends(trials: Sequence[Trial]) -> list[float]:
    found = (trial.settling.trend_share for trial in trials if trial.settling is not None and trial.value(trial.metric))
    return [trend for trend in found if trend is not None]


def _is_systematic(trends: Sequence[float]) -> bool:
    """True if the rate rises or falls in the same way in each trial.

    This is a t-test at 20%: to overlook a change is worse than to test at the extremes without need.
    """
    mean = math.fsum(trends) / len(trends)
    return abs(mean) > t_half_width(standard_error(trends), len(trends) - 1, 1 - _SIGNIFICANCE)


def _changed_and_steady(trials: Sequence[Trial]) -> tuple[int, int]:
    """Return the number of trials in which the rate changed, and the number of the others that have a value."""
    changed = sum(bool(_changes_in(trial)) for trial in trials)
    return changed, sum(bool(trial.value(trial.metric)) for trial in trials) - changed


def _log_range(trial: Trial) -> float | None:
    """Return the logarithm of the ratio of a trial's highest and lowest tenth. None if it is unknown or infinite."""
    settling = trial.settling
    if settling is None or not settling.least_share or not settling.most_share or not trial.value(trial.metric):
        return None
    return math.log(settling.most_share / settling.least_share)


def may_become_averaged(trials: Sequence[Trial], most: int) -> bool:
    """True if the rate was steady in at least half of the trials, but more trials are needed for `_are_rare`.

    `most`: the maximum number of trials.
    """
    changed, steady = _changed_and_steady(trials)
    return 0 < changed <= steady < _LEAST_STEADY <= most - changed and len(_trends(trials)) == changed + steady


def _changes_in(trial: Trial) -> tuple[str, ...]:
    """Return the names of the reasons why the rate changed within a trial."""
    return tuple(each.name for each in reasons_within([trial]) if each.name not in IMPRECISE)


def extremes_of(trials: Iterable[Trial], metric: MetricId) -> tuple[float, float] | None:
    """Return the lowest and highest value of a metric in any tenth of any trial, in the metric's unit.

    These extremes are recorded only for the workload's own metric. If a steady trial has no recorded extremes, its
    value is used instead. Return None if no trial has a value, if the lowest value is 0, or if the rate changed in a
    trial without recorded extremes.
    """
    bounds: list[float] = []
    for trial in trials:
        value = trial.value(metric)
        if value is None:
            continue
        settling = trial.settling
        if settling is not None and settling.least_share and settling.most_share and metric == trial.metric:
            bounds += (value * settling.least_share, value * settling.most_share)
        elif _changes_in(trial):
            return None
        else:
            bounds.append(value)
    return (min(bounds), max(bounds)) if bounds and min(bounds) > 0 else None


def mean_to_test(mean: LogMean, trials: Sequence[Trial], metric: MetricId) -> LogMean:
    """Return the mean logarithm to use in a test of a cell whose rate is steady.

    If other work disturbed some of these trials, the true mean may be anywhere between the lowest and the highest
    trial. If it disturbed most of them, the mean can't be tested. If it disturbed none, or if the extremes are unknown,
    the mean is returned unchanged.
    """
    if is_mostly_disturbed(trials):
        return LogMean(mean.mean, None, logs=mean.logs)
    extended = with_extremes(mean, trials, metric) if any(map(is_disturbed, trials)) else None
    return extended or mean


def with_changes(mean: LogMean, trials: Sequence[Trial], metric: MetricId) -> LogMean | None:
    """Return the mean logarithm to use in a test of a cell for which `unsteady_reasons` finds reasons.

    The true value may be anywhere between the trials' extremes. If the changes are rare, the only reason is a trend
    that all trials share. A rate that falls in each trial may be lower than their mean, but not higher, unless other
    work disturbed one of them. Return None if the extremes are unknown.
    """
    extended = with_extremes(mean, trials, metric)
    if extended is None or not metric_of(metric).is_rate or not _are_rare(trials) or any(map(is_disturbed, trials)):
        return extended
    return replace(extended, above=0.0) if math.fsum(_trends(trials)) < 0 else replace(extended, below=0.0)


def with_extremes(mean: LogMean, trials: Iterable[Trial], metric: MetricId) -> LogMean | None:
    """Return the mean logarithm with `below` and `above` set so that the range includes the trials' extremes.

    Return None if the extremes are unknown.
    """
    extremes = extremes_of(trials, metric)
    if extremes is None:
        return None
    low, high = math.log(extremes[0]), math.log(extremes[1])
    worst, best = (-high, -low) if metric in LOWER_IS_BETTER else (low, high)
    return replace(mean, below=max(0.0, mean.mean - worst), above=max(0.0, best - mean.mean))
