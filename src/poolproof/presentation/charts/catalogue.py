"""Every chart there is, found by looking at the modules of this package, and charts filled with rows."""

import functools
import importlib
import pkgutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, TypeVar

import altair as alt

from poolproof.presentation import charts
from poolproof.presentation.charts.model import CellChart, Chart, Row, RunChart, TrialChart, rows_of
from poolproof.presentation.charts.trial_data import Phase, trial_data
from poolproof.results.runs.loading import LoadedRun
from poolproof.results.runs.summary import Cell

Kind = TypeVar("Kind", bound=Chart)
_MOST_POINTS = 200
_PHASES = "phases"


@functools.cache
def all_charts() -> tuple[Chart, ...]:
    """Return the `CHART` of every module in this package that has one, sorted by `order`."""
    names = [f"{charts.__name__}.{found.name}" for found in pkgutil.iter_modules(charts.__path__)]
    found = [getattr(importlib.import_module(name), "CHART", None) for name in names]
    return tuple(sorted((each for each in found if isinstance(each, Chart)), key=lambda each: (each.order, each.name)))


def charts_of(kind: type[Kind]) -> tuple[Kind, ...]:
    """Return the charts of a kind: `RunChart`, `CellChart` or `TrialChart`."""
    return tuple(each for each in all_charts() if isinstance(each, kind))


def chart_named(name: str) -> Chart:
    """Return the chart of that name, for a notebook.

    Raises:
        KeyError: there is no such chart.
    """
    return {each.name: each for each in all_charts()}[name]


def filled(chart: Chart, run: LoadedRun, cell: Cell | None = None) -> Any:
    """Return a chart as an Altair chart with the rows of a run, of one of its cells, or of the cell's first trial.

    It is None if there is nothing to draw. Charts of cells and trials need the cell.
    """
    match chart, cell:
        case RunChart(), _:
            return with_rows(chart, chart.rows(run), run)
        case CellChart(), Cell():
            return with_rows(chart, chart.rows(cell), run)
        case TrialChart(), Cell():
            for trial in cell.trials:
                if (data := trial_data(run.path, trial, _MOST_POINTS)) is not None:
                    return with_rows(chart, rows_of(chart.lines(data)), run, data.phases)
    return None


def with_rows(chart: Chart, rows: Sequence[Row], run: LoadedRun, phases: Sequence[Phase] = ()) -> Any:
    """Return the Altair chart with these rows; None if there are none."""
    return specification(chart, rows, run, phases) if rows else None


def specification(chart: Chart, rows: Sequence[Row], run: LoadedRun, phases: Sequence[Phase] = ()) -> Any:
    """Return the Altair chart with these rows, also with none: the page fills those in."""
    records = [dict(zip((column.field for column in chart.columns), row, strict=True)) for row in rows]
    made = chart.draw(alt.InlineData(values=records, name="points"), run)
    if not isinstance(chart, TrialChart):
        return made
    shaded = alt.layer(_shading([asdict(phase) for phase in phases]), made)
    return shaded.resolve_scale(color="independent", strokeDash="independent")


def _shading(phases: Sequence[Mapping[str, Any]]) -> Any:
    """Return what is around the window: grey, with its name."""
    base = alt.Chart(alt.InlineData(values=list(phases), name=_PHASES))
    ends = {"x": alt.X("from_s:Q", title="seconds from the start of the window"), "x2": alt.X2("to_s:Q")}
    grey = base.mark_rect(color="#8b949e", opacity=0.18).encode(**ends)
    names = [
        base.transform_filter(f"datum.name {'=' if last else '!'}== 'drain'")
        .mark_text(
            align="right" if last else "left", baseline="top", dx=-3 if last else 3, dy=3, fontSize=10, opacity=0.8
        )
        .encode(x=alt.X("to_s:Q" if last else "from_s:Q"), y=alt.value(0), text="name:N")
        for last in (False, True)
    ]
    return alt.layer(grey, *names)
