"""Through time: latency percentiles, each over stretches that hold enough I/Os for it."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import altair as alt

from poolproof.presentation.charts import theme as look
from poolproof.presentation.charts.metrics import decade_label_expression
from poolproof.presentation.charts.rates import Phase, shaded


@dataclass(frozen=True)
class Line:
    """A percentile that is drawn; `syncs`: of fsync and fdatasync calls."""

    name: str
    per_cent: float
    syncs: bool = False


LINES = (
    Line("p50", 50.0),
    Line("p99", 99.0),
    Line("p99.9", 99.9),
    Line("sync p50", 50.0, True),
    Line("sync p99", 99.0, True),
)
_COLOURS = (look.SERIES[0], look.SERIES[2], look.SERIES[3], look.WRITE, look.SERIES[4])
_DASHES = ((1, 0), (6, 3), (2, 2), (1, 0), (6, 3))


@dataclass(frozen=True)
class LatencyStep:
    """A percentile in seconds over a stretch of time that begins at `at_s`, seconds from the window's start."""

    at_s: float
    line: str
    seconds: float


def latency_time(points: Sequence[LatencyStep], spans: Sequence[Phase]) -> Any:
    """The chart: steps, because a percentile is one of its stretch; a logarithmic axis as for those of whole trials."""
    names = [line.name for line in LINES]
    drawn = (
        alt.Chart(alt.InlineData(values=[asdict(point) for point in points], name="points"))
        .mark_line(interpolate="step-after", strokeWidth=1.8, clip=True)
        .encode(
            x=alt.X("at_s:Q", title="seconds from the window's start", scale=alt.Scale(nice=False, zero=False)),
            y=alt.Y(
                "seconds:Q",
                title="latency",
                scale=alt.Scale(type="log"),
                axis=alt.Axis(labelExpr=decade_label_expression("p99"), tickCount=5, minExtent=48),
            ),
            color=alt.Color(
                "line:N",
                title=None,
                scale=alt.Scale(domain=names, range=list(_COLOURS)),
                legend=alt.Legend(orient="top"),
            ),
            strokeDash=alt.StrokeDash(
                "line:N", title=None, scale=alt.Scale(domain=names, range=[list(dash) for dash in _DASHES])
            ),
        )
    )
    return (
        alt.layer(shaded(spans), drawn)
        .resolve_scale(color="independent", strokeDash="independent")
        .properties(width=640, height=150)
    )
