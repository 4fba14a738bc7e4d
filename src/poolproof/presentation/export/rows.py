"""The cells of a run as flat rows, from which every format is made."""

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
    """One cell. `figures` are those that count, `rejected` those of a refuted or failed cell: one of both is empty.

    `settings`: what the matrices of the layout and of the workload chose, by column. `options`: fio's, of the
    workload's first job. `reasons` are the findings that made the verdict, the strongest first. `limit`: what its disks
    can do, where they were measured alone. `settled`: whether the workload's own metric is known to within what
    `until` asked for, and `unsettled` why not; None for a fixed time.
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
        """Whether the figures may be used: neither refuted nor failed."""
        return counts(self.verdict)

    @property
    def limit_share(self) -> float | None:
        """The figure's share of its limit, where the figure counts."""
        return self.limit.share if self.limit and self.counts else None

    @property
    def rejected_limit_share(self) -> float | None:
        """The same of a figure that does not."""
        return self.limit.share if self.limit and not self.counts else None

    @property
    def part(self) -> LoadPart:
        """The first part of the workload's load."""
        return described(self.workload, self.options)

    def interval(self, column: str) -> Interval | None:
        """Return the interval of a column, whether it counts or not."""
        return self.figures.get(column) or self.rejected.get(column)

    @property
    def figure(self) -> Interval | None:
        """The workload's own metric, whether it counts or not."""
        return self.interval(metric_of(self.metric).column)


@dataclass(frozen=True)
class ExportTable:
    """A run as rows. `settings` are the columns of all rows' matrices, in the campaign's order."""

    path: Path
    record: RunRecord
    campaign: Campaign
    rows: tuple[ExportRow, ...]
    settings: tuple[str, ...] = field(default=())

    @property
    def run(self) -> str:
        """The run's name: its directory's."""
        return self.path.resolve().name

    @property
    def confidence(self) -> str:
        """That of the intervals of workloads' own metrics: `95 %`; all others have 95 %."""
        return confidence_text(self.campaign.measure)

    @property
    def is_settling(self) -> bool:
        """Whether its trials went on until figures were known, instead of for a fixed time."""
        return any(row.settled is not None for row in self.rows)

    @property
    def has_limits(self) -> bool:
        """Whether the run measured what its disks can do."""
        return any(row.limit for row in self.rows)


def table_of(run: LoadedRun) -> ExportTable:
    """Every cell of which a trial is done, in the campaign's order."""
    places = _Places(run.campaign)
    cells = run.cells
    limits = limits_of(cells, run.bare, run.campaign)
    rows = tuple(_row(cell, places, limits.get((cell.layout, cell.workload))) for cell in cells)
    settings = dict.fromkeys(name for row in rows for name in row.settings)
    return ExportTable(run.path, run.record, run.campaign, rows, tuple(settings))


def plain_name(text: str) -> str:
    """A name as column, label and tag: letters, digits and `_`."""
    return re.sub(r"\W", "_", text, flags=re.ASCII) or _BARE


class _Places:
    """What the campaign says of layouts and workloads by name; of one that it does not have, what its name says."""

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
    """`grid[rw=read,bs=4k]` says what its matrix chose."""
    match = _MATRIX.fullmatch(name)
    parts = match[1].split(",") if match else []
    return tuple((key if equals else "", value if equals else key) for key, equals, value in map(_split, parts))


def _split(part: str) -> tuple[str, str, str]:
    return part.partition("=")


def _row(cell: Cell, places: _Places, limit: Limit | str | None) -> ExportRow:
    results = {metric.column: cell.result(metric.id) for metric in METRICS}
    intervals = {column: interval for column in results if (interval := _interval(cell, results[column])) is not None}
    settling = cell.settling
    return ExportRow(
        layout=cell.layout,
        workload=cell.workload,
        settings=places.settings(cell),
        options=places.options(cell),
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
    """Every column of a flat table by its name, with what gives its value: text, a number, true or false, or None."""
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
