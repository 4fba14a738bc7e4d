"""Parse tables into which people copied the values of CrystalDiskMark, KDiskMark or tdeDiskMark.

The header must name the direction of a column (`Read (MB/s)`). If it does not (`MB/s`, `IOPS`), the name of the row or
the heading above the table must. A table without such names may compare anything, so it is left out.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from poolproof.foreign.audit.amounts import count_of, decimal, number
from poolproof.foreign.audit.directions import named_direction, named_order
from poolproof.foreign.audit.formats.diskmark_tests import (
    DiskMarkTest,
    block_of,
    measured,
    rate_in_bytes,
    with_same_file,
)
from poolproof.foreign.audit.formats.protocol import ForeignResult
from poolproof.load.fio.plain_lines import Line

_TEST = re.compile(
    r"(?P<block>(?<![\d.])\d{1,5})\s?(?P<unit>[KM])(?:i?B)?[\s(,_-]{0,4}Q(?:D?=)?\s?(?P<depth>\d{1,4})[,\s]{0,3}"
    r"T=?\s?(?P<threads>\d{1,3})\b"
)
_SHORT = re.compile(  # CrystalDiskMark 3 to 6
    r"^(?:(?P<order>Seq(?:uential)?)|(?P<block>4|512)\s?(?P<unit>K)(?:i?B)?)(?:\s*Q(?P<depth>\d{1,4})T(?P<threads>\d{1,3}))?$",
    re.IGNORECASE,
)
_RATE_UNIT = re.compile(r"\b(?P<unit>[KMG]i?B)(?:/s(?:ec)?|ps)\b", re.IGNORECASE)
_OTHER_UNIT = re.compile(
    r"\b(?:us|ms|ns)\b|[\u00b5\u03bc]s\b|laten|%|\bmix|score|\u5ef6\u9072|\u5ef6\u8fdf", re.IGNORECASE
)
_CELL = re.compile(
    r"^~?(?P<number>\d[\d.,]*+)\s*+(?P<unit>[KMG]i?B/s|IOPS)?\s*+(?:\((?P<iops>\d[\d.,]{0,12}[kK]?) ?IOPS\))?\s*+$",
    re.IGNORECASE,
)
_WITH_DECIMAL_COMMA = re.compile(r"^(?:\d{1,3}(?:\.\d{3})+|\d{4,}|0)?,\d+$|^\d+,(?:\d{1,2}|\d{4,})$")
_WITH_DECIMAL_POINT = re.compile(r"^(?:\d{1,3}(?:,\d{3})+|\d+)\.\d+$|^\d{1,3}(?:,\d{3}){2,}$")
_EITHER = re.compile(r"^[1-9]\d{0,2}(?P<mark>[.,])\d{3}$")
_HEADING = re.compile(r"^(?:#{1,6}\s|\*\*|.*:$|(?:\S{1,40} ){0,3}\S{1,40}$)")
_SIDE_CELL = r"(?:read|write)(?: ?[\[(][^\])]{1,10}[\])])?"
_ALIGNED_HEADER = re.compile(  # the first cell may be empty
    rf"^\s{{0,40}}(?:[A-Za-z][\w ]{{0,20}}?\s{{2,30}})?{_SIDE_CELL}(?:\s{{2,30}}{_SIDE_CELL}){{1,5}}\s{{0,9}}$",
    re.IGNORECASE,
)
_ALIGNED_ROW = re.compile(
    r"^\s{0,40}[A-Z]{3,4}\d{1,5}[KM](?:i?B)?[-_]?Q\d{1,4}T\d{1,3}(?:\s{2,30}\d[\d.,]{0,12}(?:\s?[kKMG]B/s)?){2,6}\s{0,9}$"
)
_BLANKS = re.compile(r"\s{2,20}")
_LONGEST = 1000
_LONGEST_HEADING = 80


@dataclass(frozen=True)
class _DiskMarkColumn:
    """A column of values. `kind`: `rate`, `iops`, or an empty string for other columns."""

    kind: str = ""
    direction: str = ""
    unit: str = "MB"


def is_row(line: str) -> bool:
    """True if the line has several cells. Cells aligned with spaces count only in tables of reads and writes."""
    if "|" in line or "\t" in line.strip():
        return len(line) <= _LONGEST
    return bool(_ALIGNED_HEADER.match(line) or _ALIGNED_ROW.match(line))


def find_in_table(program: str, heading: str, table: Sequence[Line]) -> Iterator[ForeignResult]:
    """Yield the results in a table. `heading`: the last line of text above the table."""
    rows = [(line_number, _cells(line)) for line_number, line in table]
    if len(rows) > 1 and len(rows[0][1]) + 1 == len(rows[1][1]) and "|" not in table[0][1]:
        rows[0][1].insert(0, "")
    columns = _columns(rows[0][1], heading)
    if not columns:
        return
    mark = _decimal_mark([cell for _, cells in rows[1:] for cell in cells[1:]])
    found: list[ForeignResult] = []
    for line_number, cells in rows[1:]:
        test = _test(cells[0], has_program=bool(program))
        if test is not None:
            named = named_direction(cells[0])
            row = [
                (replace(column, direction=column.direction or named), cell)
                for column, cell in zip(columns[1:], cells[1:], strict=False)
            ]
            found += _results(program or "CrystalDiskMark", line_number, test, row, mark)
    yield from with_same_file(found)


def _cells(line: str) -> list[str]:
    bare = line.strip()
    if "|" in bare:
        cells = bare.removeprefix("|").removesuffix("|").split("|")
    else:
        cells = bare.split("\t") if "\t" in bare else _BLANKS.split(bare)
    return [cell.strip(" \t*_`").replace("\\", "") for cell in cells]


def _columns(header: Sequence[str], heading: str) -> list[_DiskMarkColumn]:
    """Return the columns. Empty if the header names a test, or neither a direction, IOPS nor the unit of a rate."""
    if any(_TEST.search(cell) for cell in header):
        return []
    units = {match["unit"] for cell in header for match in _RATE_UNIT.finditer(cell)}
    default = units.pop() if len(units) == 1 else "MB"
    columns = [_DiskMarkColumn(), *(_column(cell, default, is_iops="iops" in header[0].lower()) for cell in header[1:])]
    rates = sum(column.kind == "rate" and bool(column.direction) for column in columns)
    unnamed = sum(column.kind == "iops" and not column.direction for column in columns)
    if rates == unnamed:  # `Read | IOPS | Write | IOPS`
        for at, column in enumerate(columns):
            if column.kind == "iops" and not column.direction:
                columns[at] = replace(column, direction=columns[at - 1].direction)
    if any(column.direction for column in columns):
        return [column if column.direction else _DiskMarkColumn() for column in columns]
    above = heading if len(heading) <= _LONGEST_HEADING and _HEADING.match(heading.strip()) else ""
    said = named_direction(header[0]) or named_direction(above)
    return [replace(column, direction=said) for column in columns] if any(each.kind for each in columns) else []


def _column(cell: str, default: str, *, is_iops: bool) -> _DiskMarkColumn:
    direction, unit = named_direction(cell), _RATE_UNIT.search(cell)
    if _OTHER_UNIT.search(cell):
        return _DiskMarkColumn()
    if "iops" in cell.lower() and not unit:
        return _DiskMarkColumn("iops", direction)
    if unit:
        return _DiskMarkColumn("rate", direction, unit["unit"])
    return _DiskMarkColumn("iops" if is_iops else "rate", direction, default) if direction else _DiskMarkColumn()


def _test(name: str, *, has_program: bool) -> DiskMarkTest | None:
    """Return the test that a row's first cell names, without its direction, or None if it is not a complete name.

    Short names such as `4K Q32T1` are used only in texts that name the program.
    """
    match, order = _TEST.search(name), named_order(name)
    if match is None and has_program and (match := _SHORT.match(name)) is not None:
        order = "sequential" if match["order"] else "random"
    elif match is not None and not order and has_program and match["unit"] == "K" and match["block"] == "4":
        order = "random"
    if match is None or not order:
        return None
    depth, threads = count_of(match["depth"]), count_of(match["threads"])
    is_random = order == "random"
    return DiskMarkTest("", is_random, block_of(is_random, match["block"], match["unit"], depth), depth, threads)


def _results(
    program: str, line: int, test: DiskMarkTest, row: Sequence[tuple[_DiskMarkColumn, str]], mark: str
) -> Iterator[ForeignResult]:
    """Yield the results in a row. A second rate or a second IOPS value for a direction starts another result."""
    groups: list[tuple[str, dict[str, tuple[float, str, str]]]] = []
    for column, cell in row:
        match = _CELL.match(cell) if column.kind and column.direction else None
        value = _number(match["number"], mark) if match else None
        if match is None or not value:
            continue
        unit = (match["unit"] or column.unit).removesuffix("/s").upper()
        kind = "iops" if unit == "IOPS" else "rate" if match["unit"] else column.kind
        group = next((values for side, values in reversed(groups) if side == column.direction), None)
        if group is None or kind in group:
            groups.append((column.direction, group := {}))
        group[kind] = (value, unit, match["number"])
        if match["iops"] and kind == "rate" and (iops := number(match["iops"])):
            group["iops"] = (iops, "IOPS", match["iops"])
    for side, values in groups:
        yield _result(program, line, replace(test, side=side), values)


def _result(program: str, line: int, test: DiskMarkTest, values: dict[str, tuple[float, str, str]]) -> ForeignResult:
    iops, _, printed_iops = values.get("iops", (None, "", ""))
    rate, unit, printed = values.get("rate", (None, "", ""))
    rate_bytes = None
    if rate is not None:
        kilo = 1024.0 if "I" in unit else 1000.0
        rate_bytes = (
            rate_in_bytes(rate, iops, test.block_bytes, (printed, printed_iops))
            if unit == "MB"
            else rate * kilo ** (1 + "KMG".index(unit[0]))
        )
    if iops is None and rate_bytes is not None:
        iops = rate_bytes / test.block_bytes
    return measured(program, line, test, rate_bytes=rate_bytes, iops=iops)


def _decimal_mark(cells: Sequence[str]) -> str:
    """Return the decimal mark of a table's numbers (`,` or `.`), or an empty string if it is not certain."""
    numbers = [match["number"] for cell in cells if (match := _CELL.match(cell))]
    commas = any(_WITH_DECIMAL_COMMA.match(each) for each in numbers)
    points = any(_WITH_DECIMAL_POINT.match(each) and (not commas or not _EITHER.match(each)) for each in numbers)
    if not commas and not points and any(each.isdecimal() for each in numbers):
        return "."  # 456 and 7,856: a program prints every rate with decimals or none
    return "" if commas == points else "," if commas else "."


def _number(text: str, mark: str) -> float | None:
    """Parse a number, or return None if its only mark may be either a decimal mark or a thousands separator.

    `mark`: the decimal mark of the table. A single point is a decimal point unless the table has decimal commas.
    """
    if (either := _EITHER.match(text)) and not mark and either["mark"] == ",":
        return None
    if mark == "," or _WITH_DECIMAL_COMMA.match(text):
        return decimal(text.replace(".", "") if "," in text or either else text)
    return decimal(text.replace(",", ""))
