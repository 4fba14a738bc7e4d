"""Through time: how busy each leaf was."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import altair as alt

from poolproof.presentation.charts import theme as look
from poolproof.presentation.charts.rates import Phase, shaded


@dataclass(frozen=True)
class BusyPoint:
    """The share (0 to 1) of a stretch of time from `at_s` on in which a request was at the leaf."""

    at_s: float
    leaf: str
    busy: float


def utilisation(points: Sequence[BusyPoint], spans: Sequence[Phase], *, leaves: Sequence[str]) -> Any:
    """The chart: a line for each leaf."""
    x = alt.X("at_s:Q", title="seconds from the window's start", scale=alt.Scale(nice=False, zero=False))
    line = (
        alt.Chart(alt.InlineData(values=[asdict(point) for point in points], name="points"))
        .mark_line(interpolate="step-after", strokeWidth=1.8)
        .encode(
            x=x,
            y=alt.Y(
                "busy:Q",
                title="busy",
                scale=alt.Scale(domain=[0, 1]),
                axis=alt.Axis(format="%", tickCount=3, minExtent=48),
            ),
            color=alt.Color(
                "leaf:N",
                title=None,
                scale=alt.Scale(**look.series_scale(leaves, look.SERIES)),
                legend=alt.Legend(orient="top"),
            ),
            strokeDash=alt.StrokeDash("leaf:N", title=None, scale=alt.Scale(**look.series_scale(leaves, look.DASHES))),
        )
    )
    return (
        alt.layer(shaded(spans), line)
        .resolve_scale(color="independent", strokeDash="independent")
        .properties(width=640, height=110)
    )
