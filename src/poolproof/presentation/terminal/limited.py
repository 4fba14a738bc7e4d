"""What the disks gave alone, and how near to that the figures are, in words."""

from collections.abc import Iterator, Mapping, Sequence

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from poolproof.campaign.calibration import calibrated_device
from poolproof.metrics import LOWER_IS_BETTER, MetricId
from poolproof.presentation.terminal.words import MARKS, STYLES, per_cent, value_text
from poolproof.results.compare.reasons import in_groups
from poolproof.results.runs.limit import LeafLimit, Limit, Place
from poolproof.results.runs.summary import Cell


def print_limits(
    console: Console, cells: Sequence[Cell], bare: Sequence[Cell], limits: Mapping[Place, Limit | str]
) -> None:
    """Print what each disk gave alone, then what is more than that, then what has no limit; nothing without a limit."""
    if bare:
        console.print(_disks(bare))
    own = [(cell, limits.get((cell.layout, cell.workload))) for cell in cells]
    for line in _lines(own):
        console.print(line)


def _disks(bare: Sequence[Cell]) -> RenderableType:
    """A line for each workload, a column for each disk."""
    disks = list(dict.fromkeys(calibrated_device(cell.layout) or cell.layout for cell in bare))
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("the disks alone", overflow="fold")
    for disk in disks:
        table.add_column(Text(disk), justify="right", no_wrap=True)
    for workload in dict.fromkeys(cell.workload for cell in bare):
        own = {calibrated_device(cell.layout): cell for cell in bare if cell.workload == workload}
        table.add_row(Text(workload), *(_alone(own.get(disk)) for disk in disks))
    return Padding(table, (1, 0, 0, 0))


def _alone(cell: Cell | None) -> Text:
    if cell is None:
        return Text("")
    figure = value_text(cell.figure.mean, cell.metric) if cell.figure else "no figure"
    return Text(f"{figure} {MARKS[cell.verdict]}", style=STYLES[cell.verdict])


def doubt_text(cell: Cell) -> str:
    """Why a disk's own figure is not sound: the rule, what it found, the mend; empty where it is."""
    found = next((finding for finding in cell.findings if finding.effect != "notes"), None)
    if cell.verdict == "sound" or found is None:
        return ""
    return f"{found.rule}: {found.message}; mend: {found.fix}"


def _lines(cells: Sequence[tuple[Cell, Limit | str | None]]) -> Iterator[RenderableType]:
    over = [over_text(cell, limit) for cell, limit in cells if isinstance(limit, Limit) and limit.over]
    if over:
        yield Text("\nmore than the disks give", style="bold")
    yield from (Padding(Text(line), (0, 0, 0, 2)) for line in over)
    without = without_limit(cells)
    if without:
        yield Text("\nwithout a limit", style="bright_black")
    yield from (Padding(Text(line, style="bright_black"), (0, 0, 0, 2)) for line in without)


def share_text(limit: Limit) -> str:
    """The share in per cent; with a `~` where one of the figures behind it is not known as well as was asked for."""
    return f"{'' if limit.converged else '~'}{per_cent(limit.share)}"


def how_text(limit: Limit, metric: MetricId) -> str:
    """`rust 181 IOPS ÷ 0.03 = 6.03k IOPS; ssd 1.17k IOPS ÷ 0.97 = 1.21k IOPS: ssd bounds it`."""
    if metric in LOWER_IS_BETTER:
        disks = ", ".join(f"{leaf.device} {value_text(leaf.bare, metric)}" for leaf in limit.leaves)
        return f"{disks}: {limit.bound} is the quickest" if len(limit.leaves) > 1 else f"{disks} alone"
    terms = "; ".join(_term(leaf, metric) for leaf in limit.leaves)
    return f"{terms}: {limit.bound} bounds it" if len(limit.leaves) > 1 else terms


def _term(leaf: LeafLimit, metric: MetricId) -> str:
    own = f"{leaf.device} {value_text(leaf.bare, metric)}"
    result = "" if abs(leaf.load - 1) < 0.005 else f" = {value_text(leaf.bare / leaf.load, metric)}"
    return f"{own} ÷ {leaf.load:.2g}{result}"


def over_text(cell: Cell, limit: Limit) -> str:
    """`reads on pair: 609%, more than its disks give alone. 90% of its bytes never came to or from a disk …`."""
    marked = f" ({cell.verdict})" if cell.verdict == "refuted" else ""
    quicker = "quicker than" if cell.metric in LOWER_IS_BETTER else "more than"
    return (
        f"{cell.workload} on {cell.layout}{marked}: {share_text(limit)}, {quicker} its disks give alone. "
        f"{limit.over[0].upper()}{limit.over[1:]}."
    )


def without_limit(cells: Sequence[tuple[Cell, Limit | str | None]]) -> tuple[str, ...]:
    """Which cells have no limit, and why, like reasons together; one name for a layout without any, for one reason."""
    said = [(cell, limit) for cell, limit in cells if isinstance(limit, str)]
    reasons: dict[str, list[str]] = {}
    for cell, why in said:
        reasons.setdefault(cell.layout, []).append(why)
    counts = {layout: sum(cell.layout == layout for cell, _ in cells) for layout in reasons}
    whole = {layout for layout, whys in reasons.items() if len(set(whys)) == 1 and len(whys) == counts[layout]}
    named = [(cell.layout if cell.layout in whole else f"{cell.workload} on {cell.layout}", why) for cell, why in said]
    return tuple(in_groups(dict.fromkeys(named)))
