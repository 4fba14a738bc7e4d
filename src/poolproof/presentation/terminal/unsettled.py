"""Unsettled figures and the reasons, and the time that adaptive trials took and saved."""

from collections.abc import Iterable, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from poolproof.presentation.terminal.words import value_text
from poolproof.results.runs.summary import Cell
from poolproof.units import format_duration


def unsettled_blocks(cells: Iterable[Cell]) -> Iterable[RenderableType]:
    """Yield each unsettled cell with the range of its trials and the reasons."""
    for cell in cells:
        values = cell.values()
        if cell.is_unsettled and cell.settling is not None and values:
            heading = Text(f"\n~ {cell.workload} on {cell.layout}: unsettled, {_range(cell, values)}", style="bold")
            heading.stylize("yellow", 0, 2)
            yield Group(heading, *(_reason(each.name, each.sentence) for each in cell.settling.reasons))


def _range(cell: Cell, values: Sequence[float]) -> str:
    low, high = value_text(min(values), cell.metric), value_text(max(values), cell.metric)
    return f"{low} in one trial" if len(values) == 1 else f"{low} to {high} in {len(values)} trials"


def _reason(name: str, sentence: str) -> RenderableType:
    return Padding(Text(name, style="bold").append(f": {sentence}", style="default"), (0, 0, 0, 2))


def spent_text(cells: Iterable[Cell]) -> str:
    """Return how long fio ran, and how long with trials of the longest time; empty for trials of a fixed time."""
    adaptive = [cell for cell in cells if cell.settling is not None]
    if not adaptive:
        return ""
    fio_s = sum(cell.seconds.get("fio", 0.0) for cell in adaptive)
    rest_s = sum(sum(cell.seconds.values()) for cell in adaptive) - fio_s
    fixed_s = sum(cell.settling.fixed_s for cell in adaptive if cell.settling is not None)
    return (
        f"fio ran for {format_duration(fio_s)}, dropping caches and draining took {format_duration(rest_s)}; "
        f"with trials of the longest time fio would have run for {format_duration(fixed_s)}"
    )
