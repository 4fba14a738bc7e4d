"""A cell's figure over many runs: intervals are bars, changes are triangles, figures that do not count are hollow."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import altair as alt

from poolproof.metrics import MetricId
from poolproof.presentation.charts import theme as look
from poolproof.presentation.charts.metrics import label_expression, title
from poolproof.verdicts import Verdict

_WORSE, _BETTER = "#b30000", "#009e73"


@dataclass(frozen=True)
class HistoryPoint:
    """A figure in the unit of the axis. `line` is None if it does not count or is unsettled.

    `change`: "", "slower" or "faster".
    """

    begun_at: str
    run: str
    versions: str
    value: float
    low: float | None
    high: float | None
    line: float | None
    verdict: Verdict
    change: str
    text: str


def history(points: Sequence[HistoryPoint], metric: MetricId) -> Any:
    """Return the chart, with dates on the x axis and the metric from 0."""
    days = alt.Axis(labelOverlap=True, tickCount=8, labelExpr=_DAY_OR_TIME)
    x = alt.X("begun_at:T", title=None, axis=days, scale=alt.Scale(nice=True))
    y = alt.Y("value:Q", title=title(metric), axis=alt.Axis(labelExpr=label_expression(metric), tickCount=5))
    base = alt.Chart().encode(x=x, tooltip=[alt.Tooltip(f"{name}:N") for name in _TOOLTIPS])
    colour = alt.value(look.SERIES[0])
    bars = base.transform_filter("datum.low !== null").mark_rule(strokeWidth=5, opacity=0.3)
    line = base.transform_filter("datum.line !== null").mark_line(strokeWidth=2).encode(y=y, color=colour)
    layers = [bars.encode(y=alt.Y("low:Q"), y2=alt.Y2("high:Q"), color=colour), line]
    layers += [
        base.transform_filter(f"datum.line {sign} null && datum.change === ''")
        .mark_point(filled=filled, size=60, strokeWidth=1.8, opacity=1)
        .encode(y=y, color=colour)
        for sign, filled in (("!==", True), ("===", False))
    ]
    layers += [
        base.transform_filter(f"datum.change === '{word}'")
        .mark_point(filled=True, size=190, opacity=1, shape=shape)
        .encode(y=y, color=alt.value(ink))
        for word, shape, ink in (("slower", "triangle-down", _WORSE), ("faster", "triangle-up", _BETTER))
    ]
    data = alt.InlineData(values=[asdict(point) for point in points])
    return alt.layer(*layers).properties(width=760, height=320, data=data)


_DAY_OR_TIME = "timeFormat(datum.value, hours(datum.value) + minutes(datum.value) ? '%b %d, %H:%M' : '%b %d, %Y')"
"""Vega's own labels show 19:30 as 07:30, without the day."""

_TOOLTIPS = ("run", "begun_at", "versions", "text", "verdict", "change")
