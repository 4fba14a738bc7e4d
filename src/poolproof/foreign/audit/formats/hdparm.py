"""Parse the output of hdparm -t and -T.

`Timing cached reads` (-T) is by definition the speed of RAM and the bus, not of a disk. With --direct, -T bypasses the
page cache and repeatedly reads the same 2 MiB from the drive. This shows the speed of the link and of the drive's RAM.
Releases before 5.4 print `buffer-cache reads` in place of `cached reads`, and use a different block size.
"""

import re
from collections.abc import Iterator, Sequence

from poolproof.foreign.audit.amounts import number, whole
from poolproof.foreign.audit.formats.protocol import MIB, ForeignResult, FormatReader, file_of, outcome_of, values
from poolproof.load.fio.plain_lines import Line
from poolproof.load.model import LoadPart

_TIMING = re.compile(
    r"\b(?P<what>cached|buffer-cache|buffered disk|O_DIRECT cached|O_DIRECT disk) reads\s*[:=]\s*"
    r"(?:(?P<mb>\d+(?:\.\d+)?) MB in \s*(?P<seconds>\d+(?:\.\d+)?) s(?:ec(?:onds?|s)?)?\s*=\s*)?"
    r"\*{0,2}(?P<rate>\d+(?:\.\d+)?)(?: ?(?P<unit>[kMG])B/s(?:ec)?\b|\s{0,9}$)"
)
_POWERS = {"k": 1, "M": 2, "G": 3}
_BLOCK = 2 << 20
_CACHED = "hdparm -T reads the same 2 MiB again and again without disk access: it measures RAM"


def _find(numbered: Sequence[Line]) -> Iterator[ForeignResult]:
    for line_number, line in numbered:
        match = _TIMING.search(line)
        if match and (match["unit"] or match["seconds"]):  # the unit may be on the next line of a mail
            yield _result(line_number, match)


def _result(line: int, match: re.Match[str]) -> ForeignResult:
    moved, lasted = number(match["mb"] or ""), number(match["seconds"] or "")
    is_direct = "O_DIRECT" in match["what"]
    is_cached = "cache" in match["what"] and not is_direct
    name = f"{match['what']} reads"
    figures = values(
        io_bytes=whole(None if moved is None else moved * MIB),
        seconds=lasted,
        bandwidth_bytes=float(match["rate"]) * 1024.0 ** _POWERS[match["unit"] or "M"],
    )
    part = LoadPart(
        name,
        reads=True,
        block_bytes=_BLOCK,
        max_block_bytes=_BLOCK,
        is_synchronous=True,
        direct=is_direct,
        extents=file_of(_BLOCK if is_direct and "cached" in match["what"] else None),
    )
    return ForeignResult(
        "hdparm",
        line,
        line,
        outcome_of("hdparm", name, {"read": figures}),
        (part,),
        missing=_missing(match["what"]) if not is_cached else (),
        is_on_device=True,
        measures_memory=_CACHED if is_cached else "",
    )


def _missing(what: str) -> tuple[str, ...]:
    if what == "O_DIRECT cached":
        return (
            "the rate of other reads: with --direct, hdparm -T reads the same 2 MiB again and again from the drive's "
            "own RAM",
        )
    return ("the rate of the rest of the disk: hdparm reads for 3 s from the start, where a hard disk is fastest",)


READER = FormatReader(
    "hdparm",
    (
        "https://github.com/geerlingguy/raspberry-pi-pcie-devices/issues/559",
        "https://github.com/jetsonhacks/rootOnNVMe/issues/27",
    ),
    _find,
    ("cached reads", "-cache reads", "disk reads"),
)
