"""Read tables in which the rows name the metrics (`Read IOPS`) and the columns name what was compared.

If the header's first cell or the heading above the table names the only metric (`IOPS`), a row needs only a direction.
So does a row of two cells below `Benchmark | Result`, if its second cell has a unit (`416 MB/s`, `52,100 IOPS`), and a
row of a table of tests with a column for each disk, if all of its cells have units. Data sheets have such rows too, so
the first cell of the header must be `Test` or a similar word, a row must name a queue depth with threads (`Q32T1`), or
the titles of the sections around the table must say that they contain results. In such rows, a value without a unit has
that of the other values in the row. A row of sequential I/O without units has the unit of the sequential row above it.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from poolproof.foreign.audit.directions import named_direction
from poolproof.foreign.audit.tables.table_cells import Rate, both_in, iops_in, is_missing, is_range, rate_in
from poolproof.foreign.audit.tables.table_columns import (
    NAME,
    TableColumn,
    column_of,
    describes_test,
    is_comparison,
    row_column,
)
from poolproof.foreign.audit.tables.table_context import (
    TextJobs,
    block_in,
    is_data_sheet,
    promise_results,
    row_direction,
)
from poolproof.foreign.audit.tables.table_rows import is_measured
from poolproof.load.fio.pairing import FoundResult
from poolproof.load.outcome import Direction, Latency, Outcome, PartOutcome

_COMPARISON = re.compile(r"^[-+\u2212~]?[\d.,]{1,12}(?:[-–][\d.,]{1,12})? ?[%x×](?: .{1,30})?$")

_RESULT = re.compile(r"^(?:results?|values?|scores?|speeds?)$", re.IGNORECASE)
_UNIT = re.compile(r"\d ?(?:(?:[kKM] ?)?(?P<iops>IOPS)|[kKMGT]i?B(?:/s(?:ecs?)?|ps| per second))$", re.IGNORECASE)
_TEST = re.compile(
    r"^(?:(?:fio|disk|storage) )?(?:tests?|benchmarks?|workloads?|i/?o (?:pattern|type))$", re.IGNORECASE
)
_SEQUENTIAL = re.compile(r"^seq(?:uential)?\b[^(|]{1,20}(?:\(|$)", re.IGNORECASE)
_OTHER_METRIC = re.compile(r"iops|ops\b|lat(?:ency)?\b|\btimes?\b|\bsec|/s\b|[mu]s\b", re.IGNORECASE)
_BARE = re.compile(r"^[\d,]{1,12}(?:\.\d{1,3})?$")
_RATE_UNIT = re.compile(r"^[\d.,]{1,12} ?(?P<unit>[KMG]i?B)(?:/s(?:ecs?)?|ps)$", re.IGNORECASE)
_NOTE = re.compile(r"\([^()]{1,40}\)$")
_MOST_NAMES = 3
_QUEUE = re.compile(r"(?<![a-z\d])Q\d{1,3} ?T\d{1,2}(?!\d)", re.IGNORECASE)


@dataclass
class _Result:
    """A result that consists of several rows. `rate`: a rate whose unit may depend on the IOPS."""

    line: int
    name: str
    direction: str
    block: int | None
    iops: float | None = None
    rate: Rate | None = None
    lat: Latency | None = None

    def outcome(self) -> Outcome | None:
        in_bytes = self.rate.in_bytes(self.iops, self.block) if self.rate else None
        if not (self.iops or in_bytes):
            return None
        values = Direction(iops=self.iops, bandwidth_bytes=in_bytes, lat=self.lat)
        read, write = (values if self.direction == each else None for each in ("read", "write"))
        return Outcome("", (PartOutcome(self.name, read=read, write=write),))


def find_in_matrix(
    header: Sequence[str], rows: Sequence[tuple[int, Sequence[str]]], heading: str, jobs: TextJobs
) -> Iterator[FoundResult]:
    """Yield the results of a table. `rows`: the line numbers and the cells of its rows."""
    if _has_several_names(header):
        header, rows = _joined(header), [(line, _joined(cells)) for line, cells in rows if len(cells) == len(header)]
    columns = [column_of(cell) for cell in header]
    if any(iops_in(cell) or rate_in(cell, "") for cell in header[1:]):
        return
    if len(header) < 2 or any(column.has_values for column in columns[1:]) or not is_measured((heading, *header)):
        return
    first = _first_compared(header)
    shared = next((metric for each in (header[0], heading) if (metric := column_of(each)).has_values), NAME)
    has_pairs = any(_has_both(cell) for _, cells in rows for cell in cells[1:])
    has_disks = _has_disks(header, rows, (heading, *jobs.sections))
    found: list[_Result] = []
    unit_above = ""
    latest: dict[tuple[int, str, str], _Result] = {}
    for line, cells in rows:
        row = row_column(cells[0])
        if row.kind == "side" and shared.has_values:
            row = replace(shared, direction=row.direction, test=row.test)
        elif row.kind in ("side", "name") and _RESULT.match(header[-1]) and is_test(cells):
            is_count = cells[1].lower().endswith("iops")
            kind = "iops" if is_count else "bandwidth"
            row = replace(row, kind=kind, direction=named_direction(cells[0]), test=cells[0])
        elif row.kind == "side" and has_pairs:
            row = replace(row, kind="pair")
        compared = [at for at in range(first, len(header)) if not is_comparison(header[at])]
        if row == NAME and has_disks and _SEQUENTIAL.match(cells[0]):
            row = column_of(_NOTE.sub("", cells[0]).strip())
        if row.kind == "side" and has_disks and len(cells) == len(header):
            values = [cells[at] for at in compared]
            row = replace(row, kind=_kind_of(values))
            if row.kind == "side" and (unit := _shared_unit(cells[0], values, unit_above)):
                row = replace(row, kind="bandwidth", unit=unit)
            if _SEQUENTIAL.match(cells[0]):
                unit_above = _shared_unit(cells[0], values, "") or unit_above
        if not row.has_values or len(cells) != len(header) or any(_is_estimate(cells[at]) for at in compared):
            continue
        for at in compared:
            names = (cells[0], header[at], header[0], heading)
            direction = row.direction if row.direction != "mixed" else row_direction(names, jobs)
            if direction == "mixed":
                continue
            block = block_in((f"{cells[0]} {header[at]}", *cells[1:first], header[0], heading), jobs)
            value = _Result(line, f"{cells[0]} {header[at]}", direction, block)
            if not _read(value, row, cells[at]):
                continue
            before = latest.get((at, direction, row.test))
            if before is None or not _merge(before, value):
                latest[(at, direction, row.test)] = value
                found.append(value)
    for result in found:
        if (outcome := result.outcome()) is not None:
            yield FoundResult(outcome, result.line, result.line, "text")


def _has_several_names(header: Sequence[str]) -> bool:
    """True if several columns name the test, and the last one has its result: `Program | Test | Result`."""
    names = [column_of(cell) == NAME for cell in header[:-1]]
    return 2 <= len(names) <= _MOST_NAMES and all(names) and _RESULT.match(header[-1]) is not None


def _joined(cells: Sequence[str]) -> list[str]:
    return [" ".join(filter(None, cells[:-1])), cells[-1]]


def _first_compared(header: Sequence[str]) -> int:
    """Return the index of the first column of values: that after the columns with the parameters of the tests."""
    first = 1
    while first + 1 < len(header) and describes_test(header[first]):
        first += 1
    return first


def is_test(cells: Sequence[str]) -> bool:
    """True if a row consists of names with a direction, and of a value with its unit."""
    names = " ".join(cells[:-1])
    return 2 <= len(cells) <= 1 + _MOST_NAMES and named_direction(names) != "" and _UNIT.search(cells[-1]) is not None


def _has_disks(header: Sequence[str], rows: Sequence[tuple[int, Sequence[str]]], titles: Sequence[str]) -> bool:
    """True if a table lists tests, with a column for each disk, and is not a data sheet."""
    is_of_tests = _TEST.match(_NOTE.sub("", header[0]).strip()) is not None or any(
        _QUEUE.search(cells[0]) for _, cells in rows if cells
    )
    is_of_tests = is_of_tests or promise_results(titles)
    words = (*header, *(cell for _, cells in rows for cell in cells))
    return is_of_tests and not is_data_sheet(words)


def _kind_of(cells: Sequence[str]) -> str:
    """Return `iops` or `bandwidth` if the cells, except those without a value, have such a unit, or else `side`."""
    units = [_UNIT.search(cell) for cell in cells if not is_missing(cell)]
    kinds = {"side" if unit is None else "iops" if unit["iops"] else "bandwidth" for unit in units}
    return kinds.pop() if len(kinds) == 1 else "side"


def _shared_unit(name: str, cells: Sequence[str], above: str) -> str:
    """Return the unit of a row in which only some cells have one, or that of the row above: `499 MB/s | 669`.

    Returns an empty string if its cells have different units, or if the row may have another metric.
    """
    units = [match["unit"].lower() for cell in cells if (match := _RATE_UNIT.match(cell))]
    others = [cell for cell in cells if not _RATE_UNIT.match(cell) and not is_missing(cell)]
    if len(set(units)) > 1 or not all(map(_BARE.match, others)) or _OTHER_METRIC.search(name):
        return ""
    return units[0] if units else above if others and _SEQUENTIAL.match(name) else ""


def _is_estimate(cell: str) -> bool:
    """True if a cell has a range or words instead of a value. Such rows describe kinds of disks."""
    is_value = iops_in(cell) or rate_in(cell, "mb") or both_in(cell, None, is_named=True) or is_missing(cell)
    return is_range(cell) or not (is_value or _COMPARISON.match(cell))


def _has_both(cell: str) -> bool:
    """True if a cell certainly has IOPS and a rate: with the word IOPS, or because their quotient is a block size."""
    return both_in(cell, None, is_named=False) is not None


def _read(result: _Result, row: TableColumn, cell: str) -> bool:
    """Add a cell's values to the result, and return True if there are any."""
    both = both_in(cell, result.block, is_named=row.kind in ("pair", "iops"), unit=row.unit)
    if both is not None:
        rate, result.lat = both.bandwidth_bytes, both.lat
        result.iops, result.rate = both.iops, Rate(rate, rate, has_own_unit=True) if rate else None
    elif row.kind == "iops":
        result.iops = (iops_in(cell) or 0.0) * row.scale or None
    elif row.kind == "bandwidth":
        result.rate = rate_in(cell, row.unit)
    return bool(result.iops or result.rate)


def _merge(result: _Result, other: _Result) -> bool:
    """Add another row's values to the result, and return True if they do not contradict it."""
    if (result.iops and other.iops) or (result.rate and other.rate):
        return False
    result.iops, result.rate = result.iops or other.iops, result.rate or other.rate
    return True
