"""Parse the cells of a table of results: IOPS, rates, and two values in one cell.

`MB` can mean 1000² or 1024² bytes. The unit is the one for which the rate equals IOPS × block size. If the block size
is unknown, a rate with its unit in the same cell can still show its unit: only one of them may fit a power of two.
Otherwise, such a cell is read in powers of 1000, and a rate next to IOPS whose unit is only in the header is left out.
"""

import re
from dataclasses import dataclass

from poolproof.foreign.audit.amounts import amount, number
from poolproof.foreign.audit.tables.table_latencies import timed_in
from poolproof.load.outcome import Direction

_DIGITS = r"\d{1,15}(?:\.\d{1,20})?|\d{1,3}(?:,\d{3}){1,5}(?:\.\d{1,20}| ?[kKM])?|\d{1,9}(?:\.\d{1,9})? ?[kKM]"
_PER_SECOND = r"(?:/s(?:ecs?)?|ps| per second)"
LABELLED = re.compile(
    r"IOPS ?[=:] ?(?P<iops>\d[\d.]{0,12}[kM]?) ?[,;/&]? {0,3}BW ?[=:] ?(?P<rate>\d[\d.]{0,12} ?[kKMGT]?i?B)/s"
    r"|BW ?[=:] ?(?P<first>\d[\d.]{0,12} ?[kKMGT]?i?B)/s(?: ?\([^()|]{1,20}\))? ?[,;/&]? ?"
    r"IOPS ?[=:] ?(?P<second>\d[\d.]{0,12}[kM]?)(?![\w.])"
    r"|IOPS ?[=:] ?(?P<third>\d[\d.]{0,12}[kM]?) ?[,;/&]? {0,3}(?:BW|bandwidth|throughput) ?"
    r"\((?P<unit>[kKMGT]i?B)/s(?:ec)?\) ?[=:] ?(?P<number>\d[\d.]{0,14})(?![\w.])",
    re.IGNORECASE,
)
_NUMBER = re.compile(rf"^(?P<number>{_DIGITS})\+?(?: ?(?:K?IOPS|IOP/s))?$", re.IGNORECASE)
_RATE = re.compile(
    rf"^~?(?P<number>\d[\d.,]{{0,12}}) ?(?P<unit>[kKMGT]i?B){_PER_SECOND}?\+?(?: ?\([^()|]{{1,24}}\))?$", re.IGNORECASE
)
_RANGE = re.compile(
    r"^~?(?P<low>\d{1,9}(?:\.\d{1,3})?) ?(?P<first>[kKMGT]i?B)?(?:/s)? ?[-\u2013] ?~?(?P<high>\d{1,9}(?:\.\d{1,3})?) ?"
    rf"(?P<unit>[kKMGT]i?B){_PER_SECOND}$",
    re.IGNORECASE,
)
_WITH_TIME = re.compile(_PER_SECOND, re.IGNORECASE)
_IOPS_FIRST = re.compile(
    rf"^(?P<iops>{_DIGITS})(?P<word> ?IOPS)? ?(?P<mark>[,;/@|(\[]?) ?"
    rf"~?(?P<rate>\d[\d.,]{{0,12}} ?[kKMGT]i?B){_PER_SECOND}[)\]]?$",
    re.IGNORECASE,
)
_RATE_FIRST = re.compile(
    rf"^(?P<rate>\d[\d.,]{{0,12}} ?[kKMGT]i?B){_PER_SECOND} ?(?P<mark>[,;/@|(\[]?) ?"
    rf"(?P<iops>{_DIGITS})(?P<word> ?IOPS)?[)\]]?$",
    re.IGNORECASE,
)
_WITHOUT_UNIT = re.compile(rf"^(?P<iops>{_DIGITS}) ?\((?P<rate>\d[\d.,]{{0,12}})\)$", re.IGNORECASE)
_ONE_RATE = re.compile(r"^~?\d{1,3}(?:,\d{3}){1,5}(?:\.\d{1,9})? ?[kKMGT]i?B", re.IGNORECASE)  # `5,020 MB/s`
_MISSING = re.compile(r"^(?:[-–—?]{0,3}|n/?a|none|done)(?: ?\([^()]{1,30}\))?$", re.IGNORECASE)
_SPREAD = re.compile(r" ?(?:\((?:±|\+/-)? ?[\d.]{1,8} ?%\)|(?:±|\+/-) ?[\d.,]{1,12} ?%?)$")
_GROUPED = re.compile(r"^\d{1,3}(?:[ \u00a0\u2009\u202f]\d{3}){1,3}$")  # `11 800`
_POWERS = "kmgt"
_TOLERANCE = 0.02
_EXACT = 0.01
_SMALLEST_BLOCK, _LARGEST_BLOCK = 512, 1 << 24


@dataclass(frozen=True)
class Rate:
    """A rate in bytes per second if its unit is a power of 1000, and if it is a power of 1024.

    Both values are the same if the unit is certain.

    `has_own_unit`: True if the unit is in the same cell.
    """

    decimal: float
    binary: float
    has_own_unit: bool

    def in_bytes(self, iops: float | None, block: int | None) -> float | None:
        """Return the rate whose unit fits the IOPS and the block size, or None if neither unit fits.

        Without IOPS, the rate is read in powers of 1000, as its unit says.
        """
        if self.decimal == self.binary:
            return self.decimal or None
        if not iops:
            return self.decimal or None
        if block is not None:
            fitting = [rate for rate in (self.decimal, self.binary) if _fits(rate, iops * block)]
        elif self.has_own_unit:
            fitting = [rate for rate in (self.decimal, self.binary) if is_power_of_two(rate / iops)]
            fitting = fitting if len(fitting) == 1 else []
        else:
            fitting = []
        return next(iter(fitting), (self.decimal or None) if self.has_own_unit else None)


def is_missing(cell: str) -> bool:
    """True if a cell is empty or has a mark for a missing value."""
    return _MISSING.match(cell.strip()) is not None


def iops_in(cell: str) -> float | None:
    """Parse IOPS such as `10,240`, `11 800`, `52.1k`, `5,000,000+` or `52.1k IOPS`. None if it is not a number."""
    cell = _SPREAD.sub("", cell)
    match = _NUMBER.match("".join(cell.split()) if _GROUPED.match(cell) else cell)
    return number(match["number"]) if match else None


def rate_in(cell: str, unit: str) -> Rate | None:
    """Parse a rate, or return None if the cell is not one. The value of a range is its middle.

    `unit`: the unit in the header, in lower case, for cells without one. Without any unit, the rate is 0.
    """
    cell = _SPREAD.sub("", cell)
    if match := _RATE.match(cell):
        return _rate(match["number"], match["unit"].lower(), has_own_unit=True)
    if match := _RANGE.match(cell):
        return _middle(match)
    match = _NUMBER.match(cell)
    if match is None or match["number"][-1:].isalpha():
        return None
    return _rate(match["number"], unit, has_own_unit=False) if unit else Rate(0.0, 0.0, has_own_unit=False)


def has_rate(cell: str) -> bool:
    """True if a cell is a rate, or a range of rates, with its own unit per second: `8.99 MB/sec`, `400-500 MB/s`."""
    return is_range(cell) or (_RATE.match(cell) is not None and _WITH_TIME.search(cell) is not None)


def is_range(cell: str) -> bool:
    """True if a cell is a range of rates: `400-500 MB/s`."""
    return _RANGE.match(cell) is not None


def _middle(cell: re.Match[str]) -> Rate | None:
    """Return the middle of a range such as `400-500 MB/s`, or None if its ends have different units or are swapped."""
    low, high = float(cell["low"]), float(cell["high"])
    is_range = low < high and (cell["first"] or cell["unit"]).lower() == cell["unit"].lower()
    return _rate(str((low + high) / 2), cell["unit"].lower(), has_own_unit=True) if is_range else None


def _rate(digits: str, unit: str, *, has_own_unit: bool) -> Rate | None:
    value = number(digits)
    if value is None:
        return None
    power = 1 + _POWERS.index(unit[0])
    decimal, binary = value * 1000.0**power, value * 1024.0**power
    return Rate(binary if "i" in unit else decimal, binary, has_own_unit)


def both_in(cell: str, block: int | None, *, is_named: bool, unit: str = "") -> Direction | None:
    """Parse IOPS and a rate or a latency in one cell: `52.1k IOPS / 203 MiB/s`, `8286(129 MB/secs)`, `15k IOPS, 64 µs`.

    Without the word IOPS, the first number is IOPS only if `is_named` (a header says so) or if the rate divided by it
    is the block size. If the block size is unknown, the quotient must be a power of two. Returns None for other cells.

    `unit`: the unit in the header for cells such as `8286 (129)`.
    """
    if unit and (bare := _WITHOUT_UNIT.match(cell)):
        iops, rate = number(bare["iops"]), rate_in(bare["rate"], unit)
        return Direction(iops=iops, bandwidth_bytes=rate.in_bytes(iops, block) if rate else None) if iops else None
    if (labelled := LABELLED.match(cell)) is not None:
        return labelled_values(labelled)
    if (timed := timed_in(cell, is_named=is_named)) is not None:
        return timed
    match = (None if _ONE_RATE.match(cell) else _IOPS_FIRST.match(cell)) or _RATE_FIRST.match(cell)
    iops = number(match["iops"]) if match else None
    rate = rate_in(match["rate"], "") if match else None
    if match is None or not iops or rate is None or not (match["word"] or match["mark"]):
        return None
    rates = (rate.decimal, rate.binary)
    is_block = (
        any(is_power_of_two(each / iops) for each in rates)
        if block is None
        else any(_fits(each, iops * block) for each in rates)
    )
    if not (match["word"] or is_named or is_block):
        return None
    return Direction(iops=iops, bandwidth_bytes=rate.in_bytes(iops, block))


def labelled_values(cell: re.Match[str]) -> Direction:
    """Return the values of a match of `LABELLED`. fio 2 prints `bw` and powers of 1024."""
    if cell["unit"]:
        iops, named = number(cell["third"]), _rate(cell["number"], cell["unit"].lower(), has_own_unit=True)
        return Direction(iops=iops, bandwidth_bytes=named.in_bytes(iops, None) if named else None)
    rate = cell["rate"] or cell["first"]
    is_old = "bw" in cell[0]
    return Direction(
        iops=number(cell["iops"] or cell["second"]), bandwidth_bytes=amount(rate, 1024 if is_old else 1000)
    )


def either_in(cell: str) -> Direction | None:
    """Parse a cell below `IOPS/bandwidth` with only one of them: a number of IOPS, or a rate with its unit.

    Returns None for other cells.
    """
    iops, rate = iops_in(cell), rate_in(cell, "")
    in_bytes = rate.in_bytes(None, None) if rate else None
    return Direction(iops=iops, bandwidth_bytes=in_bytes) if iops or in_bytes else None


def is_power_of_two(size: float) -> bool:
    """True if a size is close to a block size that is a power of two."""
    block = _SMALLEST_BLOCK
    while block < _LARGEST_BLOCK and block * (1 + _EXACT) < size:
        block *= 2
    return abs(size - block) <= _EXACT * block


def _fits(rate: float, expected: float) -> bool:
    return abs(rate - expected) <= _TOLERANCE * expected
