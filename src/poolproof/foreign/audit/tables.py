"""Tables of fio results that a script has made: a header with columns such as `read-iops` and `bw_MB`, and rows.

`MB` is ambiguous in such a table. The unit is the one in which the bandwidth equals IOPS × block size. If none fits,
the bandwidth is left out.
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
_SPLIT = re.compile(r"\t|,|;|\s{2,}|\s*\|\s*")
_UNITS = {"k": 1, "m": 2, "g": 3}
_TOLERANCE = 0.02
_MAX_BLANK_LINES = 1
_LARGEST_BLOCK_BYTES = 1 << 40


@dataclass(frozen=True)
class _Column:
    kind: str
    direction: str
    unit: str = ""

    @property
    def is_value(self) -> bool:
        return self.kind in ("iops", "bandwidth")


def find_tables(text: str, taken: Sequence[tuple[int, int]] = ()) -> tuple[FoundResult, ...]:
    """Return one result per table row. The line ranges in `taken` (inclusive, from 1) are skipped."""
    inside = {number for first, last in taken for number in range(first, last + 1)}
    numbered = [(number, line) for number, line in plain_lines(text) if number not in inside]
    found: list[FoundResult] = []
    for place, (_, line) in enumerate(numbered):
        columns = _header(line)
        if columns is not None:
            found += _rows(numbered[place + 1 :], columns)
    return tuple(found)


def _header(line: str) -> list[_Column] | None:
    """Return the columns of a header; None unless they include IOPS and a block size or a bandwidth."""
    words = _words(line.lstrip("# "))
    columns = [_column(word) for word in words]
    kinds = {column.kind for column in columns}
    return columns if "iops" in kinds and kinds & {"bandwidth", "block"} else None


def _words(line: str) -> list[str]:
    return [word.strip() for word in _SPLIT.split(line.strip().strip("|"))]


def _column(word: str) -> _Column:
    iops, bandwidth = _IOPS.match(word), _BANDWIDTH.match(word)
    if iops is not None:
        return _Column("iops", _direction(iops[1]))
    if bandwidth is not None:
        return _Column("bandwidth", _direction(bandwidth[1]), (bandwidth[2] or "").lower())
    return _Column("block" if _BLOCK.match(word) else "name", "")


def _direction(word: str | None) -> str:
    return {"r": "read", "w": "write"}.get((word or "").lower()[:1], "mixed")


def _rows(numbered: Sequence[tuple[int, str]], columns: Sequence[_Column]) -> Iterator[FoundResult]:
    blank = 0
    for number, line in numbered:
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
    if any(_number(word) is None for column, word in cells if column.is_value):
        return None
    block = next((_size(word) for column, word in cells if column.kind == "block"), None)
    read, write, mixed = (_values(cells, name, block) for name in ("read", "write", "mixed"))
    if not (read or write or mixed):
        return None
    name = " ".join(word for column, word in cells if not column.is_value)
    return Outcome("", (PartOutcome(name, read=read, write=write, mixed=mixed),))


def _values(cells: Sequence[tuple[_Column, str]], direction: str, block: int | None) -> Direction | None:
    """Return the values of one direction of a row; None if its IOPS are 0 or missing."""
    values = {column.kind: (column, _number(word)) for column, word in cells if column.direction == direction}
    _, iops = values.get("iops", (None, None))
    column, rate = values.get("bandwidth", (None, None))
    if not iops:
        return None
    if column is None or rate is None or block is None:
        return Direction(iops=iops)
    return Direction(iops=iops, bandwidth_bytes=_bandwidth(rate, column.unit, iops * block))


def _bandwidth(value: float, unit: str, expected: float) -> float | None:
    """Return bytes per second, in the unit in which it equals IOPS × block size; None if none fits."""
    powers = [_UNITS[unit[0]]] if unit else []
    candidates = [value * base**power for power in powers for base in (1000.0, 1024.0)]
    return next((rate for rate in candidates if abs(rate - expected) <= _TOLERANCE * expected), None)


def _number(word: str) -> float | None:
    return float(word) if re.fullmatch(r"\d{1,15}(?:\.\d{1,20})?", word) else None


def _size(word: str) -> int | None:
    try:
        size = parse_size(word)
    except (ValueError, OverflowError):
        return None
    return size if size <= _LARGEST_BLOCK_BYTES else None
