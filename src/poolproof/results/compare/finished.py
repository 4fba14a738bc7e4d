"""A run as comparisons need it: its record, its campaign, its cells, and which of them have a value that counts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from poolproof.campaign.model import Campaign, Workload
from poolproof.campaign.yaml import parse_campaign
from poolproof.metrics import COMPARABLE, LOWER_IS_BETTER, MetricId
from poolproof.results.runs.directory import RunDirectory
from poolproof.results.runs.model import RunRecord
from poolproof.results.runs.summary import Cell, bare_cells_of, cells_of
from poolproof.results.runs.uncertainty import metric_log_mean, metric_prior, with_extremes
from poolproof.statistics.comparison import LogMean
from poolproof.statistics.intervals import Interval
from poolproof.statistics.variances import VariancePrior
from poolproof.verdicts import Verdict


@dataclass(frozen=True)
class FinishedRun:
    """The content of a run directory. `cells` are by layout and workload, without those that have no trial.

    `bare`: the disks that were measured alone; they are not compared.
    """

    path: Path
    record: RunRecord
    campaign: Campaign
    cells: dict[tuple[str, str], Cell]
    bare: tuple[Cell, ...] = ()

    @cached_property
    def priors(self) -> Mapping[MetricId, VariancePrior | None]:
        """Return how much trials of a cell differ in this run, for each metric that was measured."""
        return {metric: metric_prior(self.cells.values(), metric) for metric in metrics_of(self.cells.values())}

    def measured(self, layout: str, workload: str, metric: MetricId) -> "Measured | str":
        """Return the value of a cell, or a few words why it has none that may be compared."""
        return _measured(self.cells.get((layout, workload)), metric, self.priors.get(metric))

    def workload(self, name: str) -> Workload | None:
        """Return the campaign's workload of that name."""
        return next((workload for workload in self.campaign.workloads if workload.name == name), None)

    def has_layout(self, name: str) -> bool:
        """True if the campaign has a layout of that name."""
        return any(layout.name == name for layout in self.campaign.layouts)


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


def read_run(path: Path) -> FinishedRun:
    """Return the run in a directory, finished or not.

    Raises:
        RunError: the directory has no run, a damaged one, or one of another schema.
    """
    directory = RunDirectory.open(path)
    record = directory.record()
    campaign = parse_campaign(record.campaign, f"{path}/run.json", recorded=True)
    trials = directory.trials()
    cells = {(cell.layout, cell.workload): cell for cell in cells_of(trials, campaign)}
    return FinishedRun(path, record, campaign, cells, bare_cells_of(trials, campaign))


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


def metrics_of(cells: Iterable[Cell]) -> frozenset[MetricId]:
    """Return the metrics that at least one trial of the cells has."""
    all_cells = tuple(cells)
    return frozenset(metric for metric in COMPARABLE if any(cell.values_of(metric) for cell in all_cells))
