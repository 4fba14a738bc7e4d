"""Read grids whose header has several lines, or cells that span several columns.

Example: `numjobs=1 | randread` above `(iops) | ext4 | xfs | ext4 | xfs`. The texts above a column are joined into one
cell, and a metric in the first column applies to all columns that name no other.
"""

import re
from collections.abc import Iterator, Sequence

from poolproof.foreign.audit.tables.table_cells import iops_in, rate_in
from poolproof.foreign.audit.tables.table_columns import column_of
from poolproof.foreign.audit.tables.table_context import TextJobs
from poolproof.foreign.audit.tables.table_layout import cells_of, is_rule
from poolproof.foreign.audit.tables.table_rows import TableHeader, header_of, results_in_row
from poolproof.load.fio.pairing import FoundResult
from poolproof.load.fio.plain_lines import Line

_RULE = re.compile(r"^\s*\+(?:[-=]+\+)+\s*$")
_PART_OF_RULE = re.compile(r"^[-=\s]*$")
_FEWEST_COLUMNS, _MOST_COLUMNS = 2, 60
_LONGEST_LINE = 4000
_FEWEST_HEADER_LINES, _MOST_HEADER_LINES = 2, 8


def is_grid_rule(line: str) -> bool:
    """True if a line is the border of a grid, such as `+----+----+`."""
    return _RULE.match(line) is not None


def find_grid(numbered: Sequence[Line], place: int, heading: str, jobs: TextJobs) -> tuple[Sequence[FoundResult], int]:
    """Return the results of the grid whose first border is at this place, and the grid's last place.

    Grids with a simple header are left to the other readers.
    """
    last = place
    while last + 1 < len(numbered) and _is_in_grid(numbered[last + 1][1]):
        last += 1
    lines = numbered[place : last + 1]
    edges = max((_edges(line) for _, line in lines if is_grid_rule(line)), key=len)
    count = len(edges) - 1
    if not _FEWEST_COLUMNS <= count <= _MOST_COLUMNS:
        return (), last
    first_row = next((at for at, (_, line) in enumerate(lines) if _is_row(line, count)), 0)
    above = [line for _, line in lines[:first_row] if not is_rule(line)]
    if not _FEWEST_HEADER_LINES <= len(above) <= _MOST_HEADER_LINES:
        return (), last
    header = _header([_texts(above, edges, at) for at in range(count)], heading, jobs)
    return (list(_rows(lines[first_row:], header)) if header is not None else ()), last


def _is_in_grid(line: str) -> bool:
    return len(line) <= _LONGEST_LINE and line.lstrip()[:1] in ("+", "|")


def _edges(line: str) -> list[int]:
    return [at for at, mark in enumerate(line) if mark == "+"]


def _is_row(line: str, count: int) -> bool:
    cells = cells_of(line, "|")
    return len(cells) == count and any(iops_in(cell) or rate_in(cell, "mb") for cell in cells[1:])


def _texts(lines: Sequence[str], edges: Sequence[int], column: int) -> list[str]:
    """Return the different texts above a column, from top to bottom."""
    middle = (edges[column] + edges[column + 1]) // 2
    found: dict[str, None] = {}
    for line in lines:
        cuts = [at for at, mark in enumerate(line) if mark == "|" or (mark == "+" and at in edges)]
        start = max((at for at in cuts if at < middle), default=-1)
        end = min((at for at in cuts if at > middle), default=len(line))
        text = line[start + 1 : end]
        if not _PART_OF_RULE.match(text):
            found[text.strip()] = None
    return list(found)


def _header(texts: Sequence[Sequence[str]], heading: str, jobs: TextJobs) -> TableHeader | None:
    corner = texts[0]
    metric = next((text for text in corner if column_of(text).has_values), "")
    cells = [" ".join(text for text in corner if text != metric)]
    for above in texts[1:]:
        names = [text for text in above if column_of(text).kind == "name"]
        metrics = [text for text in above if column_of(text).kind != "name"]
        if not any(column_of(text).has_values for text in metrics):
            metrics.append(metric)
        cells.append(" ".join(filter(None, ("-".join(names).replace(" ", "-"), *metrics))))
    return header_of("|", cells, heading, jobs)


def _rows(lines: Sequence[Line], header: TableHeader) -> Iterator[FoundResult]:
    for number, line in lines:
        if not is_rule(line):
            yield from (
                FoundResult(each, number, number, "text") for each in results_in_row(header.cells_in(line), header)
            )
