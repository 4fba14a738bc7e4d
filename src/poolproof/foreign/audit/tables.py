"""Read tables of fio results that scripts print: a header with columns such as `read-iops` and `bw_MB`, then rows.

In such a table, `MB` may mean 1000² or 1024² bytes. Of the two, poolproof picks the unit with which the bandwidth
equals IOPS × block size. If neither unit fits, the bandwidth is left out.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from poolproof.load.fio.pairing import FoundResult
from poolproof.load.fio.plain_lines import plain_lines
from poolproof.load.outcome import Direction, Outcome, PartOutcome
from poolproof.units import parse_size

_IOPS = re.compile(r"^(?:(read|write|r|w)[-_ ]?)?iops$", re.IGNORECASE)
_BANDWIDTH = re.compile(r"^(?:(read|write|r|w)[-_ ]?)?(?:bw|bandwidth)(?:[-_ ]?([kmg]i?b)(?:/s|ps)?)?$", re.IGNORECASE)
_BLOCK = re.compile(r"^(?:bs|block[-_ ]?size)$", re.IGNORECASE)
_NUMBER = re.compile(r"\d{1,15}(?:\.\d{1,20})?")
_SPLIT = re.compile(r"\t|,|;|\s{2,}|\s*\|\s*")
_TOLERANCE = 0.02
_MAX_BLANK_LINES = 1
_LARGEST_BLOCK_BYTES = 1 << 40


@dataclass(frozen=True)
class _Column:
    kind: str
    direction: str = ""
    unit: str = ""


def find_tables(text: str, taken: Sequence[tuple[int, int]] = ()) -> tuple[FoundResult, ...]:
    """Return one result per table row. Lines in the `taken` ranges (1-based, inclusive) are ignored."""
    inside = {number for first, last in taken for number in range(first, last + 1)}
    numbered = [(number, line) for number, line in plain_lines(text) if number not in inside]
    found: list[FoundResult] = []
    for place, (_, line) in enumerate(numbered):
        columns = [_column(word) for word in _words(line.lstrip("# "))]
        kinds = {column.kind for column in columns}
        if "iops" in kinds and kinds & {"bandwidth", "block"}:
            found += _rows(numbered, place + 1, columns)
    return tuple(found)


def _words(line: str) -> list[str]:
    return [word.strip() for word in _SPLIT.split(line.strip().strip("|"))]


def _column(word: str) -> _Column:
    for kind, form in (("iops", _IOPS), ("bandwidth", _BANDWIDTH)):
        match = form.match(word)
        if match is not None:
            direction = {"r": "read", "w": "write"}.get((match[1] or "").lower()[:1], "mixed")
            return _Column(kind, direction, (match[2] or "").lower() if kind == "bandwidth" else "")
    return _Column("block" if _BLOCK.match(word) else "name")


def _rows(numbered: Sequence[tuple[int, str]], start: int, columns: Sequence[_Column]) -> Iterator[FoundResult]:
    blank = 0
    for number, line in numbered[start:]:
        blank = blank + 1 if not line.strip(" -|:") else 0
        if blank > _MAX_BLANK_LINES:
            return
        if blank:
            continue
        result = _row(_words(line), columns)
        if result is None:
            return
        yield FoundResult(result, number, number, "text")


def _row(words: Sequence[str], columns: Sequence[_Column]) -> Outcome | None:
    if len(words) != len(columns):
        return None
    cells = list(zip(columns, words, strict=True))
    values = [(column, word) for column, word in cells if column.kind in ("iops", "bandwidth")]
    if not all(_NUMBER.fullmatch(word) for _, word in values):
        return None
    block = next((_block_bytes(word) for column, word in cells if column.kind == "block"), None)
    read, write, mixed = (_direction(values, name, block) for name in ("read", "write", "mixed"))
    if not (read or write or mixed):
        return None
    name = " ".join(word for column, word in cells if column.kind in ("name", "block"))
    return Outcome("", (PartOutcome(name, read=read, write=write, mixed=mixed),))


def _direction(values: Sequence[tuple[_Column, str]], name: str, block: int | None) -> Direction | None:
    """Return the values of one direction in a row; None if the IOPS of that direction are 0 or missing."""
    found = {column.kind: (column.unit, float(word)) for column, word in values if column.direction == name}
    _, iops = found.get("iops", ("", 0.0))
    if not iops:
        return None
    unit, bandwidth = found.get("bandwidth", ("", 0.0))
    if not unit or block is None:
        return Direction(iops=iops)
    expected = iops * block
    candidates = [bandwidth * base ** (1 + "kmg".index(unit[0])) for base in (1000.0, 1024.0)]
    fitting = (rate for rate in candidates if abs(rate - expected) <= _TOLERANCE * expected)
    return Direction(iops=iops, bandwidth_bytes=next(fitting, None))


def _block_bytes(word: str) -> int | None:
    try:
        size = parse_size(word)
    except (ValueError, OverflowError):
        return None
    return size if size <= _LARGEST_BLOCK_BYTES else None
