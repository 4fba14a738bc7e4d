"""Parse lists and tables of iozone's results that scripts or people made: `Random read: 412345`.

iozone prints KiB/s, and such lists often leave out the unit. A list has one test per line. In a table, the rows are the
tests and the columns are what was compared. iozone must be named above the results, and no other benchmark after it.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from poolproof.foreign.audit.amounts import amount, number
from poolproof.foreign.audit.formats.iozone import IOZONE_COMMAND, IozoneRun, run_of_command, test_result
from poolproof.foreign.audit.formats.protocol import ForeignResult, FormatReader
from poolproof.foreign.audit.tables.table_layout import cells_of, separator_of
from poolproof.foreign.audit.tables.table_lines import with_joined_cells
from poolproof.foreign.audit.tables.table_stacked_cells import with_stacked_rows
from poolproof.load.fio.plain_lines import Line

_NAMED = re.compile(r"\biozone3?\b", re.IGNORECASE)
_OTHERS = re.compile(
    r"\b(?:fio|dd|bonnie(?:\+\+)?|sysbench|hdparm|(?:crystal|k)diskmark|ioping|elbencho|bench\.sh|yabs)\b",
    re.IGNORECASE,
)
_TEST = re.compile(
    r"^(?:initial |avg |average |sequential |seq )?"
    r"(?P<test>(?:re-?)?writ(?:e|ers?)|(?:re-?)?read(?:ers?)?|rand(?:om)?[ _-]?(?:read|writ)(?:e|ers?)?"
    r"|(?:reverse|backwards?|bkwd|strided?)[ _-]?read(?:ers?)?|record[ _-]?re-?write|f(?:re)?(?:read|write))$",
    re.IGNORECASE,
)
_VALUE = re.compile(
    r"^~?(?P<number>\d{1,3}(?:,\d{3}){1,3}(?:\.\d{1,3})?|\d{1,9}(?:\.\d{1,3})?)"
    r"(?: ?(?P<unit>[kmg]i?b)(?:ytes)?(?:/s(?:ec)?|ps))?$",
    re.IGNORECASE,
)
_LIST_LINE = re.compile(
    r"^[\s>*\u2022+-]{0,12}(?P<label>[A-Za-z][A-Za-z _-]{2,28}?)\s{0,20}[:=]\s{0,20}(?P<value>\d.{0,24}?)\s*$"
)
_REPORT = re.compile(r'^\s*"?(?P<test>[A-Za-z -]{4,16}?) report"?\s*$', re.IGNORECASE)
_REPORT_ROW = re.compile(r'^\s*"?(?P<size>\d{1,12})"?(?P<rates>(?:\s+\d{1,12}){1,20})\s*$')
_RECORD_SIZES = re.compile(r'^\s*"?\d{1,9}"?(?:\s+"?\d{1,9}"?){0,19}\s*$')
_OPTIONS = re.compile(r"\biozone3?\s+-")
_NEAR, _LONGEST_NAMING, _LONGEST_ROW = 30, 200, 400
_FEWEST = 2
_LEAST_KIB = 100.0
_KIB = 1024
_COLUMNS = 20


@dataclass(frozen=True)
class _TestRow:
    """A test and its rates in bytes per second. `names`: the header's cells of a table, or nothing for a list."""

    line: int
    test: str
    rates: tuple[float, ...]
    names: tuple[str, ...] = ()


@dataclass
class _SpreadsheetReport:
    """A report for spreadsheets (-R): the test, a line with the record sizes, and a row for each file size."""

    test: str = ""
    blocks: tuple[int, ...] = ()
    is_row: bool = False

    def sees(self, line: str) -> bool:
        """Return True if a line belongs to a report, and keep its test or its record sizes."""
        self.is_row = False
        if match := _REPORT.match(line):
            self.test, self.blocks = _test(match["test"]), ()
            return bool(self.test)
        if self.test and not self.blocks and _RECORD_SIZES.match(line):
            self.blocks = tuple(int(size) for size in re.findall(r"\d+", line))
            return True
        self.is_row = bool(self.test and self.blocks) and _REPORT_ROW.match(line) is not None
        self.test = self.test if self.is_row else ""
        return self.is_row

    def results(self, run: IozoneRun, line_number: int, line: str) -> Iterator[ForeignResult]:
        match = _REPORT_ROW.match(line) if self.is_row else None
        for block, rate in zip(self.blocks, match["rates"].split() if match else (), strict=False):
            size = int(match["size"]) * _KIB if match else None
            yield from test_result(run, line_number, line_number, self.test, float(rate) * _KIB, size, block * _KIB, 1)


def _find(numbered: Sequence[Line]) -> Iterator[ForeignResult]:
    run: IozoneRun | None = None
    seen = 0
    header: tuple[str, ...] = ()
    group: list[_TestRow] = []
    report = _SpreadsheetReport()
    for line_number, line in with_stacked_rows(with_joined_cells(numbered)):
        if run is not None and line_number - seen <= _NEAR and report.sees(line):
            seen = line_number
            yield from report.results(run, line_number, line)
            continue
        if run is not None and line_number - seen <= _NEAR and (row := _row(line_number, line, header)):
            group.append(row)
            seen = line_number
            continue
        if line.strip(" |-:+="):
            yield from _results(run, group)
            group = []
            header = _header(line)
        if len(line) > _LONGEST_NAMING:
            continue
        if _OTHERS.search(line) and not _OPTIONS.search(line):
            run = None
        elif _NAMED.search(line):
            run, seen = _run_named(line_number, line), line_number
    yield from _results(run, group)


def _run_named(line_number: int, line: str) -> IozoneRun:
    match = IOZONE_COMMAND.search(line) if _OPTIONS.search(line) else None
    return run_of_command(IozoneRun(), line_number, match["text"]) if match else IozoneRun(line_number)


def _results(run: IozoneRun | None, group: Sequence[_TestRow]) -> Iterator[ForeignResult]:
    if run is None or len(group) < _FEWEST:
        return
    for row in group:
        for at, rate in enumerate(row.rates):
            for found in test_result(run, row.line, row.line, row.test, rate, run.size_bytes, run.block_bytes, 1):
                yield _named(found, row.names[at]) if row.names else found


def _named(found: ForeignResult, name: str) -> ForeignResult:
    """Return the result with the name of its column in the name of its test."""
    (part,) = found.outcome.parts
    named = f"{part.name} {name}"
    outcome = replace(found.outcome, parts=(replace(part, name=named),))
    return replace(found, outcome=outcome, parts=tuple(replace(each, name=named) for each in found.parts))


def _row(line_number: int, line: str, header: Sequence[str]) -> _TestRow | None:
    """Return the test and the values in a line, or None if it is not a row of a list or of a table with this header."""
    if match := _LIST_LINE.match(line):
        test, rate = _test(match["label"]), _rate(match["value"])
        return _TestRow(line_number, test, (rate,)) if test and rate else None
    if not header or len(line) > _LONGEST_ROW:
        return None
    cells = cells_of(line, separator_of(line))
    rates = [rate for cell in cells[1:] if (rate := _rate(cell))]
    test = _test(cells[0])
    is_row = test and len(rates) == len(cells) - 1 == len(header) - 1
    return _TestRow(line_number, test, tuple(rates), tuple(header[1:])) if is_row else None


def _header(line: str) -> tuple[str, ...]:
    """Return the cells of a line that may be the header of a table, which has no values, or an empty tuple."""
    cells = cells_of(line, separator_of(line)) if len(line) <= _LONGEST_ROW else []
    is_header = 1 < len(cells) <= _COLUMNS and all(cells[1:]) and not any(map(_VALUE.match, cells))
    return tuple(cells) if is_header else ()


def _test(label: str) -> str:
    """Return iozone's name of a test, or an empty string if a label is not the name of a test."""
    match = _TEST.match(" ".join(label.split()))
    if match is None:
        return ""
    words = match["test"].lower().replace("_", " ").replace("-", " ").replace("re write", "rewrite")
    words = words.replace("re read", "reread").removesuffix("s").removesuffix("er")
    words = words if not words.endswith("writ") else f"{words}e"
    is_random = words.startswith("rand")
    return f"random {'read' if 'read' in words else 'write'}" if is_random else words


def _rate(text: str) -> float | None:
    """Parse a rate in bytes per second. A rate without a unit is in KiB/s, as iozone prints it."""
    match = _VALUE.match(text.strip())
    value = number(match["number"]) if match else None
    if match is None or value is None:
        return None
    if match["unit"] and match["unit"].lower() not in ("kb", "kib"):
        return amount(f"{value}{match['unit']}")
    return value * _KIB if value >= _LEAST_KIB else None


READER = FormatReader(
    "iozone in lists",
    ("https://e-com-net.com/article/1288637926455975936.htm (a table of RAID levels)",),
    _find,
    ("iozone",),
)
