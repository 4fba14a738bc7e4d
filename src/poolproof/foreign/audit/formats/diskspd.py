"""Parse the `total:` rows of DiskSpd's three tables: all I/O, reads, and writes.

The values in the rate column are always in MiB/s, although old releases label the column `MB/s`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from poolproof.foreign.audit.amounts import count_of, number, size_in_bytes
from poolproof.foreign.audit.formats.protocol import (
    MIB,
    ForeignResult,
    FormatReader,
    file_of,
    outcome_of,
    values,
)
from poolproof.load.fio.plain_lines import Line
from poolproof.load.model import LoadPart
from poolproof.load.outcome import Direction

_COMMAND = re.compile(r"\bdiskspd(?:64)?(?:\.exe)?\s+(?P<words>-\S.*)$", re.IGNORECASE)
_SECTION = re.compile(r"^\s*(?P<kind>Total|Read|Write) IO\s*$")
_HEAD = re.compile(r"^\s*thread\s*\|\s*bytes\s*\|\s*I/Os\s*\|\s*Mi?B/s\s*\|\s*I/O per s\s*\|(?P<rest>.*)$")
_TOTAL = re.compile(
    r"^\s*total:\s*(?P<bytes>\d{1,18})\s*\|\s*(?P<ios>\d{1,15})\s*\|\s*(?P<rate>[\d.]{1,15})\s*\|"
    r"\s*(?P<iops>[\d.]{1,15})\s*(?:\|\s*(?P<ms>[\d.]{1,12})\b)?"
)
_MISSING = ("the command, with its block size, access pattern, cache setting (-S), queue depth and size",)
_DEPTH = 2  # -o by default
_BLOCK_BYTES = 64 * 1024


@dataclass
class _Tables:
    """The `total:` rows of one DiskSpd run. `rows` is keyed by `total`, `read` and `write`."""

    line: int = 0
    last_line: int = 0
    rows: dict[str, Direction] = field(default_factory=dict)


def _find(numbered: Sequence[Line]) -> Iterator[ForeignResult]:
    command, command_line, kind, has_latency = "", 0, "", False
    tables = _Tables()
    for line_number, line in numbered:
        if match := _COMMAND.search(line):
            yield from _result(tables, command, command_line)
            command, command_line, tables = f"diskspd {match['words'].strip(' `')}", line_number, _Tables()
        elif match := _SECTION.match(line):
            kind = match["kind"].lower()
            if kind == "total" and tables.rows:
                yield from _result(tables, command, command_line)
                tables = _Tables()
        elif match := _HEAD.match(line):
            has_latency = "AvgLat" in match["rest"]
        elif kind and (match := _TOTAL.match(line)):
            tables.line = tables.line or line_number
            tables.last_line = line_number
            tables.rows[kind] = _row(match, has_latency=has_latency)
            kind = ""
    yield from _result(tables, command, command_line)


def _row(match: re.Match[str], *, has_latency: bool) -> Direction:
    iops, rate = number(match["iops"]), number(match["rate"])
    mean_ms = number(match["ms"]) if has_latency and match["ms"] else None
    return values(
        iops=iops,
        bandwidth_bytes=rate * MIB if rate else None,
        io_bytes=int(match["bytes"]),
        seconds=int(match["ios"]) / iops if iops else None,
        mean_ns=1e6 * mean_ms if mean_ms else None,
    )


def _result(tables: _Tables, command: str, command_line: int) -> Iterator[ForeignResult]:
    moved = {kind: row for kind, row in tables.rows.items() if kind != "total" and row.io_bytes}
    options = _options(command)
    if not moved and tables.rows.get("total") and tables.rows["total"].io_bytes:
        writes = options.get("w", "0")
        kind = ("read" if writes in ("", "0") else "write" if writes == "100" else "mixed") if command else "mixed"
        moved = {kind: tables.rows["total"]}
    if not moved:
        return
    part = _part(options, reads="write" not in moved or len(moved) > 1, writes="read" not in moved or len(moved) > 1)
    size = size_in_bytes(options.get("c", "")) if options.get("c") else None
    yield ForeignResult(
        "DiskSpd",
        tables.line,
        tables.last_line,
        outcome_of("DiskSpd", "diskspd", moved),
        (part,) if command else (),
        command,
        command_line or None,
        size_bytes=size,
        missing=() if command else _MISSING,
    )


def _options(command: str) -> dict[str, str]:
    """Return the last value of each option, keyed by the option's letter. For example, `-b4K` sets `b` to `4K`."""
    return {word[1]: word[2:] for word in command.split()[1:] if len(word) > 1 and word[0] in "-/"}


def _part(options: dict[str, str], *, reads: bool, writes: bool) -> LoadPart:
    cache = options.get("S", "h" if "h" in options else "b")  # -h is -Sh
    depth, threads = count_of(options.get("o"), _DEPTH), count_of(options.get("t"), 1)
    block = size_in_bytes(options.get("b") or "64K") or _BLOCK_BYTES
    is_through = "w" in cache or "h" in cache
    return LoadPart(
        "diskspd",
        reads=reads,
        writes=writes,
        is_random="r" in options,
        block_bytes=block,
        max_block_bytes=block,
        extents=file_of(size_in_bytes(options["c"]) if options.get("c") else None),
        clones=threads,
        depth=depth,
        queue=threads * depth,
        is_synchronous=depth == 1,
        direct=cache == "" or "u" in cache or "h" in cache,
        syncs=writes and is_through,
        writes_are_synchronous=writes and is_through,
    )


READER = FormatReader(
    "DiskSpd",
    ("https://github.com/microsoft/diskspd/issues/56", "https://github.com/microsoft/diskspd/issues/91"),
    _find,
    ("i/o per s",),
)
