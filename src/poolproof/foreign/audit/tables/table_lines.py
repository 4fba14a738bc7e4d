"""Join Markdown tables in which a web page's text has each cell on its own line, with `|` at the end of the line.

Test |
nvme |
|---|---|
Seq. Read |
1837 MiB/s |
"""

import re
from collections.abc import Iterator, Sequence

from poolproof.foreign.audit.tables.table_layout import is_rule
from poolproof.load.fio.plain_lines import Line

_CELL = re.compile(r"^\s{0,9}(?P<cell>[^|]{0,120})\|\s*$")
_FEWEST, _MOST = 2, 40


def with_joined_cells(numbered: Sequence[Line]) -> list[Line]:
    """Return the lines, with the cells of each row of such tables in one line, which has the number of the first."""
    joined: list[Line] = []
    end = 0
    for place, (number, line) in enumerate(numbered):
        if place < end:
            continue
        count = _columns(line)
        if count and _is_row(numbered[max(0, place - count) : place], count) and len(joined) >= count:
            header = _row(joined[-count:])
            rows = list(_rows(numbered, place + 1, count))
            joined[-count:] = [header, (number, line), *map(_row, rows)]
            end = place + 1 + count * len(rows)
        else:
            joined.append((number, line))
    return joined


def _columns(line: str) -> int:
    """Return the number of columns in the line below a header, or 0 for other lines."""
    count = line.strip().strip("|").count("|") + 1
    return count if line.count("|") > 1 and "-" in line and is_rule(line) and _FEWEST <= count <= _MOST else 0


def _rows(numbered: Sequence[Line], start: int, count: int) -> Iterator[Sequence[Line]]:
    while _is_row(row := numbered[start : start + count], count):
        yield row
        start += count


def _is_row(lines: Sequence[Line], count: int) -> bool:
    return len(lines) == count and all(_CELL.match(line) for _, line in lines)


def _row(lines: Sequence[Line]) -> Line:
    cells = [match["cell"].strip() for _, line in lines if (match := _CELL.match(line))]
    return lines[0][0], f"| {' | '.join(cells)} |"
