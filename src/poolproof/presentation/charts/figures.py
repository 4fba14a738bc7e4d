"""The figure of every layout, with a panel for each workload; for campaigns in which nothing makes an axis."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import altair as alt

from poolproof.metrics import MetricId
from poolproof.presentation.charts import theme as look
from poolproof.presentation.charts.metrics import axis_value, drawn_of, figure_words, label_expression, title
from poolproof.results.runs.summary import Cell
from poolproof.verdicts import Verdict


@dataclass(frozen=True)
class FigurePoint:
    """A figure in the unit of the axis; `low` and `high` are None for a single trial or an unsettled figure."""

    layout: str
    workload: str
    value: float
    low: float | None
    high: float | None
    believed: bool
    verdict: Verdict
    text: str
    unsettled: bool = False


def figure_points(cells: Iterable[Cell], metric: MetricId) -> tuple[FigurePoint, ...]:
    """Return the points of the cells in which the metric was measured."""
    points = (_point(cell, metric) for cell in cells)
    return tuple(point for point in points if point is not None)


def figures(points: Sequence[FigurePoint], metric: MetricId, *, layouts: Sequence[str], columns: int = 3) -> Any:
    """Return the chart: refuted and unsettled figures are hollow, intervals are bars, each axis begins at 0."""
    x = alt.X(
        "value:Q",
        title=title(metric),
        scale=alt.Scale(zero=True),
        axis=alt.Axis(labelExpr=label_expression(metric), tickCount=4),
    )
    base = alt.Chart().encode(
        y=alt.Y("layout:N", title=None, scale=alt.Scale(domain=list(layouts))),
        color=alt.Color("layout:N", scale=alt.Scale(**look.series_scale(layouts, look.SERIES)), legend=None),
        tooltip=[alt.Tooltip(f"{name}:N") for name in ("layout", "workload", "text", "verdict")],
    )
    shape = alt.Shape("layout:N", scale=alt.Scale(**look.series_scale(layouts, look.SHAPES)), legend=None)
    interval = base.transform_filter("datum.low !== null").mark_rule(strokeWidth=5, opacity=0.35)
    dots = [
        base.transform_filter(f"{'' if filled else '!'}(datum.believed && !datum.unsettled)")
        .mark_point(filled=filled, size=90, strokeWidth=2, opacity=1)
        .encode(x=x, shape=shape)
        for filled in (True, False)
    ]
    layers = alt.layer(interval.encode(x=alt.X("low:Q"), x2=alt.X2("high:Q")), *dots)
    data = alt.InlineData(values=[asdict(point) for point in points])
    return (
        layers.properties(width=240, height=alt.Step(24), data=data)
        .facet(
            facet=alt.Facet("workload:N", title=None, sort=list(dict.fromkeys(point.workload for point in points))),
            columns=columns,
        )
        .resolve_scale(x="independent")
        .resolve_axis(x="independent")
    )


def _point(cell: Cell, metric: MetricId) -> FigurePoint | None:
    figure = drawn_of(cell, metric)
    if figure is None:
        return None
    low, high = (None if each is None else axis_value(each, metric) for each in (figure.low, figure.high))
    return FigurePoint(
        layout=cell.layout,
        workload=cell.workload,
        value=axis_value(figure.mean, metric),
        low=low,
        high=high,
        believed=cell.result(metric).counts,
        verdict=cell.result(metric).verdict,
        text=figure_words(cell, metric),
        unsettled=cell.is_unsettled,
    )
