"""Parse the output of gobonniego, a Go version of bonnie.

It prints sequential rates in MB/s (1 MB = 1000² bytes) and random IOPS. In the random test, nine out of ten operations
are reads. Its rate is therefore treated as a read rate, as with bonnie++. gobonniego drops the page cache before
reading only if it runs as root. With -json, it prints the same values as a JSON object.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from poolproof.foreign.audit.amounts import number
from poolproof.foreign.audit.formats.protocol import ForeignResult, FormatReader, file_of, outcome_of, values
from poolproof.load.fio.plain_lines import Line
from poolproof.load.model import LoadPart

_STARTS = re.compile(
    r"gobonniego starting\..*?threads: (?P<threads>\d{1,5}), disk space to use \(MiB\): (?P<size>\d{1,12})"
)
_SIZE = re.compile(r'^\s*"disk_space_used_gib":\s*(?P<size>\d[\d.]{0,12})')
_THREADS = re.compile(r'^\s*"num_readers_and_writers":\s*(?P<threads>\d{1,5})')
_WRITE = re.compile(r'^\s*(?:Sequential Write MB/s:|"write_megabytes_per_second":)\s*(?P<rate>\d[\d.]{0,20})')
_READ = re.compile(r'^\s*(?:Sequential Read MB/s:|"read_megabytes_per_second":)\s*(?P<rate>\d[\d.]{0,20})')
_RANDOM = re.compile(r'^\s*(?:IOPS:|"iops":)\s*(?P<rate>\d[\d.]{0,20})')
_NEAR = 12
_BLOCK_BYTES = 64 * 1024
_MISSING = (
    "whether the page cache was emptied before the reads: gobonniego does so only as root",
    "the size of the RAM (--ram); the test files should be at least twice as large",
)


@dataclass(frozen=True)
class _Test:
    name: str
    direction: str
    form: re.Pattern[str]


_TESTS = (
    _Test("sequential write", "write", _WRITE),
    _Test("sequential read", "read", _READ),
    _Test("random", "read", _RANDOM),
)


def _find(numbered: Sequence[Line]) -> Iterator[ForeignResult]:
    size: int | None = None
    threads = 1
    since: int | None = None
    for line_number, line in numbered:
        if match := _STARTS.search(line):
            size, threads, since = int(match["size"]) << 20, int(match["threads"]), None
        elif match := _SIZE.match(line):
            size, since = round(float(match["size"]) * 1024**3), None
        elif match := _THREADS.match(line):
            threads = int(match["threads"])
        for test in _TESTS:
            match = test.form.match(line)
            rate = number(match["rate"]) if match else None
            is_first = test.form is _WRITE
            if not rate or (not is_first and (since is None or line_number - since > _NEAR)):
                continue
            since = None if test.form is _RANDOM else line_number
            yield _result(line_number, test, rate, size, max(1, threads))


def _result(line: int, test: _Test, rate: float, size: int | None, threads: int) -> ForeignResult:
    is_random = test.form is _RANDOM
    part = LoadPart(
        test.name,
        reads=test.direction == "read",
        writes=test.direction == "write" or is_random,
        is_random=is_random,
        block_bytes=_BLOCK_BYTES,
        max_block_bytes=_BLOCK_BYTES,
        clones=threads,
        queue=threads,
        is_synchronous=True,
        extents=file_of(size),
        syncs=True,
    )
    figures = values(iops=rate) if is_random else values(bandwidth_bytes=rate * 1e6)
    outcome = outcome_of("gobonniego", test.name, {test.direction: figures})
    return ForeignResult("gobonniego", line, line, outcome, (part,), size_bytes=size, missing=_MISSING)


READER = FormatReader(
    "gobonniego",
    ("https://github.com/cunnie/gobonniego README (text, -v and -json)",),
    _find,
    ("write mb/s:", "write_megabytes_per_second"),
)
