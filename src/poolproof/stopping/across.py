"""The mean over the trials of a cell, its interval, and whether the trials agree.

Trials are the unit of analysis: the samples within a trial do not show what differs between trials, such as where the
files are on the disk. With the `VariancePrior` of the campaign's cells, Student's t becomes a moderated t, which gives
an interval even for a single trial. The deviation is at least the standard error within a trial, so that two trials
that agree by chance do not count as precise. The prior is not used for a cell whose trials differ by more than the
variation within each trial and the variation in other cells can explain.
"""

import math
from collections.abc import Sequence

from poolproof.statistics.distributions import f_upper_tail, quantile
from poolproof.statistics.intervals import MOST_FREEDOM, VariancePrior, variance_of
from poolproof.stopping.model import AcrossTrials, StoppingRule, TrialMean

_SIGNIFICANCE = 0.01
_WITHIN_FREEDOM = 30
_LEAST_FREEDOM = 0.25  # with this many degrees of freedom, t is already forty thousand


def across(
    trials: Sequence[TrialMean], rule: StoppingRule, prior: VariancePrior | None = None, resolution: float = 0.0
) -> AcrossTrials:
    """Return the mean over trials with its interval. `prior` comes from all cells of the campaign.

    The relative standard error of the mean is at least `resolution`, which is above 0 for latencies because fio counts
    them in bins. Raises a ValueError if there are no trials.
    """
    if not trials:
        raise ValueError("a cell without trials has no mean")
    means = [trial.mean for trial in trials]
    count, mean = len(means), math.fsum(means) / len(means)
    within = _within(trials, rule)
    if count == 1 and prior is None:
        return AcrossTrials(rule.trials_max == 1, False, mean, None, None, False)
    deviation = math.sqrt(variance_of(means))
    disagree = _disagree(means, deviation, within, rule)
    if disagree and prior is not None and prior.is_exceeded((deviation / mean) ** 2, count - 1):
        prior = None
    variance = deviation**2 if prior is None else prior.pooled(deviation**2, count - 1, mean)
    error = max(math.sqrt(variance), within or 0.0) / math.sqrt(count)  # at least the error of the trials' own samples
    half = _half_in_errors(count, rule, prior) * max(error, resolution * mean)
    is_precise = count >= rule.trials_min and mean > 0 and half <= rule.until * mean
    return AcrossTrials(
        done=is_precise or count >= rule.trials_max,
        is_precise=is_precise,
        mean=mean,
        low=max(0.0, mean - half),
        high=mean + half,
        disagree=disagree,
    )


def least_half(rule: StoppingRule, resolution: float) -> float:
    """Return the smallest possible half width of an interval with this resolution, as a share of the mean.

    The half width is smallest with the best possible prior.
    """
    best = VariancePrior(resolution, MOST_FREEDOM)
    return min(_half_in_errors(count, rule, best) for count in (rule.trials_min, rule.trials_max)) * resolution


def _half_in_errors(count: int, rule: StoppingRule, prior: VariancePrior | None) -> float:
    """Return the half width in standard errors.

    The interval is wider if there are more trials than the minimum, because every further trial is another chance to
    stop.
    """
    freedom = count - 1 + (prior.freedom if prior is not None else 0.0)
    half = quantile((1 + rule.confidence) / 2, max(_LEAST_FREEDOM, freedom))
    return half * (1 + 1 / math.sqrt(2 * freedom) / 2) if count > rule.trials_min else half


def _within(trials: Sequence[TrialMean], rule: StoppingRule) -> float | None:
    """Return the root mean square of the standard errors within trials; None if no trial has an interval."""
    factor = 2 * quantile((1 + rule.confidence) / 2, _WITHIN_FREEDOM)
    errors = [(t.high - t.low) / factor for t in trials if t.low is not None and t.high is not None]
    return math.sqrt(math.fsum(error**2 for error in errors) / len(errors)) if errors else None


def _disagree(means: Sequence[float], deviation: float, within: float | None, rule: StoppingRule) -> bool:
    """True if the trials differ by more than the tolerance and by more than the variation within each can explain.

    The second condition is an F-test at 1 %.
    """
    if within is None or max(means) - min(means) <= rule.until * math.fsum(means) / len(means):
        return False
    if within == 0:
        return True
    return f_upper_tail((deviation / within) ** 2, len(means) - 1, _WITHIN_FREEDOM) < _SIGNIFICANCE
