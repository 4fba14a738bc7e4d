"""How much trials differ by one metric in a run: what its cells tell of each other."""

from collections.abc import Iterable

from poolproof.campaign.model import Metric
from poolproof.results.runs.convergence import resolution_of
from poolproof.results.runs.summary import Cell
from poolproof.stopping.model import TrialMean, VariancePrior
from poolproof.stopping.spread import LEAST_DEVIATION, spread_of


def metric_spread(cells: Iterable[Cell], metric: Metric) -> VariancePrior | None:
    """That of all cells with two or more trials; None where they are too few, and with a fixed time.

    With a fixed time, the interval of a cell does not use other cells (`results/runs/convergence.py`). Cells whose rate
    changes count too: how far all of their trials may be off is what their extremes add.
    """
    values = [cell.values_of(metric) for cell in cells if cell.settling is not None]
    return spread_of([[TrialMean(value) for value in own] for own in values], resolution_of(metric) or LEAST_DEVIATION)
