"""Parse the last line of dd's output and the command above it, in the formats of GNU, busybox, FreeBSD and macOS.

Several languages are supported. If several results below one command are separated only by dd's own output, the command
ran in a loop. The line may be in a sentence, its rate or its number of bytes may be cut off, and a web page may have
lost the line breaks around it. A row of a table can have the command, the seconds and the rate.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from errno import EIO

from poolproof.foreign.audit.amounts import amount, decimal
from poolproof.foreign.audit.formats.dd_commands import (
    ARGUMENTS,
    COMMAND,
    NOWHERE,
    CachedFiles,
    DdCommand,
    dd_commands,
    result_of,
)
from poolproof.foreign.audit.formats.protocol import ForeignResult, FormatReader, outcome_of, values
from poolproof.load.fio.plain_lines import Line

_SECONDS = r"[,\uff0c\u3001]\s{0,9}(?P<seconds>\d[\d.,]{0,20}(?:[eE]-?\d{1,2})?)\s?[^\W\d_]{1,10}\.?\s?"
_RATE = r"[,\uff0c\u3001][\s*#]{0,9}(?P<rate>\d[\d.,]{0,20}\s?(?:[kKMGT]?i?B|bytes|[kKMGT](?=/s)))/[^\W\d_]{1,3}"
_GNU = re.compile(
    r"(?:(?<![\w.,+/-])|(?<=copied))(?P<bytes>\d{1,18})\s?[^\W\d_]{1,12}\s?[(\uff08][^)\uff09]{1,60}[)\uff09]"
    r"\s?[^\W\d_]{1,40}(?: [^\W\d_]{1,20}){0,3}\s?"
    rf"{_SECONDS}(?:{_RATE}|(?:[,\uff0c\u3001]\s{{0,9}}[\d.,]{{0,20}}\s?[A-Za-z]{{0,5}}/?)?\s{{0,9}}$)"
)
_WITHOUT_BYTES = re.compile(
    r"^(?:[^(\uff08]{0,60}?|[^(\uff08]{0,30}[(\uff08][^)\uff09]{1,60}[)\uff09]\s?)"
    rf"(?:copied|kopiert|copi\w{{1,5}}|\u590d\u5236|\u8907\u88fd|\u30b3\u30d4\u30fc)\s?{_SECONDS}{_RATE}"
)
_VERB_FIRST = re.compile(
    rf"^\s*[\u0400-\u04ff]{{4,20}} (?P<bytes>\d{{1,18}}) [\u0400-\u04ff]{{1,12}} \([^)]{{1,60}}\){_SECONDS}{_RATE}"
)
_BSD = re.compile(
    r"(?<![\w.,+/-])(?P<bytes>\d{1,18}) bytes transferred in (?P<seconds>\d[\d.,]{0,20}(?:e-?\d{1,2})?)"
    r" (?:secs?|seconds?)(?: \(|$)"
)
_IN_TABLE = re.compile(
    r"\|\s{0,40}+(?P<seconds>\d[\d.,]{0,20}+)\s?s(?:ec(?:onds?|s)?)?\s{0,40}+"
    r"\|\s{0,40}+(?P<rate>\d[\d.,]{0,20}+\s?[kKMGT]?i?B)/s\s{0,40}+(?:\||$)"
)
_GLUED = re.compile(
    r"(?=(?<!\d)\d{1,18}\+\d{1,18} records (?:in|out))|(?<=records in)(?=\d)|(?<=records out)(?=\d)"
    r"|(?<=[kMG]B/s)(?=[^\s`*,.;:)\]|])|(?<=bytes/sec\))(?=\S)"
)
_RECORDS = re.compile(r"^\s*(?:std(?:err|out): |[^\W\d_]{0,8})\d+\+\d+ ", re.IGNORECASE)
_HOST = re.compile(  # parallel-ssh, pdsh, and ansible print such a line above the output of each host
    r"^\s*(?:\[\d{1,5}\] \d\d:\d\d:\d\d \[[A-Z]{2,9}\] \S{1,60}|\S{1,60} \| [A-Z]{2,9} \| rc=\d{1,3} >>)\s*$"
)
_WRAPPED = re.compile(r"^\s*(?:if|of|bs|ibs|obs|count|skip|seek|oflag|iflag|conv|status)=\S")
_FAILED = re.compile(r"^\W*dd: (?:error reading|(?:reading|writing) |error writing).{0,300}: Input/output error\W*$")
_ELIDED = re.compile(r"^\W*(?:\.{3}|\u2026)\W*$")
_LABEL = re.compile(r"(?:^|[\s\W])(read|write)\W{1,4}$", re.IGNORECASE)
_LONGEST_RECORDS = 60
_CLOCK_ERROR_S = 0.02
_NEAR = 15
_PROGRESS_NEAR = 3
_ERROR_NEAR = 3
_AFTER = re.compile(r"^[^;&]*+[;&\s]*+")


def _find(numbered: Sequence[Line]) -> Iterator[ForeignResult]:
    commands: list[DdCommand] = []
    every: list[DdCommand] = []
    has_ended, last = False, 0
    cached = CachedFiles()
    numbered = [(number, part) for number, line in numbered for part in _separated(line)]
    for at, (line_number, line) in enumerate(numbered):
        cached.see(line)
        if found := list(dd_commands(line_number, _unwrapped(numbered, at))):
            commands, has_ended, last = found, False, line_number
            every += found
        match = _values(line)
        is_output = match or not line.strip() or _RECORDS.match(line) or _ELIDED.match(line) or _HOST.match(line)
        if has_ended and not found and not is_output:
            commands = []
        if match is None or _is_progress(numbered, at):
            continue
        near = commands[0] if commands and line_number - last <= _NEAR else None
        if near and (label := _LABEL.search(line[: match.start()])):
            near = _labelled(label[1].lower(), near, every)
        result = _result(line_number, match, near, cached.why(near.source) if near else "")
        if result is not None:
            yield _with_error(result) if _failed(numbered, at) else result
        if near is not None and near in commands and near.target not in NOWHERE and not near.has("oflag", "direct"):
            cached.write(near)
            cached.see(_AFTER.sub("", near.after, count=1))  # commands after dd on the same line run after it
        has_ended, last = True, line_number
        commands = commands[1:] or commands


def _labelled(label: str, near: DdCommand, every: Sequence[DdCommand]) -> DdCommand | None:
    """Return the last command that reads or writes as the label says, or None. `near` is preferred if it does.

    A script may print its results at its end.
    """
    fitting = [each for each in every if each.is_read == (label == "read")]
    return near if near in fitting else next(iter(reversed(fitting)), None)


def _unwrapped(numbered: Sequence[Line], at: int) -> str:
    """Return a line, joined with the next one if a mail program broke a dd command between two of its arguments."""
    line, below = numbered[at][1], numbered[at + 1][1] if at + 1 < len(numbered) else ""
    if "dd" not in line or not _WRAPPED.match(below):
        return line
    ends = (ARGUMENTS.match(line, match.end()) for match in COMMAND.finditer(line))
    is_broken = any(found is not None and not line[found.end() :].strip() for found in ends)
    return f"{line.rstrip()} {below.lstrip()}" if is_broken else line


def _separated(line: str) -> Sequence[str]:
    """Return the lines of dd's output in a line that has lost its line breaks."""
    return _GLUED.split(line) if "records out" in line and len(line) > _LONGEST_RECORDS else (line,)


def _values(line: str) -> re.Match[str] | None:
    if "|" in line and "dd" in line and (row := _IN_TABLE.search(line)):
        return row if COMMAND.search(line) else None
    if not ("," in line or "\uff0c" in line or "\u3001" in line or "bytes transferred" in line):
        return None
    return _GNU.search(line) or _VERB_FIRST.match(line) or _BSD.search(line) or _WITHOUT_BYTES.match(line)


def _is_progress(numbered: Sequence[Line], at: int) -> bool:
    """True if `status=progress` printed this line.

    dd prints a line with more bytes or its record counts after such a line.
    """
    below = [line for _, line in numbered[at + 1 : at + 1 + _PROGRESS_NEAR] if line.strip()][:1]
    if any(_RECORDS.match(line) for _, line in numbered[max(0, at - 2) : at]):
        return False
    return any(_RECORDS.match(line) or _continues(numbered[at][1], line) for line in below)


def _continues(line: str, below: str) -> bool:
    first, second = _GNU.search(line), _values(below)
    if first is None or second is None or second.re is not _GNU:
        return False
    later = (decimal(second["seconds"]) or 0.0) - (decimal(first["seconds"]) or 0.0)
    is_whole = abs(later - round(later)) < _CLOCK_ERROR_S and later > 0
    return is_whole and int(first["bytes"]) < int(second["bytes"])  # dd prints a line per second


def _failed(numbered: Sequence[Line], at: int) -> bool:
    """True if dd printed an I/O error above the record counts of this line."""
    for _, line in reversed(numbered[max(0, at - _ERROR_NEAR) : at]):
        if _FAILED.match(line):
            return True
        if not _RECORDS.match(line):
            return False
    return False


def _with_error(result: ForeignResult) -> ForeignResult:
    parts = tuple(replace(part, error=EIO) for part in result.outcome.parts)
    return replace(result, outcome=replace(result.outcome, parts=parts))


def _result(line: int, match: re.Match[str], command: DdCommand | None, written: str) -> ForeignResult | None:
    seconds, given = decimal(match["seconds"]), match.groupdict()
    rate = amount(given["rate"]) if "bytes" not in given else None
    moved = int(given.get("bytes") or 0) or round((rate or 0.0) * (seconds or 0.0))
    if not moved or not seconds:
        return None
    figures = values(io_bytes=None if rate else moved, seconds=seconds, bandwidth_bytes=rate or moved / seconds)
    if command is None:
        missing = ("the command, with dd's input, output, block size, direct flag and sync setting",)
        return ForeignResult("dd", line, line, outcome_of("dd", "dd", {"mixed": figures}), missing=missing)
    return result_of(line, figures, moved, command, written)


READER = FormatReader(
    "dd",
    (
        "https://github.com/akopytov/sysbench/issues/448 (GNU)",
        "https://github.com/openzfs/zfs/issues/1150 (GNU, before 2015)",
        "https://github.com/aikoncwd/rpi-benchmark/issues/10 (German)",
        "https://github.com/breuner/elbencho/issues/75 (status=progress)",
    ),
    _find,
    ("b/", "bytes/", "bytes transferred in", "copi", "kopiert", "\u590d\u5236", "\u8907\u88fd", "\u30b3\u30d4\u30fc"),
)
