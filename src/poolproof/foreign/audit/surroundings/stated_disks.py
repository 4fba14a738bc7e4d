"""Find sentences that state the speed of the disks.

Three kinds of sentence are used. One gives the number of disks and the rate of each disk ("three NVMe drives, each
capable of 3.2 GB/s"). The others are about a single disk and are ignored if the text mentions striping: its maximum
rate ("this disk … max writes 900MB/s"), or its specified rate ("an SSD with a write spec of 900MB/s"), which a disk may
exceed by half. If several sentences apply, the highest rate is used, because the sentences may describe different
disks. A limit on the I/Os per second, such as that of a cloud volume, is used in the same way.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from poolproof.errors import UsageError
from poolproof.foreign.audit.context import parse_devices
from poolproof.foreign.audit.surroundings.quoted_conditions import quotation
from poolproof.load.fio.plain_lines import Line
from poolproof.units import format_rate

_NUMBERS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "ten": 10, "twelve": 12,
}  # fmt: skip
_DISK = r"(?:disk|drive|ssd|hdd|nvme(?:\s+(?:drive|disk|ssd))?|nvm\w*\s+(?:disk|drive|ssd))"
_RATE = r"(?P<rate>\d+(?:\.\d+)?\s?[kMGT]i?B/s)(?P<after>[^.!?\n(,;:]{0,30})"
_LIMIT = r"(?:capable of|rated (?:at|for)|max(?:imum)?|at most|up to|no more than|can (?:do|reach|sustain))"
_EACH = re.compile(
    rf"\b(?P<count>\d{{1,3}}|{'|'.join(_NUMBERS)})\s+(?:[\w.-]+\s+){{0,3}}?{_DISK}s\b[^.!?]{{0,40}}?\beach\b"
    rf"[^.!?]{{0,40}}?{_LIMIT}\s+(?:about\s+|around\s+|~\s*)?{_RATE}",
    re.IGNORECASE,
)
_ONE = re.compile(
    rf"\b(?:this|the|my|one|same|single|a)\s+(?:[\w.-]+\s+){{0,3}}?{_DISK}\b"
    rf"(?:(?!\b(?:disk|drive|ssd|hdd)s\b)[^.!?]){{0,60}}?\b{_LIMIT}(?P<before>(?:\s+[\w-]+){{0,4}}?)"
    rf"\s+(?:about\s+|around\s+|~\s*)?{_RATE}",
    re.IGNORECASE,
)
_COUNT_OF_IOPS = r"(?P<iops>\d{1,3}(?:,\d{3}){1,2}|\d{3,7}|\d{1,4}(?:\.\d)?[kK])"
_IOPS_LIMITS = (
    re.compile(
        rf"\b(?:provisioned|qos|limit)[ _-]?IOPS ?(?:[:=]|of|at|is)? ?{_COUNT_OF_IOPS}(?![\w.%])",
        re.IGNORECASE,
    ),
    re.compile(
        r"\b(?:provisioned|rated|spec(?:s|ified|ification)?|limit(?:ed)?|capped|throttled)"
        r"(?: (?:at|to|for|of|with|is)){0,2} "
        rf"{_COUNT_OF_IOPS} (?:(?:provisioned|random|read|write) ){{0,2}}IOPS\b",
        re.IGNORECASE,
    ),
    re.compile(rf"(?<![\w.,]){_COUNT_OF_IOPS} provisioned IOPS\b", re.IGNORECASE),
)
_NOT_A_LIMIT = re.compile(
    r"\b(?:not|n't|no|without|un(?:limited|capped)|was|were|got|reach\w*|measured)\b|n't\b", re.IGNORECASE
)
_SPECIFIED = re.compile(
    rf"\b(?P<disk>{_DISK})\b(?:(?!\b(?:disk|drive|ssd|hdd)s\b)[^.!?]){{0,60}}?(?P<before>(?:\b[\w-]+\s+){{0,3}})"
    r"\b(?:spec(?:s|ced|ified|ifications?)?|rating)\s*(?:of|at|for|is|are|:)?\s*"
    rf"(?:\d[\d.,]*\s?[kM]?\s?iops\s*(?:and|with|[,/&])\s*)?(?:about\s+|around\s+|~\s*)?{_RATE}",
    re.IGNORECASE,
)
_STRIPED = re.compile(r"\b(?:raid-?(?:0|5|6|10|z)|raidz\d?|draid|strip(?:e|ed|ing))\b", re.IGNORECASE)
_OVER_SPECIFICATION = 1.5
_LONGEST_PARAGRAPH = 4000
_LONGEST_LINE, _NEAR = 400, 25


@dataclass(frozen=True)
class Statement:
    """A sentence about the disks, and the highest rate that they can reach together, in bytes per second.

    `line`: the sentence's line, numbered from 1.
    `words`: the sentence itself.
    `read_bytes_per_s`: the rate for reads, or None if the sentence gives only a write rate.
    `sum`: the calculation of the rate, as text.
    """

    line: int
    read_bytes_per_s: float | None
    write_bytes_per_s: float
    words: str
    sum: str


def find_statements(text: str, skip: Sequence[tuple[int, int]] = ()) -> tuple[Statement, ...]:
    """Return all statements about disk speed in the text, in line order.

    Lines in the `skip` ranges (1-based, inclusive) are ignored.
    """
    patterns = [_EACH] if _STRIPED.search(text) else [_EACH, _ONE, _SPECIFIED]
    found = [
        _statement(line + paragraph.count("\n", 0, match.start()), match)
        for line, paragraph in _paragraphs(text, skip)
        for pattern in patterns
        for match in pattern.finditer(paragraph)
    ]
    return tuple(sorted(filter(None, found), key=lambda statement: statement.line))


def largest_above(statements: Sequence[Statement], line: int) -> Statement | None:
    """Return the statement above `line` with the highest rate, or None if there are no statements above `line`."""
    above = [statement for statement in statements if statement.line < line]
    return max(above, key=lambda each: each.write_bytes_per_s, default=None)


def find_iops_limits(numbered: Sequence[Line]) -> Iterator[tuple[int, float, str]]:
    """Yield each line with a higher limit than those above it: its number, the I/Os per second and a quotation.

    Examples are `provisioned IOPS 6000` and `limited to 16k IOPS`. A text may describe several volumes.
    """
    highest = 0.0
    for number, line in numbered:
        if "iops" not in line.lower() or len(line) > _LONGEST_LINE:
            continue
        for match in filter(None, (pattern.search(line) for pattern in _IOPS_LIMITS)):
            if _NOT_A_LIMIT.search(line, max(0, match.start() - _NEAR), match.end()):
                continue
            words = match["iops"].lower().replace(",", "")
            limit = float(words.rstrip("k")) * (1000 if words.endswith("k") else 1)
            if limit > highest:
                highest = limit
                yield number, limit, quotation(number, match[0])


def _statement(line: int, match: re.Match[str]) -> Statement | None:
    """Return the claim made by a matched sentence, or None if its rate cannot be parsed.

    A read rate also limits writes, because a drive is assumed to write no faster than it reads. A write rate does not
    limit reads.
    """
    named = match.groupdict()
    try:
        each = parse_devices([named["rate"]]).ceiling_bytes_per_s
    except UsageError:
        return None
    total, arithmetic = each, format_rate(each)
    if "count" in named:
        count = _NUMBERS.get(named["count"].lower()) or int(named["count"])
        total = count * each
        arithmetic = f"{count} × {format_rate(each)} = {format_rate(total)}"
    elif "disk" in named:
        total = _OVER_SPECIFICATION * each
        arithmetic = f"{_OVER_SPECIFICATION} × the specified {format_rate(each)} = {format_rate(total)}"
    direction = f"{named.get('before', '')} {named['after']}".lower()
    only_writes = "writ" in direction and "read" not in direction
    scope = "for writes" if only_writes else "for reads, and a drive writes no faster than it reads"
    words = " ".join(match[0].split())
    return Statement(line, None if only_writes else total, total, words, f"at most {arithmetic} {scope}")


def _paragraphs(text: str, skip: Sequence[tuple[int, int]]) -> Iterator[tuple[int, str]]:
    """Yield each paragraph and the number of its first line. Paragraphs of more than 4000 characters are skipped."""
    hidden = {line for first, last in skip for line in range(first, last + 1)}
    lines: list[str] = []
    for number, line in enumerate([*text.split("\n"), ""], start=1):
        if line.strip() and number not in hidden:
            lines.append(line)
            continue
        paragraph = "\n".join(lines)
        if lines and len(paragraph) <= _LONGEST_PARAGRAPH:
            yield number - len(lines), paragraph
        lines = []
