"""A chart of how close each result comes to its disks' limit, for runs that measured the disks individually."""

from typing import Any

import altair as alt

from poolproof.presentation.charts import theme as look
from poolproof.presentation.charts.model import Column, Row, RunChart
from poolproof.presentation.charts.trial_data import short
from poolproof.presentation.terminal.limited import how_text, share_text
from poolproof.results.runs.limit import Limit, limits_of
from poolproof.results.runs.loading import LoadedRun

_FARTHEST = 3.0
"""The maximum bar length, as a fraction of the limit. Longer bars are cut off, but their label shows the true value."""
_WIDTH = 240
_ROOM_FOR_LABELS = 60


def _rows(run: LoadedRun) -> list[Row]:
    limits = limits_of(run.cells, run.bare, run.campaign)
    return [
        (cell.layout_in_state, cell.workload, short(limit.share), share_text(limit), how_text(limit, cell.metric))
        for cell in run.cells
        if cell.counts
        if isinstance(limit := limits.get(cell.key), Limit)
    ]


def _draw(data: alt.InlineData, run: LoadedRun) -> Any:
    rows: list[dict[str, Any]] = data.values
    layouts = run.layouts_in_states
    shown = {row["layout"] for row in rows}
    farthest = min(_FARTHEST, 1.15 * max([1.0, *(row["share"] for row in rows)]))
    bars = alt.Chart().encode(
        y=alt.Y("layout:N", title=None, scale=alt.Scale(domain=[layout for layout in layouts if layout in shown])),
        x=alt.X(
            "share:Q",
            title="share of the limit",
            axis=alt.Axis(format="%", tickCount=4),
            scale=alt.Scale(domain=[0, farthest], clamp=True, nice=False),
        ),
        tooltip=look.tooltips("layout", "workload", "label", "how"),
    )
    coloured = bars.mark_bar(height=12).encode(
        color=alt.Color("layout:N", scale=look.series_scale(layouts, look.SERIES), legend=None)
    )
    labels = bars.mark_text(align="left", fontSize=11).encode(x=alt.value(_WIDTH + 6), text="label:N")
    at_limit = alt.Chart().mark_rule(strokeDash=[4, 3]).encode(x=alt.datum(1))
    workloads = alt.Facet("workload:N", title=None, sort=list(dict.fromkeys(row["workload"] for row in rows)))
    return (
        alt.layer(coloured, at_limit, labels)
        .properties(width=_WIDTH, height=alt.Step(22), data=data)
        .facet(facet=workloads, columns=4, spacing={"column": _ROOM_FOR_LABELS, "row": 20})
    )


CHART = RunChart(
    name="limit",
    title="share of the limit, computed from what each disk delivers alone and the bytes it moves",
    section="limit",
    columns=(
        Column("layout", "layout"),
        Column("workload", "workload"),
        Column("share", "share", "share"),
        Column("label"),
        Column("how", "how it is computed"),
    ),
    draw=_draw,
    rows=_rows,
    in_pictures=True,
)
