"""The table that a run ends with: each workload with its layouts, their figures, intervals, factors; then reasons."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from poolproof.metrics import MetricId, metric_of
from poolproof.presentation.terminal.fitted import named_table, print_fitted
from poolproof.presentation.terminal.limited import share_text
from poolproof.presentation.terminal.words import (
    MARKS,
    STYLES,
    factor_text,
    groups_text,
    half_width_text,
    value_text,
    which_is_better,
)
from poolproof.results.runs.limit import Limit
from poolproof.results.runs.model import CellKey
from poolproof.results.runs.summary import Cell, factor_to
from poolproof.rules.model import Finding
from poolproof.units import format_duration

_TWO_GROUPS = "Their mean describes neither group: something that changes between trials decides."
_APART = "Each trial is steady, but something that changes between them moves the figure; its interval includes that."
_WHAT_DIFFERS = "find what changes between trials: where files are stored, which mirror is read, what is in a cache."
_ONE_GROUP = (
    "run more trials to see how often each group occurs, then find the cause. btrfs raid1 chooses the mirror by the "
    "reading process (use more: numjobs=4), a union the branch by where a file was placed, a drive by its own cache."
)

_EXPLAINS = 65
"""Notes of at least this weight explain a figure, so their message is printed."""


def print_table(
    console: Console,
    cells: Sequence[Cell],
    baseline: str | None,
    limits: Mapping[CellKey, Limit | str] = MappingProxyType({}),
) -> None:
    """Print the figures of a run, then the reasons for those that are not sound.

    If the disks were measured alone, a column has each figure's share of the limit.
    """
    print_fitted(console, _table(cells, baseline, limits))
    for block in _reasons(cells):
        console.print(block)
    for block in _unsettled_blocks(cells):
        console.print(block)
    for block in _disagreements(cells):
        console.print(block)
    for note in _notes(cells):
        console.print(note)
    if spent := _spent_text(cells):
        console.print(Text(f"\n{spent}"))


def _table(cells: Sequence[Cell], baseline: str | None, limits: Mapping[CellKey, Limit | str]) -> Table:
    bases = {cell.workload: cell for cell in cells if cell.layout == baseline}
    table = named_table("")
    table.add_column("figure", justify="right", no_wrap=True)
    table.add_column("±", justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    if limits:
        table.add_column("of limit", justify="right", no_wrap=True)
    if bases:
        table.add_column(Text(f"vs {baseline}"), no_wrap=True)
    for workload in dict.fromkeys(cell.workload for cell in cells):
        own = [cell for cell in cells if cell.workload == workload]
        table.add_row(*_heading(workload, own[0].metric, columns=len(table.columns)))
        for cell in own:
            row = _row(cell)
            if limits:
                row.append(_share(limits.get(cell.key)))
            if bases:
                row.append(_factor(cell, bases.get(workload)))
            table.add_row(*row)
    return table


def _heading(workload: str, metric: MetricId, *, columns: int) -> list[Text]:
    """Return the workload with its metric; the last column, which has room, says which direction is better."""
    title = Text(f"{workload}, {metric_of(metric).title}", style="bold")
    return [title, *[Text()] * (columns - 2), Text(which_is_better(metric), style="bright_black")]


def _row(cell: Cell) -> list[Text]:
    style = STYLES[cell.verdict]
    return [
        Text(f"  {cell.layout}"),
        Text(_figure(cell), style=style),
        Text(half_width_text(cell.figure) if cell.figure and not cell.is_unsettled else ""),
        Text(f"{MARKS[cell.verdict]} {cell.verdict}", style=style),
    ]


def _share(limit: Limit | str | None) -> Text:
    return Text(share_text(limit) if isinstance(limit, Limit) else "")


def _figure(cell: Cell) -> str:
    """Return the figure; a refuted one is in parentheses."""
    if cell.figure is None:
        return "no figure"
    if cell.is_unsettled:
        return "unsettled"
    text = value_text(cell.figure.mean, cell.metric)
    return f"({text})" if cell.verdict == "refuted" else text


def _factor(cell: Cell, base: Cell | None) -> Text:
    factor = factor_to(cell, base) if base is not None and base is not cell else None
    return Text(factor_text(factor) if factor else "")


def _reasons(cells: Iterable[Cell]) -> Iterable[RenderableType]:
    """Yield why cells are not sound, with cells that have the same reasons grouped.

    The messages are those of the first cell of a group, which they name.
    """
    groups: dict[tuple[str, ...], list[Cell]] = {}
    for cell in cells:
        if cell.verdict != "sound":
            rules = tuple(finding.rule for finding in cell.findings if finding.effect != "notes")
            groups.setdefault((cell.workload, cell.verdict, *rules), []).append(cell)
    for group in groups.values():
        first = group[0]
        places = ", ".join(cell.layout for cell in group)
        heading = Text(f"\n{MARKS[first.verdict]} {first.workload} on {places}: {first.verdict}", style="bold")
        heading.stylize(STYLES[first.verdict], 0, 1)
        where = f" on {first.layout}" if len(group) > 1 else ""
        yield Group(heading, *(_finding(finding, where) for finding in first.findings if finding.effect != "notes"))


def _disagreements(cells: Iterable[Cell]) -> Iterable[RenderableType]:
    """Yield cells whose trials form two groups, or differ more than the variation within each explains."""
    for cell in cells:
        groups = cell.groups()
        if len(groups) > 1:
            summary = f"its trials form two groups, {groups_text(groups, cell.metric)}"
            yield _disagreement(cell, summary, _TWO_GROUPS, _ONE_GROUP)
        elif cell.disagrees and not cell.is_unsettled:
            yield _disagreement(
                cell, "its trials differ more than the variation within each explains", _APART, _WHAT_DIFFERS
            )


def _disagreement(cell: Cell, summary: str, meaning: str, fix: str) -> RenderableType:
    heading = Text(f"\n! {cell.workload} on {cell.layout}: {summary}", style="bold")
    heading.stylize(STYLES["suspect"], 0, 2)
    return Group(heading, Padding(Text(meaning), (0, 0, 0, 2)), Padding(_fix(fix), (0, 0, 0, 4)))


def _fix(fix: str) -> Text:
    return Text("fix: ", style="cyan").append(fix, style="default")


def _finding(finding: Finding, where: str) -> RenderableType:
    text = Text(finding.rule, style="bold").append(f"{where}: {finding.message}", style="default")
    return Group(Padding(text, (0, 0, 0, 2)), Padding(_fix(finding.fix), (0, 0, 0, 4)))


def _notes(cells: Iterable[Cell]) -> Iterable[RenderableType]:
    """Yield each noted rule with the first cell it applies to; notes of enough weight have their message."""
    noted: dict[str, list[tuple[str, Finding]]] = {}
    for cell in cells:
        for finding in cell.findings:
            if finding.effect == "notes":
                noted.setdefault(finding.rule, []).append((f"{cell.workload} on {cell.layout}", finding))
    if noted:
        yield Text("\nnotes (verdicts unaffected; poolproof explain RULE):", style="bright_black")
    for rule, found in noted.items():
        place, first = found[0]
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        said = f": {first.message}" if first.weight >= _EXPLAINS else ""
        yield Padding(Text(f"{rule}: {place}{more}{said}", style="bright_black"), (0, 0, 0, 2))


def _unsettled_blocks(cells: Iterable[Cell]) -> Iterable[RenderableType]:
    """Yield each unsettled cell with the range of its trials and the reasons."""
    for cell in cells:
        values = cell.values()
        if cell.is_unsettled and cell.settling is not None and values:
            heading = Text(f"\n~ {cell.workload} on {cell.layout}: unsettled, {_spread(cell, values)}", style="bold")
            heading.stylize("yellow", 0, 2)
            yield Group(heading, *(_not_converged(each.name, each.sentence) for each in cell.settling.reasons))


def _spread(cell: Cell, values: Sequence[float]) -> str:
    low, high = value_text(min(values), cell.metric), value_text(max(values), cell.metric)
    return f"{low} in one trial" if len(values) == 1 else f"{low} to {high} in {len(values)} trials"


def _not_converged(name: str, sentence: str) -> RenderableType:
    return Padding(Text(name, style="bold").append(f": {sentence}", style="default"), (0, 0, 0, 2))


def _spent_text(cells: Iterable[Cell]) -> str:
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
