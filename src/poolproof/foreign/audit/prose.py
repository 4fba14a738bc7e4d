"""What a text says about its disks: "three NVMe drives, each capable of 3.2 GB/s", "this disk … max writes 900MB/s".

Only what leaves no doubt is taken: a number of disks with the rate of each, or the most that one disk can do where no
stripe over several is told of. Several such statements may be about several disks: the largest bounds them all.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from poolproof.errors import UsageError
from poolproof.foreign.audit.devices import parse_devices
from poolproof.units import format_rate

_NUMBERS = {
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "ten": 10,
    "twelve": 12,
}
_DISK = r"(?:disk|drive|ssd|hdd|nvme(?:\s+(?:drive|disk|ssd))?|nvm\w*\s+(?:disk|drive|ssd))"
_RATE = r"(\d+(?:\.\d+)?\s?[kMGT]i?B/s)"
_LIMIT = r"(?:capable of|rated (?:at|for)|max(?:imum)?|at most|up to|no more than|can (?:do|reach|sustain))"
_EACH = re.compile(
    rf"\b(\d{{1,3}}|{'|'.join(_NUMBERS)})\s+(?:[\w.-]+\s+){{0,3}}?{_DISK}s\b[^.!?]{{0,40}}?\beach\b[^.!?]{{0,40}}?"
    rf"{_LIMIT}\s+(?:about\s+|around\s+|~\s*)?{_RATE}([^.!?\n(,;:]{{0,30}})",
    re.IGNORECASE,
)
_ONE = re.compile(
    rf"\b(?:this|the|my|one|same|single|a)\s+(?:[\w.-]+\s+){{0,3}}?{_DISK}\b"
    rf"(?:(?!\b(?:disk|drive|ssd|hdd)s\b)[^.!?]){{0,60}}?\b{_LIMIT}((?:\s+[\w-]+){{0,4}}?)\s+(?:about\s+|around\s+|~\s*)?{_RATE}([^.!?\n(,;:]{{0,30}})",
    re.IGNORECASE,
)
_STRIPED = re.compile(r"\b(?:raid-?(?:0|5|6|10|z)|raidz\d?|draid|strip(?:e|ed|ing))\b", re.IGNORECASE)
_LONGEST_PARAGRAPH = 4000


@dataclass(frozen=True)
class Ceiling:
    """The most that all disks together carry, in bytes per second; None where nothing is said of that direction."""

    read_bytes_per_s: float | None
    write_bytes_per_s: float | None


@dataclass(frozen=True)
class Statement:
    """What the text says its disks can do, where (a line from 1) and in which words; `sum` is the arithmetic."""

    line: int
    ceiling: Ceiling
    words: str
    sum: str


def find_statements(text: str, skip: Sequence[tuple[int, int]] = ()) -> tuple[Statement, ...]:
    """Every statement outside the lines to skip (first and last, from 1), in order of lines."""
    one_disk_is_the_limit = _STRIPED.search(text) is None
    found: list[Statement | None] = []
    for line, paragraph in _paragraphs(text, skip):
        found += [_each(line, paragraph, match) for match in _EACH.finditer(paragraph)]
        if one_disk_is_the_limit:
            found += [_one(line, paragraph, match) for match in _ONE.finditer(paragraph)]
    return tuple(sorted(filter(None, found), key=lambda statement: statement.line))


def largest_above(statements: Sequence[Statement], line: int) -> Statement | None:
    """The statement of the largest ceiling that stands above a line; None without one."""
    above = [statement for statement in statements if statement.line < line]
    return max(above, key=lambda each: max(_bounds(each.ceiling)), default=None)


def _bounds(ceiling: Ceiling) -> tuple[float, float]:
    return ceiling.read_bytes_per_s or 0.0, ceiling.write_bytes_per_s or 0.0


def _each(line: int, paragraph: str, match: re.Match[str]) -> Statement | None:
    """A drive is taken to write no faster than it reads; what it can write says nothing of its reads."""
    count = _NUMBERS.get(match[1].lower()) or int(match[1])
    each = _rate(match[2])
    if each is None:
        return None
    total = f"{count} × {format_rate(each)} = {format_rate(count * each)}"
    return _statement(line, paragraph, match, count * each, match[3], total)


def _one(line: int, paragraph: str, match: re.Match[str]) -> Statement | None:
    rate = _rate(match[2])
    return (
        None if rate is None else _statement(line, paragraph, match, rate, f"{match[1]} {match[3]}", format_rate(rate))
    )


def _rate(text: str) -> float | None:
    """None of a number that no disk has, such as one of nineteen digits."""
    try:
        return parse_devices([text]).ceiling_bytes_per_s
    except UsageError:
        return None


def _statement(line: int, paragraph: str, match: re.Match[str], rate: float, direction: str, total: str) -> Statement:
    only_writes = "writ" in direction.lower() and "read" not in direction.lower()
    place = line + paragraph.count("\n", 0, match.start())
    end = "for writes" if only_writes else "for reads, and a drive writes no faster than it reads"
    words = " ".join(match[0].split())
    return Statement(place, Ceiling(None if only_writes else rate, rate), words, f"at most {total} {end}")


def _paragraphs(text: str, skip: Sequence[tuple[int, int]]) -> Iterator[tuple[int, str]]:
    """(line of its start, paragraph) pairs."""
    hidden = {line for first, last in skip for line in range(first, last + 1)}
    lines: list[str] = []
    start = 1
    for number, line in enumerate([*text.split("\n"), ""], start=1):
        if line.strip() and number not in hidden:
            start = number if not lines else start
            lines.append(line)
            continue
        paragraph = "\n".join(lines)
        if lines and len(paragraph) <= _LONGEST_PARAGRAPH:
            yield start, paragraph
        lines = []
