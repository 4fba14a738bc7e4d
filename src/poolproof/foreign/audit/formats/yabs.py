"""The disk table of yabs.sh: random mixed I/O at 4k, 64k, 512k and 1m, two block sizes next to each other.

yabs divides fio's KiB/s by powers of 1000 and prints MB/s or GB/s. Some versions convert to bytes first. IOPS × block
size shows which of the two it was.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from poolproof.foreign.audit.formats.amounts import number
from poolproof.foreign.audit.formats.protocol import ForeignResult, Reader, fio_part, outcome_of, values
from poolproof.load.fio.plain_lines import Line
from poolproof.load.outcome import Direction
from poolproof.units import parse_size

_BLOCKS = re.compile(r"^\s*Block Size\s*\|(?P<cells>.*\(IOPS\).*)$")
_ROW = re.compile(r"^\s*(?P<kind>Read|Write)\s*\|(?P<cells>.*)$")
_BLOCK = re.compile(r"^\s*(?P<size>\d{1,4}[kKmM])\s+\(IOPS\)")
_CELL = re.compile(r"^\s*(?P<rate>\d+(?:\.\d+)?)\s*(?P<unit>[KMG])B/s\s*\((?P<iops>[\d.]+[kM]?)\)")
_TOLERANCE = 0.03
_POWERS = {"K": 1, "M": 2, "G": 3}
_OPTIONS = {
    "rw": "randrw", "rwmixread": "50", "ioengine": "libaio", "iodepth": "64", "numjobs": "2", "direct": "1",
    "filename": "test.fio", "gtod_reduce": "1",
}  # fmt: skip
_MISSING = ("the size of the test file: yabs takes 2 GiB, or 512 MiB on small disks", "bytes and run time")


@dataclass
class _Column:
    block: str
    line: int
    last_line: int
    directions: dict[str, Direction] = field(default_factory=dict)


def _find(numbered: Sequence[Line]) -> Iterator[ForeignResult]:
    columns: list[_Column] = []
    for line_number, line in numbered:
        if match := _BLOCKS.match(line):
            yield from _finished(columns)
            cells = (_BLOCK.match(cell) for cell in match["cells"].split("|"))
            columns = [_Column(cell["size"].lower(), line_number, line_number) for cell in cells if cell]
        elif columns and (match := _ROW.match(line)):
            for column, cell in zip(columns, match["cells"].split("|"), strict=False):
                found = _CELL.match(cell)
                if found:
                    column.directions[match["kind"].lower()] = _values(found, parse_size(column.block))
                    column.last_line = line_number
    yield from _finished(columns)


def _values(cell: re.Match[str], block: int) -> Direction:
    iops = number(cell["iops"]) or 0.0
    printed = float(cell["rate"]) * 1000.0 ** _POWERS[cell["unit"]]
    rates = [printed * factor for factor in (1.0, 1.024)]
    fitting = [rate for rate in rates if abs(rate - iops * block) <= _TOLERANCE * rate]
    nearest = min(fitting, key=lambda rate: abs(rate - iops * block), default=None)
    return values(iops=iops or None, bandwidth_bytes=nearest if iops else printed)


def _finished(columns: Sequence[_Column]) -> Iterator[ForeignResult]:
    for column in columns:
        if column.directions:
            name = f"mixed {column.block}"
            outcome = outcome_of("yabs", name, column.directions)
            part = fio_part(name, bs=column.block, **_OPTIONS)
            yield ForeignResult("yabs", column.line, column.last_line, outcome, (part,), missing=_MISSING)


READER = Reader("yabs", ("https://github.com/masonr/yet-another-bench-script README",), _find)
