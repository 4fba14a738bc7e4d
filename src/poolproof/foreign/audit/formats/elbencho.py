"""Parse elbencho's table, which has one row for each metric of each operation.

Each row has two values: one for the time until the first thread finished, and one for the time until the last thread
finished. The second value is used.
"""

import math
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from poolproof.foreign.audit.amounts import count_of, number, seconds, size_in_bytes, whole
from poolproof.foreign.audit.formats.protocol import MIB, ForeignResult, FormatReader, file_of, outcome_of, values
from poolproof.load.fio.plain_lines import Line
from poolproof.load.model import LoadPart

_COMMAND = re.compile(r"\belbencho(?:\.sh)?(?::[\w.-]{1,60})?[\"']?\s+(?P<words>.*-.*)$")
_OPERATION = re.compile(r"(?<!\S)[\"']?(?:-[A-Za-z]*[rw]|--(?:read|write|rwmix)\b)")
_CUT_OFF = re.compile(r"(?<=\s)(?:\.{3}|\u2026)\W*$")
_HEADER = re.compile(r"\bOPERATION\s+RESULT TYPE\s+FIRST DONE\s+LAST DONE")
_ROW = re.compile(
    r"^\s*+(?:(?P<operation>[A-Z]{2,12})\s++|(?<=\s))(?P<name>[A-Z][\w ./%]{0,40}?)\s{0,40}:"
    r"\s++(?P<first>\S++)\s++(?P<last>\S++)\s*+$"
)
_LATENCY = re.compile(r"^\s*IO latency(?: (?P<unit>us|ms))?\s*:\s*\[.*\bavg=(?P<mean>\S+?)\s")
_END = re.compile(r"^\s*---\s*$")
_LONGEST_COMMAND = 4000
_TAKE_PATHS = ("--csvfile", "--livecsv", "--resfile", "--jsonfile", "--livejson", "--treefile", "--hostsfile", "-c")
_RANGE, _LIST = re.compile(r"\{(\d{1,6})\.\.(\d{1,6})\}"), re.compile(r"\{([^{}.]*,[^{}]*)\}")
_BRACKETS = re.compile(r"\[(\d{1,6}(?:-\d{1,6})?(?:,\d{1,6}(?:-\d{1,6})?){0,99})\]")
_HOST = re.compile(r"(?:[^,\[{\s]|\[[^\]]{0,200}\]|\{[^}]{0,200}\}){1,300}")
_MOST_FILES, _MOST_HOSTS = 1_000_000, 4096
_KINDS = {"WRITE": "write", "READ": "read", "RWMIX": "write"}


@dataclass
class _ElbenchoPhase:
    kind: str
    line: int
    last_line: int
    rows: dict[str, str] = field(default_factory=dict)
    mean_ns: float | None = None


def _find(numbered: Sequence[Line]) -> Iterator[ForeignResult]:
    command, command_line, phase, is_table = "", 0, None, False
    for line_number, line in numbered:
        if len(line) <= _LONGEST_COMMAND and (match := _COMMAND.search(line)) and _OPERATION.search(match["words"]):
            command, command_line = f"elbencho {match['words'].strip()}", line_number
        if _HEADER.search(line):
            is_table = True
        elif (match := _ROW.match(line)) and (is_table or _is_first_row(match)):
            is_table = True
            if match["operation"]:
                yield from _finished(phase, command, command_line)
                kind = _KINDS.get(match["operation"], "")
                phase = _ElbenchoPhase(kind, line_number, line_number) if kind else None
            if phase is not None:
                phase.rows.setdefault(match["name"], match["last"])
                phase.last_line = line_number
        elif phase is not None and (match := _LATENCY.match(line)):
            mean = seconds(match["mean"] + (match["unit"] or ""))
            phase.mean_ns = None if mean is None else mean * 1e9
        elif _END.match(line):
            yield from _finished(phase, command, command_line)
            phase = None
    yield from _finished(phase, command, command_line)


def _is_first_row(match: re.Match[str]) -> bool:
    """True if the row is certainly elbencho's, even if the table's header is cut off."""
    return match["operation"] in _KINDS and match["name"] in ("Elapsed time", "Elapsed ms")


def _finished(phase: _ElbenchoPhase | None, command: str, command_line: int) -> Iterator[ForeignResult]:
    if phase is None:
        return
    rate, total = number(phase.rows.get("Throughput MiB/s", "")), number(phase.rows.get("Total MiB", ""))
    figures = values(
        iops=number(phase.rows.get("IOPS", "")),
        bandwidth_bytes=None if rate is None else rate * MIB,
        io_bytes=None if total is None else whole(total * MIB),
        seconds=seconds(phase.rows.get("Elapsed time") or f"{phase.rows.get('Elapsed ms', '')}ms"),
        mean_ns=phase.mean_ns,
    )
    if not figures.iops and not figures.bandwidth_bytes:
        return
    size = _bytes_of_files(command, whole(number(phase.rows.get("Files total", "")))) if command else None
    is_whole = bool(command) and not _CUT_OFF.search(command)
    parts = (_part(phase.kind, command, size),) if is_whole else ()
    missing = () if is_whole else ("the command, with its block size, direct setting, queue depth and files",)
    yield ForeignResult(
        "elbencho",
        phase.line,
        phase.last_line,
        outcome_of("elbencho", phase.kind, {phase.kind: figures}),
        parts,
        command,
        command_line or None,
        size_bytes=size,
        missing=missing,
        stopped_by=_ALL_DONE if figures.runtime_ms is not None and figures.runtime_ms < _SHORTEST_MS else "",
    )


def _part(kind: str, command: str, size: int | None) -> LoadPart:
    options = _options(command)
    threads, depth = count_of(options.get("threads")) * _hosts(options), count_of(options.get("iodepth"))
    block = _size(options.get("block")) or int(MIB)
    return LoadPart(
        kind,
        reads=kind == "read",
        writes=kind == "write",
        is_random="rand" in options,
        block_bytes=block,
        max_block_bytes=block,
        extents=file_of(size),
        clones=threads,
        depth=depth,
        queue=threads * depth,
        is_synchronous=depth == 1,
        direct="direct" in options,
        syncs="sync" in options,
        refills_buffers=True,
    )


_ALL_DONE, _SHORTEST_MS = "elbencho had finished all files", 250
_SHORT = {"-w": "write", "-r": "read", "-b": "block", "-t": "threads", "-s": "size", "-n": "dirs", "-N": "files"}


def _bytes_of_files(command: str, files: int | None) -> int | None:
    """Return the total size of a command's files in bytes, or None if the command does not set `--size`.

    The total is `--size` times the number of files. elbencho's table shows this number (`files`) only if the paths are
    directories. Otherwise, the number is computed from `--hosts`, `-t` (threads), `-n` (directories per thread) and
    `-N` (files per directory). Without `-n` and `-N`, each path counts as one file, after the expansion of braces and
    brackets.
    """
    options = _options(command)
    size = _size(options.get("size"))
    if size is None:
        return None
    if files:
        return size * files
    if "dirs" in options or "files" in options:
        return size * _hosts(options) * math.prod(count_of(options.get(name)) for name in ("dirs", "files", "threads"))
    words = _words(command)
    pairs = zip(["", *words], words, strict=False)
    paths = [word for before, word in pairs if "/" in word and not word.startswith("-") and before not in _TAKE_PATHS]
    return size * max(1, sum(_expanded(path) for path in paths))


def _expanded(path: str) -> int:
    """Return the number of paths to which a path such as `path{1..8}`, `path{a,b}` or `path[1-8,12]` expands.

    The shell expands braces, and elbencho expands brackets. The number is 1 if the path has neither.
    """
    ranges = [abs(int(last) - int(first)) + 1 for first, last in _RANGE.findall(path)]
    lists = [each.count(",") + 1 for each in _LIST.findall(path)]
    spans = [[part.partition("-") for part in inside.split(",")] for inside in _BRACKETS.findall(path)]
    brackets = [sum(abs(int(last or first) - int(first)) + 1 for first, _, last in parts) for parts in spans]
    return min(math.prod([*ranges, *lists, *brackets]), _MOST_FILES)


def _hosts(options: Mapping[str, str]) -> int:
    """Return the number of hosts in `--hosts`, or 1 if the command runs on one host or names a file of hosts."""
    return max(1, min(sum(map(_expanded, _HOST.findall(options.get("hosts", "")))), _MOST_HOSTS))


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)[1:]
    except ValueError:
        return command.split()[1:]


def _options(command: str) -> dict[str, str]:
    words = _words(command)
    found: dict[str, str] = {}
    for word, after in zip(words, [*words[1:], ""], strict=True):
        name, equals, value = word.partition("=")
        name = _SHORT.get(name, name.removeprefix("--") if name.startswith("--") else "")
        if name:
            found[name] = value if equals else "" if after.startswith("-") else after
    return found


def _size(text: str | None) -> int | None:
    return size_in_bytes(text) if text and re.fullmatch(r"\d{1,9}[kKmMgGtT]?", text) else None


READER = FormatReader(
    "elbencho",
    ("https://github.com/breuner/elbencho/issues/75", "https://github.com/breuner/elbencho/issues/93"),
    _find,
    ("result type", "throughput mib/s"),
)
