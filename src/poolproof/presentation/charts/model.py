"""The definition of a chart: its section in the report, its rows, and the function that draws it.

Every module in this package that defines `CHART` adds a chart to the report and to notebooks. Charts with `in_pictures`
are also exported as pictures.
"""

import functools
import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeVar, get_args

import altair as alt

from poolproof.metrics import MetricId
from poolproof.presentation import charts
from poolproof.presentation.charts.trial_data import Phase, TrialData, typical_data, which_trial
from poolproof.results.runs.loading import LoadedRun
from poolproof.results.runs.summary import Cell

Section = Literal["curves", "time", "disks", "limit"]
"""The report's sections: a metric for all cells, a cell over time, a cell's disks, and results compared with limits."""
Unit = Literal["", "s", "MB/s", "%", "share"]
Scale = Literal["log", "linear"]
SCALES: tuple[Scale, ...] = get_args(Scale)
Row = tuple[Any, ...]
"""A row's values, in the order of the columns."""
_MOST_POINTS = 200


@dataclass(frozen=True)
class Column:
    """A field of the rows. A field with a heading is also a column of the data table shown with the chart."""

    field: str
    heading: str = ""
    unit: Unit = ""


@dataclass(frozen=True)
class Lines:
    """Named lines with common x positions: a compact form of rows (position, name, value).

    A value of None means that the row is missing. The line then keeps its previous value.
    """

    at: Sequence[float | None]
    values: Mapping[str, Sequence[float | None]]


@dataclass(frozen=True, kw_only=True)
class Chart:
    """The fields common to all charts.

    `name`: the chart's id in the report, also used in the file names of exported pictures.
    `description`: an explanation of how to read the chart.
    `order`: the sort key within the report's section.
    `pivot`: whether the data table has one row for each value of the first column, and one column for each value of the
    second.
    `draw`: a function that returns the Altair chart. Its arguments are the data, whose `values` are the rows as
    mappings, and the run. For a `MetricChart`, they are followed by the metric and the scale. For the report, a
    `RunChart` is drawn with its rows. All other charts are drawn empty, and the report's script adds the rows in the
    browser.
    """

    name: str
    title: str
    description: str = ""
    section: Section
    columns: tuple[Column, ...]
    draw: Callable[..., Any]
    in_pictures: bool = False
    pivot: bool = False
    order: int = 100

    def records(self, rows: Sequence[Row]) -> list[dict[str, Any]]:
        return [dict(zip((column.field for column in self.columns), row, strict=True)) for row in rows]


@dataclass(frozen=True, kw_only=True)
class RunChart(Chart):
    """A chart of an entire run.

    If the rows have a `workload` column, each workload is exported as a separate picture.
    """

    rows: Callable[[LoadedRun], Sequence[Row]]


@dataclass(frozen=True, kw_only=True)
class CellChart(Chart):
    """A chart of one cell, which the report shows for the selected cell."""

    rows: Callable[[Cell], Sequence[Row]]


@dataclass(frozen=True, kw_only=True)
class TrialChart(Chart):
    """A chart of one trial over time.

    `lines`: a function that returns the chart's lines. The first column, `at_s`, is the number of seconds since the
    start of the measurement window.
    `note`: a function that returns a sentence to show above the chart, or an empty string.
    `values`: the approximate number of values that `lines` returns for each point in time.
    `values_per_disk`: the number of additional values per disk.

    From the last two numbers, the report computes how many points and trials fit on the page. `TrialData.most_points`
    limits the number of points per trial. The report shows the chart for the selected trial, with the trial's phases
    shaded.
    """

    lines: Callable[[TrialData], Sequence[Lines]]
    note: Callable[[TrialData, Sequence[Lines]], str] = lambda _trial, _lines: ""
    values: int = 2
    values_per_disk: int = 0
    pivot: bool = True


@dataclass(frozen=True, kw_only=True)
class MetricChart(Chart):
    """A chart of one metric for all cells.

    In the report, the user selects the metric and one of the `scales`. The columns include `layout`, `workload` and
    those in `metric_scale.RESULT`. If there are also columns named `panel` and `rest`, the user can filter by them, and
    each combination of their values is exported as a picture. Otherwise, each workload is exported as a picture.

    `is_shown`: a function that decides whether the report shows the chart for a run.
    """

    rows: Callable[[LoadedRun, MetricId], Sequence[Row]]
    scales: tuple[Scale, ...] = SCALES
    is_shown: Callable[[LoadedRun], bool] = lambda _run: True
    section: Section = "curves"
    in_pictures: bool = True


Kind = TypeVar("Kind", bound=Chart)


@functools.cache
def all_charts() -> tuple[Chart, ...]:
    """Return the `CHART` of every module in this package that defines one, sorted by `order`."""
    names = [f"{charts.__name__}.{found.name}" for found in pkgutil.iter_modules(charts.__path__)]
    found = [getattr(importlib.import_module(name), "CHART", None) for name in names]
    return tuple(sorted((each for each in found if isinstance(each, Chart)), key=lambda each: (each.order, each.name)))


def charts_of(kind: type[Kind]) -> tuple[Kind, ...]:
    """Return all charts of one type: `RunChart`, `CellChart`, `TrialChart` or `MetricChart`."""
    return tuple(each for each in all_charts() if isinstance(each, kind))


def chart_named(name: str) -> Chart:
    """Return the chart with the given name, for use in notebooks. Raises a KeyError if no chart has this name."""
    return {each.name: each for each in all_charts()}[name]


def filled(chart: Chart, run: LoadedRun, cell: Cell | None = None, metric: MetricId = "iops") -> Any:
    """Return a chart with its data, or None if the chart would be empty.

    `cell`: the cell to show. It is required for charts of a cell or a trial. A trial chart shows the trial closest to
    the median among the cell's trials with samples, and its title names that trial.
    `metric`: the metric to show in a `MetricChart`. Other charts ignore it.
    """
    rows: Sequence[Row] = ()
    phases: Sequence[Phase] = ()
    title = ""
    match chart, cell:
        case RunChart(), _:
            rows = chart.rows(run)
        case MetricChart(), _:
            rows = chart.rows(run, metric)
        case CellChart(), Cell():
            rows = chart.rows(cell)
        case TrialChart(), Cell():
            if data := typical_data(run.path, cell, _MOST_POINTS):
                rows, phases = rows_of(chart.lines(data)), data.phases
                title = f"{chart.title}: {which_trial(cell, data.trial)}"
    if not rows:
        return None
    made = specification(chart, rows, run, phases, metric=metric)
    return made.properties(title=title) if title else made


def specification(
    chart: Chart,
    rows: Sequence[Row],
    run: LoadedRun,
    phases: Sequence[Phase] = (),
    *,
    metric: MetricId = "iops",
    scale: Scale = "log",
) -> Any:
    """Return the Altair chart of the given rows. The report passes no rows if its script adds them in the browser."""
    data = alt.InlineData(values=chart.records(rows), name="points")
    if isinstance(chart, MetricChart):
        return chart.draw(data, run, metric, scale)
    made = chart.draw(data, run)
    if not isinstance(chart, TrialChart):
        return made
    return alt.layer(_shading(phases), made).resolve_scale(color="independent", strokeDash="independent")


def rows_of(lines: Sequence[Lines]) -> list[Row]:
    """Convert lines to rows (position, name, value), omitting values of None."""
    return [
        (at, name, value)
        for each in lines
        for name, values in each.values.items()
        for at, value in zip(each.at, values, strict=True)
        if value is not None
    ]


def _shading(phases: Sequence[Phase]) -> Any:
    """Shade each phase in grey and label it with the phase's name."""
    base = alt.Chart(alt.InlineData(values=[asdict(phase) for phase in phases], name="phases"))
    ends = {"x": alt.X("from_s:Q", title="seconds from the start of the window"), "x2": alt.X2("to_s:Q")}
    names = [
        base.transform_filter(f"datum.name {'=' if last else '!'}== 'drain'")
        .mark_text(
            align="right" if last else "left", baseline="top", dx=-3 if last else 3, dy=3, fontSize=10, opacity=0.8
        )
        .encode(x=alt.X("to_s:Q" if last else "from_s:Q"), y=alt.value(0), text="name:N")
        for last in (False, True)
    ]
    return alt.layer(base.mark_rect(color="#8b949e", opacity=0.18).encode(**ends), *names)
