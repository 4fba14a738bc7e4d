"""Parse the output of PostgreSQL's pg_test_fsync, which rewrites the start of one file and syncs it in several ways.

On macOS, only the row `fsync_writethrough` flushes the drive's cache. If it is far slower than the other rows of its
table, the data of those was still in that cache.
"""

import re
from collections.abc import Iterator, Sequence

from poolproof.foreign.audit.formats.protocol import ForeignResult, FormatReader, outcome_of, values
from poolproof.load.fio.plain_lines import Line
from poolproof.load.model import LoadPart
from poolproof.load.outcome import Direction

_SECTION = re.compile(
    r"^[\s>#]*(?:Compare file sync methods using (?P<count>one|two|1|2) (?P<kib>\d{1,3})\s?kB writes?"
    r"|(?P<unsynced>Non-sync'?ed) (?P<kb>\d{1,3})\s?kB writes?|Compare open_sync with|Test if fsync on)",
    re.IGNORECASE,
)
_ROW = re.compile(
    r"^[\s>#]*(?P<name>open_datasync|fdatasync|fsync_writethrough|fsync|open_sync|write, (?:fsync, close|close, fsync)"
    r"|(?P<times>\d{1,2}) \* {1,3}(?P<kib>\d{1,3})kB open_sync writes?|write)"
    r"\s{1,60}(?P<rate>\d{1,9}[.,]\d{3})\s{1,9}ops/sec(?:\s{1,20}(?P<us>\d{1,9})\s{1,9}usecs/op)?"
)
_DIRECT = re.compile(r"\bO_DIRECT supported on this platform", re.IGNORECASE)
_FLUSHES, _SLOWER = "fsync_writethrough", 10
_KIB = 1024
_DEFAULT_KIB = 8
_UNKNOWN = ("the file, which is pg_test_fsync.out in the current directory by default",)


def _find(numbered: Sequence[Line]) -> Iterator[ForeignResult]:
    section: re.Match[str] | None = None
    rows: list[tuple[int, re.Match[str]]] = []
    is_direct = False
    for number, line in numbered:
        if _DIRECT.search(line):
            is_direct = True
        if heading := _SECTION.match(line):
            yield from _results(rows, section, is_direct=is_direct)
            section, rows = heading, []
        elif row := _ROW.match(line):
            rows.append((number, row))
    yield from _results(rows, section, is_direct=is_direct)


def _results(
    rows: Sequence[tuple[int, re.Match[str]]], section: re.Match[str] | None, *, is_direct: bool
) -> Iterator[ForeignResult]:
    """Yield the rows of a table."""
    flushed = next(((number, _rate(row)) for number, row in rows if row["name"] == _FLUSHES), None)
    writes = 2 if section is not None and (section["count"] or "").lower() in ("two", "2") else 1
    kib = int((section["kib"] or section["kb"] or 0) if section is not None else 0) or _DEFAULT_KIB
    for number, row in rows:
        name, rate = row["name"], _rate(row)
        blocks = int(row["times"] or writes)
        block = _KIB * int(row["kib"] or kib) * blocks
        is_synced = name != "write"
        is_open = name.startswith("open") or row["times"] is not None
        outcome = outcome_of("pg_test_fsync", name, {"write": _values(rate, row["us"])})
        part = LoadPart(
            name,
            writes=True,
            block_bytes=block,
            max_block_bytes=block,
            is_synchronous=True,
            direct=is_direct and is_open,
            syncs=is_synced,
            sync_every=1 if is_synced else 0,
            writes_are_synchronous=is_open,
        )
        why = ""
        if flushed is not None and is_synced and rate > _SLOWER * flushed[1]:
            why = (
                f"line {flushed[0]}: {_FLUSHES}, which flushes the drive's cache, reaches only {flushed[1]:,.0f} per "
                "second"
            )
        yield ForeignResult("pg_test_fsync", number, number, outcome, (part,), missing=_UNKNOWN, without_flush=why)


def _values(rate: float, microseconds: str | None) -> Direction:
    return values(iops=rate, mean_ns=1000 * float(microseconds) if microseconds else None)


def _rate(row: re.Match[str]) -> float:
    return float(row["rate"].replace(",", "."))


READER = FormatReader(
    "pg_test_fsync",
    ("https://www.postgresql.org/docs/current/pgtestfsync.html", "https://github.com/docker/for-mac/issues/5236"),
    _find,
    ("ops/sec",),
)
