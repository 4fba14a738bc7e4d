"""Parse the output of LemonBench and ecs.sh, which run dd with O_DIRECT in blocks of 4 KiB and 1 MiB.

Each row shows the write and read rates for one block size. Both scripts write with `dd if=/dev/zero oflag=direct`, drop
the page cache, and then read the file with `iflag=direct`. They omit the unit of some IOPS: `33.53 IOPS` means 33.53k.
If the printed IOPS do not equal the rate divided by the block size, the quotient is used instead.
"""

import re
from collections.abc import Iterator, Sequence

from poolproof.foreign.audit.amounts import amount, number, seconds, size_in_bytes
from poolproof.foreign.audit.formats.protocol import ForeignResult, FormatReader, file_of, outcome_of, values
from poolproof.load.fio.plain_lines import Line
from poolproof.load.model import LoadPart

_RATE = (
    r"(?P<{0}>\d[\d.]{{0,10}} [kKMGT]?B)/s"
    r" \((?P<{0}_iops>\d[\d.]{{0,10}}K?) IOPS, (?P<{0}_time>\d[\d.]{{0,10}}) ?s\){{1,2}}"
)
_ROW = re.compile(
    rf"^[\s|*-]*(?P<size>\d{{1,5}}[MG]B)-(?P<block>\d{{1,5}}[KM]) Block[\s|]+{_RATE.format('write')}"
    rf"(?:[\s|]+{_RATE.format('read')})?"
)
_DIRECTIONS = ("write", "read")
_TOLERANCE = 0.03
_MISSING = ("whether the file system compresses: the script writes zeros",)


def _find(numbered: Sequence[Line]) -> Iterator[ForeignResult]:
    for line_number, line in numbered:
        if match := _ROW.match(line):
            for direction in _DIRECTIONS:
                if match[direction]:
                    yield _result(line_number, direction, match)


def _result(line: int, direction: str, match: re.Match[str]) -> ForeignResult:
    block, size = size_in_bytes(match["block"]) or 1, size_in_bytes(match["size"].removesuffix("B"))
    rate = amount(match[direction]) or 0.0
    printed = number(match[f"{direction}_iops"].replace("K", "k")) or 0.0
    iops = printed if abs(printed * block - rate) <= _TOLERANCE * rate else rate / block
    is_write = direction == "write"
    name = f"{direction} {match['block'].lower()}"
    part = LoadPart(
        name,
        reads=not is_write,
        writes=is_write,
        block_bytes=block,
        max_block_bytes=block,
        is_synchronous=True,
        extents=file_of(size),
        direct=True,
        zero_buffers=is_write,
    )
    figures = values(iops=iops, bandwidth_bytes=rate, seconds=seconds(f"{match[f'{direction}_time']}s"))
    outcome = outcome_of("LemonBench", name, {direction: figures})
    return ForeignResult("LemonBench", line, line, outcome, (part,), size_bytes=size, missing=_MISSING)


READER = FormatReader(
    "LemonBench",
    (
        "https://github.com/spiritLHLS/ecs ecs.sh, Run_DiskTest_DD",
        "https://github.com/LemonBench/LemonBench (the same table, with more rows)",
    ),
    _find,
    (" iops, ",),
)
