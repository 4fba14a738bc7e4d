"""Parse the summaries of rados bench write, seq and rand, with or without the lines that it prints every second.

`MB/sec` means MiB per second. IOPS are computed from the number of requests and the run time, because `Average IOPS` is
truncated to an integer. The cluster acknowledges a write once all replicas have it in their logs.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from poolproof.foreign.audit.amounts import number
from poolproof.foreign.audit.formats.protocol import MIB, ForeignResult, FormatReader, outcome_of, values
from poolproof.load.fio.plain_lines import Line
from poolproof.load.model import LoadPart

_TIME = re.compile(r"^\s*Total time run:\s+(?P<value>\d[\d.]{0,15})")
_ROWS = {
    "made": re.compile(r"^\s*Total (?P<kind>reads|writes) made:\s+(?P<value>\d{1,15})"),
    "size": re.compile(r"^\s*(?:Read|Write) size:\s+(?P<value>\d{1,12})"),
    "rate": re.compile(r"^\s*Bandwidth \(MB/sec\):\s+(?P<value>\d[\d.]{0,15}(?:e[+-]?\d{1,2})?)"),
    "iops": re.compile(r"^\s*Average IOPS:\s+(?P<value>\d[\d.]{0,15})"),
    "latency": re.compile(r"^\s*Average Latency(?:\(s\))?:\s+(?P<value>\d[\d.e-]{0,15})"),
}
_COMMAND = re.compile(r"(?:(?<![\w/.-])|(?<=/))rados\s+(?:-\S+\s+\S+\s+){0,20}bench\s.*$")
_CONCURRENT = re.compile(r"Maintaining (?P<count>\d{1,6}) concurrent ")
_THREADS = re.compile(r"(?<!\S)(?:-t\s?|--concurrent-ios[= ])(?P<count>\d{1,6})")
_ORDER = re.compile(r"\b(?P<order>write|seq|rand)\b")
_SUMMARY_LINES = 20
_BLOCK_BYTES = 4 << 20
_DEPTH = 16
_SHORTEST_LIMIT_S = 1.0  # in whole seconds
_RAN_OUT = "it had read all objects of the earlier write"
_MISSING = (
    "the RAM and the caches of the OSDs, which can serve reads of objects that were just written",
    "the number of replicas: the disks write each object once per replica",
)


@dataclass
class _Summary:
    line: int
    last_line: int
    kind: str = "write"
    values: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class _RadosOptions:
    line: int | None = None
    text: str = ""
    order: str = ""
    depth: int = _DEPTH


def _find(numbered: Sequence[Line]) -> Iterator[ForeignResult]:
    summary: _Summary | None = None
    asked = _RadosOptions()
    for line_number, line in numbered:
        if summary is not None and not _read_row(summary, line_number, line):
            yield from _finished(summary, asked)
            summary, asked = None, _RadosOptions()
        if match := _TIME.match(line):
            yield from _finished(summary, asked)
            summary = _Summary(line_number, line_number, values=_number("time", match))
        elif match := _COMMAND.search(line):
            asked = _asked(line_number, match[0])
        elif match := _CONCURRENT.search(line):
            asked = replace(asked, depth=int(match["count"]))
    yield from _finished(summary, asked)


def _read_row(summary: _Summary, line_number: int, line: str) -> bool:
    """Parse one line of a summary. Return False if this line is after the end of the summary."""
    for name, form in _ROWS.items():
        if (match := form.match(line)) and name not in summary.values:
            summary.values |= _number(name, match)
            summary.last_line = line_number
            if name == "made":
                summary.kind = match["kind"].removesuffix("s")
            return True
    return line_number - summary.line <= _SUMMARY_LINES and not _TIME.match(line) and not _COMMAND.search(line)


def _number(name: str, match: re.Match[str]) -> dict[str, float]:
    value = number(match["value"])
    return {} if value is None else {name: value}


def _asked(line_number: int, text: str) -> _RadosOptions:
    threads, order = _THREADS.search(text), _ORDER.search(text)
    return _RadosOptions(
        line_number, text.strip("` "), order["order"] if order else "", int(threads["count"]) if threads else _DEPTH
    )


def _finished(summary: _Summary | None, asked: _RadosOptions) -> Iterator[ForeignResult]:
    rows: Mapping[str, float] = summary.values if summary else {}
    if summary is None or not rows.get("rate"):
        return
    lasted, made = rows.get("time"), rows.get("made")
    block = round(rows.get("size") or _BLOCK_BYTES)
    figures = values(
        iops=made / lasted if made and lasted else rows.get("iops"),
        bandwidth_bytes=rows["rate"] * MIB,
        io_bytes=round(made * block) if made else None,
        seconds=lasted,
        mean_ns=1e9 * rows["latency"] if rows.get("latency") else None,
    )
    is_write = summary.kind == "write"
    name = asked.order or summary.kind
    part = LoadPart(
        name,
        reads=not is_write,
        writes=is_write,
        is_random=asked.order == "rand",
        block_bytes=block,
        max_block_bytes=block,
        depth=asked.depth,
        queue=asked.depth,
        direct=True,
        syncs=is_write,
        writes_are_synchronous=is_write,
    )
    outcome = outcome_of("rados bench", name, {summary.kind: figures})
    yield ForeignResult(
        "rados bench",
        summary.line,
        summary.last_line,
        outcome,
        (part,),
        asked.text,
        asked.line,
        missing=_MISSING,
        stopped_by=_RAN_OUT if not is_write and lasted is not None and lasted < _SHORTEST_LIMIT_S else "",
    )


READER = FormatReader(
    "rados bench",
    (
        "https://github.com/ceph/ceph/pull/5572 (without (s))",
        "https://github.com/rook/rook/issues/13483",
        "https://github.com/kangeek/fio-bench-disks-ceph ceph/2hdd (write, seq, rand)",
    ),
    _find,
    ("total time run:",),
)
