"""Parse the disk table of yabs.sh: random mixed I/O in blocks of 4k, 64k, 512k and 1m, two block sizes side by side.

yabs divides fio's KiB/s by powers of 1000 and prints MB/s or GB/s. Some versions convert to bytes first. IOPS × block
size shows which of the two a script did. If both fit a cell, the other cells of the table decide. Scripts derived
from yabs also print rows for random reads and writes, and each row of their tables is a separate job. Forums and
wikis turn the table into Markdown, or join all its lines.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from poolproof.foreign.audit.amounts import number
from poolproof.foreign.audit.formats.protocol import ForeignResult, FormatReader, fio_part, outcome_of, values
from poolproof.load.fio.plain_lines import Line
from poolproof.load.model import LoadPart
from poolproof.load.outcome import Direction
from poolproof.units import parse_size

_STARTS = re.compile(r"(?=\b(?:Block Size|Rand[\s-]?read|Rand[\s-]?write|Read|Write|Total)\s*\|)", re.IGNORECASE)
_BLOCKS = re.compile(r"^\s*Block Size\s*\|(?P<cells>.*\(IOPS\).*)$", re.IGNORECASE)
_ROW = re.compile(r"^\s*(?P<order>Rand[\s-]?)?(?P<kind>Read|Write)\s*\|(?P<cells>.*)$", re.IGNORECASE)
_BLOCK = re.compile(r"^\s*(?P<size>\d{1,4}[kKmM])\s+\(IOPS\)")
_CELL = re.compile(r"^\s*(?P<rate>\d+(?:\.\d+)?)\s*(?P<unit>[KMG])B/s\s*\((?P<iops>[\d.]+[kM]?)\)")
_TOLERANCE = 0.005
_POWERS = {"K": 1, "M": 2, "G": 3}
_KIB = 1.024
_LONGEST = 2000
_LONGEST_PART = 12
_OPTIONS = {
    "rw": "randrw", "rwmixread": "50", "ioengine": "libaio", "iodepth": "64", "numjobs": "2", "direct": "1",
    "filename": "test.fio", "gtod_reduce": "1",
}  # fmt: skip
_MISSING = (
    "the size of the test file: yabs uses 2 GiB, or 512 MiB on small disks",
    "the number of bytes and the run time",
)
_MISSING_OF_ROWS = (
    "the queue depth, direct setting and size of the script's jobs",
    "the number of bytes and the run time",
)


class _Row(NamedTuple):
    is_random: bool
    kind: str


@dataclass
class _BlockSizeResults:
    block: str
    line: int
    last_line: int
    rows: dict[_Row, Direction] = field(default_factory=dict)
    cells: dict[_Row, re.Match[str]] = field(default_factory=dict)


def _find(numbered: Sequence[Line]) -> Iterator[ForeignResult]:
    for table in _tables(numbered):
        _fill(table)
        yield from _finished(table)


def _tables(numbered: Sequence[Line]) -> Iterator[list[_BlockSizeResults]]:
    """Yield the columns of each table. A heading a few lines below another one continues the table."""
    table: list[_BlockSizeResults] = []
    columns: list[_BlockSizeResults] = []
    for line_number, line in _pieces(numbered):
        if match := _BLOCKS.match(line):
            if columns and line_number - columns[0].line > _LONGEST_PART:
                yield table
                table = []
            cells = (_BLOCK.match(cell) for cell in match["cells"].split("|"))
            columns = [_BlockSizeResults(cell["size"].lower(), line_number, line_number) for cell in cells if cell]
            table += columns
        elif columns and (match := _ROW.match(line)):
            row = _Row(match["order"] is not None, match["kind"].lower())
            for column, cell in zip(columns, match["cells"].split("|"), strict=False):
                found = _CELL.match(cell)
                if found:
                    column.cells[row] = found
                    column.last_line = line_number
    yield table


def _fill(table: Sequence[_BlockSizeResults]) -> None:
    """Compute the values of a table. Cells that only one unit fits decide for cells that both units fit."""
    fits = [_fitting(cell, parse_size(column.block)) for column in table for cell in column.cells.values()]
    decided = {each[0] for each in fits if len(each) == 1}
    likely = decided.pop() if len(decided) == 1 else _KIB
    for column in table:
        for row, cell in column.cells.items():
            column.rows[row] = _values(cell, parse_size(column.block), likely)


def _pieces(numbered: Sequence[Line]) -> Iterator[Line]:
    """Yield the rows of the table, even if they are joined into one line or start with a vertical bar."""
    for number_, line in numbered:
        if "|" in line and len(line) <= _LONGEST:
            yield from ((number_, piece) for piece in _STARTS.split(line))


def _fitting(cell: re.Match[str], block: int) -> list[float]:
    """Return the factors, 1.024 or 1, by which the rate agrees with IOPS × block size."""
    iops = number(cell["iops"]) or 0.0
    printed = float(cell["rate"]) * 1000.0 ** _POWERS[cell["unit"]]
    most = iops + _resolution(cell["iops"])  # yabs truncates the IOPS
    low, high = iops * (1 - _TOLERANCE) * block, most * (1 + _TOLERANCE) * block
    return [factor for factor in (_KIB, 1.0) if low <= factor * printed <= high]


def _values(cell: re.Match[str], block: int, likely: float) -> Direction:
    iops, fitting = number(cell["iops"]) or 0.0, _fitting(cell, block)
    factor = (likely if likely in fitting else next(iter(fitting), None)) if iops else 1.0
    printed = float(cell["rate"]) * 1000.0 ** _POWERS[cell["unit"]]
    return values(iops=iops or None, bandwidth_bytes=None if factor is None else factor * printed)


def _resolution(text: str) -> float:
    """Return the place value of a number's last digit, e.g. 100 for `1.4k`."""
    digits, unit = text.rstrip("kM"), text[-1]
    return {"k": 1e3, "M": 1e6}.get(unit, 1.0) / 10.0 ** len(digits.partition(".")[2])


def _finished(columns: Sequence[_BlockSizeResults]) -> Iterator[ForeignResult]:
    for column in columns:
        lines = column.line, column.last_line
        if any(row.is_random for row in column.rows):
            for row, figures in column.rows.items():
                name = f"{'random' if row.is_random else 'sequential'} {row.kind} {column.block}"
                outcome = outcome_of("yabs", name, {row.kind: figures})
                yield ForeignResult("yabs", *lines, outcome, (_part(name, row, column),), missing=_MISSING_OF_ROWS)
        elif column.rows:
            name = f"mixed {column.block}"
            outcome = outcome_of("yabs", name, {row.kind: figures for row, figures in column.rows.items()})
            yield ForeignResult(
                "yabs", *lines, outcome, (fio_part(name, bs=column.block, **_OPTIONS),), missing=_MISSING
            )


def _part(name: str, row: _Row, column: _BlockSizeResults) -> LoadPart:
    block = parse_size(column.block)
    is_read = row.kind == "read"
    return LoadPart(
        name,
        reads=is_read,
        writes=not is_read,
        is_random=row.is_random,
        block_bytes=block,
        max_block_bytes=block,
        direct=True,
        syncs=not is_read,
    )


READER = FormatReader(
    "yabs",
    (
        "https://github.com/masonr/yet-another-bench-script README",
        "https://776000.xyz/post/23110 (all lines joined)",
        "https://github.com/bretmlw/sbc-benchmarks (rows for random I/O; Markdown)",
    ),
    _find,
    ("(iops)",),
)
