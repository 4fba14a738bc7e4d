"""Through time: the rate that fio tells of, and the rate of the disks, on one axis; the window shaded."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import altair as alt

from poolproof.presentation.charts import theme as look

SOURCES = ("fio", "disks, reads", "disks, writes")


@dataclass(frozen=True)
class RatePoint:
    """Bytes per second of one source over a stretch of time that begins at `at_s`, seconds from the window's start."""

    at_s: float
    source: str
    rate: float


@dataclass(frozen=True)
class Phase:
    """A stretch of time with a name: `warm-up`, `window` or `drain`; seconds from the window's start."""

    name: str
    from_s: float
    to_s: float


def rates(points: Sequence[RatePoint], spans: Sequence[Phase]) -> Any:
    """The chart: steps, because a rate is a mean over its stretch."""
    colours = alt.Scale(domain=list(SOURCES), range=[look.FIO, look.READ, look.WRITE])
    dashes = alt.Scale(domain=list(SOURCES), range=[[6, 3], [1, 0], [1, 0]])
    line = (
        alt.Chart(alt.InlineData(values=[asdict(point) for point in points], name="points"))
        .mark_line(interpolate="step-after", strokeWidth=1.8, clip=True)
        .encode(
            x=_seconds(),
            y=alt.Y(
                "rate:Q",
                title="bytes per second",
                axis=alt.Axis(format="~s", tickCount=5, minExtent=48),
                scale=alt.Scale(zero=True),
            ),
            color=alt.Color("source:N", title=None, scale=colours, legend=alt.Legend(orient="top")),
            strokeDash=alt.StrokeDash("source:N", title=None, scale=dashes),
        )
    )
    return (
        alt.layer(shaded(spans), line)
        .resolve_scale(color="independent", strokeDash="independent")
        .properties(width=640, height=180)
    )


def shaded(spans: Sequence[Phase]) -> Any:
    """The stretches of time behind a chart: the window plain, what is around it grey and with its name."""
    base = alt.Chart(alt.InlineData(values=[asdict(span) for span in spans], name="spans")).transform_filter(
        "datum.name !== 'window'"
    )
    ends = {"x": alt.X("from_s:Q", title="seconds from the window's start"), "x2": alt.X2("to_s:Q")}
    grey = base.mark_rect(color="#8b949e", opacity=0.18).encode(**ends)
    names = [
        base.transform_filter(f"datum.name {'=' if last else '!'}== 'drain'")
        .mark_text(
            align="right" if last else "left", baseline="top", dx=-3 if last else 3, dy=3, fontSize=10, opacity=0.8
        )
        .encode(x=alt.X("to_s:Q" if last else "from_s:Q"), y=alt.value(0), text="name:N")
        for last in (False, True)
    ]
    return alt.layer(grey, *names)


def _seconds() -> Any:
    return alt.X("at_s:Q", title="seconds from the window's start", scale=alt.Scale(nice=False, zero=False))
