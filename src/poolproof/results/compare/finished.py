"""A run as comparing needs it: its record, its campaign, its cells, and which of them have a figure that counts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from poolproof.campaign.model import Campaign, Metric, Workload
from poolproof.campaign.workload_source import METRICS
from poolproof.campaign.yaml import parse_campaign
from poolproof.results.compare.welch import LogMean, between, log_mean
from poolproof.results.runs.directory import RunDirectory
from poolproof.results.runs.extremes import extremes_of
from poolproof.results.runs.interval import Interval
from poolproof.results.runs.metric_spread import metric_spread
from poolproof.results.runs.model import RunRecord
from poolproof.results.runs.summary import COUNTING_VERDICTS, Cell, bare_cells_of, cells_of
from poolproof.stopping.model import VariancePrior


@dataclass(frozen=True)
class FinishedRun:
    """A run directory, read. `cells` by layout and workload; a cell without a trial is not among them.

    `bare`: the disks that were measured alone, which are compared with nothing.
    """

    path: Path
    record: RunRecord
    campaign: Campaign
    cells: dict[tuple[str, str], Cell]
    bare: tuple[Cell, ...] = ()

    @cached_property
    def spreads(self) -> Mapping[Metric, VariancePrior | None]:
        """How much trials of a cell differ in this run, for each metric that was measured."""
        return {metric: metric_spread(self.cells.values(), metric) for metric in metrics_of(self.cells.values())}

    def measured(self, layout: str, workload: str, metric: Metric) -> "Measured | str":
        """The figure of a cell, with what the others tell of it; or in words why it has none that may be compared."""
        return _measured(self.cells.get((layout, workload)), metric, self.spreads.get(metric))

    def workload(self, name: str) -> Workload | None:
        """The campaign's workload of that name."""
        return next((workload for workload in self.campaign.workloads if workload.name == name), None)

    def has_layout(self, name: str) -> bool:
        """Whether the campaign has a layout of that name."""
        return any(layout.name == name for layout in self.campaign.layouts)


@dataclass(frozen=True)
class Measured:
    """The figure of a cell that counts; `log` is what is tested.

    `unsteady`: why nothing is tested, where its trials saw a rate that changes (`drift`, `step` …) and not how far;
    `changing`: the same where they know, and the figure counts as lying anywhere between its extremes.
    """

    cell: Cell
    metric: Metric
    log: LogMean
    trials: int
    unsteady: tuple[str, ...] = ()
    changing: tuple[str, ...] = ()

    @property
    def figure(self) -> Interval:
        """The geometric mean of the trials, so that the ratio of two figures is the ratio that was tested."""
        return self.log.figure(self.metric)


def read_run(path: Path) -> FinishedRun:
    """The run in a directory, finished or not.

    Raises:
        RunError: no run, damaged, or of another schema.
    """
    directory = RunDirectory.open(path)
    record = directory.record()
    campaign = parse_campaign(record.campaign, f"{path}/run.json", recorded=True)
    trials = directory.trials()
    cells = {(cell.layout, cell.workload): cell for cell in cells_of(trials, campaign)}
    return FinishedRun(path, record, campaign, cells, bare_cells_of(trials, campaign))


def _measured(cell: Cell | None, metric: Metric, spread: VariancePrior | None) -> Measured | str:
    if cell is None:
        return "not measured"
    if cell.verdict not in COUNTING_VERDICTS:
        rules = [finding.rule for finding in cell.findings if finding.effect in ("refutes", "fails")]
        return f"{cell.verdict} ({rules[0]})" if rules else cell.verdict
    values = cell.values_of(metric)
    if not values:
        return f"no {metric} was measured"
    log = log_mean(values, metric, spread)
    if log is None:
        return "a trial measured 0"
    if not cell.unsteady:
        return Measured(cell, metric, log, len(values))
    extremes = extremes_of(cell.trials, metric)
    if extremes is None:
        # that trials of one length agree on a rate which still changes says nothing of the rate: no test
        return Measured(cell, metric, LogMean(log.mean, None), len(values), cell.unsteady)
    return Measured(cell, metric, between(log, metric, extremes), len(values), changing=cell.unsteady)


def metrics_of(cells: Iterable[Cell]) -> frozenset[Metric]:
    """The metrics that a trial of one of the cells has a figure for."""
    all_cells = tuple(cells)
    return frozenset(metric for metric in METRICS if any(cell.values_of(metric) for cell in all_cells))
