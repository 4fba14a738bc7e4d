"""What other programs put before each line of fio's output: time stamps, container names, line numbers, comment signs.

A margin is taken away only from lines that follow each other with the same kind of it, and only where fio's own words
come out behind it.
"""

import re
from collections.abc import Iterator, Sequence

Line = tuple[int, str]

_MARGIN = re.compile(
    r"(?P<stamp>\[?(?:\d{4}-\d\d-\d\d[ T])?\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]?:?(?=\s|$))"
    r"|(?P<journal>[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \S+ [\w./-]+(?:\[\d+\])?:(?=\s|$))"
    r"|(?P<number>\s{0,7}\d{1,6}(?:\s?[:.)|])?(?=\s|$))"
    r"|(?P<container>\w[\w./-]* +\|(?=\s|$))"
    r"|(?P<speaker>[\w.@-]{1,30}>(?=\s|$))"
    r"|(?P<sign>\s{0,3}(?:#+|//|[*|;-])(?=\s|$)|\+)"
)
_DIGITS = re.compile(r"\d+")
_FIO = re.compile(
    r"\s*(?:(?:read|write|trim|mixed)\s*:\s*(?:IOPS|io)=|(?:READ|WRITE|TRIM|MIXED): (?:bw|io)="
    r"|(?:slat|clat|lat|sync) \([num]?sec\)\s*: min=|bw\s*\(\s*[kKMG]i?B\s*/s\): min=|Run status group \d"
    r'|"fio version"|[2-5];fio-|\S.*: \((?:groupid|g)=\s*\d+)'
)
_FEWEST_NUMBERED = 2


def without_margins(lines: Sequence[Line]) -> list[Line]:
    """The lines, each without its margin where it has one."""
    return [line for block in _blocks(lines) for line in _bare(block)]


def _blocks(lines: Sequence[Line]) -> Iterator[list[tuple[Line, re.Match[str] | None]]]:
    """Lines that follow each other with one kind of margin, or with none."""
    block: list[tuple[Line, re.Match[str] | None]] = []
    for line in lines:
        match = _MARGIN.match(line[1])
        if block and not _goes_on(block[-1][1], match):
            yield block
            block = []
        block.append((line, match))
    if block:
        yield block


def _goes_on(before: re.Match[str] | None, match: re.Match[str] | None) -> bool:
    """The same kind: numbers count on by one, names and signs stay the same."""
    if before is None or match is None:
        return before is match
    kind = match.lastgroup
    if kind != before.lastgroup or kind == "number":
        return kind == before.lastgroup and _number(match) == _number(before) + 1
    return kind in ("stamp", "journal") or match[0].strip() == before[0].strip()


def _number(match: re.Match[str]) -> int:
    digits = _DIGITS.search(match[0])
    return int(digits[0]) if digits else 0


def _bare(block: Sequence[tuple[Line, re.Match[str] | None]]) -> list[Line]:
    kind = block[0][1].lastgroup if block[0][1] else None
    if kind is None or (kind == "number" and len(block) < _FEWEST_NUMBERED):
        return [line for line, _ in block]
    bare = [(number, text[match.end() :] if match else text) for (number, text), match in block]
    return bare if any(_FIO.match(text) for _, text in bare) else [line for line, _ in block]
