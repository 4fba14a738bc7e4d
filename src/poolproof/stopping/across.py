"""The trials of a cell together: their mean, its interval, and whether they agree."""

import math
from collections.abc import Sequence

from poolproof.stopping.model import Between, Rule, TrialMean
from poolproof.student import quantile


def across(trials: Sequence[TrialMean], rule: Rule) -> Between:
    """The interval of the mean over trials, the trials as units.

    Raises:
        ValueError: there is no trial.
    """
    if not trials:
        raise ValueError("no trial: nothing can be said of a cell")
    count = len(trials)
    mean = math.fsum(trial.mean for trial in trials) / count
    within = _within(trials, rule)
    if count == 1:
        return Between(rule.trials_max == 1, False, mean, None, None, None, within, False)
    deviation = math.sqrt(math.fsum((trial.mean - mean) ** 2 for trial in trials) / (count - 1))
    half = quantile((1 + rule.confidence) / 2, count - 1) * deviation / math.sqrt(count)
    known = count >= rule.trials_min and half <= rule.until * mean
    done = known or count >= rule.trials_max
    return Between(done, known, mean, mean - half, mean + half, deviation, within, False)


def _within(trials: Sequence[TrialMean], rule: Rule) -> float | None:
    """The root mean square of the standard errors that the trials' own series gave."""
    factor = 2 * quantile((1 + rule.confidence) / 2, 1000)
    errors = [(t.high - t.low) / factor for t in trials if t.low is not None and t.high is not None]
    return math.sqrt(math.fsum(error**2 for error in errors) / len(errors)) if errors else None
