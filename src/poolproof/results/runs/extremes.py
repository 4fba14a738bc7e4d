"""How far the figure of a cell may be off where a trial saw a rate that changes: to its lowest and its highest part.

The interval over trials holds for rates that stand. Where one drifts, steps or bursts, trials of one length may agree
and all be off. So such a figure counts as lying anywhere between the lowest and the highest tenth of any of its trials,
and the interval over trials around that. docs/stopping.md has how often that held in recorded runs.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from poolproof.campaign.model import LOWER_IS_BETTER, Metric
from poolproof.results.runs.convergence import unsteady_by
from poolproof.results.runs.model import Trial


@dataclass(frozen=True)
class Extremes:
    """The lowest and the highest that a figure was for a tenth of one of its trials, in the unit of the figure."""

    lowest: float
    highest: float

    def reach(self, mean: float, metric: Metric) -> tuple[float, float]:
        """How far below and above the mean logarithm of the trials they lie; both turned so that more is better."""
        lowest, highest = math.log(self.lowest), math.log(self.highest)
        worst, best = (-highest, -lowest) if metric in LOWER_IS_BETTER else (lowest, highest)
        return max(0.0, mean - worst), max(0.0, best - mean)


def extremes_of(trials: Iterable[Trial], metric: Metric) -> Extremes | None:
    """Those of a cell; None where a trial whose rate changes does not tell, or stood still for a tenth of it.

    A trial tells them of the metric that its workload is compared by, and of no other.
    """
    bounds: list[float] = []
    for trial in trials:
        value = trial.figures.metric(metric) if trial.figures and trial.verdict != "failed" else None
        if value is None:
            continue
        settling = trial.settling
        if settling is not None and settling.least_share and settling.most_share and metric == trial.metric:
            bounds += (value * settling.least_share, value * settling.most_share)
        elif unsteady_by([trial]):
            return None
        else:
            bounds.append(value)
    return Extremes(min(bounds), max(bounds)) if bounds and min(bounds) > 0 else None
