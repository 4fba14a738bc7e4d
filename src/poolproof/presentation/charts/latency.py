"""A chart of a cell's latency percentiles, with one point per percentile and trial."""

from typing import Any

import altair as alt

from poolproof.metrics import METRICS, Metric
from poolproof.presentation.charts import theme as look
from poolproof.presentation.charts.metric_scale import latency_axis
from poolproof.presentation.charts.model import CellChart, Column, Row
from poolproof.presentation.charts.trial_data import short
from poolproof.results.runs.few_events import TOO_FEW
from poolproof.results.runs.loading import LoadedRun
from poolproof.results.runs.summary import Cell

_PERCENTILES = tuple(metric for metric in METRICS if metric.is_comparable and not metric.is_rate)
_TITLES = [f"{metric.title}{few}" for metric in _PERCENTILES for few in ("", f", {TOO_FEW}")]


def _rows(cell: Cell) -> list[Row]:
    return [
        (f"trial {trial.number}", title, short(value * metric.unit.scale))
        for metric in _PERCENTILES
        if not cell.is_repeated(metric.id)
        for title in (_title(metric, cell),)  # the title depends on all trials
        for trial in cell.trials
        if (value := trial.result(metric.id).value)
    ]


def _title(metric: Metric, cell: Cell) -> str:
    return metric.title if cell.few_events(metric.id) is None else f"{metric.title}, {TOO_FEW}"


def _draw(data: alt.InlineData, _run: LoadedRun) -> Any:
    """Draw the percentiles on a logarithmic axis, because p99.9 is often a hundred times the median."""
    return (
        alt.Chart(data)
        .mark_point(size=80, strokeWidth=2, color=look.READ)
        .encode(
            x=latency_axis(alt.X),
            y=alt.Y("percentile:N", title=None, sort=_TITLES),
            shape=alt.Shape("trial:N", title=None, legend=alt.Legend(orient="top")),
            tooltip=[*look.tooltips("trial", "percentile"), alt.Tooltip("seconds:Q", format=".3s")],
        )
        .properties(width=560, height=alt.Step(26))
    )


CHART = CellChart(
    name="latency",
    title="Latency percentiles of each trial",
    section="time",
    columns=(Column("trial", "trial"), Column("percentile", "percentile"), Column("seconds", "latency", "s")),
    draw=_draw,
    rows=_rows,
    pivot=True,
    order=40,
)
