"""The value of a cell as comparisons need it, or why it has none that counts."""

from dataclasses import dataclass

from poolproof.metrics import LOWER_IS_BETTER, MetricId
from poolproof.results.runs.convergence import metric_log_mean, with_extremes
from poolproof.results.runs.loading import LoadedRun
from poolproof.results.runs.model import CellKey
from poolproof.results.runs.summary import Cell
from poolproof.statistics.comparison import LogMean
from poolproof.statistics.intervals import Interval, VariancePrior
from poolproof.verdicts import Verdict


@dataclass(frozen=True)
class Measured:
    """The value of a cell that counts. Tests use `log`.

    `unsteady`: names of reasons (`drift`, `step` …) why it is not tested: its rate changed by an unknown amount.
    `changing`: the same if the extremes are known; the value then counts as lying anywhere between them.
    """

    cell: Cell
    metric: MetricId
    log: LogMean
    trials: int
    unsteady: tuple[str, ...] = ()
    changing: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """Return the verdict on the metric."""
        return self.cell.result(self.metric).verdict

    @property
    def figure(self) -> Interval:
        """Return the geometric mean of the trials: the ratio of two of them is the ratio that was tested."""
        return self.log.interval(lower_is_better=self.metric in LOWER_IS_BETTER)


def measured(run: LoadedRun, layout: str, workload: str, metric: MetricId) -> Measured | str:
    """Return the value of a cell, or a few words why it has none that may be compared."""
    return _measured(run.by_key.get(CellKey(layout, workload)), metric, run.priors.get(metric))


def _measured(cell: Cell | None, metric: MetricId, prior: VariancePrior | None) -> Measured | str:
    if cell is None:
        return "not measured"
    result = cell.result(metric)
    if not result.counts:
        rules = [finding.rule for finding in cell.findings if finding.effect in ("refutes", "fails")]
        return f"{result.verdict} ({rules[0]})" if rules else result.verdict
    values = result.values
    if not values:
        return f"no {metric} was measured"
    log = metric_log_mean(values, metric, prior)
    if log is None:
        return "a trial measured 0"
    if not cell.unsteady:
        return Measured(cell, metric, log, len(values))
    extended = with_extremes(log, cell.trials, metric)
    if extended is None:
        # trials of one length may agree on a rate that still changes: nothing can be tested
        return Measured(cell, metric, LogMean(log.mean, None), len(values), cell.unsteady)
    return Measured(cell, metric, extended, len(values), changing=cell.unsteady)
