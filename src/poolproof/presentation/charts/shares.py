"""Per disk: its share of what was read, written and is stored, and how busy it was; a slow disk is marked."""

from typing import Any

import altair as alt

from poolproof.presentation.charts import theme as look
from poolproof.presentation.charts.model import CellChart, Column, Row
from poolproof.presentation.charts.trial_data import short
from poolproof.results.runs.loading import LoadedRun
from poolproof.results.runs.summary import Cell
from poolproof.units import format_duration

_SHARES = ("reads", "writes", "stored", "busy")
_SLOW = "slow-leaf"


def _rows(cell: Cell) -> list[Row]:
    """Return the shares of each disk, without directions in which fio moved nothing; the last one has the note."""
    account = cell.account
    rows: list[Row] = []
    for leaf in cell.leaves:
        note = "" if leaf.latency_s is None else f"{format_duration(leaf.latency_s)} per request"
        note += "; slower than the others" if _is_slow(cell, leaf.device) else ""
        shares = (
            leaf.read_share if account and account.fio_read_bytes else None,
            leaf.write_share if account and account.fio_write_bytes else None,
            leaf.stored_share,
            leaf.utilisation,
        )
        known = [(what, share) for what, share in zip(_SHARES, shares, strict=True) if share is not None]
        rows += [(leaf.device, what, short(share), note if what == known[-1][0] else "") for what, share in known]
    return rows


def _is_slow(cell: Cell, device: str) -> bool:
    """True if a rule found that this disk is slower than the others."""
    return any(finding.rule == _SLOW and finding.message.startswith(f"{device} ") for finding in cell.findings)


def _draw(data: alt.InlineData, _run: LoadedRun) -> Any:
    """Draw a panel for each kind of share, with a bar for each disk."""
    colours = alt.Scale(domain=list(_SHARES), range=[look.READ, look.WRITE, "#009e73", look.FIO])
    base = alt.Chart().encode(y=alt.Y("disk:N", title=None, sort=None))
    tooltips = [
        alt.Tooltip("disk:N"),
        alt.Tooltip("what:N"),
        alt.Tooltip("share:Q", format=".1%"),
        alt.Tooltip("note:N"),
    ]
    bars = base.mark_bar(height=14).encode(
        x=alt.X("share:Q", title=None, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%", tickCount=3)),
        color=alt.Color("what:N", scale=colours, legend=None),
        tooltip=tooltips,
    )
    slow = "test(/slower/, datum.note) ? '  ▲ slow' : ''"
    numbers = (
        base.mark_text(align="left", dx=4, fontSize=11)
        .encode(x=alt.X("share:Q"), text=alt.Text("label:N"))
        .transform_calculate(label=f"format(datum.share, '.0%') + ({slow})")
    )
    panels = alt.Facet("what:N", title=None, sort=list(_SHARES))
    return alt.layer(bars, numbers).properties(width=150, height=alt.Step(26), data=data).facet(facet=panels, columns=4)


CHART = CellChart(
    name="shares",
    title="Shares of each disk",
    section="disks",
    columns=(Column("disk", "disk"), Column("what", "share of"), Column("share", "share", "share"), Column("note", "")),
    draw=_draw,
    rows=_rows,
    pivot=True,
)
