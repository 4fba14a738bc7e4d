"""Print tables and indented blocks. A narrow terminal wraps names, but never truncates values."""

from collections.abc import Iterable, Iterator
from typing import Any

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Column, Table
from rich.text import Text

_NARROWEST_NAME = 20
_NARROWEST_HEADER = 16
_GAP = 2
_HEADING = "\ue000"
"""A private character that marks the line of a heading until the heading replaces it."""
QUIET = "bright_black"


class _Name:
    """The first cell of a row. If it wraps, the following lines are indented, so that they do not look like rows."""

    def __init__(self, text: Text) -> None:
        self.text = text

    def __str__(self) -> str:
        return self.text.plain

    def __rich_measure__(self, _console: Console, _options: ConsoleOptions) -> Measurement:
        return Measurement(1, self.text.cell_len)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self.text.cell_len <= options.max_width:
            yield self.text
            return
        first, *others = self.text.wrap(console, max(1, options.max_width - _GAP), overflow="fold")
        yield Text("\n").join([first, *(Text.assemble(" " * _GAP, each) for each in others)])


class _NamedTable(Table):
    def add_row(self, *cells: RenderableType | None, **options: Any) -> None:
        first, *others = cells
        name = Text(first) if isinstance(first, str) else first
        super().add_row(_Name(name) if isinstance(name, Text) else name, *others, **options)


class _Heading:
    """The first cell of a heading's row. In a narrow terminal, the heading covers the empty cells next to it."""

    def __init__(self, text: Text) -> None:
        self.text = text

    def __str__(self) -> str:
        return ""

    def __rich_measure__(self, _console: Console, _options: ConsoleOptions) -> Measurement:
        return Measurement(1, self.text.cell_len)

    def __rich_console__(self, _console: Console, _options: ConsoleOptions) -> RenderResult:
        yield Segment(_HEADING)


def named_table(names: str | Text = "", *, right: Iterable[str] = (), left: Iterable[str] = ()) -> Table:
    """Return a borderless table. Its first column has the heading `names` and can wrap.

    `right`: the headings of the right-aligned columns that follow.
    `left`: the headings of the left-aligned columns after those.
    """
    table = _NamedTable(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold")
    table.add_column(names, overflow="fold")
    for name in right:
        table.add_column(Text(name), justify="right", no_wrap=True)
    for name in left:
        table.add_column(Text(name), no_wrap=True)
    return table


def add_heading(table: Table, title: str, note: Text | None = None) -> None:
    """Add a row with a title, and with a note in the last column. `print_fitted` never wraps the title."""
    empty = [Text()] * (len(table.columns) - 2)
    table.add_row(_Heading(Text(title, style="bold")), *empty, note or Text())


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
    headings = iter([each.text for each in first.cells if isinstance(each, _Heading)])
    for line in Segment.split_lines(console.render(table)):
        row = Text.assemble(*((each.text, each.style or "") for each in line))
        heading = next(headings, None) if row.plain.startswith(_HEADING) else None
        for each in (row,) if heading is None else _heading_lines(heading, row):
            console.print(each, soft_wrap=True)


def _heading_lines(heading: Text, row: Text) -> Iterator[Text]:
    """Yield the heading with the note in its row. If both do not fit on a line, the note is on the next one."""
    note = row.plain.replace(_HEADING, "").strip()
    if not note:
        yield heading
        return
    before = row.plain.index(note)
    if heading.cell_len + _GAP > before:
        yield heading
        heading = Text()
    yield Text.assemble(heading, " " * (before - heading.cell_len), row[before:])


def _width(columns: list[Column]) -> int:
    return sum(_GAP + max(_longest(column), cell_len(str(column.header))) for column in columns)


def _longest(column: Column) -> int:
    return max((cell_len(str(cell)) for cell in column.cells), default=0)
