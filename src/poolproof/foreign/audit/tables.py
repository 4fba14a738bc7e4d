"""Parse tables of fio results that scripts print: a header with columns such as `read-iops` and `bw_MB`, then rows.

In such a table, `MB` can mean 1000² or 1024² bytes. poolproof chooses the unit for which the bandwidth equals IOPS ×
block size. If neither unit fits, the bandwidth is left out. If the header does not mention reads or writes, the rows
must (`randread`). A cell can contain both values (`IOPS=1600, BW=6401KiB/s`).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from poolproof.foreign.audit.formats.amounts import amount, number, size_in_bytes
from poolproof.load.fio.pairing import FoundResult
from poolproof.load.fio.plain_lines import plain_lines
from poolproof.load.outcome import Direction, Outcome, PartOutcome

_IOPS = re.compile(r"^(?:(?:rand(?:om)?[-_ ]?)?(read|write|r|w)[-_ ]?)?iops$", re.IGNORECASE)
_BANDWIDTH = re.compile(
    r"^(?:(?:rand(?:om)?[-_ ]?)?(read|write|r|w)[-_ ]?)?(?:bw|bandwidth|throughput)"
    r"(?:[-_ ]?[(\[]?([kmg]i?b)(?:/s(?:ec)?|ps)?[)\]]?)?$",
    re.IGNORECASE,
)
_PAIR_HEAD = re.compile(r"^(?:iops\s?[&/,+]\s?(?:bw|bandwidth)|(?:bw|bandwidth)\s?[&/,+]\s?iops)$", re.IGNORECASE)
_PAIR = re.compile(r"^IOPS=(?P<iops>\d[\d.]{0,12}[kM]?), ?BW=(?P<rate>\d[\d.]{0,12} ?[KMGT]?i?B)/s$")
_SIDE = re.compile(r"^(?:rand(?:om)?[-_ ]?|seq(?:uential)?[-_ ]?)?(read|write)s?$", re.IGNORECASE)
_IOPS_CELL = re.compile(r"^(?P<iops>\d[\d.,]{0,12}[kM]?) ?IOPS$", re.IGNORECASE)
_LINE = re.compile(
    r"^[\s>*-]{0,20}(?P<name>(?!\s{0,9}(?:read|write|trim)\s{0,9}:)[^|:=]{1,60}?)\s{0,9}[:=-]?\s{0,9}"
    r"IOPS=(?P<iops>\d[\d.]{0,12}[kM]?), ?BW=(?P<rate>\d[\d.]{0,12} ?[KMGT]?i?B)/s\s{0,9}$"
)
_READS, _WRITES = re.compile(r"read|读", re.IGNORECASE), re.compile(r"write|写", re.IGNORECASE)
_BLOCK = re.compile(r"^(?:bs|block[-_ ]?size)$", re.IGNORECASE)
_NUMBER = re.compile(r"\d{1,15}(?:\.\d{1,20})?|\d{1,3}(?:,\d{3}){1,5}(?:\.\d{1,20})?|\d{1,9}(?:\.\d{1,9})?[kM]")
_SPLIT = re.compile(r"\t|,|;|\s{2,}|\s*\|\s*")
_CELLS = re.compile(r"\|")
_TOLERANCE = 0.02
_MAX_BLANK_LINES = 1
_MOST_OTHER_ROWS = 40
_LARGEST_BLOCK_BYTES = 1 << 40


@dataclass(frozen=True)
class _TableColumn:
    kind: str
    direction: str = ""
    unit: str = ""


def find_tables(text: str, taken: Sequence[tuple[int, int]] = ()) -> tuple[FoundResult, ...]:
    """Return one result for each table row, and for each line such as `randread: IOPS=52.1k, BW=203MiB/s`.

    Lines in the `taken` ranges (1-based, inclusive) are ignored.
    """
    inside = {number for first, last in taken for number in range(first, last + 1)}
    numbered = [(at, line) for at, line in plain_lines(text) if at not in inside]
    found: list[FoundResult] = []
    for place, (_, line) in enumerate(numbered):
        lower = line.lower()
        if not ("iops" in lower or "read" in lower or "write" in lower):
            continue  # every header, and every line with both values, has one of these words
        columns = [_column(word) for word in _words(line.lstrip("# "))]
        kinds = {column.kind for column in columns}
        is_rated = "iops" in kinds and kinds & {"bandwidth", "block"}
        if is_rated or "pair" in kinds or ("side" in kinds and len(columns) > 1):
            found += _rows(numbered, place + 1, columns)
        elif match := _LINE.match(line):
            found += _line(numbered[place][0], match)
    return tuple(found)


def _line(line_number: int, match: re.Match[str]) -> Iterator[FoundResult]:
    """Yield the result on a line such as `randread: IOPS=52.1k, BW=203MiB/s` if the name mentions reads or writes."""
    direction, name = _named_direction(match["name"]), match["name"].strip()
    if direction:
        values = _pair(match)
        is_read = direction == "read"
        part = PartOutcome(name, read=values if is_read else None, write=None if is_read else values)
        yield FoundResult(Outcome("", (part,)), line_number, line_number, "text")


def _words(line: str) -> list[str]:
    split = _CELLS if line.count("|") > 1 else _SPLIT
    return [word.strip() for word in split.split(line.strip().strip("|"))]


def _column(word: str) -> _TableColumn:
    for kind, form in (("iops", _IOPS), ("bandwidth", _BANDWIDTH)):
        match = form.match(word)
        if match is not None:
            direction = {"r": "read", "w": "write"}.get((match[1] or "").lower()[:1], "mixed")
            return _TableColumn(kind, direction, (match[2] or "").lower() if kind == "bandwidth" else "")
    if _PAIR_HEAD.match(word):
        return _TableColumn("pair", "mixed")
    if match := _SIDE.match(word):
        return _TableColumn("side", match[1].lower())
    return _TableColumn("block" if _BLOCK.match(word) else "name")


def _rows(numbered: Sequence[tuple[int, str]], start: int, columns: Sequence[_TableColumn]) -> Iterator[FoundResult]:
    blank = other = 0
    for at in range(start, len(numbered)):  # a slice would copy the rest of the text for each header
        line_number, line = numbered[at]
        blank = blank + 1 if not line.strip(" -|:") else 0
        if blank > _MAX_BLANK_LINES:
            return
        if blank:
            continue
        words = _words(line)
        result = _row(words, columns)
        if result is None:
            other += 1
            is_row = len(words) == len(columns) and other <= _MOST_OTHER_ROWS
            if is_row and any(column.kind == "side" for column in columns):
                continue  # such tables also have rows with other units
            return
        yield FoundResult(result, line_number, line_number, "text")


def _row(words: Sequence[str], columns: Sequence[_TableColumn]) -> Outcome | None:
    if len(words) != len(columns):
        return None
    cells = list(zip(columns, words, strict=True))
    name = " ".join(word for column, word in cells if column.kind in ("name", "block"))
    values = [(column, word) for column, word in cells if column.kind in ("iops", "bandwidth")]
    if not all(_NUMBER.fullmatch(word) for _, word in values):
        return None
    block = next((_block_bytes(word) for column, word in cells if column.kind == "block"), None)
    read, write, mixed = (_direction(values, name, block) for name in ("read", "write", "mixed"))
    sides = {column.direction: _side(word) for column, word in cells if column.kind == "side"}
    read, write = read or sides.get("read"), write or sides.get("write")
    pairs = [_PAIR.match(word) for column, word in cells if column.kind == "pair"]
    mixed = mixed or next((_pair(pair) for pair in pairs if pair), None)
    if mixed is not None and (named := _named_direction(name)):
        read, write, mixed = (mixed, write, None) if named == "read" else (read, mixed, None)
    if not (read or write or mixed):
        return None
    return Outcome("", (PartOutcome(name, read=read, write=write, mixed=mixed),))


def _side(cell: str) -> Direction | None:
    """Return the rate in a cell such as `52.1k IOPS` below the header `Read`, or None if the cell is anything else."""
    match = _IOPS_CELL.match(cell)
    iops = number(match["iops"]) if match else None
    return Direction(iops=iops) if iops else None


def _pair(cell: re.Match[str]) -> Direction:
    """Return the values of a cell such as `IOPS=1600, BW=6401KiB/s`."""
    return Direction(iops=number(cell["iops"]), bandwidth_bytes=amount(cell["rate"]))


def _named_direction(name: str) -> str:
    """Return the direction that a name mentions (`read` or `write`), or an empty string for neither or both."""
    reads, writes = _READS.search(name) is not None, _WRITES.search(name) is not None
    return "" if reads == writes else "read" if reads else "write"


def _direction(values: Sequence[tuple[_TableColumn, str]], name: str, block: int | None) -> Direction | None:
    """Return a row's values for one direction (`read`, `write` or `mixed`), or None if its IOPS are 0 or missing."""
    found = {column.kind: (column.unit, number(word) or 0.0) for column, word in values if column.direction == name}
    _, iops = found.get("iops", ("", 0.0))
    if not iops:
        return None
    unit, bandwidth = found.get("bandwidth", ("", 0.0))
    if not unit or (block is None and "i" not in unit):
        return Direction(iops=iops)
    bases = (1024.0,) if "i" in unit else (1000.0, 1024.0)
    candidates = [bandwidth * base ** (1 + "kmg".index(unit[0])) for base in bases]
    if block is None:
        return Direction(iops=iops, bandwidth_bytes=candidates[0] or None)
    expected = iops * block
    fitting = (rate for rate in candidates if abs(rate - expected) <= _TOLERANCE * expected)
    return Direction(iops=iops, bandwidth_bytes=next(fitting, None))


def _block_bytes(word: str) -> int | None:
    size = size_in_bytes(word)
    return size if size is not None and size <= _LARGEST_BLOCK_BYTES else None
