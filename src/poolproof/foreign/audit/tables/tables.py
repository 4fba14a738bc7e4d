"""Find tables of results, and pairs of values such as `randread: IOPS=52.1k, BW=203MiB/s`.

A header names the metrics or the directions of the columns (`table_rows.py`), or the rows name the metrics
(`table_matrix.py`). Cells are separated by `|`, tabs, commas or spaces, or each cell is a line (`table_layout.py`).
Pairs of values are found in cells, in sentences that mention reads or writes in front of them, and in lists. Lists of
IOPS alone are read by `counted_lists.py`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import takewhile

from poolproof.foreign.audit.amounts import amount, whole
from poolproof.foreign.audit.directions import named_direction
from poolproof.foreign.audit.tables.counted_lists import find_counted
from poolproof.foreign.audit.tables.rate_lists import find_rate_lists
from poolproof.foreign.audit.tables.table_cells import LABELLED, labelled_values
from poolproof.foreign.audit.tables.table_columns import column_of, row_column
from poolproof.foreign.audit.tables.table_context import TextJobs, row_direction
from poolproof.foreign.audit.tables.table_grid import find_grid, is_grid_rule
from poolproof.foreign.audit.tables.table_groups import grouped_header, tests_above_metrics
from poolproof.foreign.audit.tables.table_halved_rows import with_halved_rows
from poolproof.foreign.audit.tables.table_latencies import IN_TEXT, timed
from poolproof.foreign.audit.tables.table_layout import (
    cells_of,
    is_rule,
    separator_of,
    with_ascii_borders,
    without_marks,
)
from poolproof.foreign.audit.tables.table_lines import with_joined_cells
from poolproof.foreign.audit.tables.table_matrix import find_in_matrix, is_test
from poolproof.foreign.audit.tables.table_rows import TableHeader, has_no_values, header_in, results_in_row
from poolproof.foreign.audit.tables.table_stack import find_stacked
from poolproof.foreign.audit.tables.table_stacked_cells import with_stacked_rows
from poolproof.load.fio.pairing import FoundResult
from poolproof.load.fio.plain_lines import Line, plain_lines
from poolproof.load.outcome import Direction, Outcome, PartOutcome

_CLAUSE = re.compile(r"[,.;:()|]\s")
_TIME = re.compile(r"^\s*\d\d:\d\d:\d\d\s+")  # of a log
_HEADING = re.compile(r"^\s{0,9}(?:#{1,6}\s|\*\*[^*]{1,80}\*\*:?\s{0,9}$|[^|=:]{1,60}:\s{0,9}$)")
_UNITS = re.compile(
    r"^\W{0,9}(?:all )?(?:units?|values|results|numbers|figures|speeds?|单位|單位|единицы|einheit|unidad|unité)\b"
    r"[^|\d]{0,30}?(?:[:：]|\b(?:in|are)\b)\s{0,3}\(?(?P<unit>(?:[kmg]i?b(?:/s|ps)|k?iops))\W{0,9}$",
    re.IGNORECASE,
)
_TITLE = re.compile(r"^\s{0,3}-{3,}\s?\w[^|]{0,100}?\w\)?\s?-{3,}\s*$")  # between the rows of a table
_SECTION = re.compile(r"^\s{0,3}(?P<level>#{2,6})\s")
_MAY_BE_TABLE = re.compile(
    r"i/?o|read|write|\bbw|bandwidth|throughput|[kmg]i?b/s|jobs\b|depth\b|\bblock|\bbs\b|[读写讀寫]"
    r"|吞吐|带宽|頻寬|speed|скорост|чтени|запис|lectura|leitura|lecture|lettura|lesen|schreiben|mb/s",
    re.IGNORECASE,
)
_LIST_LABEL = re.compile(r"^[\s>*+-]{0,12}(?P<label>(?!(?:mixed|trim)\b)\w[\w.+/ -]{0,40}?)\s{0,9}:?\s{0,9}$")
_LIST_REST = re.compile(
    r"^(?: {0,2}\([^()]{1,30}\)){0,2}"
    r"(?:[,;]? {0,4}[A-Za-z ]{1,12}[=:] ?\d[\d.]{0,12} ?(?:[muµn]s(?:ec)?|s|%)){0,3}[\s,;.]{0,9}$"
)
_MOVED = re.compile(r"(?: ?\([^()]{1,30}\))?\((?P<moved>\d[\d.]{0,9}[KMGT]?i?B)/(?P<ms>\d{1,9})msec\)")
_NOT_MEASURED = re.compile(
    r"\b(?:limits?|max(?:imum)?|min(?:imum)?|rated|spec\w*|target|goal|expected|quota|qos)\b", re.IGNORECASE
)
_PERCENTAGE = re.compile(r"^\(\d{1,9}(?:\.\d{1,3})? ?%\)$")
_ROWS = ("iops", "bandwidth", "pair", "side")  # kinds of rows in tables whose columns are compared
_NO_JOBS = TextJobs("")
_MAX_BLANK_LINES = 1
_MOST_OTHER_ROWS = 40
_LONGEST_LINE = 4000


def find_tables(text: str, taken: Sequence[tuple[int, int]] = ()) -> tuple[FoundResult, ...]:
    """Return the results in tables, and one for each pair of values such as `randread: IOPS=52.1k, BW=203MiB/s`.

    Lines in the `taken` ranges (1-based, inclusive) are ignored.
    """
    inside = {number for first, last in taken for number in range(first, last + 1)}
    numbered = [(at, with_ascii_borders(line)) for at, line in plain_lines(text) if at not in inside]
    numbered = with_stacked_rows(with_halved_rows(with_joined_cells(numbered)) if "|" in text else numbered)
    jobs = TextJobs(text)
    found: list[FoundResult] = []
    rows: set[int] = set()
    seen: set[tuple[object, ...]] = set()
    heads: Sequence[str] = ()
    above, sections = "", dict[int, str]()
    tried = grid_end = -1
    for place, (line_number, line) in enumerate(numbered):
        if "|" not in line:
            heads = ()
        elif not heads and not LABELLED.search(line):
            heads = cells_of(line, separator_of(line))
        if units := _UNITS.match(line):
            above = units["unit"]
        elif _HEADING.match(line):
            above = line.strip("#*: \t")
        if match := _SECTION.match(line):
            level = len(match["level"])
            sections = {each: title for each, title in sections.items() if each < level} | {level: above}
            jobs = replace(jobs, sections=tuple(reversed(sections.values())))
        is_border = place > grid_end and is_grid_rule(line)
        if line_number in rows or len(line) > _LONGEST_LINE or not (is_border or _MAY_BE_TABLE.search(line)):
            continue
        if is_border:
            read, grid_end = find_grid(numbered, place, above, jobs)
            last = grid_end if read else place
        else:
            read, last = ([], place) if LABELLED.search(line) else _table_at(numbered, place, above, jobs, tried)
        tried = max(tried, last)
        found += [each for each in read if _values(each) not in seen]  # a table may be repeated as CSV
        seen |= {_values(each) for each in read}
        rows |= {number for each in read for number in range(each.line, each.last_line + 1)}
        rows |= {number for number, _ in numbered[place : last + 1]} if read else set()
        if not read and "iops" in line.lower():
            titled = row_direction((above, *jobs.sections), _NO_JOBS)
            pairs = list(_pairs(line_number, line, heads, titled.replace("mixed", "")))
            found += pairs or _in_list(line_number, line, jobs)
    found += [each for each in find_counted(numbered) if each.line not in rows]
    found += find_rate_lists(numbered, frozenset(rows) | {each.line for each in found})
    return tuple(sorted(found, key=lambda each: each.line))


def _table_at(
    numbered: Sequence[Line], place: int, heading: str, jobs: TextJobs, tried: int
) -> tuple[Sequence[FoundResult], int]:
    """Return the results of the table whose header, or first row with values, is at this place.

    The second value is the last place of the table. A row up to the place `tried` is not the first of a table.
    """
    line = numbered[place][1]
    metrics = next(
        (at for at in range(place + 1, min(place + 3, len(numbered))) if not is_rule(numbered[at][1])), place
    )
    tests = tests_above_metrics(line, numbered[metrics][1], heading, jobs) if "|" in line and metrics > place else None
    if tests is not None:
        return list(_rows(numbered, metrics + 1, tests)), metrics
    header = header_in(line, heading, jobs)
    if header is not None:
        below = place + 1
        while below < len(numbered) and below <= place + _MAX_BLANK_LINES and is_rule(numbered[below][1]):
            below += 1
        grouped = grouped_header(line, numbered[below][1], heading, jobs) if below < len(numbered) else None
        if grouped is not None:
            return list(_rows(numbered, below + 1, grouped)), below
        rows = list(_rows(numbered, place + 1, header))
        if not rows and header.separator == " " and line[:1].isspace():
            rows = list(_rows(numbered, place + 1, header.with_empty_corner()))
        return rows, place
    separator = separator_of(line)
    cells = cells_of(line, separator)
    is_row = len(cells) > 1 and (row_column(cells[0]).kind in _ROWS or is_test(cells))
    if place > tried and separator in "|\t " and is_row:
        first, last = _ends(numbered, place, separator)
        lines = [(number, cells_of(row, separator)) for number, row in numbered[first : last + 1] if not is_rule(row)]
        return list(_matrix(lines, separator, heading, jobs)), last
    if column_of(without_marks(line)).has_values:
        results = list(find_stacked(numbered, place, heading, jobs))
        return results, place
    return [], place


def _rows(numbered: Sequence[Line], start: int, header: TableHeader) -> Iterator[FoundResult]:
    blank = other = 0
    for at in range(start, len(numbered)):  # a slice would copy the rest of the text for each header
        line_number, line = numbered[at]
        is_title = _TITLE.match(line) is not None
        blank = 0 if is_title or not is_rule(line) else blank + 1
        if blank > _MAX_BLANK_LINES and not any(_TITLE.match(below) for _, below in numbered[at + 1 : at + 2]):
            return
        if blank or is_title:
            continue
        if at + 1 < len(numbered) and at > start and _is_markdown_rule(numbered[at + 1][1]):
            return  # this line is the header of another table
        cells = header.cells_in(line)
        if cells and (rest := _rest_of_name(numbered, at + 1, header)):
            cells = [f"{cells[0]} {rest}", *cells[1:]]
        results = results_in_row(cells, header)
        if not results:
            other += 1
            is_row = len(cells) == len(header.columns) and other <= _MOST_OTHER_ROWS
            kinds = [column_of(cell) for cell in cells[1:]]
            is_header = any(kind.has_values for kind in kinds) or all(kind.kind == "side" for kind in kinds)
            has_sides = any(column.kind == "side" for column in header.columns)
            if is_row and not is_header and (header.separator in "|\t" or has_sides or has_no_values(cells, header)):
                continue  # such tables also have rows with other units
            return
        yield from (FoundResult(result, line_number, line_number, "text") for result in results)


def _rest_of_name(numbered: Sequence[Line], at: int, header: TableHeader) -> str:
    """Return the rest of the name of the row above this place, or an empty string if this is a row of its own.

    Such a row has only a name and percentages, all in parentheses.
    """
    line = numbered[at][1] if at < len(numbered) else ""
    if "%)" not in line or "(" not in line:
        return ""
    cells = header.cells_in(line)
    first, values = (cells[0], cells[1:]) if cells else ("", [])
    is_rest = first.startswith("(") and len(cells) == len(header.columns) and all(map(_PERCENTAGE.match, values))
    return first if is_rest else ""


def _values(found: FoundResult) -> tuple[object, ...]:
    """Return the part names, IOPS and bandwidths of a result, but not its position in the text."""
    return tuple(
        (part.name, direction and (direction.iops, direction.bandwidth_bytes))
        for part in found.result.parts
        for direction in (part.read, part.write, part.mixed)
    )


def _is_markdown_rule(line: str) -> bool:
    return "|" in line and "-" in line and is_rule(line)


def _ends(numbered: Sequence[Line], place: int, separator: str) -> tuple[int, int]:
    """Return the first and the last place of the lines around this place that have the same separator."""
    first = last = place
    while first > 0 and place - first < _MOST_OTHER_ROWS and _is_row(numbered[first - 1][1], separator):
        first -= 1
    while last + 1 < len(numbered) and _is_row(numbered[last + 1][1], separator):
        last += 1
    return first, last


def _matrix(
    lines: Sequence[tuple[int, Sequence[str]]], separator: str, heading: str, jobs: TextJobs
) -> Iterator[FoundResult]:
    header, rows = lines[0][1], lines[1:]
    if separator == " " and rows and len(header) == len(rows[0][1]) - 1:
        header = ["", *header]  # the corner is empty
    return find_in_matrix(header, rows, heading, jobs)


def _is_row(line: str, separator: str) -> bool:
    return (is_rule(line) and bool(line.strip())) or (bool(line.strip()) and separator_of(line) == separator)


def _pairs(line_number: int, line: str, heads: Sequence[str], above: str) -> Iterator[FoundResult]:
    """Yield each pair of values in a line, with the direction that the words before it mention.

    In a table row, these words include the column heading and the first cell. `above`: the direction that the headings
    above the line mention. Pairs without a direction are kept only in tables.
    """
    cells = cells_of(line, "|") if line.count("|") > 1 else [line]
    is_row = len(cells) > 1
    first = takewhile(lambda cell: not LABELLED.search(cell), cells)
    row = " ".join(filter(None, first)) if is_row else ""
    direction = ""
    for at, cell in enumerate(cells):
        head, end = heads[at] if len(heads) == len(cells) else "", 0
        timed_matches = IN_TEXT.finditer(cell) if is_row else ()
        for match in (*LABELLED.finditer(cell), *timed_matches):
            said, end = _last_clause(cell[end : match.start()]), match.end()
            named = named_direction(said) or named_direction(head) or named_direction(row)
            direction = named or (direction if not said and not is_row else "") or above
            name = " ".join(filter(None, (row, head, said)))
            values = timed(match) if match.re is IN_TEXT else _values_at(cell, match)
            if values is None:
                continue
            is_unused = bool(match["unit"]) and not values.iops  # scripts print the zeros of the other direction
            if (direction or is_row) and not is_unused:
                yield FoundResult(_outcome(name, direction, values), line_number, line_number, "text")


def _in_list(line_number: int, line: str, jobs: TextJobs) -> Iterator[FoundResult]:
    """Yield the result in a line that consists of a label and a pair of values: `64k  IOPS=25.5k, BW=1594MiB/s`.

    Its direction is that of the jobs in the text.
    """
    match = LABELLED.search(line)
    label = _LIST_LABEL.match(line[: match.start()]) if match else None
    if match is None or label is None or not _LIST_REST.match(line[match.end() :]) or _NOT_MEASURED.search(line):
        return
    if (direction := jobs.direction) in ("read", "write"):
        outcome = _outcome(label["label"], direction, _values_at(line, match))
        yield FoundResult(outcome, line_number, line_number, "text")


def _values_at(text: str, match: re.Match[str]) -> Direction:
    """Return the values of a match of `LABELLED`, with the bytes and the run time if they directly follow it."""
    values = labelled_values(match)
    if moved := _MOVED.match(text, match.end()):
        return replace(values, io_bytes=whole(amount(moved["moved"])), runtime_ms=int(moved["ms"]))
    return values


def _last_clause(text: str) -> str:
    """Return the words before a value, without earlier clauses and without punctuation."""
    return _CLAUSE.split(_TIME.sub("", text).strip(" \t:=-*`\"'(>|#"))[-1].strip()


def _outcome(name: str, direction: str, values: Direction) -> Outcome:
    read, write, mixed = (values if direction == each else None for each in ("read", "write", ""))
    return Outcome("", (PartOutcome(name, read=read, write=write, mixed=mixed),))
