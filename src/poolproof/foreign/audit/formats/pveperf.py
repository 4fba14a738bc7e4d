"""Parse the output of Proxmox VE's pveperf: reads and seeks of a disk, and fsyncs on its file system."""

import re
from collections.abc import Iterator, Sequence

from poolproof.foreign.audit.amounts import number
from poolproof.foreign.audit.formats.protocol import MIB, ForeignResult, FormatReader, values
from poolproof.load.fio.plain_lines import Line
from poolproof.load.model import LoadPart
from poolproof.load.outcome import Outcome, PartOutcome

_READS = re.compile(r"^[\s#]*BUFFERED READS:\s+(?P<rate>\d+(?:\.\d+)?) MB/sec")
_SEEKS = re.compile(r"^[\s#]*AVERAGE SEEK TIME:\s+(?P<ms>\d+(?:\.\d+)?) ms")
_SYNCS = re.compile(r"^[\s#]*FSYNCS/SECOND:\s+(?P<rate>\d+(?:\.\d+)?)")
_MISSING = ("the number of bytes and the run time (pveperf reads for 3 s)",)


def _find(numbered: Sequence[Line]) -> Iterator[ForeignResult]:
    for line_number, line in numbered:
        if (match := _READS.match(line)) and (rate := number(match["rate"])):
            outcome = PartOutcome("buffered reads", read=values(bandwidth_bytes=rate * MIB))
            yield _result(line_number, outcome, LoadPart("buffered reads", reads=True, is_synchronous=True))
        elif (match := _SEEKS.match(line)) and (milliseconds := number(match["ms"])):
            outcome = PartOutcome("seeks", read=values(iops=1000 / milliseconds, mean_ns=1e6 * milliseconds))
            yield _result(line_number, outcome, LoadPart("seeks", reads=True, is_random=True, is_synchronous=True))
        elif (match := _SYNCS.match(line)) and (rate := number(match["rate"])):
            outcome = PartOutcome("fsyncs", write=values(iops=rate))
            part = LoadPart("fsyncs", writes=True, is_synchronous=True, syncs=True, sync_every=1)
            yield _result(line_number, outcome, part)


def _result(line: int, outcome: PartOutcome, part: LoadPart) -> ForeignResult:
    whole = Outcome("pveperf", (outcome,))
    return ForeignResult("pveperf", line, line, whole, (part,), missing=_MISSING, is_on_device=part.reads)


READER = FormatReader(
    "pveperf",
    ("https://pve.proxmox.com/pve-docs/pveperf.1.html", "https://github.com/domotz/custom-driver/pull/148"),
    _find,
    ("buffered reads:", "average seek time:", "fsyncs/second:"),
)
