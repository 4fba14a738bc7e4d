"""Parse the summaries of rados bench write, seq and rand, with or without the lines that it prints every second.

`MB/sec` means MiB per second. IOPS are computed from the number of requests and the run time, because `Average IOPS` is
truncated to an integer. If a text ends before or inside the summary, the result is what remains of it, or else the last
complete line: `avg MB/s` is the mean since the start. The cluster acknowledges a write once all replicas have it in
their logs.
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
_CONCURRENT = re.compile(
    r"Maintaining (?P<count>\d{1,6}) concurrent (?P<kind>reads|writes)?(?: of (?P<size>\d{1,12}) bytes)?"
)
_SECONDS_HEAD = re.compile(r"(?:^|\s)sec\s+Cur ops\s+started\s+finished\s+avg MB/s")
_SECOND = re.compile(
    r"^(?:\S{1,20}T\S{1,30})?\s*(?P<time>\d{1,9})(?:\s+\d{1,9}){2}\s+(?P<made>\d{1,15})"
    r"\s+(?P<rate>\d[\d.]{0,15})\s+\d[\d.]{0,15}(?:e-?\d+)?\s+(?:-|\d[\d.e-]{0,15})\s+\d[\d.e-]{0,15}\s*$"
)
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
    block: int = 0


def _find(numbered: Sequence[Line]) -> Iterator[ForeignResult]:
    summary: _Summary | None = None
    asked = _RadosOptions()
    seconds: _Summary | None = None
    for line_number, line in numbered:
        if seconds is not None and (match := _SECOND.match(line)):
            _read_second(seconds, line_number, match)
            continue
        if summary is not None and not _read_row(summary, line_number, line):
            yield from _finished(summary, asked)
            summary, asked = None, _RadosOptions()
        if match := _TIME.match(line):
            yield from _finished(summary, asked)
            summary, seconds = _Summary(line_number, line_number, values=_number("time", match)), None
        elif match := _COMMAND.search(line):
            yield from _finished(seconds, asked)
            asked, seconds = _asked(line_number, match[0]), None
        elif match := _CONCURRENT.search(line):
            kind = (match["kind"] or "").removesuffix("s")
            asked = replace(
                asked,
                depth=int(match["count"]),
                order=asked.order or kind,
                block=int(match["size"] or 0),
            )
        elif asked.order and _SECONDS_HEAD.search(line):
            seconds = seconds or _Summary(line_number, line_number, "write" if asked.order == "write" else "read")
    yield from _finished(summary or seconds, asked)


def _read_second(seconds: _Summary, line_number: int, match: re.Match[str]) -> None:
    """Store a line that rados prints every second. Lines before the first finished request have no rate."""
    if int(match["made"]) and int(match["time"]):
        seconds.values = {name: number(match[name]) or 0.0 for name in ("time", "made", "rate")}
        seconds.last_line = line_number


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
    lasted, made = rows.get("time"), rows.get("made")
    block = round(rows.get("size") or asked.block or _BLOCK_BYTES)
    if lasted and made and rows.get("size") and "rate" not in rows:
        rows = {**rows, "rate": made * block / lasted / MIB}
    if summary is None or not rows.get("rate"):
        return
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
    ("total time run:", "cur ops"),
)
