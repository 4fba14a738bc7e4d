"""How uncertain the metric of a cell is: what other cells say about it, and how far a rate that changes may be off.

The interval over trials is valid for steady rates. If a rate drifts, steps or bursts, trials of one length may agree
and all be off. Such a value counts as lying anywhere between the lowest and highest tenth of any of its trials, with
the interval over trials around that. docs/stopping.md has how often that covered the truth in recorded runs.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from poolproof.metrics import LOWER_IS_BETTER, MetricId, metric_of
from poolproof.results.runs.convergence import unsteady_reasons
from poolproof.results.runs.model import Trial
from poolproof.results.runs.summary import Cell
from poolproof.statistics.comparison import LogMean, log_mean
from poolproof.statistics.intervals import LEAST_DEVIATION, VariancePrior, fit_prior


def metric_prior(cells: Iterable[Cell], metric: MetricId) -> VariancePrior | None:
    """Return the typical variance between trials, from all cells with two or more; None if there are too few.

    Cells of a fixed time are left out: their intervals do not use other cells. Cells whose rate changes are included:
    their extremes say separately how far all of their trials may be off.
    """
    groups = [cell.values_of(metric) for cell in cells if cell.settling is not None]
    return fit_prior(groups, metric_of(metric).resolution or LEAST_DEVIATION)


@dataclass(frozen=True)
class Extremes:
    """The lowest and highest value of a metric in a tenth of one of a cell's trials, in the unit of the metric."""

    lowest: float
    highest: float

    def distances(self, mean: float, metric: MetricId) -> tuple[float, float]:
        """Return how far they are below and above a mean logarithm that is oriented so that more is better."""
        lowest, highest = math.log(self.lowest), math.log(self.highest)
        worst, best = (-highest, -lowest) if metric in LOWER_IS_BETTER else (lowest, highest)
        return max(0.0, mean - worst), max(0.0, best - mean)


def extremes_of(trials: Iterable[Trial], metric: MetricId) -> Extremes | None:
    """Return the extremes of a cell; None if they are unknown, or 0, in a trial whose rate changes.

    A trial has extremes only of the metric that its workload is compared by.
    """
    bounds: list[float] = []
    for trial in trials:
        value = trial.result(metric).value
        if value is None:
            continue
        settling = trial.settling
        if settling is not None and settling.least_share and settling.most_share and metric == trial.metric:
            bounds += (value * settling.least_share, value * settling.most_share)
        elif unsteady_reasons([trial]):
            return None
        else:
            bounds.append(value)
    return Extremes(min(bounds), max(bounds)) if bounds and min(bounds) > 0 else None


def metric_log_mean(values: Sequence[float], metric: MetricId, prior: VariancePrior | None) -> LogMean | None:
    """Return the mean logarithm of one cell's values; None for no values, or if one of them is 0."""
    return log_mean(values, prior, lower_is_better=metric in LOWER_IS_BETTER, resolution=metric_of(metric).resolution)


def with_extremes(mean: LogMean, trials: Iterable[Trial], metric: MetricId) -> LogMean | None:
    """Return the mean logarithm of trials whose rate changes, extended to their extremes; None if these are unknown."""
    extremes = extremes_of(trials, metric)
    if extremes is None:
        return None
    below, above = extremes.distances(mean.mean, metric)
    return replace(mean, below=below, above=above)
