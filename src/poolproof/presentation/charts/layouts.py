"""A chart of one metric for all layouts, with a panel for each workload that is not plotted as part of a curve.

The report shows this chart only if it has no curves.
"""

from typing import Any

import altair as alt

from poolproof.metrics import MetricId
from poolproof.presentation.charts import theme as look
from poolproof.presentation.charts.axis_positions import places
from poolproof.presentation.charts.metric_scale import IS_RELIABLE, RESULT, label_expression, result_row, title
from poolproof.presentation.charts.model import Column, MetricChart, Row, Scale
from poolproof.results.runs.loading import LoadedRun


def _rows(run: LoadedRun, metric: MetricId) -> list[Row]:
    names = {workload.name for workload in run.campaign.workloads} - places(run.campaign.workloads).keys()
    return [
        (cell.layout_in_state, cell.workload, *result)
        for cell in run.cells
        if cell.workload in names and (result := result_row(cell, metric))
    ]


def _draw(data: alt.InlineData, run: LoadedRun, metric: MetricId, _scale: Scale) -> Any:
    """Draw results as points and confidence intervals as bars, on axes that start at 0.

    Points that don't meet `IS_RELIABLE` are hollow.
    """
    layouts = run.layouts_in_states
    x = alt.X(
        "value:Q",
        title=title(metric),
        scale=alt.Scale(zero=True),
        axis=alt.Axis(labelExpr=label_expression(metric), tickCount=4),
    )
    base = alt.Chart().encode(
        y=alt.Y("layout:N", title=None, scale=alt.Scale(domain=layouts)),
        color=alt.Color("layout:N", scale=look.series_scale(layouts, look.SERIES), legend=None),
        tooltip=look.tooltips("layout", "workload", "text", "verdict"),
    )
    shape = alt.Shape("layout:N", scale=look.series_scale(layouts, look.SHAPES), legend=None)
    intervals = base.transform_filter("datum.low !== null").mark_rule(strokeWidth=5, opacity=0.35)
    points = [
        base.transform_filter(IS_RELIABLE if filled else f"!({IS_RELIABLE})")
        .mark_point(filled=filled, size=90, strokeWidth=2, opacity=1)
        .encode(x=x, shape=shape)
        for filled in (True, False)
    ]
    workloads = [workload.name for workload in run.campaign.workloads]
    return (
        alt.layer(intervals.encode(x=alt.X("low:Q"), x2=alt.X2("high:Q")), *points)
        .properties(width=240, height=alt.Step(24), data=data)
        .facet(facet=alt.Facet("workload:N", title=None, sort=workloads), columns=3)
        .resolve_scale(x="independent")
        .resolve_axis(x="independent")
    )


CHART = MetricChart(
    name="layouts",
    title="Layouts",
    description="No workload varies an option that could be the x axis, such as the block size, so each workload has "
    "its own panel.",
    columns=(Column("layout", "layout"), Column("workload", "workload"), *RESULT),
    rows=_rows,
    draw=_draw,
    scales=("linear",),
    is_shown=lambda run: not places(run.campaign.workloads),
    order=20,
)
