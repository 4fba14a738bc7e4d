"""Parse the summary that dbench prints after its fio runs.

The summary begins with a line such as `Random Read/Write IOPS: 27.9k/27.9k. BW: 110MiB/s / 87.2MiB/s`. People who
compare storage systems add a name in front of each line: `Longhorn: Random Read/Write IOPS: ...`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from poolproof.foreign.audit.amounts import amount, number
from poolproof.foreign.audit.formats.protocol import ForeignResult, FormatReader, fio_part, values
from poolproof.load.fio.plain_lines import Line
from poolproof.load.outcome import Direction, Outcome, PartOutcome

_LABEL = r"^[\s#*>-]*(?:\w[\w ().,/+-]{0,40}:\s+)?"
_IOPS = re.compile(
    rf"{_LABEL}Random Read/Write IOPS:\s*(?P<read>[\d.]+k?)\s?/\s?(?P<write>[\d.]+k?)\.?"
    r"(?:\s*BW:\s*(?P<read_bw>[\d.]+\s?[KMG]i?B)/s\s?/\s?(?P<write_bw>[\d.]+\s?[KMG]i?B)/s)?"
)
_SUMMARY = re.compile(  # the output of another script, whose fio options are unknown
    rf"{_LABEL}(?P<order>Random|Sequential) Read/Write IOPS:\s*(?P<read>[\d.]+k?)\s?/\s?(?P<write>[\d.]+k?)\.?\s*"
    r"BW\(KiB/s\):?\s*(?P<read_kib>\d+)\s?/\s?(?P<write_kib>\d+)\.?"
    r"(?:\s*lat\(usec\):?\s*(?P<read_us>\d+)\s?/\s?(?P<write_us>\d+))?"
)
_LATENCY = re.compile(rf"{_LABEL}Average Latency \(usec\) Read/Write:\s*(?P<read>[\d.]*)\s?/\s?(?P<write>[\d.]*)\s*$")
_SEQUENTIAL = re.compile(
    rf"{_LABEL}Sequential Read/Write:\s*(?P<read>[\d.]+\s?[KMG]i?B)/s\s?/\s?(?P<write>[\d.]+\s?[KMG]i?B)/s"
)
_MIXED = re.compile(rf"{_LABEL}Mixed Random Read/Write IOPS:\s*(?P<read>[\d.]+k?)\s?/\s?(?P<write>[\d.]+k?)\s*$")
_LATENCY_AT = (1, -1, -2)  # the line of the latencies, as seen from the other lines of the summary
_SCRIPT = {"ioengine": "libaio", "direct": "1"}
_OTHER = "FIO bench"
_MISSING = (
    "whether the script's FIO_DIRECT was changed from its default, 1",
    "the size of the file, the number of bytes and the run time",
)


def _find(numbered: Sequence[Line]) -> Iterator[ForeignResult]:
    """Yield the results. All tests of a summary use the same file, so each result gets the latency of random reads."""
    found = list(_results(numbered))
    latencies = {result.line: mean for result in found if (mean := _mean_of_reads(result))}
    for result in found:
        for line in (result.line + above for above in _LATENCY_AT):
            if line in latencies:
                words = f"line {line} says that random reads took {latencies[line] / 1000:.3g} µs on average"
                result = replace(result, same_file_read=(latencies[line], words))
        yield result


def _mean_of_reads(result: ForeignResult) -> float | None:
    """Return the mean latency of a test that shows only the latency of reads, or None."""
    reads = [part.read for part in result.outcome.parts if part.read is not None]
    return reads[0].lat.mean_ns if reads and reads[0].iops is None and reads[0].lat is not None else None


def _results(numbered: Sequence[Line]) -> Iterator[ForeignResult]:
    for line_number, line in numbered:
        if match := _SUMMARY.match(line):
            yield _summary(line_number, match)
        elif match := _IOPS.match(line):
            yield from _pair(line_number, "random IOPS", "4k", "64", _iops(match, "read"), _iops(match, "write"))
            if match["read_bw"]:
                sides = _bandwidth(match["read_bw"]), _bandwidth(match["write_bw"])
                yield from _pair(line_number, "random bandwidth", "128k", "64", *sides)
        elif match := _LATENCY.match(line):
            yield from _pair(line_number, "random latency", "4k", "4", _mean(match["read"]), _mean(match["write"]))
        elif match := _SEQUENTIAL.match(line):
            sides = _bandwidth(match["read"]), _bandwidth(match["write"])
            yield from _pair(line_number, "sequential", "1m", "16", *sides)
        elif match := _MIXED.match(line):
            yield from _pair(line_number, "mixed random", "4k", "64", _iops(match, "read"), _iops(match, "write"))


def _summary(line: int, match: re.Match[str]) -> ForeignResult:
    read, write = (
        values(
            iops=number(match[side]),
            bandwidth_bytes=1024 * float(match[f"{side}_kib"]),
            mean_ns=1000 * float(match[f"{side}_us"]) if match[f"{side}_us"] else None,
        )
        for side in ("read", "write")
    )
    name = match["order"].lower()
    sides = (PartOutcome(f"{name} read", read=read), PartOutcome(f"{name} write", write=write, group=1))
    return ForeignResult(_OTHER, line, line, Outcome(_OTHER, sides), missing=("fio's options", *_MISSING[1:]))


def _iops(match: re.Match[str], side: str) -> Direction | None:
    rate = number(match[side])
    return values(iops=rate) if rate else None


def _bandwidth(text: str) -> Direction | None:
    rate = amount(text)
    return values(bandwidth_bytes=rate) if rate else None


def _mean(text: str) -> Direction | None:
    mean = number(text)
    return values(mean_ns=1000 * mean) if mean else None


def _pair(
    line: int, name: str, block: str, depth: str, read: Direction | None, write: Direction | None
) -> Iterator[ForeignResult]:
    """Yield the read and write values of one test as a single result.

    Only the mixed test reads and writes at the same time. In other tests, two jobs run one after the other.
    """
    if read is None and write is None:
        return
    script = _SCRIPT if "latency" in name else {**_SCRIPT, "gtod_reduce": "1"}
    is_random, is_mixed = "random" in name, name.startswith("mixed")
    kinds = ["rw"] if is_mixed else [kind for kind, side in (("read", read), ("write", write)) if side]
    parts = tuple(
        fio_part(f"{name} {kind}", rw=f"rand{kind}" if is_random else kind, bs=block, iodepth=depth, **script)
        for kind in kinds
    )
    sides = [PartOutcome(parts[0].name, read=read, write=write)] if is_mixed else [
        PartOutcome(part.name, read=read if part.reads else None, write=write if part.writes else None, group=at)
        for at, part in enumerate(parts)
    ]  # fmt: skip
    yield ForeignResult("dbench", line, line, Outcome("dbench", tuple(sides)), parts, missing=_MISSING)


READER = FormatReader(
    "dbench",
    ("https://github.com/mmontes11/storage-bench synology", "https://github.com/longhorn/longhorn/issues/1067"),
    _find,
    ("read/write",),
)
