"""The mean over a cell's trials, its confidence interval, and whether the trials agree.

Trials are the unit of analysis, because the samples within a trial do not show what differs between trials, such as the
place of the files on the disk. With the `VariancePrior` of the campaign's cells, even a single trial can have an
interval. If a cell's trials vary significantly more than those of the other cells, the prior is not used for it. Two
trials may agree by chance. The standard deviation is therefore assumed to be at least the standard error within a
trial.
"""

import math
from collections.abc import Sequence

from poolproof.statistics import repeated_means
from poolproof.statistics.distributions import t_half_width
from poolproof.statistics.intervals import Interval, error_of_mean
from poolproof.statistics.resolution import bin_deviation
from poolproof.statistics.shared_variance import VariancePrior, has_interval, variance_of
from poolproof.stopping.model import AcrossTrials, StoppingRule, TrialMean


def across(
    trials: Sequence[TrialMean], rule: StoppingRule, prior: VariancePrior | None = None, resolution: float = 0.0
) -> AcrossTrials:
    """Return the mean over trials with its confidence interval. Raises a ValueError if there are no trials.

    `prior`: estimated from all cells of the campaign.
    `resolution`: a lower bound on the relative standard error of the mean, because load generators count whole I/Os and
    sort latencies into bins.
    """
    if not trials:
        raise ValueError("a cell without trials has no mean")
    means = [trial.mean for trial in trials]
    count, mean = len(means), math.fsum(means) / len(means)
    within = _error_within(trials, rule)
    if not has_interval(count, prior):
        return AcrossTrials(rule.trials_max == 1, False, mean, None, None, False)
    disagree = repeated_means.means_disagree(means, within, rule.until)
    if mean <= 0:
        return AcrossTrials(count >= rule.trials_max, False, mean, 0.0, 0.0, disagree)
    relative = variance_of(means) / mean**2
    error = error_of_mean(relative, count, prior, within=within.error / mean if within else 0.0, least=resolution)
    half = repeated_means.repeated_half_width(error, count, rule.trials_min, rule.confidence, prior) * mean
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
    """Return the smallest tolerance that a percentile can reach, relative to its value.

    `bin_width`: the width of a bin in the latency histograms, relative to the latency.
    """
    half = repeated_means.least_half_width(rule.trials_min, rule.trials_max, rule.confidence, bin_deviation(bin_width))
    return max(bin_width / 2, half)


def _error_within(trials: Sequence[TrialMean], rule: StoppingRule) -> repeated_means.PooledError | None:
    """Return the pooled standard error within trials, or None if no trial has a confidence interval."""
    factor = 2 * t_half_width(1.0, TrialMean.freedom, rule.confidence)
    return repeated_means.pooled_error(
        (trial.error if trial.error is not None else (trial.high - trial.low) / factor, trial.freedom)
        for trial in trials
        if trial.low is not None and trial.high is not None
    )
