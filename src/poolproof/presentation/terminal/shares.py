"""Where the bytes went: each disk's share of reads, writes and stored data, how busy it was, and its latency."""

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.text import Text

from poolproof.presentation.terminal.fitted import named_table, print_fitted
from poolproof.results.runs.summary import AccountSum, Cell, LeafShare
from poolproof.units import format_duration

_MOST_ROWS = 40


def print_shares(console: Console, cells: Sequence[Cell], *, all_of_them: bool, hint: str) -> None:
    """Print the shares for layouts on several disks; for all layouts if `all_of_them`.

    A long list is cut off, with `hint` as the command that prints all of it.
    """
    shown = [cell for cell in cells if len(cell.leaves) > 1 or (all_of_them and cell.leaves)]
    rows = [row for cell in shown for row in _rows(cell)]
    if not rows:
        return
    table = named_table("where the bytes went")
    for name in ("disk", "read", "written", "stored", "busy", "per request"):
        table.add_column(name, justify="left" if name == "disk" else "right", no_wrap=True)
    for row in rows if all_of_them else rows[:_MOST_ROWS]:
        table.add_row(*row)
    console.print()
    print_fitted(console, table)
    if len(rows) > _MOST_ROWS and not all_of_them:
        console.print(f"… and {len(rows) - _MOST_ROWS} more rows: {hint}", markup=False, soft_wrap=True)


def _rows(cell: Cell) -> Iterable[tuple[Text, ...]]:
    for number, leaf in enumerate(cell.leaves):
        place = f"{cell.workload} on {cell.layout}" if number == 0 else ""
        yield (Text(place), *_leaf(leaf, cell.account))


def _leaf(leaf: LeafShare, account: AccountSum | None) -> Iterable[Text]:
    """Yield a row; without a direction in which fio moved nothing, because a share of metadata blocks means nothing."""
    yield Text(leaf.device)
    read = leaf.read_share if account and account.fio_read_bytes else None
    written = leaf.write_share if account and account.fio_write_bytes else None
    for share in (read, written, leaf.stored_share, leaf.utilisation):
        yield Text("–" if share is None else f"{share:.0%}")
    yield Text("–" if leaf.latency_s is None else format_duration(leaf.latency_s))
