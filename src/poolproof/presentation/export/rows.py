"""The cells of a run as flat rows, the source of every export format."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from poolproof.campaign.model import Campaign
from poolproof.load.generators import described
from poolproof.load.model import LoadPart
from poolproof.metrics import COLUMNS, METRICS, REJECTED, MetricId, metric_of
from poolproof.presentation.charts.metrics import confidence_text
from poolproof.results.runs.limit import Limit, limits_of
from poolproof.results.runs.loading import LoadedRun
from poolproof.results.runs.model import RunRecord
from poolproof.results.runs.summary import AccountSum, Cell, CellResult
from poolproof.rules.model import Finding
from poolproof.statistics.intervals import Interval
from poolproof.stopping.model import NotConverged
from poolproof.verdicts import Verdict, counts

_MATRIX = re.compile(r"[\w.-]+\[([^\[\]\n]+)\]")
_BARE = "choice"


@dataclass(frozen=True)
class ExportRow:
    """One cell. `figures`: results that count. `rejected`: results of a refuted or failed cell. One of them is empty.

    `settings`: the values that the matrices of layout and workload chose, by column. `options`: the fio options of the
    workload's first job. `reasons`: the findings that caused the verdict, the strongest first. `limit`: what its disks
    can do, if they were measured alone. `settled`: true if the workload's own metric is precise to within the tolerance
    of `until`; None for a fixed time. `unsettled`: why it is not.
    """

    layout: str
    workload: str
    settings: Mapping[str, str]
    options: Mapping[str, str]
    metric: MetricId
    verdict: Verdict
    trials: int
    measured_at: str
    figures: Mapping[str, Interval]
    rejected: Mapping[str, Interval]
    reasons: tuple[Finding, ...]
    account: AccountSum | None
    limit: Limit | None = None
    settled: bool | None = None
    unsettled: tuple[NotConverged, ...] = ()

    @property
    def counts(self) -> bool:
        """True if the results may be used: the cell is neither refuted nor failed."""
        return counts(self.verdict)

    @property
    def limit_share(self) -> float | None:
        """Return the result as a share of its limit, if the result counts."""
        return self.limit.share if self.limit and self.counts else None

    @property
    def rejected_limit_share(self) -> float | None:
        """Return the result as a share of its limit, if the result does not count."""
        return self.limit.share if self.limit and not self.counts else None

    @property
    def part(self) -> LoadPart:
        """Return the first part of the workload's load."""
        return described(self.workload, self.options)

    def interval(self, column: str) -> Interval | None:
        """Return the interval of a column, whether it counts or not."""
        return self.figures.get(column) or self.rejected.get(column)

    @property
    def figure(self) -> Interval | None:
        """Return the result for the workload's own metric, whether it counts or not."""
        return self.interval(metric_of(self.metric).column)


@dataclass(frozen=True)
class ExportTable:
    """A run as rows. `settings`: the matrix columns of all rows, in the campaign's order."""

    path: Path
    record: RunRecord
    campaign: Campaign
    rows: tuple[ExportRow, ...]
    settings: tuple[str, ...] = field(default=())

    @property
    def run(self) -> str:
        """Return the name of the run directory."""
        return self.path.resolve().name

    @property
    def confidence(self) -> str:
        """Return the confidence for the workloads' own metrics, such as `95 %`; all other intervals have 95 %."""
        return confidence_text(self.campaign.measure)

    @property
    def is_settling(self) -> bool:
        """True if a trial ran until its result was precise instead of for a fixed time."""
        return any(row.settled is not None for row in self.rows)

    @property
    def has_limits(self) -> bool:
        """True if a cell has a limit, because the run measured its disks alone."""
        return any(row.limit for row in self.rows)


def table_of(run: LoadedRun) -> ExportTable:
    """Return every cell with a finished trial, in the campaign's order."""
    by_name = _Settings(run.campaign)
    cells = run.cells
    limits = limits_of(cells, run.bare, run.campaign)
    rows = tuple(_row(cell, by_name, limits.get(cell.key)) for cell in cells)
    settings = dict.fromkeys(name for row in rows for name in row.settings)
    return ExportTable(run.path, run.record, run.campaign, rows, tuple(settings))


def plain_name(text: str) -> str:
    """Return a name for a column, label or tag: only letters, digits and `_`."""
    return re.sub(r"\W", "_", text, flags=re.ASCII) or _BARE


class _Settings:
    """Settings of layouts and workloads by name: from the campaign, or from the name if the campaign lacks it."""

    def __init__(self, campaign: Campaign) -> None:
        self._layouts = {layout.name: layout.varies for layout in campaign.layouts}
        self._workloads = {workload.name: workload for workload in campaign.workloads}

    def settings(self, cell: Cell) -> dict[str, str]:
        workload = self._workloads.get(cell.workload)
        layout_varies = self._layouts.get(cell.layout)
        named = [("layout", _in_name(cell.layout) if layout_varies is None else layout_varies)]
        named.append(("workload", _in_name(cell.workload) if workload is None else workload.varies))
        return {f"{of}_{plain_name(key)}": value for of, varies in named for key, value in varies}

    def options(self, cell: Cell) -> dict[str, str]:
        workload = self._workloads.get(cell.workload)
        asked = dict(workload.jobs[0].options) if workload is not None else dict(_in_name(cell.workload))
        return {**asked, **cell.trials[0].columns}


def _in_name(name: str) -> Iterable[tuple[str, str]]:
    """Return the options that a matrix chose from a name such as `grid[rw=read,bs=4k]`."""
    match = _MATRIX.fullmatch(name)
    parts = match[1].split(",") if match else []
    return tuple((key if equals else "", value if equals else key) for key, equals, value in map(_split, parts))


def _split(part: str) -> tuple[str, str, str]:
    return part.partition("=")


def _row(cell: Cell, by_name: _Settings, limit: Limit | str | None) -> ExportRow:
    results = {metric.column: cell.result(metric.id) for metric in METRICS}
    intervals = {column: interval for column in results if (interval := _interval(cell, results[column])) is not None}
    settling = cell.settling
    return ExportRow(
        layout=cell.layout,
        workload=cell.workload,
        settings=by_name.settings(cell),
        options=by_name.options(cell),
        metric=cell.metric,
        verdict=cell.verdict,
        trials=len(cell.trials),
        measured_at=max(trial.begun_at for trial in cell.trials),
        figures={column: interval for column, interval in intervals.items() if results[column].counts},
        rejected={column: interval for column, interval in intervals.items() if not results[column].counts},
        reasons=tuple(finding for finding in cell.findings if finding.effect != "notes"),
        account=cell.account,
        limit=limit if isinstance(limit, Limit) else None,
        settled=None if settling is None else settling.converged,
        unsettled=() if settling is None else settling.reasons,
    )


def _interval(cell: Cell, result: CellResult) -> Interval | None:
    """Return the interval of a metric: that of the cell's own metric if the values of all trials are the same ones.

    An example is `read_iops` of a workload that only reads.
    """
    return cell.figure if result.values == cell.values() else result.interval


Column = Callable[[ExportRow], object]


def columns_of(table: ExportTable) -> dict[str, Column]:
    """Return the columns by name, each with the function that returns its value (text, number, bool or None)."""
    columns: dict[str, Column] = {
        "run": lambda _: table.run,
        "campaign": lambda _: table.campaign.name,
        "layout": lambda row: row.layout,
        "workload": lambda row: row.workload,
    }
    columns |= {name: _setting(name) for name in table.settings}
    columns |= {
        "metric": lambda row: row.metric,
        "verdict": lambda row: row.verdict,
        "counts": lambda row: row.counts,
        "settled": lambda row: row.settled,
        "trials": lambda row: row.trials,
    }
    for name in COLUMNS:
        columns |= {name: _mean(name), f"{name}_low": _low(name), f"{name}_high": _high(name)}
    columns |= {f"{REJECTED}{name}": _rejected(name) for name in COLUMNS}
    columns |= {name: _account(name) for name in AccountSum.__dataclass_fields__}
    if table.has_limits:
        columns |= {
            "limit_share": lambda row: row.limit_share,
            f"{REJECTED}limit_share": lambda row: row.rejected_limit_share,
            "limit_bound": lambda row: row.limit.bound if row.limit else None,
        }
    return columns | {
        "rules": lambda row: " ".join(finding.rule for finding in row.reasons),
        "why": lambda row: row.reasons[0].message if row.reasons else None,
        "mend": lambda row: row.reasons[0].fix if row.reasons else None,
        "measured_at": lambda row: row.measured_at or None,
    }


def _setting(name: str) -> Column:
    return lambda row: row.settings.get(name)


def _mean(name: str) -> Column:
    return lambda row: row.figures[name].mean if name in row.figures else None


def _low(name: str) -> Column:
    return lambda row: row.figures[name].low if name in row.figures else None


def _high(name: str) -> Column:
    return lambda row: row.figures[name].high if name in row.figures else None


def _rejected(name: str) -> Column:
    return lambda row: row.rejected[name].mean if name in row.rejected else None


def _account(name: str) -> Column:
    return lambda row: getattr(row.account, name) if row.account else None
