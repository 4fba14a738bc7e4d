"""Parse tables of fio results that scripts print: a header with columns such as `read-iops` and `bw_MB`, then rows.

In such a table, `MB` can mean 1000² or 1024² bytes. poolproof chooses the unit for which the bandwidth equals IOPS ×
block size. If neither unit fits, the bandwidth is left out. If the header does not mention reads or writes, the rows
must (`randread`). If a cell contains both values (`IOPS=1600, BW=6401KiB/s`), each cell is a result. Such pairs of
values are also found in sentences that mention reads or writes in front of them.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

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
_BOTH = re.compile(
    r"IOPS ?[=:] ?(?P<iops>\d[\d.]{0,12}[kM]?) ?[,;/&]? ?BW ?[=:] ?(?P<rate>\d[\d.]{0,12} ?[kKMGT]?i?B)/s"
    r"|BW ?[=:] ?(?P<first>\d[\d.]{0,12} ?[kKMGT]?i?B)/s(?: ?\([^()|]{1,20}\))? ?[,;/&]? ?"
    r"IOPS ?[=:] ?(?P<second>\d[\d.]{0,12}[kM]?)(?![\w.])",
    re.IGNORECASE,
)
_IOPS_FIRST = re.compile(
    r"^(?P<iops>\d[\d.,]{0,12}[kM]?) ?IOPS ?[,;/@|(]? ?(?P<rate>\d[\d.,]{0,12} ?[kKMGT]i?B)/s\)?$", re.IGNORECASE
)
_RATE_FIRST = re.compile(
    r"^(?P<rate>\d[\d.,]{0,12} ?[kKMGT]i?B)/s ?[,;/@|(]? ?(?P<iops>\d[\d.,]{0,12}[kM]?) ?IOPS\)?$", re.IGNORECASE
)
_RATED = re.compile(r"^~?(?P<rate>\d[\d.,]{0,12} ?[kKMGT](?P<binary>i?)B)/s(?: ?\([^()|]{1,24}\))?$")
_MEASURE = re.compile(r"^[~<>]?[\d.,]{1,15} ?(?:[kKMGT]?i?[Bb](?:/s)?|[num\u00b5\u03bc]?s(?:ec)?|%)$")
_CLAUSE = re.compile(r"[,.;:()|]\s")
_SIDE = re.compile(
    r"^(?:\d{1,4}[kKmM](?:i?B)? )?(?:rand(?:om)?[-_ ]?|seq(?:uential)?[-_ ]?)?(read|write)s?"
    r"(?: (?:bs=)?\d{1,4}[kKmM](?:i?B)?)?$",
    re.IGNORECASE,
)
_IOPS_CELL = re.compile(r"^(?P<iops>\d[\d.,]{0,12}[kM]?) ?IOPS$", re.IGNORECASE)
_HEADING = re.compile(r"^\s{0,9}(?:#{1,6}\s|\*\*[^*]{1,80}\*\*:?\s{0,9}$|[^|=:]{1,60}:\s{0,9}$)")
_READS = re.compile(r"(?<!th)(?<!sp)read(?!y|[ -]?ahead)|读|чтени|\blese|lectura|leitura", re.IGNORECASE)
_WRITES = re.compile(r"write(?![ -]?(?:back|through|cache))|写|запис|schreib|escri", re.IGNORECASE)
_BLOCK = re.compile(r"^(?:bs|block[-_ ]?size)$", re.IGNORECASE)
_NUMBER = re.compile(r"\d{1,15}(?:\.\d{1,20})?|\d{1,3}(?:,\d{3}){1,5}(?:\.\d{1,20})?|\d{1,9}(?:\.\d{1,9})?[kM]")
_SPLIT = re.compile(r"\t|,|;|\s{2,}|\s*\|\s*")
_CELLS = re.compile(r"\|")
_TOLERANCE = 0.02
_MAX_BLANK_LINES = 1
_MOST_OTHER_ROWS = 40
_LONGEST_LINE = 4000
_LARGEST_BLOCK_BYTES = 1 << 40


@dataclass(frozen=True)
class _TableColumn:
    kind: str
    direction: str = ""
    unit: str = ""


def find_tables(text: str, taken: Sequence[tuple[int, int]] = ()) -> tuple[FoundResult, ...]:
    """Return one result for each table row, and for each pair of values such as `randread: IOPS=52.1k, BW=203MiB/s`.

    Lines in the `taken` ranges (1-based, inclusive) are ignored.
    """
    inside = {number for first, last in taken for number in range(first, last + 1)}
    numbered = [(at, line) for at, line in plain_lines(text) if at not in inside]
    found: list[FoundResult] = []
    rows: set[int] = set()
    heads: Sequence[str] = ()
    above = ""
    for place, (line_number, line) in enumerate(numbered):
        if "|" not in line:
            heads = ()
        elif not heads and not _BOTH.search(line):
            heads = _words(line)
        if _HEADING.match(line):
            above = _named_direction(line)
        lower = line.lower()
        if not ("iops" in lower or "read" in lower or "write" in lower):
            continue  # every header, and every line with both values, has one of these words
        columns = [] if _BOTH.search(line) else [_column(word) for word in _words(line.lstrip("# "))]
        kinds = {column.kind for column in columns}
        is_rated = "iops" in kinds and kinds & {"bandwidth", "block"}
        if is_rated or "pair" in kinds or ("side" in kinds and len(columns) > 1):
            found += (read := list(_rows(numbered, place + 1, columns)))
            rows |= {each.line for each in read}
        elif "iops" in lower and line_number not in rows and len(line) <= _LONGEST_LINE:
            found += _pairs(line_number, line, heads, above)
    return tuple(found)


def _pairs(line_number: int, line: str, heads: Sequence[str], above: str) -> Iterator[FoundResult]:
    """Yield each pair of values in a line, with the direction that the words before it mention.

    In a table row, these words include the column heading and the first cell. `above`: the direction that the heading
    above the line mentions. Pairs without a direction are kept only in tables.
    """
    cells = _words(line) if line.count("|") > 1 else [line]
    is_row = len(cells) > 1
    first = takewhile(lambda cell: not _BOTH.search(cell), cells)
    row = " ".join(filter(None, first)) if is_row else ""
    direction = ""
    for at, cell in enumerate(cells):
        head, end = heads[at] if len(heads) == len(cells) else "", 0
        for match in _BOTH.finditer(cell):
            said, end = _last_clause(cell[end : match.start()]), match.end()
            named = _named_direction(said) or _named_direction(head) or _named_direction(row)
            direction = named or (direction if not said and not is_row else "") or above
            name = " ".join(filter(None, (row, head, said)))
            if direction or is_row:
                yield FoundResult(_outcome(name, direction, _pair(match)), line_number, line_number, "text")


def _last_clause(text: str) -> str:
    """Return the words before a value, without earlier clauses and without punctuation."""
    return _CLAUSE.split(text.strip(" \t:=-*`\"'(>|#"))[-1].strip()


def _outcome(name: str, direction: str, values: Direction) -> Outcome:
    read, write, mixed = (values if direction == each else None for each in ("read", "write", ""))
    return Outcome("", (PartOutcome(name, read=read, write=write, mixed=mixed),))


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
            is_head = any(_column(word).kind in ("iops", "bandwidth", "pair") for word in words)
            if is_row and not is_head and ("|" in line or any(column.kind == "side" for column in columns)):
                continue  # such tables also have rows with other units
            return
        yield FoundResult(result, line_number, line_number, "text")


def _row(words: Sequence[str], columns: Sequence[_TableColumn]) -> Outcome | None:
    if len(words) != len(columns):
        return None
    cells = list(zip(columns, words, strict=True))
    name = " ".join(
        word for column, word in cells if column.kind == "block" or (column.kind == "name" and not _MEASURE.match(word))
    )
    values = [(column, word) for column, word in cells if column.kind in ("iops", "bandwidth")]
    if not all(
        _NUMBER.fullmatch(word) or (_RATED.match(word) and column.kind == "bandwidth") for column, word in values
    ):
        return None
    block = next((_block_bytes(word) for column, word in cells if column.kind == "block"), None)
    read, write, mixed = (_direction(values, name, block) for name in ("read", "write", "mixed"))
    sides = {column.direction: _side(word) for column, word in cells if column.kind == "side"}
    read, write = read or sides.get("read"), write or sides.get("write")
    pairs = [_BOTH.match(word) for column, word in cells if column.kind == "pair"]
    mixed = mixed or next((_pair(pair) for pair in pairs if pair), None)
    if mixed is not None and (named := _named_direction(name)):
        read, write, mixed = (mixed, write, None) if named == "read" else (read, mixed, None)
    if not (read or write or mixed):
        return None
    return Outcome("", (PartOutcome(name, read=read, write=write, mixed=mixed),))


def _side(cell: str) -> Direction | None:
    """Return the values in a cell such as `52.1k IOPS` or `203 MiB/s (52.1k IOPS)` below the header `Read`, or None."""
    both = _IOPS_FIRST.match(cell) or _RATE_FIRST.match(cell)
    match = both or _IOPS_CELL.match(cell)
    iops = number(match["iops"]) if match else None
    return Direction(iops=iops, bandwidth_bytes=amount(both["rate"]) if both else None) if iops else None


def _pair(cell: re.Match[str]) -> Direction:
    """Return the values of a cell such as `IOPS=1600, BW=6401KiB/s`. fio 2 prints `bw` and powers of 1024."""
    rate = cell["rate"] or cell["first"]
    is_old = "bw" in cell[0]
    return Direction(
        iops=number(cell["iops"] or cell["second"]), bandwidth_bytes=amount(rate, 1024 if is_old else 1000)
    )


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
    cells = [_RATED.match(word) for column, word in values if (column.kind, column.direction) == ("bandwidth", name)]
    if rated := next(filter(None, cells), None):
        rates = [rate for kilo in (1000, 1024) if (rate := amount(rated["rate"], kilo))]
        fitting = [rate for rate in rates if _fits(rate, iops, block)]
        return Direction(iops=iops, bandwidth_bytes=next(iter(fitting or rates), None))
    unit, bandwidth = found.get("bandwidth", ("", 0.0))
    if not unit or (block is None and "i" not in unit):
        return Direction(iops=iops)
    bases = (1024.0,) if "i" in unit else (1000.0, 1024.0)
    candidates = [bandwidth * base ** (1 + "kmg".index(unit[0])) for base in bases]
    if block is None:
        return Direction(iops=iops, bandwidth_bytes=candidates[0] or None)
    return Direction(iops=iops, bandwidth_bytes=next((rate for rate in candidates if _fits(rate, iops, block)), None))


def _fits(rate: float, iops: float, block: int | None) -> bool:
    """True if the rate is IOPS × block size."""
    return block is not None and abs(rate - iops * block) <= _TOLERANCE * iops * block


def _block_bytes(word: str) -> int | None:
    size = size_in_bytes(word)
    return size if size is not None and size <= _LARGEST_BLOCK_BYTES else None
