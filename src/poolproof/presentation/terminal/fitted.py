"""Tables with names in the first column: in a narrow terminal names are folded, and no figure is cut."""

from rich.cells import cell_len
from rich.console import Console
from rich.table import Column, Table

_GAP = 2
_NARROWEST_NAME = 20
_NARROWEST_HEADER = 16


def named_table(names: str) -> Table:
    """Return a table without lines whose first column shrinks; add all other columns with `no_wrap`."""
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold")
    table.add_column(names, overflow="fold")
    return table


def print_fitted(console: Console, table: Table) -> None:
    """Print a `named_table`. A terminal narrower than its figures and shortened names wraps the lines itself."""
    first, *others = table.columns
    room = console.width - _NARROWEST_NAME
    if _width(others) > room:
        for column in others:
            _shorten_header(column)
    if _width(others) > room:
        table.width = _width(others) + min(_NARROWEST_NAME, _longest(first))
    console.print(table, crop=False)


def _width(columns: list[Column]) -> int:
    return sum(_GAP + max(_longest(column), cell_len(str(column.header))) for column in columns)


def _longest(column: Column) -> int:
    return max((cell_len(str(cell)) for cell in column.cells), default=0)


def _shorten_header(column: Column) -> None:
    """Shorten a header to the width of its cells, so that a layout's name in a header takes no room from figures."""
    header, most = str(column.header), max(_longest(column), _NARROWEST_HEADER)
    if cell_len(header) > most:
        column.header = f"{header[: most - 1]}…"
