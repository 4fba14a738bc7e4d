"""What a chart is: where it is shown, what its rows are and how it is drawn. The contract of this package.

A chart is one file here that defines `CHART`. The page of a run, its pictures and notebooks find it by that name.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import altair as alt

from poolproof.presentation.charts.trial_data import TrialData
from poolproof.results.runs.loading import LoadedRun
from poolproof.results.runs.summary import Cell

Section = Literal["time", "disks", "limit"]
"""The section of the page: a cell through time, a cell's disks, or the whole run against the limit of its disks."""
Unit = Literal["", "s", "MB/s", "%", "share"]
Row = tuple[Any, ...]
"""One value for each column, in the order of the columns."""


@dataclass(frozen=True)
class Column:
    """A field of the rows. `heading` and `unit` are for the table behind the chart; no heading means no column."""

    field: str
    heading: str
    unit: Unit = ""


@dataclass(frozen=True)
class Lines:
    """Rows of three columns in a compact form: lines by name over the same positions.

    Each value makes the row (position, name, value). None makes no row: the line goes on from its last value.
    """

    at: Sequence[float | None]
    values: Mapping[str, Sequence[float | None]]


@dataclass(frozen=True, kw_only=True)
class Chart:
    """What all charts have in common.

    `name` is the id in the page and part of the file name of pictures. `description` says how to read the chart.
    `order` sorts the charts of a section.

    `draw` returns the Altair chart of the data, whose `values` are the rows as mappings. The run is for what is the
    same in all cells, such as the names of the layouts. For charts of cells and trials, the page asks for a chart
    without rows, and its script fills them in.

    If `pivot` is set, the table behind the chart has the first column as rows and the second as columns.
    """

    name: str
    title: str
    description: str = ""
    section: Section
    columns: tuple[Column, ...]
    draw: Callable[[alt.InlineData, LoadedRun], Any]
    in_pictures: bool = False
    pivot: bool = False
    order: int = 100


@dataclass(frozen=True, kw_only=True)
class RunChart(Chart):
    """A chart of a whole run. Its pictures are one for each workload if the rows have a column `workload`."""

    rows: Callable[[LoadedRun], Sequence[Row]]


@dataclass(frozen=True, kw_only=True)
class CellChart(Chart):
    """A chart of one cell: the page shows that of the open cell."""

    rows: Callable[[Cell], Sequence[Row]]


@dataclass(frozen=True, kw_only=True)
class TrialChart(Chart):
    """A chart of one trial over time: its first column is `at_s`, in seconds from the start of the window.

    The page shows that of the chosen trial; the time outside the window is shaded. `note` is a sentence above it.
    """

    lines: Callable[[TrialData], Sequence[Lines]]
    note: Callable[[TrialData, Sequence[Lines]], str] = lambda _trial, _lines: ""
    pivot: bool = True


def rows_of(lines: Sequence[Lines]) -> list[Row]:
    """Expand lines to rows."""
    return [
        (at, name, value)
        for each in lines
        for name, values in each.values.items()
        for at, value in zip(each.at, values, strict=True)
        if value is not None
    ]
