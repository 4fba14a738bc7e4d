"""Per disk: its part in what was read, written and is stored, and how busy it was; a slow one marked."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import altair as alt

from poolproof.presentation.charts import theme as look
from poolproof.results.runs.summary import Cell

WHAT = ("reads", "writes", "stored", "busy")
SLOW = "slow-leaf"


@dataclass(frozen=True)
class DiskShare:
    """A share from 0 to 1. `note` marks the disk that holds the others back."""

    disk: str
    what: str
    share: float
    note: str


def disk_shares(cell: Cell) -> tuple[DiskShare, ...]:
    """The shares of a cell's disks; none of a direction in which fio moved nothing."""
    account = cell.account
    rows = []
    for leaf in cell.leaves:
        note = "holds the layout back" if is_slow(cell, leaf.device) else ""
        shares = (
            leaf.read_share if account and account.fio_read_bytes else None,
            leaf.write_share if account and account.fio_write_bytes else None,
            leaf.stored_share,
            leaf.utilisation,
        )
        rows += [
            DiskShare(leaf.device, what, share, note)
            for what, share in zip(WHAT, shares, strict=True)
            if share is not None
        ]
    return tuple(rows)


def is_slow(cell: Cell, device: str) -> bool:
    """Whether a rule found that this disk holds the others back."""
    return any(finding.rule == SLOW and finding.message.startswith(f"{device} ") for finding in cell.findings)


def shares(rows: Sequence[DiskShare]) -> Any:
    """The chart: a panel for each kind of share, a bar for each disk."""
    colours = alt.Scale(domain=list(WHAT), range=[look.READ, look.WRITE, "#009e73", look.FIO])
    base = alt.Chart().encode(y=alt.Y("disk:N", title=None, sort=None))
    bars = base.mark_bar(height=14).encode(
        x=alt.X("share:Q", title=None, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%", tickCount=3)),
        color=alt.Color("what:N", scale=colours, legend=None),
        tooltip=[
            alt.Tooltip("disk:N"),
            alt.Tooltip("what:N"),
            alt.Tooltip("share:Q", format=".1%"),
            alt.Tooltip("note:N"),
        ],
    )
    numbers = (
        base.mark_text(align="left", dx=4, fontSize=11)
        .encode(x=alt.X("share:Q"), text=alt.Text("label:N"))
        .transform_calculate(
            label="format(datum.share, '.0%') + (datum.note && datum.what === 'busy' ? '  ▲ slow' : '')"
        )
    )
    return (
        alt.layer(bars, numbers)
        .properties(width=150, height=alt.Step(26), data=alt.InlineData(values=[asdict(row) for row in rows]))
        .facet(facet=alt.Facet("what:N", title=None, sort=list(WHAT)), columns=4)
    )
