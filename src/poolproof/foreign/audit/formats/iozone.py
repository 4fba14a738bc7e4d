"""Parse iozone's table of tests, the totals of its throughput mode (-t), and summaries with one test per row.

All tests use the same file. Without -I (O_DIRECT), a test can therefore read data that an earlier test left in RAM. The
lines above the table show the options. A test that was not run has no value in a row, so each value is assigned to the
column whose header ends closest to the end of the value.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from poolproof.foreign.audit.amounts import amount, size_in_bytes
from poolproof.foreign.audit.formats.protocol import ForeignResult, FormatReader, file_of, outcome_of, values
from poolproof.load.fio.plain_lines import Line
from poolproof.load.model import LoadPart

_STARTS = re.compile(r"^\s*Iozone: Performance Test of File I/O")
IOZONE_COMMAND = re.compile(
    r"(?:Command line used:|^|[$#>`])\s*+(?:sudo\s)?\s*+(?P<text>(?:[\w./-]{0,100}/)?iozone3?\s+-.*)$"
)
_HEAD = re.compile(r"^\s*(?P<size>kB|KB)\s+reclen\s+write\s+rewrite\b.*$")
_ROW = re.compile(r"^\s*(?P<size>\d{1,12})\s+(?P<block>\d{1,9})(?P<cells>(?:\s+\d{1,12})+)\s*$")
_WORD = re.compile(r"\S+")
_TOTAL = re.compile(
    r"^\s*Children see throughput for\s+(?P<clones>\d{1,6})\s+(?P<test>[a-z -]{4,20}?)"
    r"\s*=\s*(?P<rate>\d[\d.]{0,18}) [kK]B/sec"
)
_SUMMARY = re.compile(
    r"^\s*+(?:\|\s*+)?iozone\s+(?P<block>\d{1,5})\s?(?P<unit>[KM])(?:i?B)?\s+(?:(?P<order>random|sequential)\s+)?"
    r"(?P<kind>read|write)\s*[|:]\s*(?P<rate>\d[\d.,]{0,12}\s?[MG]i?B)/s\s*\|?\s*$",
    re.IGNORECASE,
)
_TOTAL_SIZE = re.compile(r"^\s*Min xfer\s*=\s*(?P<size>\d[\d.]{0,18}) [kK]B")
_SET_SIZE = re.compile(r"^\s*File size set to (?P<size>\d{1,12}) kB", re.IGNORECASE)
_SET_BLOCK = re.compile(r"^\s*Record Size (?P<size>\d{1,9}) kB", re.IGNORECASE)
_FLAGS = {"-I": "O_DIRECT feature enabled", "-e": "Include fsync in write timing", "-o": "SYNC Mode"}
_EMPTIES_CACHE = re.compile(r"(?<!\S)-(?:U|p)(?!\w)")  # unmounts between the tests, or purges the cache
_OPERATIONS = re.compile(r"OPS Mode|Output is in (?:operations|ops)", re.IGNORECASE)
_KINDS = (
    "write", "rewrite", "read", "reread", "random read", "random write", "backward read", "record rewrite",
    "stride read", "fwrite", "frewrite", "fread", "freread",
)  # fmt: skip
_RANDOM = frozenset({"random read", "random write", "random readers", "random writers"})
_MIXED = "mixed workload"
_NEAR = 60
_ALIGNED = 2
_KIB = 1024
_AGAIN = "iozone's tests use the same file one after another"
_UNKNOWN = "iozone's options (-I bypasses the page cache; -e includes a sync in the writes)"
_RUN_TIME = "the run time of each test"


@dataclass
class IozoneRun:
    """The options of one iozone run. `is_known` is False if the input does not show them."""

    line: int = 0
    command: str = ""
    command_line: int | None = None
    flags: set[str] = field(default_factory=set)
    size_bytes: int | None = None
    block_bytes: int | None = None
    is_known: bool = False
    counts_operations: bool = False


def _find(numbered: Sequence[Line]) -> Iterator[ForeignResult]:
    run, head = IozoneRun(), ""
    for at, (line_number, line) in enumerate(numbered):
        if _STARTS.match(line):
            run, head = IozoneRun(line_number, run.command, run.command_line, run.flags, is_known=True), ""
        elif match := IOZONE_COMMAND.search(line):
            run, head = run_of_command(run, line_number, match["text"]), ""
        elif match := _HEAD.match(line):
            head = line
        elif head and (match := _ROW.match(line)):
            yield from _row(run, line_number, head, match)
        elif match := _TOTAL.match(line):
            yield from _total(run, numbered, at, match)
        elif match := _SUMMARY.match(line):
            yield from _summary(line_number, match)
        else:
            _read_option(run, line)
            head = head if not line.strip() or line_number - run.line <= _NEAR else ""


def run_of_command(run: IozoneRun, line_number: int, text: str) -> IozoneRun:
    """Return the run that an iozone command starts.

    iozone prints its options above the line `Command line used`. A command on that line therefore keeps the options
    parsed so far.
    """
    found = IozoneRun(line_number, text.strip("` "), line_number, is_known=True)
    if line_number - run.line <= _NEAR and run.is_known:
        found.flags, found.size_bytes, found.block_bytes = run.flags, run.size_bytes, run.block_bytes
        found.counts_operations = run.counts_operations
    letters = {word for word in text.split() if word in _FLAGS}
    found.flags |= letters
    found.counts_operations = found.counts_operations or "-O" in text.split()
    for name, option in (("size_bytes", "s"), ("block_bytes", "r")):
        sizes = re.findall(rf"(?<!\S)-{option}\s*(\d{{1,12}}[kKmMgG]?)(?!\S)", text)
        if len(sizes) == 1:
            value = size_in_bytes(sizes[0] if sizes[0][-1].isalpha() else f"{sizes[0]}k")
            setattr(found, name, value)
    return found


def _read_option(run: IozoneRun, line: str) -> None:
    for flag, words in _FLAGS.items():
        if words in line:
            run.flags.add(flag)
            run.is_known = True
    run.counts_operations = run.counts_operations or _OPERATIONS.search(line) is not None
    if match := _SET_SIZE.match(line):
        run.size_bytes, run.is_known = int(match["size"]) * _KIB, True
    elif match := _SET_BLOCK.match(line):
        run.block_bytes = int(match["size"]) * _KIB


def _row(run: IozoneRun, line: int, head: str, match: re.Match[str]) -> Iterator[ForeignResult]:
    size, block = int(match["size"]) * _KIB, int(match["block"]) * _KIB
    for kind, value in _cells(head, match):
        rate = float(value)
        yield from test_result(run, line, line, kind, rate if run.counts_operations else rate * _KIB, size, block, 1)


def _cells(head: str, match: re.Match[str]) -> Iterator[tuple[str, str]]:
    """Yield (test, value) for each value in a row."""
    words = list(_WORD.finditer(match.string))[2:]
    ends = [word.end() for word in _WORD.finditer(head)]
    own = [word.end() for word in _WORD.finditer(match.string)]
    is_aligned = len(ends) == len(_KINDS) + 2 and all(
        abs(one - other) <= _ALIGNED for one, other in zip(ends[:2], own[:2], strict=True)
    )
    for at, word in enumerate(words[: len(_KINDS)]):
        nearest = min(range(len(_KINDS)), key=lambda kind: abs(ends[2 + kind] - word.end())) if is_aligned else at
        yield _KINDS[nearest], word[0]


def _total(run: IozoneRun, numbered: Sequence[Line], at: int, match: re.Match[str]) -> Iterator[ForeignResult]:
    clones, rate = int(match["clones"]), float(match["rate"]) * _KIB
    below = (_TOTAL_SIZE.match(line) for _, line in numbered[at + 1 : at + 7])
    moved = next((round(float(found["size"]) * _KIB) for found in below if found), run.size_bytes)
    run.size_bytes, line = moved, numbered[at][0]  # the output of the next test may be cut off before its size
    for result in test_result(run, line, line, match["test"], rate, moved, run.block_bytes, max(1, clones)):
        yield _timed(result, moved * max(1, clones)) if moved else result


def _timed(result: ForeignResult, moved: int) -> ForeignResult:
    """Return a result of the throughput mode with the bytes that it moved, which give its run time."""
    (part,) = result.outcome.parts
    kind, figures = next(iter(part.directions.items()))
    if not figures.bandwidth_bytes:
        return result
    seconds = moved / figures.bandwidth_bytes
    timed = replace(figures, io_bytes=moved, runtime_ms=max(1, round(1000 * seconds)))
    missing = tuple(each for each in result.missing if each != _RUN_TIME)
    return replace(result, outcome=outcome_of("iozone", part.name, {kind: timed}), missing=missing)


def _summary(line: int, match: re.Match[str]) -> Iterator[ForeignResult]:
    order = "random " if (match["order"] or "").lower() == "random" else ""
    block = int(match["block"]) * _KIB ** (2 if match["unit"].upper() == "M" else 1)
    rate = amount(match["rate"]) or 0.0
    yield from test_result(IozoneRun(), line, line, f"{order}{match['kind'].lower()}", rate, None, block or None, 1)


def test_result(
    run: IozoneRun, line: int, last: int, kind: str, rate: float, size: int | None, block: int | None, clones: int
) -> Iterator[ForeignResult]:
    if not rate:
        return
    is_mixed = kind == _MIXED
    is_write = "writ" in kind
    has_writes = is_write or is_mixed  # the options apply to all tests; a read has nothing to sync
    is_direct, syncs = "-I" in run.flags, "-e" in run.flags or "-o" in run.flags
    part = LoadPart(
        kind,
        reads=not is_write,
        writes=is_write or is_mixed,
        is_random=kind in _RANDOM or is_mixed,
        block_bytes=block or 4096,
        max_block_bytes=block or 4096,
        size_bytes=size,
        clones=clones,
        queue=clones,
        is_synchronous=True,
        extents=file_of(None if size is None else size * clones),
        direct=is_direct or not run.is_known,
        syncs=(syncs or not run.is_known) and has_writes,
        syncs_at_end="-e" in run.flags and has_writes,
        writes_are_synchronous="-o" in run.flags and has_writes,
    )
    figures = (
        values(iops=rate, bandwidth_bytes=rate * block if block else None)
        if run.counts_operations
        else values(iops=rate / block if block else None, bandwidth_bytes=rate)
    )
    direction = "mixed" if is_mixed else "write" if is_write else "read"
    empties = _EMPTIES_CACHE.search(run.command) is not None
    is_cached = run.is_known and not is_direct and not is_write and not is_mixed and not empties
    yield ForeignResult(
        "iozone",
        line,
        last,
        outcome_of("iozone", kind, {direction: figures}),
        (part,),
        run.command,
        run.command_line,
        size_bytes=None if size is None else size * clones,
        missing=(_RUN_TIME,) if run.is_known else (_UNKNOWN, _RUN_TIME),
        just_written=_AGAIN if is_cached else "",
    )


READER = FormatReader(
    "iozone",
    (
        "https://github.com/ricsanfre/pi-storage-benchmark output/SDCard (-a -e -I)",
        "https://github.com/s3fs-fuse/s3fs-fuse/issues/779 (throughput mode)",
        "https://github.com/geerlingguy/sbc-reviews (a summary in a Markdown table)",
    ),
    _find,
    ("reclen", "children see throughput", "iozone "),
)
