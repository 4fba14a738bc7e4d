"""Join the cells of tables of web pages that were pasted as text, so that each cell is a line.

Test

Depth

mirror

Seq. read

1

240 MiB/s

The first cell of the header is `Test`, `Pool` or a similar word, or the lone `|` of an empty corner. The number of
columns is the one for which every row has names and values in the same columns.
"""

import re
from collections.abc import Iterator, Sequence

from poolproof.foreign.audit.tables.table_cells import iops_in, is_missing
from poolproof.foreign.audit.tables.table_columns import column_of
from poolproof.foreign.audit.tables.table_layout import without_marks
from poolproof.load.fio.plain_lines import Line

_FIRST = re.compile(
    r"^(?:(?:(?:fio|disk|storage) )?(?:tests?|benchmarks?|workloads?|operations?|i/?o (?:pattern|type))"
    r"|(?:zfs )?pools?|arrays?|layouts?|hosts?|servers?|storages?|targets?|config(?:uration)?s?)$",
    re.IGNORECASE,
)
_VALUE = re.compile(
    r"^[~<>]?\d[\d.,]{0,15}[kKM]?\+? ?(?:[kKMGT]?i?B(?:/s(?:ecs?)?|ps)?|IOPS|[num\u00b5\u03bc]?s(?:ec)?|%)?$"
)
_CORNER = "|"
_LONGEST_CELL, _MOST_CELLS = 60, 600
_FEWEST_COLUMNS, _MOST_COLUMNS = 3, 12
_FEWEST_ROWS = 2
_Cell = tuple[int, str]


def with_stacked_rows(numbered: Sequence[Line]) -> list[Line]:
    """Return the lines, with the cells of each row of such tables in one line, which has the number of the first."""
    joined: list[Line] = []
    end = 0
    for place, (number, line) in enumerate(numbered):
        if place < end:
            continue
        rows, last = _table_at(numbered, place)
        if rows:
            joined += [rows[0], (rows[0][0], "|---|---|"), *rows[1:]]
            end = last + 1
        else:
            joined.append((number, line))
    return joined


def _table_at(numbered: Sequence[Line], place: int) -> tuple[list[Line], int]:
    """Return the rows of the table whose first cell is at this place, and the place of its last cell."""
    first = numbered[place][1].strip()
    if len(first) > _LONGEST_CELL or not (first == _CORNER or _FIRST.match(without_marks(first.removesuffix("|")))):
        return [], place
    places, cells = _cells(numbered, place)
    best: list[Line] = []
    last = place
    for count in range(_FEWEST_COLUMNS, min(_MOST_COLUMNS, len(cells) // (1 + _FEWEST_ROWS)) + 1):
        header = cells[:count]
        if not all(header[1:]) or any(_is_value(cell) or column_of(cell).has_values for cell in header):
            continue
        rows = list(_rows(cells[count:], count))
        if len(rows) >= _FEWEST_ROWS and len(rows) >= len(best):
            starts = [0, *(count * (at + 1) for at in range(len(rows)))]
            best = [
                (numbered[places[at]][0], f"| {' | '.join(row)} |")
                for at, row in zip(starts, (header, *rows), strict=True)
            ]
            last = places[count * (len(rows) + 1) - 1]
    return best, last


def _cells(numbered: Sequence[Line], place: int) -> tuple[list[int], list[str]]:
    """Return the places and the texts of the cells from this place on. A blank line may follow each of them."""
    places: list[int] = []
    cells: list[str] = []
    blank = 0
    for at in range(place, len(numbered)):
        line = numbered[at][1].strip()
        blank = 0 if line else blank + 1
        bare = line.removesuffix("|").strip()
        if blank > 1 or len(bare) > _LONGEST_CELL or "|" in bare or len(cells) >= _MOST_CELLS:
            break
        if line:
            places.append(at)
            cells.append(without_marks(bare))
    return places, cells


def _rows(cells: Sequence[str], count: int) -> Iterator[Sequence[str]]:
    """Yield the rows of `count` cells that begin with a name and have values in the same columns as the first row."""
    shape: list[str] = []
    for start in range(0, len(cells) - count + 1, count):
        row = cells[start : start + count]
        kinds = [_kind(cell) for cell in row]
        shape = shape or kinds
        fits = all(one == other or "missing" in (one, other) for one, other in zip(kinds, shape, strict=True))
        if kinds[0] != "name" or not row[0] or "value" not in kinds or not fits:
            return
        yield row


def _kind(cell: str) -> str:
    return "missing" if is_missing(cell) else "value" if _is_value(cell) else "path" if cell[:1] == "/" else "name"


def _is_value(cell: str) -> bool:
    return _VALUE.match(cell) is not None or iops_in(cell) is not None
