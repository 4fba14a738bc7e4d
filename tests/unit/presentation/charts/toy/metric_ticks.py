"""A chart with one tick mark for the result of each cell."""

from typing import Any

import altair as alt

from poolproof.metrics import MetricId
from poolproof.presentation.charts.metric_scale import RESULT, result_row, title
from poolproof.presentation.charts.model import Column, MetricChart, Row, Scale
from poolproof.results.runs.loading import LoadedRun


def _rows(run: LoadedRun, metric: MetricId) -> list[Row]:
    return [
        (cell.layout, cell.workload, *result) for cell in run.cells if (result := result_row(cell, metric)) is not None
    ]


def _draw(data: alt.InlineData, _run: LoadedRun, metric: MetricId, scale: Scale) -> Any:
    x = alt.X("value:Q", title=title(metric), scale=alt.Scale(type=scale))
    return alt.Chart(data).mark_tick().encode(x=x, y="workload:N").properties(width=400)


CHART = MetricChart(
    name="metric-ticks",
    title="Ticks",
    columns=(Column("layout", "layout"), Column("workload", "workload"), *RESULT),
    rows=_rows,
    draw=_draw,
)
