"""A metric over block size: a line for each layout, a panel for each mode, sync and async separately."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import altair as alt

from poolproof.campaign.model import Workload
from poolproof.metrics import MetricId
from poolproof.presentation.charts import theme as look
from poolproof.presentation.charts.axis_positions import AxisPosition, panels, places
from poolproof.presentation.charts.metrics import axis_value, drawn_of, figure_words, label_expression, title
from poolproof.results.runs.summary import Cell
from poolproof.verdicts import Verdict

Scale = Literal["log", "linear"]
SCALES: tuple[Scale, ...] = ("log", "linear")


@dataclass(frozen=True)
class CurvePoint:
    """A figure. `value`, `low` and `high` are in the unit of the axis; a single trial has no `low` and `high`.

    `line` is the value if a line may pass through it, and None if the figure is refuted or unsettled. An unsettled
    figure has no interval either.
    """

    layout: str
    panel: str
    at: str
    order: float
    rest: str
    value: float
    low: float | None
    high: float | None
    line: float | None
    verdict: Verdict
    text: str
    unsettled: bool = False


def curve_points(cells: Iterable[Cell], workloads: Sequence[Workload], metric: MetricId) -> tuple[CurvePoint, ...]:
    """Return the points of all curves of a run; empty if no workload varies an option that makes an axis."""
    placed = places(workloads)
    points = (_point(cell, placed[cell.workload], metric) for cell in cells if cell.workload in placed)
    return tuple(sorted((point for point in points if point is not None), key=lambda point: point.order))


def curves(
    points: Sequence[CurvePoint],
    metric: MetricId,
    *,
    layouts: Sequence[str],
    workloads: Sequence[Workload],
    scale: Scale = "log",
    columns: int = 3,
) -> Any:
    """Return the chart. `layouts` and `workloads` are those of the campaign, so that colours and axes do not change.

    Points that differ in `rest` would be joined by one line: select by it first.
    """
    return _chart([asdict(point) for point in points], metric, layouts, places(workloads), scale, columns)


def _chart(
    rows: list[dict[str, Any]],
    metric: MetricId,
    layouts: Sequence[str],
    placed: Mapping[str, AxisPosition],
    scale: Scale,
    columns: int,
) -> Any:
    by_order = sorted(placed.values(), key=lambda place: place.order)
    steps = list(dict.fromkeys(place.at for place in by_order))
    over = "block size" if any(place.over == "bs" for place in by_order) else " or ".join({p.over for p in by_order})
    x = alt.X("at:O", title=over, scale=alt.Scale(domain=steps), axis=alt.Axis(labelAngle=0))
    colour = alt.Color("layout:N", title="layout", scale=alt.Scale(**look.series_scale(layouts, look.SERIES)))
    base = alt.Chart().encode(x=x, color=colour, tooltip=_tooltip())
    if scale == "log":
        base = base.transform_filter("datum.value > 0")  # a logarithmic scale has no 0
    points = [_points(base, layouts, hollow=hollow) for hollow in (False, True)]
    layers = alt.layer(_intervals(base, scale), _lines(base, metric, scale, layouts), *points)
    panel = alt.Facet("panel:N", title=None, sort=panels(placed.values()))
    return (
        layers.properties(width=270, height=190, data=alt.InlineData(values=rows))
        .facet(facet=panel, columns=columns)
        .resolve_scale(y="shared" if scale == "log" else "independent")
        .resolve_axis(x="independent")
    )


def _lines(base: Any, metric: MetricId, scale: Scale, layouts: Sequence[str]) -> Any:
    """Draw lines, interrupted at points that no line may pass through."""
    y = alt.Y(
        "line:Q",
        title=title(metric),
        scale=alt.Scale(type=scale, zero=True if scale == "linear" else alt.Undefined, nice=True),
        axis=alt.Axis(labelExpr=label_expression(metric), tickCount=5),
    )
    dash = alt.StrokeDash("layout:N", title="layout", scale=alt.Scale(**look.dash_scale(layouts)))
    segments = base.transform_calculate(gap="datum.line === null ? 1 : 0").transform_window(
        segment="sum(gap)",
        sort=[alt.SortField("order")],
        groupby=["layout", "panel", "rest"],
        frame=[None, 0],
    )
    # Not `invalid`: if no point has a line, its axis would begin at null, which is 0, and break a log scale.
    return (
        segments.transform_filter("datum.line !== null")
        .mark_line(strokeWidth=2)
        .encode(y=y, strokeDash=dash, order=alt.Order("order:Q"), detail="segment:N")
    )


def _points(base: Any, layouts: Sequence[str], *, hollow: bool) -> Any:
    """Draw points; those that are refuted, failed or unsettled are hollow."""
    shape = alt.Shape("layout:N", title="layout", scale=alt.Scale(**look.series_scale(layouts, look.SHAPES)))
    chosen = base.transform_filter(f"datum.line {'=' if hollow else '!'}== null")
    return chosen.mark_point(size=55, strokeWidth=1.8, opacity=1, filled=not hollow).encode(
        y=alt.Y("value:Q"), shape=shape
    )


def _intervals(base: Any, scale: Scale) -> Any:
    """Draw intervals as bars. On a logarithmic scale, one that reaches 0 is drawn one decade down."""
    low = "datum.low > 0 ? datum.low : datum.value / 10" if scale == "log" else "datum.low"
    return (
        base.transform_filter("datum.low !== null && datum.high !== null")
        .transform_calculate(foot=low)
        .mark_rule(strokeWidth=4, opacity=0.3)
        .encode(y=alt.Y("foot:Q"), y2=alt.Y2("high:Q"))
    )


def _tooltip() -> list[Any]:
    names = {"layout": "layout", "panel": "mode", "at": "at", "text": "figure", "verdict": "verdict"}
    return [alt.Tooltip(f"{field}:N", title=name) for field, name in names.items()]


def _point(cell: Cell, place: AxisPosition, metric: MetricId) -> CurvePoint | None:
    figure = drawn_of(cell, metric)
    if figure is None:
        return None
    low, high = (None if each is None else axis_value(each, metric) for each in (figure.low, figure.high))
    value = axis_value(figure.mean, metric)
    return CurvePoint(
        layout=cell.layout,
        panel=place.panel,
        at=place.at,
        order=place.order,
        rest=place.rest,
        value=value,
        low=low,
        high=high,
        line=value if cell.result(metric).counts and not cell.is_unsettled else None,
        verdict=cell.result(metric).verdict,
        text=figure_words(cell, metric),
        unsettled=cell.is_unsettled,
    )
