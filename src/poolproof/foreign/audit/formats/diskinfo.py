"""Parse the output of FreeBSD's diskinfo: transfer rates (-t), asynchronous reads (-i), synchronous writes (-S).

diskinfo reads and writes the raw device, which FreeBSD does not cache. Each synchronous write is followed by a flush.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from poolproof.foreign.audit.formats.protocol import MIB, ForeignResult, FormatReader, outcome_of, values
from poolproof.load.fio.plain_lines import Line
from poolproof.load.model import LoadPart
from poolproof.load.outcome import Direction

_TITLE = re.compile(
    r"^\W{0,9}(?P<title>Transfer rates|Asynchronous random reads|Synchronous random writes):\s*$", re.IGNORECASE
)
_TRANSFER = re.compile(
    r"^\s*(?P<zone>outside|middle|inside):\s+(?P<moved>\d{1,12}) kbytes in\s+(?P<s>\d{1,9}\.\d{1,9}) sec ="
)
_READS = re.compile(
    r"^\s*(?:sectorsize|(?P<size>\d{1,6}) kbytes):\s+\d{1,12} ops in\s+\d{1,9}\.\d{1,9} sec ="
    r"\s+(?P<iops>\d{1,9}) IOPS\s*$"
)
_WRITES = re.compile(
    r"^\s*(?P<size>\d{1,6}(?:\.\d)?) kbytes:\s+(?P<us>\d{1,9}(?:\.\d{1,3})?) usec/IO ="
    r"\s+(?P<rate>\d{1,9}(?:\.\d)?) Mbytes/s\s*$"
)
_KIB = 1024
_ZONE_BYTES = 1 << 20  # of each transfer
_DEPTH = 64  # of the asynchronous reads
_WHAT = "asynchronous random reads", "synchronous random writes"


def _find(numbered: Sequence[Line]) -> Iterator[ForeignResult]:
    title = ""
    for number, line in numbered:
        if match := _TITLE.match(line):
            title = match["title"].lower()
        elif title == "transfer rates" and (match := _TRANSFER.match(line)):
            yield _transfer(number, match)
        elif title == _WHAT[0] and (match := _READS.match(line)):
            yield _reads(number, match)
        elif title == _WHAT[1] and (match := _WRITES.match(line)):
            yield _writes(number, match)
        elif line.strip():
            title = ""


def _transfer(number: int, match: re.Match[str]) -> ForeignResult:
    moved, seconds = int(match["moved"]) * _KIB, float(match["s"])
    figures = values(bandwidth_bytes=moved / seconds if seconds else None, io_bytes=moved, seconds=seconds)
    return _result(number, f"{match['zone']} tracks", "read", figures, _part(_ZONE_BYTES, is_read=True))


def _reads(number: int, match: re.Match[str]) -> ForeignResult:
    block = int(match["size"]) * _KIB if match["size"] else None
    iops = float(match["iops"])
    figures = values(iops=iops, bandwidth_bytes=iops * block if block else None)
    return _result(number, "random read", "read", figures, _part(block or 512, is_read=True, depth=_DEPTH))


def _writes(number: int, match: re.Match[str]) -> ForeignResult:
    block, micros = round(float(match["size"]) * _KIB), float(match["us"])
    figures = values(
        iops=1e6 / micros if micros else None, bandwidth_bytes=float(match["rate"]) * MIB, mean_ns=1000.0 * micros
    )
    return _result(number, "synchronous random write", "write", figures, _part(block, is_read=False))


def _part(block: int, *, is_read: bool, depth: int = 1) -> LoadPart:
    return LoadPart(
        "",
        reads=is_read,
        writes=not is_read,
        is_random=depth > 1 or not is_read,
        block_bytes=block,
        max_block_bytes=block,
        queue=depth,
        is_synchronous=depth == 1,
        direct=True,
        syncs=not is_read,
        writes_are_synchronous=not is_read,
    )


def _result(number: int, name: str, direction: str, figures: Direction, part: LoadPart) -> ForeignResult:
    return ForeignResult(
        "diskinfo",
        number,
        number,
        outcome_of("diskinfo", name, {direction: figures}),
        (replace(part, name=name),),
        is_on_device=True,
    )


READER = FormatReader(
    "diskinfo",
    ("https://freshbsd.org/commit/freebsd/src/321928 (-S)",),
    _find,
    ("transfer rates:", "random reads:", "random writes:"),
)
