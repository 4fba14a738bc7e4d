"""The definition of a chart: where it is shown, which rows it has and how it is drawn.

Every module of this package that defines `CHART` adds a chart to the report, to the exported pictures and to notebooks.
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
"""The sections of the report: a metric in all cells, a cell over time, a cell's disks, and results versus limits."""
Unit = Literal["", "s", "MB/s", "%", "share"]
Scale = Literal["log", "linear"]
SCALES: tuple[Scale, ...] = get_args(Scale)
Row = tuple[Any, ...]
"""One value for each column, in the order of the columns."""
_MOST_POINTS = 200


@dataclass(frozen=True)
class Column:
    """A field of the rows. In the table behind the chart, it is a column with this `heading` and `unit`.

    A field without a heading is not in the table.
    """

    field: str
    heading: str = ""
    unit: Unit = ""


@dataclass(frozen=True)
class Lines:
    """Named lines that share their positions: a compact form of rows (position, name, value).

    A value of None has no row, so the line stays at its previous value.
    """

    at: Sequence[float | None]
    values: Mapping[str, Sequence[float | None]]


@dataclass(frozen=True, kw_only=True)
class Chart:
    """The fields that all charts have.

    `name` is the id in the report and part of a picture's file name. `description` says how to read the chart. Within a
    section of the report, charts are sorted by `order`. If `pivot` is set, the table behind the chart has a row for
    each value of the first column and a column for each value of the second.

    `draw` takes the data and the run, and returns the Altair chart. The data's `values` are the rows as mappings. The
    run provides what all cells share, such as the layout names. For a `MetricChart`, `draw` also takes the metric and
    the scale. The report draws a `RunChart` with its rows. It draws all other charts without rows, and its script adds
    the rows in the browser.
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
        """Return the rows as mappings from field to value."""
        return [dict(zip((column.field for column in self.columns), row, strict=True)) for row in rows]


@dataclass(frozen=True, kw_only=True)
class RunChart(Chart):
    """A chart of a run. It is exported as one picture, or as one per workload if its rows have a column `workload`."""

    rows: Callable[[LoadedRun], Sequence[Row]]


@dataclass(frozen=True, kw_only=True)
class CellChart(Chart):
    """A chart of one cell. The report shows the chart of the cell that is open."""

    rows: Callable[[Cell], Sequence[Row]]


@dataclass(frozen=True, kw_only=True)
class TrialChart(Chart):
    """A chart of one trial over time. The first column is `at_s`, in seconds from the start of the window.

    The report shows the chart of the selected trial, with the trial's phases shaded. `note` returns a sentence to show
    above the chart, or an empty string.

    `values` is the approximate number of values in `lines` for each point in time, and `values_per_disk` the number of
    further values for each disk. The report uses them to decide how many points and trials fit into the page. A trial
    has at most `TrialData.most_points` points.
    """

    lines: Callable[[TrialData], Sequence[Lines]]
    note: Callable[[TrialData, Sequence[Lines]], str] = lambda _trial, _lines: ""
    values: int = 2
    values_per_disk: int = 0
    pivot: bool = True


@dataclass(frozen=True, kw_only=True)
class MetricChart(Chart):
    """A chart of one metric in all cells. The reader of the report selects the metric.

    The columns include `layout`, `workload` and those of `metric_scale.RESULT`. If there are also the columns `panel`
    and `rest`, the reader can filter by their values, and each combination of the two is exported as a picture.
    Otherwise each workload is exported as a picture. The reader selects one of the `scales`. The report shows the chart
    if `is_shown` is true for the run.
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
    """Return the charts of one kind: `RunChart`, `CellChart`, `TrialChart` or `MetricChart`."""
    return tuple(each for each in all_charts() if isinstance(each, kind))


def chart_named(name: str) -> Chart:
    """Return the chart with this name, for notebooks.

    Raises:
        KeyError: there is no such chart.
    """
    return {each.name: each for each in all_charts()}[name]


def filled(chart: Chart, run: LoadedRun, cell: Cell | None = None, metric: MetricId = "iops") -> Any:
    """Return a chart filled with the rows of a run, of one of its cells, or of that cell's most typical trial.

    A chart of a cell or of a trial needs `cell`. A chart of a trial shows the trial nearest to the median that has
    samples, and its title says which trial that is. The result is None if there is nothing to draw.
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
    """Return the Altair chart of the rows. The report passes no rows if its JavaScript adds them in the browser."""
    data = alt.InlineData(values=chart.records(rows), name="points")
    if isinstance(chart, MetricChart):
        return chart.draw(data, run, metric, scale)
    made = chart.draw(data, run)
    if not isinstance(chart, TrialChart):
        return made
    return alt.layer(_shading(phases), made).resolve_scale(color="independent", strokeDash="independent")


def rows_of(lines: Sequence[Lines]) -> list[Row]:
    """Return the lines as rows (position, name, value), leaving out values that are None."""
    return [
        (at, name, value)
        for each in lines
        for name, values in each.values.items()
        for at, value in zip(each.at, values, strict=True)
        if value is not None
    ]


def _shading(phases: Sequence[Phase]) -> Any:
    """Shade each phase in grey and label it with its name."""
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
