"""Parse the output of PiBenchmarks (James A. Chambers' Storage.sh): the line with fio's results, and the final table.

The table repeats all values, so it is used only if the line with fio's results is missing. The script's fio jobs use 4
KiB blocks, queue depth 64, direct=1 and a file of 80 MiB. The script also prints the output of hdparm, dd and iozone,
which have their own parsers.
"""

import re
from collections.abc import Iterator, Sequence

from poolproof.foreign.audit.amounts import amount, number
from poolproof.foreign.audit.formats.protocol import MIB, ForeignResult, FormatReader, fio_part, outcome_of, values
from poolproof.load.fio.plain_lines import Line
from poolproof.load.model import LoadPart

_FIO = re.compile(
    r"\bFIO results - 4k RandWrite: (?P<write>\d{1,9}) IOPS \((?P<write_kb>\d{1,12}) KB/s\)"
    r" - 4k RandRead: (?P<read>\d{1,9}) IOPS \((?P<read_kb>\d{1,12}) KB/s\)"
)
_ROW = re.compile(
    r"^\s*(?P<program>HDParm|DD|FIO|IOZone)\s+"
    r"(?P<test>Disk Read|Disk Write|Cached Disk Read|4k (?:random )?(?:read|write))"
    r"\s+(?:(?P<iops>\d{1,9}) IOPS \((?P<kb>\d{1,12}) KB/s\)|(?P<rate>\d[\d.]{0,12} [KMG]?B)/s(?:ec)?)\s*$"
)
_OPTIONS = {"bs": "4k", "ioengine": "libaio", "iodepth": "64", "direct": "1", "size": "80m", "filename": "test"}
_MISSING = ("the number of bytes and the run time",)
_KIB = 1024


def _find(numbered: Sequence[Line]) -> Iterator[ForeignResult]:
    is_printed = False
    for line_number, line in numbered:
        if match := _FIO.search(line):
            is_printed = True
            for direction in ("write", "read"):
                yield _fio(line_number, direction, match[direction], match[f"{direction}_kb"])
        elif not is_printed and (match := _ROW.match(line)):
            yield from _row(line_number, match)


def _fio(line: int, direction: str, iops: str, kb: str) -> ForeignResult:
    name = f"4k random {direction}"
    figures = values(iops=number(iops), bandwidth_bytes=float(kb) * _KIB)
    part = fio_part(name, rw=f"rand{direction}", **_OPTIONS)
    return ForeignResult(
        "PiBenchmarks", line, line, outcome_of("fio", name, {direction: figures}), (part,), missing=_MISSING
    )


def _row(line: int, match: re.Match[str]) -> Iterator[ForeignResult]:
    direction = "write" if match["test"].lower().endswith("write") else "read"
    if match["program"] == "FIO":
        if match["iops"]:
            yield _fio(line, direction, match["iops"], match["kb"])
        return
    rate = amount(match["rate"], kilo=1000 if match["program"] == "DD" else _KIB) if match["rate"] else None
    if not rate:
        return
    name = f"{match['program']} {match['test']}"
    block = 4096 if match["test"].startswith("4k") or direction == "write" else int(2 * MIB)
    part = LoadPart(
        name,
        reads=direction == "read",
        writes=direction == "write",
        is_random="random" in match["test"],
        block_bytes=block,
        max_block_bytes=block,
        is_synchronous=True,
        direct=match["program"] == "IOZone",
        syncs=direction == "write",
        syncs_at_end=direction == "write",
        zero_buffers=match["program"] == "DD",
    )
    figures = values(bandwidth_bytes=rate, iops=rate / block if match["program"] == "IOZone" else None)
    yield ForeignResult(
        "PiBenchmarks",
        line,
        line,
        outcome_of(match["program"].lower(), name, {direction: figures}),
        (part,),
        missing=(*_MISSING, "whether hdparm read with --direct") if match["program"] == "HDParm" else _MISSING,
        is_on_device=match["program"] == "HDParm",
    )


READER = FormatReader(
    "PiBenchmarks",
    (
        "https://github.com/TheRemote/PiBenchmarks Storage.sh",
        "https://github.com/ricsanfre/pi-storage-benchmark output/SDCard",
    ),
    _find,
    ("fio results", "disk read", "disk write", "4k "),
)
