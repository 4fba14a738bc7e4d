"""The speed of each cell relative to the baseline, tested as in `poolproof compare`."""

from collections.abc import Mapping, Sequence

from poolproof.campaign.cell_key import HEALTHY, CellKey
from poolproof.results.runs.changing_rates import mean_to_test
from poolproof.results.runs.convergence import metric_log_mean
from poolproof.results.runs.in_place import with_margin
from poolproof.results.runs.summary import Cell, Widening, metric_prior, unchanged
from poolproof.statistics.comparison import difference
from poolproof.statistics.intervals import Interval


def speeds_to_baseline(
    cells: Sequence[Cell], baseline: str | None, widened: Widening = unchanged
) -> Mapping[CellKey, Interval]:
    """Return each cell's speed relative to the baseline under the same workload, with a 95% confidence interval.

    Higher is always faster, because the ratio is inverted for latencies. A cell is compared with the baseline in the
    same state or, if that was not measured, in the healthy state. As in `poolproof compare`, the intervals also depend
    on the variance of the other cells.

    The result excludes the baseline's own cells. It also excludes a cell if its result or the baseline's is refuted,
    failed, limited, unsteady or 0, is a percentile with too few events, or has mostly trials that other work disturbed.

    `widened`: a function that adds the between-run variance to a mean.
    """
    bases = {(cell.workload, cell.state): cell for cell in cells if cell.layout == baseline}
    metrics = dict.fromkeys(base.metric for base in bases.values())
    priors = {metric: metric_prior(cells, metric) for metric in metrics}
    found = {}
    for cell in cells:
        base = bases.get((cell.workload, cell.state)) or bases.get((cell.workload, HEALTHY))
        if base is None or cell.layout == baseline:
            continue
        if not all(each.usability().can_be_tested for each in (cell, base)):
            continue
        sides = [metric_log_mean(each.samples(), cell.metric, priors.get(cell.metric)) for each in (cell, base)]
        if sides[0] is not None and sides[1] is not None:
            one, other = (
                widened(each.key, cell.metric, mean_to_test(mean, each.trials, cell.metric))
                for each, mean in ((cell, sides[0]), (base, sides[1]))
            )
            apart = difference(one, other)
            in_place = cell.family is not None and cell.family == base.family
            found[cell.key] = (with_margin(apart) if in_place else apart).interval
    return found
