"""A chart of each disk's utilisation and its share of the bytes read, written and stored, with slow disks marked."""

from typing import Any

import altair as alt

from poolproof.presentation.charts import theme as look
from poolproof.presentation.charts.model import CellChart, Column, Row
from poolproof.presentation.charts.trial_data import short
from poolproof.results.runs.loading import LoadedRun
from poolproof.results.runs.summary import Cell
from poolproof.rules.slow_leaf import is_slow
from poolproof.units import format_duration

_SHARES = ("reads", "writes", "stored", "busy")


def _rows(cell: Cell) -> list[Row]:
    """Return each disk's utilisation and shares of the bytes.

    Read shares are omitted if nothing was read, and write shares if nothing was written. Each disk's last row has a
    note with the time per request, which also says if the disk is slow.
    """
    account = cell.account
    rows: list[Row] = []
    for leaf in cell.leaves:
        note = "" if leaf.latency_s is None else f"{format_duration(leaf.latency_s)} per request"
        note += "; slower than the others" if is_slow(leaf.device, cell.findings) else ""
        shares = (
            leaf.read_share if account and account.fio_read_bytes else None,
            leaf.write_share if account and account.fio_write_bytes else None,
            leaf.stored_share,
            leaf.utilisation,
        )
        known = [(what, share) for what, share in zip(_SHARES, shares, strict=True) if share is not None]
        rows += [(leaf.device, what, short(share), note if what == known[-1][0] else "") for what, share in known]
    return rows


def _draw(data: alt.InlineData, _run: LoadedRun) -> Any:
    base = alt.Chart().encode(y=alt.Y("disk:N", title=None, sort=None))
    bars = base.mark_bar(height=14).encode(
        x=alt.X("share:Q", title=None, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%", tickCount=3)),
        color=alt.Color(
            "what:N", scale=look.series_scale(_SHARES, (look.READ, look.WRITE, look.SERIES[2], look.LOAD)), legend=None
        ),
        tooltip=[*look.tooltips("disk", "what"), alt.Tooltip("share:Q", format=".1%"), *look.tooltips("note")],
    )
    numbers = (
        base.mark_text(align="left", dx=4, fontSize=11)
        .encode(x=alt.X("share:Q"), text=alt.Text("label:N"))
        .transform_calculate(label="format(datum.share, '.0%') + (test(/slower/, datum.note) ? '  ▲ slow' : '')")
    )
    panels = alt.Facet("what:N", title=None, sort=list(_SHARES))
    return alt.layer(bars, numbers).properties(width=150, height=alt.Step(26), data=data).facet(facet=panels, columns=4)


CHART = CellChart(
    name="shares",
    title="Shares of each disk",
    section="disks",
    columns=(Column("disk", "disk"), Column("what", "share of"), Column("share", "share", "share"), Column("note")),
    draw=_draw,
    rows=_rows,
    pivot=True,
)
