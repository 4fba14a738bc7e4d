"""A metric over block size: one line for each layout, one panel for each mode, sync and async. The seeds' own plots."""

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
    """One figure. `value`, `low`, `high` in the unit of the axis; `low` and `high` None when one trial alone gave it.

    `line` is the value where a line may pass through it, None where the figure is refuted or did not settle; what did
    not settle (`unsettled`) has no interval either.
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
    """The points of all curves of a run; none where no workload varies over an option that makes an axis."""
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
    """The chart. `layouts` and `workloads` are those of the campaign, so that colours and axes stay as points come and
    go. The points of one `rest` make one line each: choose by it before, where it differs.
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
        base = base.transform_filter("datum.value > 0")  # a trial that stood still has no place on it
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
    """Each stretch between points through which none may pass is a line of its own."""
    y = alt.Y(
        "line:Q",
        title=title(metric),
        scale=alt.Scale(type=scale, zero=True if scale == "linear" else alt.Undefined, nice=True),
        axis=alt.Axis(labelExpr=label_expression(metric), tickCount=5),
    )
    dash = alt.StrokeDash("layout:N", title="layout", scale=alt.Scale(**look.dash_scale(layouts)))
    stretches = base.transform_calculate(gap="datum.line === null ? 1 : 0").transform_window(
        stretch="sum(gap)",
        sort=[alt.SortField("order")],
        groupby=["layout", "panel", "rest"],
        frame=[None, 0],
    )
    # Not `invalid`: where no point at all has a line, its axis would begin at null, which is 0, and end a log scale.
    return (
        stretches.transform_filter("datum.line !== null")
        .mark_line(strokeWidth=2)
        .encode(y=y, strokeDash=dash, order=alt.Order("order:Q"), detail="stretch:N")
    )


def _points(base: Any, layouts: Sequence[str], *, hollow: bool) -> Any:
    """Those that are refuted, failed or unsettled are hollow."""
    shape = alt.Shape("layout:N", title="layout", scale=alt.Scale(**look.series_scale(layouts, look.SHAPES)))
    chosen = base.transform_filter(f"datum.line {'=' if hollow else '!'}== null")
    return chosen.mark_point(size=55, strokeWidth=1.8, opacity=1, filled=not hollow).encode(
        y=alt.Y("value:Q"), shape=shape
    )


def _intervals(base: Any, scale: Scale) -> Any:
    """Intervals as bars. One that reaches 0 has no lower end on a logarithmic scale: it is drawn a decade down."""
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
