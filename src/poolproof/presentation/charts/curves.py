"""Charts of a metric against a varied option, such as the block size, with one line per layout.

Each access mode has separate panels for sync and async workloads.
"""

from typing import Any

import altair as alt

from poolproof.metrics import MetricId
from poolproof.presentation.charts import theme as look
from poolproof.presentation.charts.axis_positions import panels, places
from poolproof.presentation.charts.metric_scale import IS_RELIABLE, RESULT, label_expression, result_row, title
from poolproof.presentation.charts.model import Column, MetricChart, Row, Scale
from poolproof.results.runs.loading import LoadedRun

_PLACE = (
    Column("layout", "layout"),
    Column("workload"),
    Column("panel", "mode"),
    Column("at", "at"),
    Column("order"),
    Column("rest"),
)
_ORDER = 4


def _rows(run: LoadedRun, metric: MetricId) -> list[Row]:
    """Return the points of all curves.

    The list is empty if no workload varies an option that can be plotted on the x axis.
    """
    placed = places(run.campaign.workloads)
    rows = [
        (cell.layout_in_state, cell.workload, place.panel, place.at, place.order, place.group, *result)
        for cell in run.cells
        if (place := placed.get(cell.workload)) and (result := result_row(cell, metric))
    ]
    return sorted(rows, key=lambda row: row[_ORDER])


def _draw(data: alt.InlineData, run: LoadedRun, metric: MetricId, scale: Scale) -> Any:
    """Draw the panels that the rows belong to, or every panel if there are no rows.

    The x axis also shows option values without a result. All rows of a panel must have the same `rest`. Otherwise, a
    line would connect workloads that also differ in options other than the plotted one.
    """
    placed = places(run.campaign.workloads).values()
    rows: list[dict[str, Any]] = data.values
    drawn = {(row["panel"], row["rest"]) for row in rows}
    own = sorted(
        (place for place in placed if not drawn or (place.panel, place.group) in drawn), key=lambda place: place.order
    )
    over = {place.over: "block size" if place.over == "bs" else place.over for place in own}
    base = (
        alt.Chart()
        .transform_calculate(line=f"{IS_RELIABLE} ? datum.value : null")
        .encode(
            x=alt.X(
                "at:O",
                title=over.get("bs", " or ".join(over.values())),
                scale=alt.Scale(domain=list(dict.fromkeys(place.at for place in own))),
                axis=alt.Axis(labelAngle=0),
            ),
            color=alt.Color("layout:N", scale=_scale(run, look.SERIES), legend=alt.Legend(title="layout")),
            tooltip=[
                alt.Tooltip(f"{field}:N", title=name)
                for field, name in (
                    ("layout", "layout"),
                    ("panel", "mode"),
                    ("at", "at"),
                    ("text", "result"),
                    ("verdict", "verdict"),
                )
            ],
        )
    )
    if scale == "log":
        base = base.transform_filter("datum.value > 0")  # a logarithmic scale has no 0
    layers = (_intervals(base, scale), _lines(base, run, metric, scale), *_points(base, run))
    return (
        alt.layer(*layers)
        .properties(width=270, height=190, data=data)
        .facet(facet=alt.Facet("panel:N", title=None, sort=panels(own)), columns=3)
        .resolve_scale(y="shared" if scale == "log" else "independent")
        .resolve_axis(x="independent")
    )


def _scale(run: LoadedRun, among: tuple[str, ...]) -> alt.Scale:
    """Return a scale covering all of the campaign's layouts, so that each layout looks the same in every chart."""
    return look.series_scale(run.layouts_in_states, among)


def _intervals(base: Any, scale: Scale) -> Any:
    """Draw confidence intervals as bars.

    On a logarithmic scale, a bar whose lower bound is 0 ends at a tenth of the value instead.
    """
    foot = "datum.low > 0 ? datum.low : datum.value / 10" if scale == "log" else "datum.low"
    return (
        base.transform_filter("datum.low !== null && datum.high !== null")
        .transform_calculate(foot=foot)
        .mark_rule(strokeWidth=4, opacity=0.3)
        .encode(y=alt.Y("foot:Q"), y2=alt.Y2("high:Q"))
    )


def _lines(base: Any, run: LoadedRun, metric: MetricId, scale: Scale) -> Any:
    """Draw one line per layout, with a gap at each unreliable result."""
    y = alt.Y(
        "line:Q",
        title=title(metric),
        scale=alt.Scale(type=scale, zero=True if scale == "linear" else alt.Undefined, nice=True),
        axis=alt.Axis(labelExpr=label_expression(metric), tickCount=5),
    )
    dashes = look.dash_scale(run.layouts_in_states)
    segments = base.transform_calculate(gap="datum.line === null ? 1 : 0").transform_window(
        segment="sum(gap)", sort=[alt.SortField("order")], groupby=["layout", "panel", "rest"], frame=[None, 0]
    )
    # Vega's `invalid` does not help: without a line, the axis would begin at null (0), which breaks a log scale.
    return (
        segments.transform_filter("datum.line !== null")
        .mark_line(strokeWidth=2)
        .encode(
            y=y,
            strokeDash=alt.StrokeDash("layout:N", scale=dashes, legend=alt.Legend(title="layout")),
            order=alt.Order("order:Q"),
            detail="segment:N",
        )
    )


def _points(base: Any, run: LoadedRun) -> list[Any]:
    """Draw a point for each result, filled if the result is reliable (`IS_RELIABLE`) and hollow if not."""
    shape = alt.Shape("layout:N", scale=_scale(run, look.SHAPES), legend=alt.Legend(title="layout"))
    return [
        base.transform_filter(f"datum.line {'!' if filled else '='}== null")
        .mark_point(size=55, strokeWidth=1.8, opacity=1, filled=filled)
        .encode(y=alt.Y("value:Q"), shape=shape)
        for filled in (True, False)
    ]


CHART = MetricChart(
    name="curves",
    title="Curves",
    columns=(*_PLACE, *RESULT),
    rows=_rows,
    draw=_draw,
    is_shown=lambda run: bool(places(run.campaign.workloads)),
    order=10,
)
