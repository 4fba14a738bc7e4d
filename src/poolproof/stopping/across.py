"""The mean over the trials of a cell, its interval, and whether the trials agree.

Trials are the unit of analysis: the samples within a trial do not show what differs between trials, such as where the
files are on the disk. With the `VariancePrior` of the campaign's cells, even a single trial has an interval. The
deviation is at least the standard error within a trial, so that two trials that agree by chance do not count as
precise. The prior is not used for a cell whose trials differ by more than the
variation within each trial and the variation in other cells can explain.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from poolproof.statistics.distributions import f_upper_tail, t_half_width
from poolproof.statistics.intervals import Interval, error_of_mean
from poolproof.statistics.percentiles import bin_deviation
from poolproof.statistics.shared_variance import (
    CERTAIN,
    LEAST_DEVIATION,
    LEAST_SCATTER,
    MeanError,
    VariancePrior,
    has_interval,
    variance_of,
)
from poolproof.stopping.model import AcrossTrials, StoppingRule, TrialMean

_SIGNIFICANCE = 0.01


def across(
    trials: Sequence[TrialMean], rule: StoppingRule, prior: VariancePrior | None = None, resolution: float = 0.0
) -> AcrossTrials:
    """Return the mean over trials with its interval. `prior` comes from all cells of the campaign.

    The relative standard error of the mean is at least `resolution`: a rate counts whole I/Os, and fio counts latencies
    in bins. Raises a ValueError if there are no trials.
    """
    if not trials:
        raise ValueError("a cell without trials has no mean")
    means = [trial.mean for trial in trials]
    count, mean = len(means), math.fsum(means) / len(means)
    within = _within(trials, rule)
    if not has_interval(count, prior):
        return AcrossTrials(rule.trials_max == 1, False, mean, None, None, False)
    deviation = math.sqrt(variance_of(means))
    disagree = _disagree(means, deviation, within, rule)
    if mean <= 0:
        return AcrossTrials(count >= rule.trials_max, False, mean, 0.0, 0.0, disagree)
    relative = (deviation / mean) ** 2
    error = error_of_mean(relative, count, prior, within=within.error / mean if within else 0.0, least=resolution)
    half = _half(error, count, rule, prior) * mean
    interval = Interval.around(mean, half)
    is_precise = count >= rule.trials_min and half <= rule.until * mean
    return AcrossTrials(
        done=is_precise or count >= rule.trials_max,
        is_precise=is_precise,
        mean=mean,
        low=interval.low,
        high=interval.high,
        disagree=disagree,
    )


def least_tolerance(rule: StoppingRule, bin_width: float) -> float:
    """Return the smallest tolerance that a percentile can reach, as a share of it.

    `bin_width` is the width of the bins of the latency histograms, as a share of a latency.
    """
    return max(bin_width / 2, least_half(rule, bin_deviation(bin_width)))


def least_half(rule: StoppingRule, resolution: float) -> float:
    """Return the smallest possible half width of an interval with this resolution, as a share of the mean.

    The half width is smallest with the best possible prior.
    """
    best = VariancePrior(resolution or LEAST_DEVIATION, LEAST_SCATTER)
    counts = (rule.trials_min, rule.trials_max)
    return min(_half(error_of_mean(0.0, count, best, least=resolution), count, rule, best) for count in counts)


def _half(error: MeanError, count: int, rule: StoppingRule, prior: VariancePrior | None) -> float:
    """Return the half width of the interval, as a share of the mean.

    The interval is wider if there are more trials than the minimum, because every further trial is another chance to
    stop.
    """
    half = error.reach((1 - rule.confidence) / 2)
    if count <= rule.trials_min:
        return half
    freedom = count - 1 + (prior.freedom if prior is not None and error.known is not CERTAIN else 0.0)
    return half * (1 + 1 / math.sqrt(2 * freedom) / 2)


@dataclass(frozen=True)
class _Within:
    """The root mean square of the standard errors within trials, with its degrees of freedom."""

    error: float
    freedom: float


def _within(trials: Sequence[TrialMean], rule: StoppingRule) -> _Within | None:
    """Return the error within trials; None if no trial has an interval."""
    factor = 2 * t_half_width(1.0, TrialMean.freedom, rule.confidence)
    errors = [
        (trial.error if trial.error is not None else (trial.high - trial.low) / factor, trial.freedom)
        for trial in trials
        if trial.low is not None and trial.high is not None
    ]
    if not errors:
        return None
    square = math.fsum(error**2 for error, _ in errors) / len(errors)
    return _Within(math.sqrt(square), math.fsum(freedom for _, freedom in errors))


def _disagree(means: Sequence[float], deviation: float, within: _Within | None, rule: StoppingRule) -> bool:
    """True if the trials differ by more than the tolerance and by more than the variation within each can explain.

    The second condition is an F-test at 1 %.
    """
    if within is None or max(means) - min(means) <= rule.until * math.fsum(means) / len(means):
        return False
    if within.error == 0:
        return True
    return f_upper_tail((deviation / within.error) ** 2, len(means) - 1, within.freedom) < _SIGNIFICANCE
