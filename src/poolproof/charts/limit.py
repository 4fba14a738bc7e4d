"""How near each figure is to what its disks gave when measured bare in the same run."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import altair as alt

from poolproof.charts import look


@dataclass(frozen=True)
class Distance:
    """`share`: the figure over the sum of its disks' bare figures, 1 being all that they gave. `of`: those disks."""

    layout: str
    workload: str
    share: float
    of: str
    text: str


def limit(distances: Sequence[Distance], *, layouts: Sequence[str], columns: int = 3) -> Any:
    """The chart: a panel for each workload, a bar for each layout, a line at what the disks gave."""
    base = alt.Chart().encode(y=alt.Y("layout:N", title=None, scale=alt.Scale(domain=list(layouts))))
    bars = base.mark_bar(height=12).encode(
        x=alt.X("share:Q", title="of its bare disks", axis=alt.Axis(format="%", tickCount=4)),
        color=alt.Color("layout:N", scale=alt.Scale(**look.series_scale(layouts, look.SERIES)), legend=None),
        tooltip=[alt.Tooltip(f"{name}:N") for name in ("layout", "workload", "text", "of")],
    )
    all_of_it = alt.Chart().mark_rule(strokeDash=[4, 3]).encode(x=alt.datum(1))
    data = alt.InlineData(values=[asdict(each) for each in distances])
    return (
        alt.layer(bars, all_of_it)
        .properties(width=240, height=alt.Step(22), data=data)
        .facet(
            facet=alt.Facet("workload:N", title=None, sort=list(dict.fromkeys(each.workload for each in distances))),
            columns=columns,
        )
    )
