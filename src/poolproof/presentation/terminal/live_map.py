"""The map of a live screen: layouts × workloads, a mark for each finished trial; condensed where there is no room."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from poolproof.presentation.terminal.live_state import LiveState
from poolproof.presentation.terminal.short_names import cut
from poolproof.presentation.terminal.words import MARKS, STYLES
from poolproof.results.runs.summary import WORST_FIRST
from poolproof.rules.model import Verdict

AHEAD = "·"
NOW = "▸"
_QUIET = "bright_black"
_NARROWEST_NAMED = 8
_FEWEST_FOR_NAME = 6


@dataclass(frozen=True)
class _Columns:
    """How the workloads lie side by side: `each` workloads to a mark, `width` cells of the terminal to a column."""

    each: int
    width: int
    named: bool


def map_lines(state: LiveState, width: int, height: int) -> list[Text]:
    """The map in so many columns and lines; empty where it has no room at all."""
    label = min(max(map(cell_len, state.layouts), default=0), max(_FEWEST_FOR_NAME, width // 4))
    columns = _columns(state, width - label - 1)
    if height < 2 or columns is None:
        return []
    heading = Text(" " * (label + 1), style=_QUIET, no_wrap=True).append(_heading(state, columns, width - label - 1))
    shown, left_out = _window(state, height - 1)
    rows = [_row(state, layout, label, columns) for layout in shown]
    return [heading, *rows, *([Text(left_out, style=_QUIET)] if left_out else [])]


def counts_line(state: LiveState) -> Text:
    """How many cells have which verdict; also what the marks mean."""
    worst = [state.worst(layout, workload) for layout in state.layouts for workload in state.workloads]
    line = Text(no_wrap=True)
    for verdict in reversed(WORST_FIRST):
        if count := worst.count(verdict):
            line.append(f"{MARKS[verdict]} {count} {verdict}  ", style=STYLES[verdict])
    if ahead := worst.count(None):
        line.append(f"{AHEAD} {ahead} to come", style=_QUIET)
    return line


def _columns(state: LiveState, room: int) -> _Columns | None:
    count = len(state.workloads)
    if room < 1 or not count:
        return None
    if room // count >= _NARROWEST_NAMED:
        longest = max(map(cell_len, state.workloads))
        return _Columns(1, min(max(longest, _NARROWEST_NAMED - 2) + 2, room // count), named=True)
    if 2 * count <= room:
        return _Columns(1, 2, named=False)
    return _Columns(-(-count // room), 1, named=False)


def _heading(state: LiveState, columns: _Columns, room: int) -> str:
    names = state.workloads
    if columns.named:
        return "".join(_cut(name, columns.width - 1) + " " for name in names)
    many = f"{len(names)} workloads"
    if columns.each > 1:
        many += f", {columns.each} to a mark: the worst of them"
    return _cut(many, room).rstrip()


def _window(state: LiveState, room: int) -> tuple[Sequence[str], str]:
    """As many layouts as there is room for, around the one at hand; and how many are not shown."""
    layouts = state.layouts
    if len(layouts) <= room:
        return layouts, ""
    room -= 1
    at = layouts.index(state.layout) if state.layout in layouts else 0
    first = min(max(0, at - room // 2), len(layouts) - room)
    below = len(layouts) - first - room
    return layouts[first : first + room], f"… {first} more layouts above, {below} below"


def _row(state: LiveState, layout: str, label: int, columns: _Columns) -> Text:
    row = Text(no_wrap=True)
    row.append(_cut(layout, label) + " ", style="bold" if layout == state.layout else "")
    for start in range(0, len(state.workloads), columns.each):
        group = state.workloads[start : start + columns.each]
        marks = _all_marks(state, layout, group[0], columns.width - 1) if columns.named else _mark(state, layout, group)
        row.append_text(marks)
        row.append(" " * (columns.width - marks.cell_len))
    return row


def _all_marks(state: LiveState, layout: str, workload: str, room: int) -> Text:
    """A mark for each trial of a cell, where there is room for all; else one."""
    wanted = state.wanted(layout, workload)
    if wanted > room:
        return _mark(state, layout, (workload,))
    marks = Text()
    verdicts = state.verdicts(layout, workload)
    for verdict in verdicts:
        marks.append(MARKS[verdict], style=STYLES[verdict])
    ahead = wanted - len(verdicts)
    if ahead and state.at is not None and state.at[:2] == (layout, workload):
        marks.append(NOW, style="bold cyan")
        ahead -= 1
    return marks.append(AHEAD * ahead, style=_QUIET)


def _mark(state: LiveState, layout: str, workloads: Sequence[str]) -> Text:
    """One mark for neighbouring cells: the one at hand, or the worst verdict among them."""
    if state.at is not None and state.at[0] == layout and state.at[1] in workloads:
        return Text(NOW, style="bold cyan")
    found: list[Verdict] = [each for name in workloads if (each := state.worst(layout, name)) is not None]
    if not found:
        ahead = any(state.wanted(layout, name) for name in workloads)
        return Text(AHEAD if ahead else " ", style=_QUIET)
    worst = min(found, key=WORST_FIRST.index)
    return Text(MARKS[worst], style=STYLES[worst])


def _cut(text: str, width: int) -> str:
    """Exactly so many cells of the terminal."""
    return set_cell_size(cut(text, width), max(0, width))
