"""The table that a run ends with: layouts down, workloads across, mark and figure in each cell; then the reasons."""

from collections.abc import Iterable, Sequence

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from poolproof.report.words import MARKS, METRICS, STYLES, factor_text, figure_text
from poolproof.rules.model import Finding
from poolproof.runs.summary import Cell, factor_to

_WIDEST = 4


def print_table(console: Console, cells: Sequence[Cell], baseline: str | None) -> None:
    """Print the figures of a run, then why those that are not sound are not."""
    workloads = tuple(dict.fromkeys(cell.workload for cell in cells))
    for first in range(0, len(workloads), _WIDEST):
        console.print(_table(cells, workloads[first : first + _WIDEST], baseline))
    console.print(_legend())
    for block in _reasons(cells):
        console.print(block)


def _table(cells: Sequence[Cell], workloads: Sequence[str], baseline: str | None) -> Table:
    by_place = {(cell.layout, cell.workload): cell for cell in cells}
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("layout", overflow="fold")
    for workload in workloads:
        metric = next(cell.metric for cell in cells if cell.workload == workload)
        table.add_column(Text(f"{workload}\n{METRICS[metric]}"), overflow="fold")
    for layout in dict.fromkeys(cell.layout for cell in cells):
        row = [by_place.get((layout, workload)) for workload in workloads]
        bases = [by_place.get((baseline or "", workload)) for workload in workloads]
        table.add_row(Text(layout), *(_cell_text(cell, base) for cell, base in zip(row, bases, strict=True)))
    return table


def _cell_text(cell: Cell | None, base: Cell | None) -> Text:
    if cell is None:
        return Text("not run", style="bright_black")
    text = Text(figure_text(cell), style=STYLES[cell.verdict])
    factor = factor_to(cell, base) if base is not None and base is not cell else None
    return text.append(f" {factor_text(factor)}", style="default") if factor else text


def _legend() -> Text:
    text = Text("")
    for verdict, mark in MARKS.items():
        text.append(f"{mark} {verdict}", style=STYLES[verdict]).append("   ")
    return text


def _reasons(cells: Iterable[Cell]) -> Iterable[RenderableType]:
    """Why each cell that is not sound is not, cells with the same reason together; then the notes, once each."""
    for cell in cells:
        if cell.verdict == "sound":
            continue
        heading = Text(f"\n{cell.layout} · {cell.workload}: {cell.verdict}", style=f"bold {STYLES[cell.verdict]}")
        yield Group(heading, *(_finding_text(finding) for finding in cell.findings if finding.effect != "notes"))
    noted: dict[str, list[str]] = {}
    for cell in cells:
        for finding in cell.findings:
            if finding.effect == "notes":
                noted.setdefault(finding.rule, []).append(f"{cell.layout} · {cell.workload}")
    for rule, places in noted.items():
        more = f" and {len(places) - 2} more" if len(places) > 2 else ""
        yield Text(f"note {rule}: {', '.join(places[:2])}{more}  (poolproof explain {rule})", style="bright_black")


def _finding_text(finding: Finding) -> Text:
    text = Text("  ").append(finding.rule, style="bold").append(f": {finding.message}\n    mend: ")
    return text.append(finding.fix, style="cyan")
