"""Parse rsync's progress of files that it has copied completely.

rsync prints rates in powers of 1024. A copy is limited by the slower of its source, its target and the network, and
rsync does not sync what it writes. Files below 64 MiB are left out, because their rate says little.
"""

import re
from collections.abc import Iterator, Sequence

from poolproof.foreign.audit.amounts import amount, number, whole
from poolproof.foreign.audit.formats.protocol import MIB, ForeignResult, FormatReader, values
from poolproof.load.fio.plain_lines import Line
from poolproof.load.outcome import Outcome, PartOutcome

_DONE = re.compile(
    r"^\s*(?P<size>\d{1,3}(?:,\d{3}){1,5}|\d{1,15}|\d{1,4}\.\d{1,2}[KMGT])\s{1,9}100%\s{1,9}"
    r"(?P<rate>\d{1,6}\.\d{1,2})(?P<unit>[kMG])B/s\s{1,9}\d{1,4}:\d\d:\d\d \(xfe?r#\d"
)
_POWERS = {"k": 1, "M": 2, "G": 3}
_LEAST_BYTES = 64 * MIB
_LONGEST_NAME = 60
_MISSING = (
    "how much of the source was in RAM, and how much of the copy was still there when rsync ended",
    "whether the source, the target or the network limited the copy",
)


def _find(numbered: Sequence[Line]) -> Iterator[ForeignResult]:
    above = ""
    for line_number, line in numbered:
        match = _DONE.match(line)
        size = amount(match["size"].replace(",", "")) if match else None
        rate = number(match["rate"]) if match else None
        if match is not None and rate and size and size >= _LEAST_BYTES:
            figures = values(
                io_bytes=whole(size) if match["size"][-1].isdecimal() else None,
                bandwidth_bytes=rate * 1024.0 ** _POWERS[match["unit"]],
            )
            outcome = Outcome("rsync", (PartOutcome(f"copy of {above}".removesuffix(" of "), mixed=figures),))
            yield ForeignResult("rsync", line_number, line_number, outcome, missing=_MISSING, shows_block=False)
        above = line.strip().rpartition("/")[2][:_LONGEST_NAME]


READER = FormatReader(
    "rsync",
    ("https://github.com/RsyncProject/rsync (progress.c, rprint_progress)",),
    _find,
    ("b/s",),
)
