"""Print the results of each disk on its own, and compare the other results with these limits."""

from collections.abc import Iterator, Mapping, Sequence

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.text import Text

from poolproof.campaign.calibration import calibrated_device
from poolproof.campaign.cell_key import CellKey
from poolproof.metrics import LOWER_IS_BETTER, MetricId
from poolproof.presentation.terminal.blocks import QUIET, indented, named_table
from poolproof.presentation.terminal.words import MARKS, STYLES, per_cent, value_text
from poolproof.results.compare.measured import in_groups
from poolproof.results.runs.few_events import TOO_FEW
from poolproof.results.runs.limit import LeafLimit, Limit
from poolproof.results.runs.summary import Cell

Limited = Sequence[tuple[Cell, Limit | str | None]]
"""Pairs of a cell and its limit. In place of the limit, a string gives the reason why it is unknown."""


def print_limits(
    console: Console, cells: Sequence[Cell], bare: Sequence[Cell], limits: Mapping[CellKey, Limit | str]
) -> None:
    """Print each disk's own results, then all results above their limit, then all cells without a limit."""
    if bare:
        console.print(_disks(bare))
    for line in _lines([(cell, limits.get(cell.key)) for cell in cells]):
        console.print(line)


def _disks(bare: Sequence[Cell]) -> RenderableType:
    disks = list(dict.fromkeys(calibrated_device(cell.layout) or cell.layout for cell in bare))
    table = named_table("the disks alone", right=disks)
    for workload in dict.fromkeys(cell.workload for cell in bare):
        row = [Text(workload)]
        alone = {calibrated_device(cell.layout): cell for cell in bare if cell.workload == workload}
        for cell in map(alone.get, disks):
            value = value_text(cell.figure.mean, cell.metric) if cell and cell.figure else "no result"
            value += f", {TOO_FEW}" if cell and cell.few_events() is not None else ""
            row.append(Text(f"{value} {MARKS[cell.verdict]}", style=STYLES[cell.verdict]) if cell else Text())
        table.add_row(*row)
    return Padding(table, (1, 0, 0, 0))


def doubt_text(cell: Cell) -> str:
    """Return the rule, message and fix of the first finding that led to a bare disk's verdict, or "" without one."""
    found = next(iter(cell.reasons()), None)
    return f"{found.rule}: {found.message}; fix: {found.fix}" if found else ""


def _lines(cells: Limited) -> Iterator[RenderableType]:
    over = [over_text(cell, limit) for cell, limit in cells if isinstance(limit, Limit) and limit.over]
    if over:
        yield Text("\nmore than the disks deliver", style="bold")
    yield from map(indented, over)
    without = without_limit(cells)
    if without:
        yield Text("\nwithout a limit", style=QUIET)
    yield from (indented(line, QUIET) for line in without)


def share_text(limit: Limit) -> str:
    """Format the share of the limit in per cent, prefixed with `~` if it is based on a value that did not converge."""
    return f"{'' if limit.converged else '~'}{per_cent(limit.share)}"


def how_text(limit: Limit, metric: MetricId) -> str:
    """Return the calculation of the limit as text.

    For example: `hdd 181 IOPS ÷ 0.03 = 6.03k IOPS; ssd 1.17k IOPS ÷ 0.97 = 1.21k IOPS: ssd limits it`.
    """
    if metric in LOWER_IS_BETTER:
        disks = ", ".join(f"{leaf.device} {value_text(leaf.bare, metric)}" for leaf in limit.leaves)
        return f"{disks}: {limit.bound} is the fastest" if len(limit.leaves) > 1 else f"{disks} alone"
    terms = "; ".join(_term(leaf, metric) for leaf in limit.leaves)
    return f"{terms}: {limit.bound} limits it" if len(limit.leaves) > 1 else terms


def _term(leaf: LeafLimit, metric: MetricId) -> str:
    own = f"{leaf.device} {value_text(leaf.bare, metric)}"
    result = "" if abs(leaf.load - 1) < 0.005 else f" = {value_text(leaf.bare / leaf.load, metric)}"
    return f"{own} ÷ {leaf.load:.2g}{result}"


def over_text(cell: Cell, limit: Limit) -> str:
    """Explain a result above its limit, e.g. `reads on pair: 609%, more than its disks deliver alone. 90% of …`."""
    marked = f" ({cell.verdict})" if cell.verdict == "refuted" else ""
    lower_is_better = cell.metric in LOWER_IS_BETTER
    comparison = "faster than its disks on their own" if lower_is_better else "more than its disks deliver alone"
    return f"{cell.key}{marked}: {share_text(limit)}, {comparison}. {limit.over[0].upper()}{limit.over[1:]}."


def without_limit(cells: Limited) -> tuple[str, ...]:
    """Return the cells without a limit as text, grouped by reason.

    If all cells of a layout have the same reason, only the layout is named.
    """
    reasons: dict[str, list[Limit | str | None]] = {}
    for cell, limit in cells:
        reasons.setdefault(cell.layout_in_state, []).append(limit)
    named = []
    for cell, limit in cells:
        if isinstance(limit, str):
            whole = len(set(map(str, reasons[cell.layout_in_state]))) == 1
            named.append((cell.layout_in_state if whole else str(cell.key), limit))
    return tuple(in_groups(dict.fromkeys(named)))
