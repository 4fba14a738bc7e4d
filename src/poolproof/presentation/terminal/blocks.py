"""Print tables and indented blocks. A narrow terminal wraps names, but never truncates values."""

from collections.abc import Iterable

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

_NARROWEST_NAME = 20
_NARROWEST_HEADER = 16
_GAP = 2
QUIET = "bright_black"


def named_table(names: str | Text = "", *, right: Iterable[str] = (), left: Iterable[str] = ()) -> Table:
    """Return a borderless table. Its first column has the heading `names` and can wrap.

    `right`: the headings of the right-aligned columns that follow.
    `left`: the headings of the left-aligned columns after those.
    """
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold")
    table.add_column(names, overflow="fold")
    for name in right:
        table.add_column(Text(name), justify="right", no_wrap=True)
    for name in left:
        table.add_column(Text(name), no_wrap=True)
    return table


def indented(content: RenderableType, style: str = "", *, by: int = 2) -> Padding:
    """Indent a block by `by` characters. Markup in a string is not interpreted."""
    return Padding(Text(content, style=style) if isinstance(content, str) else content, (0, 0, 0, by), expand=False)


def print_fitted(console: Console, table: Table) -> None:
    """Print a table made by `named_table`.

    A narrow terminal truncates headings and wraps names. If the table is still too wide, its lines wrap at the edge of
    the terminal.
    """
    first, *others = table.columns
    room = console.width - _NARROWEST_NAME
    if _width(others) > room:
        for column in others:  # a layout name in a header must not take up space that values need
            header, most = str(column.header), max(_longest(column), _NARROWEST_HEADER)
            column.header = f"{header[: most - 1]}…" if cell_len(header) > most else header
    if _width(others) > room:
        table.width = _width(others) + min(_NARROWEST_NAME, _longest(first))
    console.print(table, crop=False)


def _width(columns: list[Column]) -> int:
    return sum(_GAP + max(_longest(column), cell_len(str(column.header))) for column in columns)


def _longest(column: Column) -> int:
    return max((cell_len(str(cell)) for cell in column.cells), default=0)
