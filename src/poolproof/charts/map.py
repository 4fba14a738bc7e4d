"""Layouts by workloads: how far each figure is from the best of its workload, and its verdict as a mark."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import altair as alt

from poolproof.campaign.model import LOWER_IS_BETTER, Workload
from poolproof.charts import look
from poolproof.charts.metrics import interval_text
from poolproof.report.words import MARKS
from poolproof.rules.model import Verdict
from poolproof.runs.summary import RANKABLE, Cell

_CELL_PX, _WIDE_PX, _MANY = 17, 92, 14
_NO_FIGURE = "#8b949e"


@dataclass(frozen=True)
class Tile:
    """One cell. `share` of the best figure of its workload, 0 to 1, also where less is better; None for no figure that
    counts. `depth`: how many powers of ten below the best, at most `look.HEAT_DECADES`. `ink`: the colour of its mark.
    """

    layout: str
    workload: str
    verdict: Verdict
    mark: str
    share: float | None
    depth: float | None
    ink: str
    text: str


def tiles(cells: Sequence[Cell]) -> tuple[Tile, ...]:
    """The cells of a run as tiles, in their order."""
    best = _best(cells)
    return tuple(_tile(cell, best.get(cell.workload)) for cell in cells)


def verdict_map(tiles: Sequence[Tile], *, layouts: Sequence[str], workloads: Sequence[Workload]) -> Any:
    """The chart: layouts from top to bottom, workloads from left to right, in the campaign's order."""
    names = [workload.name for workload in workloads]
    many = len(names) > _MANY
    width = _CELL_PX if many else _WIDE_PX
    base = alt.Chart().encode(
        x=alt.X(
            "workload:O",
            title=None,
            scale=alt.Scale(domain=names),
            axis=alt.Axis(orient="top", labelAngle=-90 if many else -20, labelLimit=260, domain=False, ticks=False),
        ),
        y=alt.Y(
            "layout:O", title=None, scale=alt.Scale(domain=list(layouts)), axis=alt.Axis(domain=False, ticks=False)
        ),
        tooltip=[alt.Tooltip(f"{name}:N") for name in ("layout", "workload", "text", "verdict")],
    )
    hollow = base.transform_filter("datum.depth === null").mark_rect(fill="transparent", stroke=_NO_FIGURE)
    chart = alt.layer(hollow, _squares(base), _marks(base)).resolve_scale(color="independent")
    return chart.properties(
        width=alt.Step(width), height=alt.Step(26), data=alt.InlineData(values=[asdict(tile) for tile in tiles])
    )


def heat_colour(depth: float) -> str:
    """The colour of a depth, as the page paints it: linear between the stops in RGB, as Vega does with `rgb`."""
    place = min(max(depth / look.HEAT_DECADES, 0.0), 1.0) * (len(look.HEAT) - 1)
    lower = min(int(place), len(look.HEAT) - 2)
    ends = [[int(stop[at : at + 2], 16) for at in (1, 3, 5)] for stop in look.HEAT[lower : lower + 2]]
    mixed = [round(a + (b - a) * (place - lower)) for a, b in zip(*ends, strict=True)]
    return "#" + "".join(f"{part:02x}" for part in mixed)


def ink_on(colour: str) -> str:
    """White or near-black, whichever is read better on the colour: by WCAG 2.2, relative luminance."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#ffffff" if luminance < 0.18 else "#1b1f24"


def _squares(base: Any) -> Any:
    stops = len(look.HEAT)
    domain = [look.HEAT_DECADES * number / (stops - 1) for number in range(stops)]
    legend = alt.Legend(
        labelExpr="{'0': 'the best', '0.3': 'half', '1': 'a tenth', '2': '1/100 and less'}[datum.value]",
        values=[0, 0.3, 1, 2],
        orient="bottom",
        direction="horizontal",
        gradientLength=260,
    )
    colour = alt.Color(
        "depth:Q", title="of the best", legend=legend,
        scale=alt.Scale(domain=domain, range=list(look.HEAT), interpolate="rgb", clamp=True),
    )  # fmt: skip
    return base.transform_filter("datum.depth !== null").mark_rect().encode(color=colour)


def _marks(base: Any) -> Any:
    return base.mark_text(fontSize=12, fontWeight="bold").encode(
        text="mark:N", color=alt.Color("ink:N", scale=None, legend=None)
    )


def _best(cells: Iterable[Cell]) -> dict[str, float]:
    """Of each workload the best figure that counts."""
    best: dict[str, float] = {}
    for cell in cells:
        if cell.verdict in RANKABLE and cell.figure is not None and cell.figure.mean > 0:
            speed = _speed(cell)
            best[cell.workload] = max(best.get(cell.workload, speed), speed)
    return best


def _tile(cell: Cell, best: float | None) -> Tile:
    counts = cell.verdict in RANKABLE and cell.figure is not None and cell.figure.mean > 0 and best is not None
    share = _speed(cell) / best if counts and best is not None else None
    text = "no figure" if cell.figure is None else interval_text(cell.figure, cell.metric)
    depth = None if share is None else min(-math.log10(share), look.HEAT_DECADES)
    ink = _NO_FIGURE if depth is None else ink_on(heat_colour(depth))
    return Tile(cell.layout, cell.workload, cell.verdict, MARKS[cell.verdict], share, depth, ink, text)


def _speed(cell: Cell) -> float:
    """The figure turned so that more is better."""
    assert cell.figure is not None, "asked only of cells with a figure"
    return 1 / cell.figure.mean if cell.metric in LOWER_IS_BETTER else cell.figure.mean
