"""Parse the output of sysbench fileio, releases 0.4, 0.5, 1.0 and 1.1.

The line that `sysbench prepare` prints is a result, too: it writes the test files in order and syncs each of them. The
tests after it use these files, which can still be in the page cache. sysbench writes zeros, so a target with
compression stores almost nothing. The command above the values is parsed too, because people often cut off the output
lines that repeat its options. A run ends at the next command, and at any option or value below its own run time. If a
text ends before the values of the whole run, the result is the mean of the lines of `--report-interval`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from poolproof.foreign.audit.amounts import amount, number, whole
from poolproof.foreign.audit.formats.protocol import MIB, ForeignResult, FormatReader, file_of, outcome_of, values
from poolproof.foreign.dropped_caches import drops_caches
from poolproof.load.fio.plain_lines import Line
from poolproof.load.model import LoadPart
from poolproof.load.outcome import Direction, Latency

_SIZE = re.compile(r"^\s*(?P<size>\d+(?:\.\d+)?\s?[KMGT]i?[Bb]) total file size")
_BLOCK = re.compile(r"^\s*Block size (?P<block>\d+(?:\.\d+)?\s?[KMG]?i?[Bb])")
_TEST = re.compile(
    r"^\s*Doing (?P<test>(?:random|sequential|combined) (?:read|write|r/w|rewrite|\(mmap\))?[\w/ ]*?) ?"
    r"(?:\(creation\) )?test"
)
_THREADS = re.compile(r"^\s*Number of threads:\s*(?P<threads>\d{1,6})")
_FLAGS = re.compile(r"^\s*Extra file open flags:\s*(?P<flags>.*)$")
_PERIODIC = re.compile(r"calling fsync\(\) each (?P<every>\d{1,9}) requests")
_OLD_DONE = re.compile(r"^\s*Operations performed:\s*(?P<reads>\d{1,15}) [Rr]eads?, (?P<writes>\d{1,15}) [Ww]rites?,")
_OLD_MOVED = re.compile(
    r"^\s*Read (?P<read>[\d.]+\s?[KMGT]?i?[Bb])\s+Written (?P<write>[\d.]+\s?[KMGT]?i?[Bb])\s+Total transferred"
    r" [^(]*\((?P<rate>[\d.]+\s?[KMGT]?i?[Bb])/sec\)"
)
_OPERATIONS = re.compile(r"^\s*(?P<kind>reads|writes)/s:\s+(?P<rate>[\d.]+)")
_THROUGHPUT = re.compile(r"^\s*(?P<kind>read|written), MiB/s:\s+(?P<rate>[\d.]+)")
_NEWEST = re.compile(r"^\s*(?P<kind>read|write):\s+IOPS=(?P<iops>[\d.]+)\s+(?P<rate>[\d.]+) MiB/s")
_INTERVAL = re.compile(
    r"^\s*\[\s{0,9}(?P<time>\d{1,9})s\s?\] reads: (?P<read>\d[\d.]{0,15}) Mi?B/s"
    r" writes: (?P<write>\d[\d.]{0,15}) Mi?B/s"
)
_TIME = re.compile(r"^\s*total time:\s+(?P<seconds>[\d.]+)s")
_EVENTS = re.compile(r"^\s*total number of events:\s+(?P<value>\d{1,15})")
_PERCENTILE = re.compile(
    r"^\s*(?:approx\.\s{1,9})?95(?:th)?\s{1,9}percentile:\s{1,60}(?P<value>\d[\d.]{0,12})\s?(?:ms)?\s{0,9}$"
)
_PREPARED = re.compile(
    r"^\s*(?P<bytes>\d{1,18}) bytes written in (?P<seconds>\d[\d.]{0,12}) seconds "
    r"\((?P<rate>\d[\d.]{0,12}) M(?:i?B|b)/sec\)"
)
_START = re.compile(r"^\s*+(?:\$|#|>)?\s*+sysbench\b|Running the test with following options")
_COMMAND = re.compile(r"\bsysbench\s+(?P<words>(?:\S+\s+){0,40}?)run\b")
_OPTION = re.compile(r"--(?P<name>file-[a-z-]+|(?:num-)?threads)[= ](?P<value>[\w.]+)")
_MARKS = (
    ":",
    "sysbench",
    "total file size",
    "Block size",
    "Doing ",
    "calling fsync",
    "Running the",
    "transferred",
    " bytes written in ",
)
_OPTIONS = {
    "file-total-size": "size", "file-block-size": "block", "num-threads": "threads", "threads": "threads",
    "file-extra-flags": "flags", "file-fsync-freq": "every",
}  # fmt: skip
_VALUES = (_OLD_DONE, _OLD_MOVED, _OPERATIONS, _THROUGHPUT, _NEWEST)
_ROUNDED = 0.01
_PREPARED_BLOCK = 16 << 10
_SHORTEST_LIMIT_S = 1.0  # --time and --max-time are whole seconds
_TESTS = {
    "seqwr": "sequential write", "seqrewr": "sequential rewrite", "seqrd": "sequential read", "rndrd": "random read",
    "rndwr": "random write", "rndrw": "random r/w",
}  # fmt: skip


@dataclass
class _SysbenchRun:
    """A run that is still being parsed. Values are keyed by direction (read or write)."""

    options: dict[str, str] = field(default_factory=dict)
    iops: dict[str, float] = field(default_factory=dict)
    rate: dict[str, float] = field(default_factory=dict)
    moved: dict[str, float] = field(default_factory=dict)
    counts: dict[str, float] = field(default_factory=dict)
    line: int = 0
    last_line: int = 0
    command: str = ""
    command_line: int | None = None
    prepared: str = ""
    seconds: float | None = None
    events: float = 0.0
    percentile_ms: float | None = None
    intervals: list[tuple[int, int, float, float]] = field(default_factory=list)

    def finished(self) -> ForeignResult | None:
        if self.intervals and not self.line:
            self._take_intervals()
        seconds = self.seconds
        found: dict[str, Direction] = {}
        for kind in ("read", "write"):
            iops = self.iops.get(kind) or (self.counts.get(kind, 0.0) / seconds if seconds else 0.0)
            moved = self.moved.get(kind)
            rate = self.rate.get(kind) or (moved / seconds if moved and seconds else 0.0)
            if iops or rate:
                total = moved if moved is not None else rate * seconds if rate and seconds else None
                figures = values(
                    iops=iops or None, bandwidth_bytes=rate or None, io_bytes=whole(total), seconds=seconds
                )
                found[kind] = replace(figures, lat=self._latency(iops))
        if not found:
            return None
        part = _part(self.options, found)
        outcome = outcome_of("sysbench fileio", part.name, found)
        size = whole(amount(self.options.get("size", ""), 1024))
        is_short = seconds is not None and seconds < _SHORTEST_LIMIT_S
        return ForeignResult(
            "sysbench fileio",
            self.line,
            self.last_line,
            outcome,
            (part,),
            command=self.command,
            command_line=self.command_line,
            size_bytes=size,
            just_written=self.prepared if part.reads and not part.direct else "",
            stopped_by="the run ended at sysbench's request limit, not at its time limit" if is_short else "",
        )

    def _take_intervals(self) -> None:
        lines, times, reads, writes = zip(*self.intervals, strict=True)
        self.line, self.last_line, self.seconds = min(lines), max(lines), float(max(times))
        self.rate = {"read": MIB * sum(reads) / len(reads), "write": MIB * sum(writes) / len(writes)}

    def _latency(self, iops: float) -> Latency | None:
        """Return a percentile of the reads or of the writes that is an upper bound, or None if it is unknown.

        sysbench prints the 95th percentile of all events, including syncs. In the worst case, the slowest 5% of the
        events are all reads. Then the same latency is a lower percentile of the reads.
        """
        count = iops * (self.seconds or 0.0)
        if not count or self.percentile_ms is None or self.events < count * (1 - _ROUNDED):
            return None
        percent = 100.0 - 5.0 * self.events / count
        return Latency(percentiles_ns={percent: 1e6 * self.percentile_ms}) if percent > 0 else None


def _part(options: dict[str, str], found: dict[str, Direction]) -> LoadPart:
    test = options.get("test", "")
    block = whole(amount(options.get("block", "16KiB"), 1024)) or 16384
    every = int(options["every"]) if options.get("every") else None
    size = whole(amount(options.get("size", ""), 1024))
    threads = max(1, int(options.get("threads", "1")))
    return LoadPart(
        test or "fileio",
        reads="read" in found,
        writes="write" in found,
        is_random="random" in test,
        block_bytes=block,
        max_block_bytes=block,
        extents=file_of(size),
        clones=threads,
        queue=threads,
        is_synchronous=True,
        direct="direct" in options.get("flags", "") or options.get("flags", "").strip() == "16384",
        syncs="write" in found,
        syncs_at_end="write" in found,
        sync_every=every if "write" in found else None,
        zero_buffers=True,
    )


def _find(numbered: Sequence[Line]) -> Iterator[ForeignResult]:
    run, given, text, at = _SysbenchRun(), dict[str, str](), "", None
    prepared = ""
    patterns = {"size": _SIZE, "block": _BLOCK, "test": _TEST, "threads": _THREADS, "flags": _FLAGS, "every": _PERIODIC}
    for line_number, line in numbered:
        if prepared and drops_caches(line):
            prepared = ""
        if not any(mark in line for mark in _MARKS):
            continue
        if match := _PREPARED.match(line):
            prepared = f"line {line_number} shows that sysbench wrote the test files"
            if found := _prepared(line_number, match):
                yield found
            continue
        command = _given(line)
        if command or _START.search(line):
            if found := run.finished():
                yield found
            if command and (call := _COMMAND.search(line)):
                given, text, at = command, call[0], line_number
            run = _SysbenchRun(options=dict(given), command=text, command_line=at, prepared=prepared)
        is_value = any(pattern.match(line) for pattern in _VALUES)
        if run.seconds is not None and (is_value or any(pattern.search(line) for pattern in patterns.values())):
            if found := run.finished():
                yield found
            run = _SysbenchRun(options=run.options, prepared=prepared)
        for name, pattern in patterns.items():
            if match := pattern.search(line):
                run.options[name] = match[name].strip()
        if match := _INTERVAL.match(line):
            rates = [number(match[kind]) or 0.0 for kind in ("read", "write")]
            run.intervals.append((line_number, int(match["time"]), rates[0], rates[1]))
        elif is_value and _read(run, line):
            run.line = run.line or line_number
            run.last_line = line_number
        elif (match := _TIME.match(line)) and run.line:
            run.last_line, run.seconds = line_number, number(match["seconds"])
            given, text, at = {}, "", None
        elif run.seconds is not None and (match := _EVENTS.match(line)):
            run.events, run.last_line = float(match["value"]), line_number
        elif run.seconds is not None and (match := _PERCENTILE.match(line)):
            run.percentile_ms, run.last_line = number(match["value"]), line_number
    if found := run.finished():
        yield found


def _prepared(line: int, match: re.Match[str]) -> ForeignResult | None:
    """Return the result of `sysbench prepare`, or None if its rate is 0 or unreadable.

    sysbench does not overwrite files from an earlier run, but extends them.
    """
    seconds, rate = number(match["seconds"]), number(match["rate"])
    if not rate:
        return None
    figures = values(bandwidth_bytes=rate * MIB, io_bytes=int(match["bytes"]), seconds=seconds)
    part = LoadPart(
        "prepare",
        writes=True,
        block_bytes=_PREPARED_BLOCK,
        max_block_bytes=_PREPARED_BLOCK,
        is_synchronous=True,
        syncs=True,
        syncs_at_end=True,
        zero_buffers=True,
    )
    return ForeignResult(
        "sysbench fileio",
        line,
        line,
        outcome_of("sysbench fileio", "prepare", {"write": figures}),
        (part,),
        size_bytes=int(match["bytes"]),
        missing=("the block size: 16 KiB unless --file-block-size says otherwise",),
        shows_block=False,
    )


def _given(line: str) -> dict[str, str]:
    """Return the options of a sysbench command that runs a file test, or an empty dict if the line has none."""
    match = _COMMAND.search(line)
    if match is None or "file" not in match["words"]:
        return {}
    options = {option["name"]: option["value"] for option in _OPTION.finditer(match["words"])}
    found = {_OPTIONS[name]: value for name, value in options.items() if name in _OPTIONS}
    if not found.get("every", "").isdecimal() or found["every"] == "0":
        found.pop("every", None)
    if test := _TESTS.get(options.get("file-test-mode", "")):
        found["test"] = test
    return found


def _read(run: _SysbenchRun, line: str) -> bool:
    """Store the line's values in the run. Return False if the line contains no values."""
    if match := _OLD_DONE.match(line):
        run.counts = {"read": float(match["reads"]), "write": float(match["writes"])}
    elif match := _OLD_MOVED.match(line):
        run.moved = {kind: amount(match[kind], 1024) or 0.0 for kind in ("read", "write")}
        if not (run.moved["read"] and run.moved["write"]):
            only = "read" if run.moved["read"] else "write"
            run.rate[only] = amount(match["rate"], 1024) or 0.0
    elif match := _OPERATIONS.match(line):
        run.iops[match["kind"].removesuffix("s")] = number(match["rate"]) or 0.0
    elif match := _THROUGHPUT.match(line):
        run.rate["read" if match["kind"] == "read" else "write"] = MIB * (number(match["rate"]) or 0.0)
    elif match := _NEWEST.match(line):
        run.iops[match["kind"]] = number(match["iops"]) or 0.0
        run.rate[match["kind"]] = MIB * (number(match["rate"]) or 0.0)
    else:
        return False
    return True


READER = FormatReader(
    "sysbench fileio",
    (
        "https://github.com/akopytov/sysbench/issues/229 (0.4)",
        "https://github.com/akopytov/sysbench/issues/72 (1.0)",
        "https://github.com/akopytov/sysbench/issues/132 (zeros on ZFS)",
    ),
    _find,
    (
        "operations performed:",
        "total transferred",
        "reads/s:",
        "writes/s:",
        ", mib/s:",
        " mib/s",
        "] reads: ",
        " bytes written in ",
    ),
)
