"""Parse kbench's summary: random and sequential IOPS, bandwidth and latency for one or two targets.

Each row shows the read and write values as `read / write`. Releases from 2021 have separate rows for reads and writes,
and print the CPU time after each value.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from poolproof.foreign.audit.amounts import number, size_in_bytes
from poolproof.foreign.audit.formats.protocol import ForeignResult, FormatReader, values
from poolproof.load.fio.plain_lines import Line
from poolproof.load.model import LoadPart
from poolproof.load.outcome import Direction, Outcome, PartOutcome

_START = re.compile(r"FIO Benchmark (?:Summary|Compari?s?i?on Summary)")
_CUT_START = re.compile(r"^[\s#]*(?:IOPS|Bandwidth in KiB/sec|Latency in ns) \(Read/Write\)\s*$")  # heading cut off
_PERCENTILES = re.compile(r"FIO Benchmark Latency P\d")  # tables of percentiles, which follow the table of means
_SIZE = re.compile(r"^[\s#]*(?:Size|SIZE):\s*(?P<size>\d{1,9}(?:\.\d+)?[KMGTkmgt]i?)B?\s*$")
_SECTION = re.compile(r"^[\s#]*(?P<kind>IOPS|Bandwidth in KiB/sec|Latency in ns)(?: in ops)?(?: \(Read/Write\))?\s*$")
_ROW = re.compile(r"^[\s#]*(?P<order>Random|Sequential):\s*(?P<values>\d.*)$")
_NUMBER = r"(?:\d{1,3}(?:,\d{3}){1,6}+|\d{1,20}+(?:\.\d{1,9}+)?)(?![\d,.])"  # not `5,95`, whose digits were cut off
_PAIR = re.compile(rf"(?<![\d,.])(?P<read>{_NUMBER}) / (?P<write>{_NUMBER})(?!%)")
_SINGLE_ROW = re.compile(
    r"^[\s#]*(?P<order>Random|Sequential) R?(?P<side>read|write):\s*(?P<values>\d.*)$", re.IGNORECASE
)
_SINGLE = re.compile(r"(?<![\d,.])(?P<value>\d[\d,.]{0,30})(?= \((?:sys/usr )?cpu\b)")
_NAMES = {"IOPS": "IOPS", "Bandwidth in KiB/sec": "bandwidth", "Latency in ns": "latency"}
_MISSING = ("the number of bytes, the run time, and the block size, queue depth and direct setting of kbench's jobs",)


def _find(numbered: Sequence[Line]) -> Iterator[ForeignResult]:
    is_open, is_percentiles, size, kind = False, False, None, ""
    for line_number, line in numbered:
        if _START.search(line):
            is_open, is_percentiles, size, kind = True, False, None, ""
        elif _PERCENTILES.search(line):
            is_open, is_percentiles = False, True
        elif not is_open and (is_percentiles or not _CUT_START.match(line)):
            continue
        elif match := _SIZE.match(line):
            size = size_in_bytes(match["size"].removesuffix("i"))
        elif match := _SECTION.match(line):
            is_open, kind = True, match["kind"]
        elif (match := _ROW.match(line)) and kind:
            for at, pair in enumerate(_PAIR.finditer(match["values"])):
                sides = {name: number(pair[name]) for name in ("read", "write")}
                if found := _result(line_number, f"{match['order'].lower()} {_NAMES[kind]}", kind, sides, size, at):
                    yield found
        elif (match := _SINGLE_ROW.match(line)) and kind:
            side = match["side"].lower()
            name = f"{match['order'].lower()} {side} {_NAMES[kind]}"
            for at, value in enumerate(_SINGLE.finditer(match["values"])):
                if found := _result(line_number, name, kind, {side: number(value["value"])}, size, at):
                    yield found


def _result(
    line: int, name: str, kind: str, sides: Mapping[str, float | None], size: int | None, at: int
) -> ForeignResult | None:
    read, write = sides.get("read"), sides.get("write")
    name = f"{name}{f' of target {at + 1}' if at else ''}"
    outcome = Outcome("kbench", (PartOutcome(name, read=_values(kind, read), write=_values(kind, write)),))
    if not read and not write:
        return None
    part = LoadPart(
        name, reads=bool(read), writes=bool(write), is_random=name.startswith("random"), direct=True, syncs=bool(write)
    )
    return ForeignResult("kbench", line, line, outcome, (part,), size_bytes=size, missing=_MISSING, shows_block=False)


def _values(kind: str, value: float | None) -> Direction | None:
    if not value:
        return None
    if kind == "IOPS":
        return values(iops=value)
    return values(bandwidth_bytes=value * 1024) if kind.startswith("Bandwidth") else values(mean_ns=value)


READER = FormatReader(
    "kbench",
    (
        "https://github.com/unleashurgeek/home-ops kube-fio-bench.md",
        "https://github.com/longhorn/kbench README",
        "https://github.com/longhorn/longhorn/issues/5374 (comparison)",
    ),
    _find,
    ("fio benchmark", "(read/write)"),
)
