"""The trials of a cell together: their mean, its interval, and whether they agree.

The trials are the units: what differs from trial to trial (where the files lie, what the machine does besides, which
mode a disk is in) is not seen inside any of them. Student's t over few of them is wide. With the `VariancePrior` of the
campaign's other cells it becomes a moderated t, which gives an interval even for a single trial. No trial tells more
than its own samples do: their standard error bounds the deviation from below, so two trials that happen to be alike do
not pass for a known figure. A cell whose trials differ by more than their insides explain, and by more than those of
the others, is not like them: its own trials alone count. Percentiles come in bins: two trials in one bin know no more
than the bin.
"""

import math
from collections.abc import Sequence

from poolproof.statistics.students_t import f_upper_tail, quantile
from poolproof.stopping.model import AcrossTrials, StoppingRule, TrialMean, VariancePrior
from poolproof.stopping.spread import MOST_FREEDOM, is_unlike, weighed

_DOUBT = 0.01
_WITHIN_FREEDOM = 30
_LEAST_FREEDOM = 0.25  # of a spread that is next to nothing; its t is forty thousand


def across(
    trials: Sequence[TrialMean], rule: StoppingRule, spread: VariancePrior | None = None, resolution: float = 0.0
) -> AcrossTrials:
    """The interval of the mean over trials, the trials as units. `spread`: of the campaign's cells, where known.

    `resolution` is the least standard error that a mean can have, relative, however many trials it is of: that of the
    bin in which a percentile lies.

    Raises:
        ValueError: there is no trial.
    """
    if not trials:
        raise ValueError("no trial: nothing can be said of a cell")
    count = len(trials)
    mean = math.fsum(trial.mean for trial in trials) / count
    within = _within(trials, rule)
    if count == 1 and spread is None:
        return AcrossTrials(rule.trials_max == 1, False, mean, None, None, None, within, False)
    deviation = math.sqrt(math.fsum((trial.mean - mean) ** 2 for trial in trials) / max(1, count - 1))
    disagree = _disagree(trials, deviation, within, mean, rule)
    if disagree and spread is not None and is_unlike((deviation / mean) ** 2, count - 1, spread):
        spread = None
    error = max(_error(deviation, within, mean, count, spread), resolution * mean)
    half = _reach(count, rule, spread) * error
    known = count >= rule.trials_min and mean > 0 and half <= rule.until * mean
    return AcrossTrials(
        done=known or count >= rule.trials_max,
        known=known,
        mean=mean,
        low=max(0.0, mean - half),
        high=mean + half,
        between_sd=deviation if count > 1 else None,
        within_se=within,
        disagree=disagree,
    )


def least_half(rule: StoppingRule, resolution: float) -> float:
    """The narrowest half interval, relative, that trials of this resolution can have, whatever other cells tell."""
    most = VariancePrior(resolution, MOST_FREEDOM)
    return min(_reach(count, rule, most) for count in (rule.trials_min, rule.trials_max)) * resolution


def _error(deviation: float, within: float | None, mean: float, count: int, spread: VariancePrior | None) -> float:
    """The standard error of the mean of the trials, not below that of their own samples."""
    freedom, variance = count - 1, deviation**2
    if spread is not None:
        variance = weighed(variance, freedom, spread, mean)
    return max(math.sqrt(variance), within or 0.0) / math.sqrt(count)


def _reach(count: int, rule: StoppingRule, spread: VariancePrior | None) -> float:
    """Standard errors from the mean to either end; from the third trial on more, each a further chance to stop."""
    freedom = count - 1 + (spread.freedom if spread is not None else 0.0)
    reach = quantile((1 + rule.confidence) / 2, max(_LEAST_FREEDOM, freedom))
    return reach * (1 + 1 / math.sqrt(2 * freedom) / 2) if count > rule.trials_min else reach


def _within(trials: Sequence[TrialMean], rule: StoppingRule) -> float | None:
    """The root mean square of the standard errors that the trials' own series gave."""
    factor = 2 * quantile((1 + rule.confidence) / 2, _WITHIN_FREEDOM)
    errors = [(t.high - t.low) / factor for t in trials if t.low is not None and t.high is not None]
    return math.sqrt(math.fsum(error**2 for error in errors) / len(errors)) if errors else None


def _disagree(
    trials: Sequence[TrialMean], deviation: float, within: float | None, mean: float, rule: StoppingRule
) -> bool:
    """Whether the trials differ by more than chance within them (an F-test at 1 %), and by more than the tolerance."""
    means = [trial.mean for trial in trials]
    if within is None or max(means) - min(means) <= rule.until * mean:
        return False
    if within == 0:
        return True
    return f_upper_tail((deviation / within) ** 2, len(trials) - 1, _WITHIN_FREEDOM) < _DOUBT
