"""Read tables of web pages that were pasted as text, so that each cell is a line."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from poolproof.foreign.audit.tables.table_cells import iops_in, is_missing
from poolproof.foreign.audit.tables.table_columns import column_of
from poolproof.foreign.audit.tables.table_context import TextJobs
from poolproof.foreign.audit.tables.table_layout import without_marks
from poolproof.foreign.audit.tables.table_rows import header_of, results_in_row
from poolproof.load.fio.pairing import FoundResult
from poolproof.load.fio.plain_lines import Line

_VALUE = re.compile(
    r"^[~<>]?\d[\d.,]{0,15}[kKM]?\+? ?(?:[kKMGT]?i?B(?:/s(?:ecs?)?|ps)?|IOPS|[num\u00b5\u03bc]?s(?:ec)?|%)?$"
)
_LONGEST_CELL = 40
_MOST_NAMES = 3
_MOST_COLUMNS = 15
_FEWEST_ROWS = 2


def find_stacked(numbered: Sequence[Line], place: int, heading: str, jobs: TextJobs) -> Iterator[FoundResult]:
    """Yield the results of a table whose first header cell with a metric is the line at this place.

    The names in the header are above it, and each row begins with as many names. A table needs at least two rows.
    """
    above = list(islice(_cells(numbered, place - 1, -1), _MOST_NAMES))
    if not above or column_of(above[0][1]).has_values:
        return  # an earlier line was the first header cell
    below = list(islice(_cells(numbered, place, 1), _MOST_COLUMNS))
    first_value = next((at for at, (_, cell) in enumerate(below) if _is_value(cell)), 0)
    for names in range(1, min(len(above), first_value - 1) + 1):
        header_cells = [*reversed(above[:names]), *below[: first_value - names]]
        header = header_of("\n", [cell for _, cell in header_cells], heading, jobs)
        cells = islice(_cells(numbered, place, 1), first_value - names, None)
        rows = list(_rows_of(cells, names, len(header_cells))) if header is not None else []
        if header is not None and len(rows) >= _FEWEST_ROWS:
            for row in rows:
                for outcome in results_in_row([cell for _, cell in row], header):
                    yield FoundResult(outcome, row[0][0], row[-1][0], "text")
            return


def _cells(numbered: Sequence[Line], place: int, step: int) -> Iterator[tuple[int, str]]:
    """Yield the lines from this place that may be cells. A blank line may follow each of them."""
    stop = len(numbered) if step > 0 else -1
    blank = 0
    for at in range(place, stop, step):
        cell = without_marks(numbered[at][1])
        blank = 0 if cell else blank + 1
        if blank > 1 or len(cell) > _LONGEST_CELL:
            return
        if cell:
            yield numbered[at][0], cell


def _rows_of(cells: Iterator[tuple[int, str]], names: int, count: int) -> Iterator[list[tuple[int, str]]]:
    """Yield the rows of `count` cells, as long as each begins with its names, and only values follow."""
    while len(row := list(islice(cells, count))) == count:
        if any(_is_value(cell) for _, cell in row[:names]) or not all(_is_value(cell) for _, cell in row[names:]):
            return
        yield row


def _is_value(cell: str) -> bool:
    return _VALUE.match(cell) is not None or iops_in(cell) is not None or is_missing(cell)
