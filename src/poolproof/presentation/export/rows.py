"""The cells of a run as flat rows, the source of every export format."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path

from poolproof.campaign.model import Campaign
from poolproof.load.generator import described
from poolproof.load.model import LoadPart
from poolproof.metrics import METRICS, metric_of
from poolproof.presentation.charts.metrics import confidence_text
from poolproof.results.runs.limit import Limit, limits_of
from poolproof.results.runs.loading import LoadedRun
from poolproof.results.runs.model import RunRecord
from poolproof.results.runs.summary import Cell, CellResult
from poolproof.rules.model import Finding
from poolproof.statistics.intervals import Interval
from poolproof.stopping.model import NotConverged

_MATRIX = re.compile(r"[\w.-]+\[([^\[\]\n]+)\]")


@dataclass(frozen=True)
class ExportRow:
    """One cell.

    `settings`: the values that the matrices of layout and workload chose, by column. `options`: the options of the
    workload's first job. `limit`: what its disks can do, if they were measured alone.
    """

    cell: Cell
    settings: Mapping[str, str]
    options: Mapping[str, str]
    limit: Limit | None

    @cached_property
    def figures(self) -> Mapping[str, Interval]:
        """Return the intervals of the results that count, by column."""
        return self._intervals(counting=True)

    @cached_property
    def rejected(self) -> Mapping[str, Interval]:
        """Return the intervals of the results that do not count, by column."""
        return self._intervals(counting=False)

    @cached_property
    def own(self) -> CellResult:
        """Return the result of the workload's own metric, with its verdict."""
        return self.cell.result()

    @property
    def counts(self) -> bool:
        """True if the result of the workload's own metric may be used."""
        return self.own.counts

    @property
    def figure(self) -> Interval | None:
        """Return the result for the workload's own metric, whether it counts or not."""
        column = metric_of(self.cell.metric).column
        return self.figures.get(column) or self.rejected.get(column)

    @property
    def limit_share(self) -> float | None:
        """Return the result as a share of its limit, if the result counts."""
        return self.limit.share if self.limit and self.counts else None

    @property
    def reasons(self) -> tuple[Finding, ...]:
        """Return the findings that caused the verdict, the strongest first."""
        return self.cell.reasons()

    @property
    def settled(self) -> bool | None:
        """True if the workload's own metric is precise to within the tolerance of `until`; None for a fixed time."""
        return None if self.cell.settling is None else self.cell.settling.converged

    @property
    def unsettled(self) -> tuple[NotConverged, ...]:
        """Return why the workload's own metric is not that precise."""
        return () if self.cell.settling is None else self.cell.settling.reasons

    @cached_property
    def part(self) -> LoadPart:
        """Return the first part of the workload's load."""
        return described(self.cell.workload, self.options)

    @property
    def measured_at(self) -> str:
        """Return when the last trial began, in ISO 8601; empty if unknown."""
        return max(trial.begun_at for trial in self.cell.trials)

    def _intervals(self, *, counting: bool) -> Mapping[str, Interval]:
        """Return intervals by column: that of the cell's own metric if the values of all trials are the same.

        An example is `read_iops` of a workload that only reads.
        """
        found = {}
        for metric in METRICS:
            result = self.cell.result(metric.id)
            interval = self.cell.figure if result.values == self.cell.values() else result.interval
            if result.counts is counting and interval is not None:
                found[metric.column] = interval
        return found


@dataclass(frozen=True)
class ExportTable:
    """A run as rows. `settings`: the matrix columns of all rows, in the campaign's order."""

    path: Path
    record: RunRecord
    campaign: Campaign
    rows: tuple[ExportRow, ...]
    settings: tuple[str, ...] = ()

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

    def labels(self, row: ExportRow) -> dict[str, str]:
        """Return the names and settings that identify a row."""
        names = {"run": self.run, "campaign": self.campaign.name}
        return {**names, "layout": row.cell.layout, "workload": row.cell.workload, **row.settings}

    def measured_at(self, row: ExportRow) -> datetime | None:
        """Return when the row's last trial began, or else when the run began; None if that can't be read."""
        try:
            return datetime.fromisoformat(row.measured_at or self.record.begun_at)
        except ValueError:
            return None


def table_of(run: LoadedRun) -> ExportTable:
    """Return every cell with a finished trial, in the campaign's order."""
    limits = limits_of(run.cells, run.bare, run.campaign)
    rows = tuple(_row(cell, run, limits.get(cell.key)) for cell in run.cells)
    settings = dict.fromkeys(name for row in rows for name in row.settings)
    return ExportTable(run.path, run.record, run.campaign, rows, tuple(settings))


def _row(cell: Cell, run: LoadedRun, limit: Limit | str | None) -> ExportRow:
    """Return a row. Settings come from the campaign, or from the cell's names if the campaign lacks them."""
    workload = run.workload(cell.workload)
    layout = next((each for each in run.campaign.layouts if each.name == cell.layout), None)
    varies = {
        "layout": _in_name(cell.layout) if layout is None else layout.varies,
        "workload": _in_name(cell.workload) if workload is None else workload.varies,
    }
    settings = {f"{of}_{plain_name(key)}": value for of, pairs in varies.items() for key, value in pairs}
    options = dict(_in_name(cell.workload) if workload is None else workload.jobs[0].options)
    return ExportRow(
        cell, settings, options | dict(cell.trials[0].columns), limit if isinstance(limit, Limit) else None
    )


def _in_name(name: str) -> Iterable[tuple[str, str]]:
    """Return the options that a matrix chose from a name such as `grid[rw=read,bs=4k]`."""
    match = _MATRIX.fullmatch(name)
    parts = [part.partition("=") for part in match[1].split(",")] if match else []
    return tuple((key if equals else "", value if equals else key) for key, equals, value in parts)


def plain_name(text: str) -> str:
    """Return a name for a column, label or tag: only letters, digits and `_`."""
    return re.sub(r"\W", "_", text, flags=re.ASCII) or "choice"


def sync_of(part: LoadPart) -> str:
    """Return `sync` if each write waits for the disk, else `async`."""
    return "sync" if part.commits_each_write else "async"


def mode_of(part: LoadPart) -> str:
    """Return what a load does in one word: `randread`, `write`, `readwrite`."""
    if part.is_mixed:
        return "randrw" if part.is_random else "readwrite"
    word = "read" if part.reads else "trim" * part.trims + "write" * part.writes
    return ("rand" if part.is_random else "") + (word or "read")
