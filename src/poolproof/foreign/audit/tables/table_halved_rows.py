"""Split the rows of tables whose name is a metric of reads and writes, and whose cells contain a value of each.

| IOPS (Read/Write) | 332,107 / 226,378 | 332,758 / 61,755 |
"""

import re
from collections.abc import Iterator, Sequence

from poolproof.foreign.audit.tables.table_cells import iops_in, rate_in
from poolproof.foreign.audit.tables.table_columns import column_of
from poolproof.foreign.audit.tables.table_layout import cells_of
from poolproof.load.fio.plain_lines import Line

_BOTH = re.compile(r"\breads?\s?/\s?writes?\b|\br\s?/\s?w\b", re.IGNORECASE)
_SLASH = re.compile(r"\s/\s|(?<=[\dkKM])/(?=\d)|(?<=/s)/(?=\d)")
_METRICS = ("iops", "bandwidth", "latency")


def with_halved_rows(numbered: Sequence[Line]) -> list[Line]:
    """Return the lines, with two rows (reads, then writes) that have the same line number in place of such a row."""
    return [(number, part) for number, line in numbered for part in _halved(line)]


def _halved(line: str) -> Iterator[str]:
    if "|" not in line or "/" not in line or not _BOTH.search(line):
        yield line
        return
    name, *cells = cells_of(line, "|")
    halves = [_SLASH.split(cell) for cell in cells]
    is_metric = all(column_of(_BOTH.sub(side, name)).kind in _METRICS for side in ("read", "write"))
    if not (is_metric and halves and all(len(pair) == 2 and all(map(_is_value, pair)) for pair in halves)):
        yield line
        return
    for at, side in enumerate(("read", "write")):
        yield f"| {_BOTH.sub(side, name)} | {' | '.join(pair[at].strip() for pair in halves)} |"


def _is_value(text: str) -> bool:
    return iops_in(text.strip()) is not None or rate_in(text.strip(), "") is not None
