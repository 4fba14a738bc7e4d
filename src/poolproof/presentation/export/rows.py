"""A run's cells as flat rows, on which all export formats are based."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path

from poolproof.campaign.cell_key import HEALTHY
from poolproof.campaign.model import Campaign
from poolproof.load.generator import described
from poolproof.load.model import LoadPart
from poolproof.metrics import METRICS, metric_of
from poolproof.presentation.terminal.words import confidence_text
from poolproof.results.runs.limit import Limit, limits_of
from poolproof.results.runs.loading import LoadedRun
from poolproof.results.runs.model import RunRecord
from poolproof.results.runs.summary import Cell, CellResult
from poolproof.rules.model import Finding
from poolproof.statistics.intervals import Interval
from poolproof.stopping.model import NotConverged
from poolproof.units import parse_time
from poolproof.verdicts import Verdict

_MATRIX = re.compile(r"[\w.-]+\[([^\[\]\n]+)\]")


@dataclass(frozen=True)
class ExportRow:
    """A cell as a row.

    `settings`: the values that the layout and workload matrices chose for the cell, keyed by column name.
    `options`: the options of the workload's first job.
    `limit`: the best result that the layout's disks allow, or None if unknown.
    """

    cell: Cell
    settings: Mapping[str, str]
    options: Mapping[str, str]
    limit: Limit | None

    @cached_property
    def figures(self) -> Mapping[str, Interval]:
        """Return the mean and confidence interval of each valid result, keyed by column name."""
        return self._intervals(counting=True)

    @cached_property
    def rejected(self) -> Mapping[str, Interval]:
        """Return the mean and confidence interval of each rejected (refuted or failed) result, keyed by column name."""
        return self._intervals(counting=False)

    @cached_property
    def own(self) -> CellResult:
        """Return the cell's result for the metric by which its workload is compared."""
        return self.cell.result()

    @cached_property
    def other_verdicts(self) -> Mapping[str, Verdict]:
        """Return each verdict that differs from the verdict on the workload's own metric, keyed by column name."""
        others = (
            (metric_of(metric).column, each.verdict) for each in self.cell.other_verdicts for metric in each.metrics
        )
        return dict(others)

    @property
    def counts(self) -> bool:
        """True if the result for the workload's own metric is valid: neither refuted nor failed."""
        return self.own.counts

    @property
    def figure(self) -> Interval | None:
        """Return the result for the workload's own metric, even if it was rejected. None if it was not measured."""
        column = metric_of(self.cell.metric).column
        return self.figures.get(column) or self.rejected.get(column)

    @property
    def limit_share(self) -> float | None:
        """Return the result as a fraction of its limit. None if the result was rejected or has no limit."""
        return self.limit.share if self.limit and self.counts else None

    @property
    def reasons(self) -> tuple[Finding, ...]:
        """Return the findings that led to the verdict, most serious first."""
        return self.cell.reasons()

    @property
    def remarks(self) -> tuple[str, ...]:
        """Return the cell's remarks, for example on trials without a usable value (`results/runs/remarks.py`).

        Rejected results and percentiles with too few events have no remarks.
        """
        return self.cell.remarks() if self.cell.usability().can_be_ranked else ()

    @property
    def settled(self) -> bool | None:
        """True if the result for the workload's own metric is as precise as `until` requires.

        None if `until` is not set.
        """
        return None if self.cell.settling is None else self.cell.settling.converged

    @property
    def not_converged(self) -> tuple[NotConverged, ...]:
        """Return the reasons why the result is less precise than `until` requires.

        If it is precise enough, or if `until` is not set, the tuple is empty.
        """
        return () if self.cell.settling is None else self.cell.settling.reasons

    @cached_property
    def part(self) -> LoadPart:
        """Return the load that the workload's first job generates."""
        return described(self.cell.workload, self.options)

    @property
    def measured_at(self) -> str:
        """Return the start time of the last trial in ISO 8601 format, or an empty string if unknown."""
        return max(self.cell.trials, key=lambda trial: trial.begun_s).begun_at

    def _intervals(self, *, counting: bool) -> Mapping[str, Interval]:
        found = {}
        for metric in METRICS:
            interval = self.cell.interval(metric.id)
            if self.cell.result(metric.id).counts is counting and interval is not None:
                found[metric.column] = interval
        return found


@dataclass(frozen=True)
class ExportTable:
    """A run as rows.

    `settings`: the names of the matrix columns that have a value in at least one row, in the campaign's order.
    """

    path: Path
    record: RunRecord
    campaign: Campaign
    rows: tuple[ExportRow, ...]
    settings: tuple[str, ...] = ()

    @property
    def run(self) -> str:
        """Return the name of the run directory."""
        return self.path.resolve().name.encode(errors="backslashreplace").decode()  # it need not be UTF-8

    @property
    def confidence(self) -> str:
        """Return the confidence level of the metrics by which workloads are compared, for example `99%`.

        All other metrics use a confidence level of 95%.
        """
        return confidence_text(self.campaign.measure)

    @property
    def is_settling(self) -> bool:
        """True if the run used `until`, which repeats trials until the result is precise enough."""
        return any(row.settled is not None for row in self.rows)

    @property
    def has_limits(self) -> bool:
        """True if any cell has a limit, which is known only if the run measured disks individually."""
        return any(row.limit for row in self.rows)

    def labels(self, row: ExportRow) -> dict[str, str]:
        """Return the names and matrix settings that identify a row, and the layout's state unless it is `healthy`."""
        names = {"run": self.run, "campaign": self.campaign.name}
        state = {} if row.cell.state == HEALTHY else {"state": row.cell.state}
        return {**names, "layout": row.cell.layout, "workload": row.cell.workload, **row.settings, **state}

    def measured_at(self, row: ExportRow) -> datetime | None:
        """Return the start time of the row's last trial, or of the run if the trial's is unknown.

        Return None if the recorded time is not a valid date.
        """
        return parse_time(row.measured_at or self.record.begun_at)


def table_of(run: LoadedRun) -> ExportTable:
    """Return a table with one row for each cell that has a finished trial, in the campaign's order."""
    limits = limits_of(run.cells, run.bare, run.campaign)
    rows = tuple(_row(cell, run, limits.get(cell.key)) for cell in run.cells)
    settings = dict.fromkeys(name for row in rows for name in row.settings)
    return ExportTable(run.path, run.record, run.campaign, rows, tuple(settings))


def _row(cell: Cell, run: LoadedRun, limit: Limit | str | None) -> ExportRow:
    """Return the row for a cell.

    The matrix settings come from the campaign. If the campaign doesn't contain the layout or workload, the settings are
    parsed from its name.
    """
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
    """Parse the option values that a matrix chose from a name such as `grid[rw=read,bs=4k]`."""
    match = _MATRIX.fullmatch(name)
    parts = [part.partition("=") for part in match[1].split(",")] if match else []
    return tuple((key if equals else "", value if equals else key) for key, equals, value in parts)


def plain_name(text: str) -> str:
    """Convert a string to a part of a column, label or tag name.

    All characters except ASCII letters, digits and `_` are replaced with `_`. If the string is empty, return `choice`.
    """
    return re.sub(r"\W", "_", text, flags=re.ASCII) or "choice"


def sync_of(part: LoadPart) -> str:
    """Return `sync` if each write waits until the data is on the disk, otherwise `async`."""
    return "sync" if part.commits_each_write else "async"


def mode_of(part: LoadPart) -> str:
    """Return a load's access mode as a single word, such as `randread`, `write` or `readwrite`."""
    if part.is_mixed:
        return "randrw" if part.is_random else "readwrite"
    word = "read" if part.reads else "trim" * part.trims + "write" * part.writes
    return ("rand" if part.is_random else "") + (word or "read")
