"""How many disks there are, and the most that they can do: from `--devices`, or from the text around a result.

The flag: `--devices "3x nvme 3.2GB/s, 14x hdd"`. A kind without a rate gets a generous ceiling, so that no such
disk exceeds it: an HDD 300 MB/s, SATA 560 MB/s, SAS 1.2 GB/s, NVMe with four lanes 3.5, 7.3 and 14.5 GB/s by PCIe
generation.

The text: "three NVMe drives, each capable of 3.2 GB/s", "this disk … max writes 900MB/s". Only unambiguous statements
count: a number of disks with the rate of each, or the maximum of one disk in a text that mentions no stripe. Several
statements may be about different disks, so the largest is the bound for all.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from poolproof.errors import UsageError
from poolproof.units import format_rate

_PART = re.compile(
    r"^(?:(?P<count>\d{1,6})(?:\s*[x×*]\s*|\s*(?=[a-z])))?(?P<kind>[a-z][\w-]*)?(?:\s*[@:]?\s*(?P<rate>\d{1,12}(?:\.\d+)?)\s*(?P<unit>[kmgt]i?b)(?:/s|ps)?)?$"
)
_CEILINGS = {
    "hdd": 300e6, "smr": 300e6, "ssd": 560e6, "sata": 560e6, "sata-ssd": 560e6, "sas": 1.2e9, "sas-ssd": 1.2e9,
    "nvme": 14.5e9, "nvme3": 3.5e9, "nvme4": 7.3e9, "nvme5": 14.5e9,
}  # fmt: skip
_ROTATIONAL = ("hdd", "smr")
_UNITS = {"k": 1, "m": 2, "g": 3, "t": 4}
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
class Devices:
    """All disks together.

    `rotational`: all of them are rotational; None if the kind of one is unknown.
    `shingled`: at least one is an SMR disk. The kernel does not show this for drive-managed SMR; only the user knows.
    """

    disks: int
    ceiling_bytes_per_s: float
    rotational: bool | None
    shingled: bool = False


def parse_devices(texts: Sequence[str]) -> Devices:
    """Parse the values of all `--devices` flags; each may list several kinds, separated by commas.

    Raises:
        UsageError: a part cannot be parsed.
    """
    parts = [part.strip().lower() for text in texts for part in re.split(r"[,+;]", text) if part.strip()]
    each = [_parse_part(part) for part in parts]
    if not each:
        raise UsageError("--devices: no disk is given", 'use, for example, --devices "3x nvme 3.2GB/s"')
    rotational = [devices.rotational for devices in each]
    return Devices(
        disks=sum(devices.disks for devices in each),
        ceiling_bytes_per_s=sum(devices.ceiling_bytes_per_s for devices in each),
        rotational=None if None in rotational else all(rotational),
        shingled=any(devices.shingled for devices in each),
    )


def _parse_part(part: str) -> Devices:
    found = _PART.match(part)
    kind = found["kind"] if found else None
    if found is None or (kind is not None and kind not in _CEILINGS) or (kind is None and found["rate"] is None):
        raise UsageError(
            f"--devices: cannot parse {part!r}",
            f'use, for example, --devices "3x nvme 3.2GB/s"; the kinds are {", ".join(_CEILINGS)}',
        )
    count = int(found["count"] or 1)
    rate = _bytes_per_s(found["rate"], found["unit"]) if found["rate"] else _CEILINGS[kind or ""]
    return Devices(count, count * rate, None if kind is None else kind in _ROTATIONAL, kind == "smr")


def _bytes_per_s(number: str, unit: str) -> float:
    base = 1024 if "i" in unit else 1000
    return float(number) * float(base ** _UNITS[unit[0]])


@dataclass(frozen=True)
class Ceiling:
    """The most that all disks together can do, in bytes per second; None if unknown for that direction."""

    read_bytes_per_s: float | None
    write_bytes_per_s: float | None


@dataclass(frozen=True)
class Statement:
    """What the text says its disks can do, with its line (from 1) and its words; `sum` is the arithmetic."""

    line: int
    ceiling: Ceiling
    words: str
    sum: str


def find_statements(text: str, skip: Sequence[tuple[int, int]] = ()) -> tuple[Statement, ...]:
    """Return the statements in order of lines, without those in the line ranges `skip` (inclusive, from 1)."""
    one_disk_is_the_limit = _STRIPED.search(text) is None
    found: list[Statement | None] = []
    for line, paragraph in _paragraphs(text, skip):
        found += [_each(line, paragraph, match) for match in _EACH.finditer(paragraph)]
        if one_disk_is_the_limit:
            found += [_one(line, paragraph, match) for match in _ONE.finditer(paragraph)]
    return tuple(sorted(filter(None, found), key=lambda statement: statement.line))


def largest_above(statements: Sequence[Statement], line: int) -> Statement | None:
    """Return the statement above `line` that has the largest ceiling; None if there is none above."""
    above = [statement for statement in statements if statement.line < line]
    return max(above, key=lambda each: max(_bounds(each.ceiling)), default=None)


def _bounds(ceiling: Ceiling) -> tuple[float, float]:
    return ceiling.read_bytes_per_s or 0.0, ceiling.write_bytes_per_s or 0.0


def _each(line: int, paragraph: str, match: re.Match[str]) -> Statement | None:
    """Assume that a drive writes no faster than it reads. A write rate says nothing about reads."""
    count = _NUMBERS.get(match[1].lower()) or int(match[1])
    each = _parsed_rate(match[2])
    if each is None:
        return None
    total = f"{count} × {format_rate(each)} = {format_rate(count * each)}"
    return _statement(line, paragraph, match, count * each, match[3], total)


def _one(line: int, paragraph: str, match: re.Match[str]) -> Statement | None:
    rate = _parsed_rate(match[2])
    return (
        None if rate is None else _statement(line, paragraph, match, rate, f"{match[1]} {match[3]}", format_rate(rate))
    )


def _parsed_rate(text: str) -> float | None:
    """Return bytes per second; None if the number has too many digits to be a rate."""
    try:
        return parse_devices([text]).ceiling_bytes_per_s
    except UsageError:
        return None


def _statement(line: int, paragraph: str, match: re.Match[str], rate: float, direction: str, total: str) -> Statement:
    only_writes = "writ" in direction.lower() and "read" not in direction.lower()
    place = line + paragraph.count("\n", 0, match.start())
    scope = "for writes" if only_writes else "for reads, and a drive writes no faster than it reads"
    words = " ".join(match[0].split())
    return Statement(place, Ceiling(None if only_writes else rate, rate), words, f"at most {total} {scope}")


def _paragraphs(text: str, skip: Sequence[tuple[int, int]]) -> Iterator[tuple[int, str]]:
    """Yield (first line, paragraph) pairs."""
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
