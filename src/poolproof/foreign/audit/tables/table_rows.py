"""Read the rows of a table whose header names the metrics (`IOPS`, `BW (MB/s)`) or the directions (`Read`, `Write`).

The direction of a row's values is that of their column, or else the one that the row's name, the header's first cell or
the heading above the table mentions, or else the direction of all jobs in the text. A table without IOPS next to a
bandwidth or a block size must name the direction. Rates below `Read` and `Write` alone are results if a title of the
sections around the table says so, because data sheets have such columns, too.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from poolproof.foreign.audit.tables.table_cells import both_in, either_in, has_rate, iops_in, is_missing, rate_in
from poolproof.foreign.audit.tables.table_columns import (
    NAME,
    TableColumn,
    column_of,
    is_comparison,
    is_parameter,
    is_parameter_name,
)
from poolproof.foreign.audit.tables.table_context import (
    TextJobs,
    block_bytes,
    block_in,
    is_data_sheet,
    promise_results,
    row_direction,
)
from poolproof.foreign.audit.tables.table_latencies import latency_in
from poolproof.foreign.audit.tables.table_layout import aligned_cells, cells_of, separator_of
from poolproof.load.outcome import Direction, Outcome, PartOutcome

_MEASURE = re.compile(r"^[~<>]?[\d.,]{1,15} ?(?:[kKMGT]?i?[Bb](?:/s)?|[num\u00b5\u03bc]?s(?:ec)?|%)$")
_NOT_MEASURED = re.compile(
    r"\b(?:tiers?|limits?|quotas?|pric(?:e|ing)|costs?|plans?|sku|required|requirements?|provisioned|targets?|expected|"
    r"theoretical|advertised|storage config(?:uration)?|sizing|(?<!access )specifications?)\b",
    re.IGNORECASE,
)
_NO_NAME = re.compile(
    r"lat(?:ency)?\b|\bp\d\d|\b(?:[num\u00b5\u03bc]s|usec|msec|cpu|std(?:dev|ev)?|score)\b|%|\b[kmg]i?b/s",
    re.IGNORECASE,
)
_NO_NAME_OF_LAYOUT = re.compile(
    r"^(?:max(?:imum)?|min(?:imum)?|base(?:line)?|burst|peak|total|required|target|rated|per|reported|actual|std\w*|avg|average|mean|median|"
    r"p\d+|\u0394|delta|diff|combined|other|\W*)$",
    re.IGNORECASE,
)
_FEWEST_COMPARED = 2
_SUM = re.compile(r"^(?:total|sum|combined|read ?\+ ?write)\b", re.IGNORECASE)
_ZERO = re.compile(r"^0(?:\.0{1,6})?$")
_WITH_WORD = re.compile(r"\biops\b", re.IGNORECASE)
_MOST_WORDS = 12
_DIRECTIONS = ("read", "write")
_BOTH = re.compile(r"\breads?\s?/\s?writes?\b|\br\s?/\s?w\b", re.IGNORECASE)
_SLASH = re.compile(r"\s/\s|(?<=[\dkKM])/(?=\d)|(?<=/s)/(?=\d)")


@dataclass(frozen=True)
class TableHeader:
    """The header of a table.

    `heading`: the heading above the table. `cells`, `columns`: the header's cells and what they mean. `halved`: the
    columns of a row whose cells have a value for reads and one for writes.
    """

    separator: str
    cells: tuple[str, ...]
    columns: tuple[TableColumn, ...]
    heading: str
    jobs: TextJobs
    halved: tuple[int, ...] = ()

    @property
    def needs_direction(self) -> bool:
        """True if only rows that name a direction are results."""
        kinds = {column.kind for column in self.columns}
        return not ("pair" in kinds or ("iops" in kinds and kinds & {"bandwidth", "block"}))

    @property
    def has_results(self) -> bool:
        """True if the titles around the table say that it contains results, and no column is one of a data sheet."""
        return promise_results((self.heading, *self.jobs.sections)) and not is_data_sheet(self.cells)

    def with_empty_corner(self) -> "TableHeader":
        """Return the header of rows that begin with a name, while the header's line has only spaces there."""
        return replace(self, cells=("", *self.cells), columns=(NAME, *self.columns))

    def cells_in(self, line: str) -> list[str]:
        """Return the cells of a row."""
        cells = cells_of(line, self.separator)
        if self.halved:
            halves = [_halves(cell) if at in self.halved else [cell] for at, cell in enumerate(cells)]
            return [cell for each in halves for cell in each]
        if len(cells) != len(self.columns) and self.separator == " ":
            return aligned_cells(line, len(self.columns))
        return cells


def header_in(line: str, heading: str, jobs: TextJobs) -> TableHeader | None:
    """Return the header in a line, or None if the line is not a header of results."""
    bare = line.lstrip("# ")
    separator = separator_of(bare)
    cells = cells_of(bare, separator)
    found = header_of(separator, cells, heading, jobs)
    words = [word for cell in cells for word in cell.split()]
    if found is None and separator == " " and len(words) <= _MOST_WORDS and not line.startswith("##"):
        found = header_of(separator, words, heading, jobs)
        return None if found is None or found.needs_direction else found
    return found


def header_of(separator: str, cells: Sequence[str], heading: str, jobs: TextJobs) -> TableHeader | None:
    """Return the header with these cells, or None if they are not a header of results."""
    if len(cells) < 2:
        return None
    if separator == "|" and (halved := tuple(at for at, cell in enumerate(cells) if at and _is_of_both(cell))):
        halves = [_named_halves(cell) if at in halved else [cell] for at, cell in enumerate(cells)]
        header = header_of(separator, [cell for each in halves for cell in each], heading, jobs)
        return replace(header, halved=halved) if header is not None else None
    columns = _compared([column_of(cell) for cell in cells], cells)
    kinds = [column.kind for column in columns]
    is_varied = all(map(is_parameter, cells[1:])) or is_parameter_name(cells[0])
    if not (is_varied or any(column.has_values or column.kind == "side" for column in columns)):
        return None  # most lines of text: the searches below would take most of the time
    if any(map(_has_value, cells)) or not is_measured((heading, *cells)):
        return None
    metric = next((each for each in (columns[0], column_of(heading)) if each.kind in ("iops", "bandwidth")), None)
    if metric is not None and set(kinds[1:]) == {"side"}:  # `IOPS | Read | Write`
        columns = [NAME, *(replace(metric, direction=column.direction) for column in columns[1:])]
    elif metric is not None:
        columns = _varied(columns, cells, metric)
    elif columns[0].kind == "side" and any(column.has_values for column in columns[1:]):
        columns[0] = NAME
    is_header = any(column.has_values for column in columns[1:]) or kinds.count("side") > 1
    return TableHeader(separator, tuple(cells), tuple(columns), heading, jobs) if is_header else None


def _is_of_both(cell: str) -> bool:
    """True if a header names reads and writes, and no other unknown words: `Random Read/Write IOPS`."""
    return _BOTH.search(cell) is not None and column_of(_named_halves(cell)[0]) != NAME


def _named_halves(cell: str) -> list[str]:
    """Return the headers of the reads and of the writes: `Read IOPS` and `Write IOPS` for `Read/Write IOPS`."""
    return [_BOTH.sub(direction, cell) for direction in _DIRECTIONS]


def _halves(cell: str) -> list[str]:
    """Return the two values in a cell such as `2997/2996` or `128MiB/s / 128MiB/s`, or the cell twice."""
    halves = [half.strip() for half in _SLASH.split(cell)]
    return halves if len(halves) == 2 else [cell, cell]


def _has_value(cell: str) -> bool:
    return bool(iops_in(cell) or rate_in(cell, "") or both_in(cell, None, is_named=True))


def _compared(columns: list[TableColumn], cells: Sequence[str]) -> list[TableColumn]:
    """Return the columns, with those whose metric follows the name of what was compared (`ext4 IOPS | xfs IOPS`).

    One such name alone may be a limit, so at least two names must occur with the same metric.
    """
    named: dict[int, tuple[str, TableColumn]] = {}
    for at, (column, cell) in enumerate(zip(columns, cells, strict=True)):
        name, _, metric = cell.partition(" ")
        if at and metric and column == NAME and not _NO_NAME_OF_LAYOUT.match(name) and column_of(metric).has_values:
            named[at] = name, column_of(metric)
    names = {(name.lower(), column.kind) for name, column in named.values()}
    if any(sum(kind == each for _, each in names) < _FEWEST_COMPARED for _, kind in names):
        return columns
    return [
        replace(named[at][1], test=f"{named[at][0]} {named[at][1].test}".strip()) if at in named else column
        for at, column in enumerate(columns)
    ]


def _varied(columns: list[TableColumn], cells: Sequence[str], metric: TableColumn) -> list[TableColumn]:
    """Return the columns of a table that varies a parameter of the job, with its only metric above or in the corner.

    Either the columns are the values of the parameter (`IOPS | QD1 | QD32`), or its name is in the corner and the
    columns are the names of what was compared (`numjobs | ext4 | xfs`).
    """
    if not all(column.kind == "name" for column in columns[1:]):
        return columns
    if all(map(is_parameter, cells[1:])) or (
        is_parameter_name(cells[0])
        and not any(
            _NO_NAME.search(cell) or _NO_NAME_OF_LAYOUT.match(cell) or is_comparison(cell) for cell in cells[1:]
        )
    ):
        return [columns[0] if columns[0].kind == "block" else NAME, *(replace(metric, test=cell) for cell in cells[1:])]
    return columns


def is_measured(names: Iterable[str]) -> bool:
    """True if no header cell or heading says that a table lists limits, prices or goals."""
    return not any(_NOT_MEASURED.search(name) for name in names)


def results_in_row(cells: Sequence[str], header: TableHeader) -> list[Outcome]:
    """Return the results in a row, or an empty list if it is not a row of results.

    A second value of the same kind and direction starts another result.
    """
    if len(cells) != len(header.columns) or _SUM.match(cells[0]):
        return []
    pairs = list(zip(header.columns, cells, strict=True))
    name = " ".join(
        cell
        for head, column, cell in zip(header.cells, header.columns, cells, strict=True)
        if column.kind == "block" or (column.kind == "name" and _is_name(head, cell))
    )
    block = next((block_bytes(cell) for column, cell in pairs if column.kind == "block"), None)
    said = row_direction((name, header.cells[0], header.heading), header.jobs)
    groups: dict[str, list[dict[tuple[str, str], tuple[TableColumn, str]]]] = {}
    for column, cell in pairs:
        if column.kind == "latency" and latency_in(cell, column.unit) is not None:
            _add(groups.setdefault(column.test, [{}]), column, cell)
        if column.kind not in ("iops", "bandwidth", "pair", "side") or is_missing(cell):
            continue
        if column.kind != "side" and not _is_value(column, cell, block):
            return []
        _add(groups.setdefault(column.test, [{}]), column, cell)
    sized: list[tuple[str, dict[tuple[str, str], tuple[TableColumn, str]], int | None]] = []
    for test, of_test in groups.items():
        whole = f"{name} {test}".strip()
        size = block or block_in((whole, header.cells[0], header.heading), header.jobs)
        sized += [(whole, group, size) for group in of_test]
    binary = frozenset(unit for _, group, size in sized for unit in _binary_units(group, size))
    found = [_outcome(whole, group, header, size, said, binary) for whole, group, size in sized]
    return [outcome for outcome in found if outcome is not None]


def has_no_values(cells: Sequence[str], header: TableHeader) -> bool:
    """True if a row has no value, only marks for missing ones and zeros: tests that failed, or preparations."""
    values = [cell for column, cell in zip(header.columns, cells, strict=False) if column.has_values]
    return bool(values) and all(is_missing(cell) or _ZERO.match(cell) for cell in values)


def _add(groups: list[dict[tuple[str, str], tuple[TableColumn, str]]], column: TableColumn, cell: str) -> None:
    """Add a value to the last group, or to a new one if the last has a value of this kind and direction."""
    key = (column.kind, column.direction)
    before = groups[-1].get(key)
    if before is not None and before[0].unit != column.unit:  # the same rate in another unit
        groups[-1][key] = before if "i" in before[0].unit else (column, cell)
    elif before is not None:
        groups.append({key: (column, cell)})
    else:
        groups[-1][key] = (column, cell)


def _is_name(head: str, cell: str) -> bool:
    return not (_MEASURE.match(cell) or is_missing(cell) or _NO_NAME.search(head))


def _is_value(column: TableColumn, cell: str, block: int | None) -> bool:
    if column.kind == "bandwidth":
        return rate_in(cell, column.unit) is not None
    if column.kind == "iops" and iops_in(cell) is not None:
        return True
    return both_in(cell, block, is_named=True) is not None or column.kind == "pair"


def _outcome(
    name: str,
    group: dict[tuple[str, str], tuple[TableColumn, str]],
    header: TableHeader,
    block: int | None,
    said: str,
    binary: frozenset[str],
) -> Outcome | None:
    found: dict[str, Direction] = {}
    for direction in ("read", "write", "mixed"):
        cells = {kind: value for (kind, side), value in group.items() if side == direction}
        values = _direction(cells, header, block, binary)
        if values is not None:
            found.setdefault(said if direction == "mixed" else direction, values)
    if header.needs_direction:
        found.pop("mixed", None)
    if not found:
        return None
    part = PartOutcome(name, read=found.get("read"), write=found.get("write"), mixed=found.get("mixed"))
    return Outcome("", (part,))


def _binary_units(group: dict[tuple[str, str], tuple[TableColumn, str]], block: int | None) -> Iterator[str]:
    """Yield each unit of a rate that IOPS × block size shows to be a power of 1024, although it has no `i`."""
    for (kind, direction), (column, cell) in group.items():
        counted = group.get(("iops", direction))
        rate = rate_in(cell, column.unit) if kind == "bandwidth" and column.unit else None
        iops = (iops_in(counted[1]) or 0.0) * counted[0].scale if counted else 0.0
        if rate and iops and block and rate.decimal != rate.binary == rate.in_bytes(iops, block):
            yield column.unit


def _direction(
    cells: dict[str, tuple[TableColumn, str]], header: TableHeader, block: int | None, binary: frozenset[str]
) -> Direction | None:
    """Return the values for one direction, or None if they are 0, missing or of an uncertain unit.

    `binary`: the units that other values in the row show to be powers of 1024.
    """
    if both := cells.get("pair") or cells.get("side"):
        column, cell = both
        is_named = column.kind == "pair" or _WITH_WORD.search(" ".join((header.cells[0], header.heading))) is not None
        values = both_in(cell, block, is_named=is_named, unit=column.unit)
        if values is None and column.kind == "pair" and not column.unit:
            values = either_in(cell)
        return values or (_one_in(cell, header) if column.kind == "side" else None)
    iops = None
    if counted := cells.get("iops"):
        column, cell = counted
        if (values := both_in(cell, block, is_named=True)) is not None:
            return values
        iops = (iops_in(cell) or 0.0) * column.scale
        if not iops:
            return None
    timed = cells.get("latency")
    lat = latency_in(timed[1], timed[0].unit) if timed else None
    rated = cells.get("bandwidth")
    rate = rate_in(rated[1], rated[0].unit) if rated else None
    is_binary = rated is not None and not iops and rated[0].unit in binary
    in_bytes = (rate.binary if is_binary else rate.in_bytes(iops, block)) if rate else None
    return Direction(iops=iops, bandwidth_bytes=in_bytes, lat=lat) if iops or in_bytes else None


def _one_in(cell: str, header: TableHeader) -> Direction | None:
    """Return the IOPS, or the rate of a table of results, in a cell below the name of a direction."""
    iops = iops_in(cell) if _WITH_WORD.search(cell) else None
    if iops or not (header.has_results and has_rate(cell)):
        return Direction(iops=iops) if iops else None
    rate = rate_in(cell, "")
    return Direction(bandwidth_bytes=rate.in_bytes(None, None)) if rate else None
