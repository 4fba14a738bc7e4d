"""The map: layouts by workloads, how far each figure is from the best of its workload, and its verdict as a mark.

A figure that did not settle is held against those that did, and never coloured as the best of these. Where none of a
workload settled, as in a grid of short trials, they are held against the best of themselves: marked, but not blank.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from poolproof.metrics import LOWER_IS_BETTER
from poolproof.presentation.charts import theme as look
from poolproof.presentation.html_report.numbers import short
from poolproof.presentation.terminal.words import MARKS
from poolproof.results.runs.summary import Cell
from poolproof.verdicts import Verdict

_NO_FIGURE = "#8b949e"


@dataclass(frozen=True)
class Tile:
    """One cell. `share` of the best figure of its workload, 0 to 1, also where less is better; None for no figure that
    counts, and for one that did not settle and would be better than all that did. `depth`: how many powers of ten below
    the best, at most `look.HEAT_DECADES`. `ink`: the colour of its mark.
    """

    layout: str
    workload: str
    verdict: Verdict
    mark: str
    share: float | None
    depth: float | None
    ink: str
    unsettled: bool = False


def tiles(cells: Sequence[Cell]) -> tuple[Tile, ...]:
    """The cells of a run as tiles, in their order."""
    best = _best(cells)
    settled = {cell.workload for cell in cells if _is_held(cell) and not cell.is_unsettled}
    return tuple(_tile(cell, best.get(cell.workload), among_settled=cell.workload in settled) for cell in cells)


def heat_colour(depth: float) -> str:
    """The colour of a depth: linear between the stops in RGB."""
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


def _best(cells: Iterable[Cell]) -> dict[str, float]:
    """Of each workload the best figure that counts and settled; of those that did not where none did."""
    settled: dict[str, float] = {}
    others: dict[str, float] = {}
    for cell in filter(_is_held, cells):
        best, speed = others if cell.is_unsettled else settled, _speed(cell)
        best[cell.workload] = max(best.get(cell.workload, speed), speed)
    return others | settled


def _tile(cell: Cell, best: float | None, *, among_settled: bool) -> Tile:
    share = _speed(cell) / best if best is not None and _is_held(cell) else None
    if share is not None and cell.is_unsettled and among_settled and (short(share) or 0) >= 1:
        share = None
    depth = None if share is None else min(-math.log10(share), look.HEAT_DECADES)
    ink = _NO_FIGURE if depth is None else ink_on(heat_colour(depth))
    return Tile(
        cell.layout,
        cell.workload,
        cell.verdict,
        MARKS[cell.verdict],
        share,
        depth,
        ink,
        cell.is_unsettled and cell.figure is not None,
    )


def _is_held(cell: Cell) -> bool:
    """Whether its figure is held against others."""
    return cell.counts and cell.figure is not None and cell.figure.mean > 0


def _speed(cell: Cell) -> float:
    """The figure turned so that more is better."""
    assert cell.figure is not None, "asked only of cells with a figure"
    return 1 / cell.figure.mean if cell.metric in LOWER_IS_BETTER else cell.figure.mean
