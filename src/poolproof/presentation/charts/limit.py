"""How near each figure is to what its disks gave when the same run measured them alone."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import altair as alt

from poolproof.presentation.charts import theme as look

_FARTHEST = 3.0
"""A bar ends there, however much larger the share is: its label has it."""
_WIDTH = 240
_ROOM_FOR_LABELS = 60


@dataclass(frozen=True)
class Distance:
    """`share`: the figure over its limit, 1 being all that the disks give; `label` in per cent; `how` it came about."""

    layout: str
    workload: str
    share: float
    label: str
    how: str


def limit(distances: Sequence[Distance], *, layouts: Sequence[str], columns: int = 3) -> Any:
    """The chart: a panel for each workload, a bar for each layout, a line at what the disks can do.

    A share of more than three times that is drawn to three times; every share stands in figures right of its bar.
    """
    farthest = min(_FARTHEST, 1.15 * max([1.0, *(each.share for each in distances)]))
    bars = alt.Chart().encode(
        y=alt.Y("layout:N", title=None, scale=alt.Scale(domain=_drawn(distances, layouts))),
        x=alt.X(
            "share:Q",
            title="of what its disks can do",
            axis=alt.Axis(format="%", tickCount=4),
            scale=alt.Scale(domain=[0, farthest], clamp=True, nice=False),
        ),
        tooltip=[alt.Tooltip(f"{name}:N") for name in ("layout", "workload", "label", "how")],
    )
    coloured = bars.mark_bar(height=12).encode(
        color=alt.Color("layout:N", scale=alt.Scale(**look.series_scale(layouts, look.SERIES)), legend=None)
    )
    said = bars.mark_text(align="left", fontSize=11).encode(x=alt.value(_WIDTH + 6), text="label:N")
    all_of_it = alt.Chart().mark_rule(strokeDash=[4, 3]).encode(x=alt.datum(1))
    data = alt.InlineData(values=[asdict(each) for each in distances])
    return (
        alt.layer(coloured, all_of_it, said)
        .properties(width=_WIDTH, height=alt.Step(22), data=data)
        .facet(
            facet=alt.Facet("workload:N", title=None, sort=list(dict.fromkeys(each.workload for each in distances))),
            columns=columns,
            spacing={"column": _ROOM_FOR_LABELS, "row": 20},
        )
    )


def _drawn(distances: Sequence[Distance], layouts: Sequence[str]) -> list[str]:
    found = {each.layout for each in distances}
    return [layout for layout in layouts if layout in found]
