"""Export a run as Markdown for forums: a table of results with verdict symbols, and footnotes with the reasons."""

import re
from collections.abc import Iterable, Iterator, Sequence

from poolproof.metrics import metric_of
from poolproof.presentation.export.rows import ExportRow, ExportTable
from poolproof.presentation.terminal.limited import share_text
from poolproof.presentation.terminal.visible import visible
from poolproof.presentation.terminal.words import (
    MARKS,
    emulated_legend,
    emulated_mark,
    half_width_text,
    some_of,
    value_text,
    versions_text,
)
from poolproof.results.runs.few_events import TOO_FEW
from poolproof.statistics.intervals import Interval

_DIGITS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~])")
_NONE = "·"
_MOST_NAMED = 4


def markdown_text(table: ExportTable) -> str:
    """Return the complete Markdown document, whose table GitHub and most forums can render.

    Workloads are rows and layouts are columns, or the other way round if there are more layouts than workloads.
    """
    notes = _Notes()
    body = "\n".join(_table(table.rows, notes)) if table.rows else "No trial has finished yet."
    question = f": {_text(table.campaign.question)}" if table.campaign.question else ""
    parts = [
        f"**{_text(table.campaign.name)}**{question}",
        body,
        *notes.lines(),
        _not_converged(table.rows),
        _few_events(table.rows),
        *_remarks(table.rows),
        _text(emulated_legend(row.cell for row in table.rows)),
        _legend(table),
        _made(table),
    ]
    return visible("\n\n".join(part for part in parts if part) + "\n")


class _Notes:
    """Collects the footnotes. Cells with the same verdict for the same reason share one footnote."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, str], int] = {}
        self._rows: dict[int, list[ExportRow]] = {}

    def mark(self, row: ExportRow) -> str:
        """Return the footnote number to print after the cell's result, or an empty string if it needs no footnote."""
        if not row.reasons:
            return ""
        first = row.reasons[0]
        number = self._numbers.setdefault((row.own.verdict, f"{first.rule}\n{first.fix}"), len(self._numbers) + 1)
        self._rows.setdefault(number, []).append(row)
        return str(number).translate(_DIGITS)

    def lines(self) -> Iterator[str]:
        """Yield one paragraph per footnote, with the message from the first cell that refers to it."""
        for number, rows in self._rows.items():
            first = rows[0].reasons[0]
            more = f" (and {len(rows) - 1} more for the same reason)" if len(rows) > 1 else ""
            yield (
                f"{str(number).translate(_DIGITS)} **{rows[0].own.verdict}**, {_code(first.rule)}: "
                f"{_place(rows[0])}{more}: {_text(first.message)}. "
                f"Fix: {_text(first.fix)}"
            )


def _place(row: ExportRow) -> str:
    return f"{_code(row.cell.workload)} on {_code(row.cell.layout_in_state)}"


def _table(rows: Sequence[ExportRow], notes: _Notes) -> Iterator[str]:
    layouts = {row.cell.layout_in_state: _code(row.cell.layout_in_state) for row in rows}
    workloads = {row.cell.workload: f"{_code(row.cell.workload)}, {metric_of(row.cell.metric).title}" for row in rows}
    cells = {(row.cell.workload, row.cell.layout_in_state): row for row in rows}
    turned = len(layouts) > len(workloads)
    down, across = (layouts, workloads) if turned else (workloads, layouts)
    lines = [["layout" if turned else "workload", *across.values()], ["---", *("---:" for _ in across)]]
    for name, head in down.items():
        places = [(other, name) if turned else (name, other) for other in across]
        lines.append([head, *(_cell(cells.get(place), notes) for place in places)])
    yield from (f"| {' | '.join(fields)} |" for fields in lines)


def _cell(row: ExportRow | None, notes: _Notes) -> str:
    """Format a cell of the table, for example `968 IOPS ±17% ✓ 67% of limit`.

    A result that did not converge is shown as `about 968 IOPS ✓`. A rejected result is shown in parentheses and struck
    through: `~~(24.0 GB/s)~~ ✗¹`.
    """
    if row is None:
        return _NONE
    figure = _figure(row.figure, row)
    text = figure if row.counts or row.figure is None else f"~~({figure})~~"
    share = f" {share_text(row.limit)} of limit" if row.limit and row.counts else ""
    emulated = _text(emulated_mark(row.cell))
    return f"{text}{emulated} {MARKS[row.own.verdict]}{notes.mark(row)}{share}"


def _figure(figure: Interval | None, row: ExportRow) -> str:
    if figure is None:
        return "no result"
    value, half = value_text(figure.mean, row.cell.metric), half_width_text(figure)
    if row.settled is False:
        return f"about {value}"
    if not row.counts:
        return value
    if not row.cell.usability().can_be_ranked:
        return f"{value}, {TOO_FEW}"
    return f"{value} ±{half}" if half else value


def _not_converged(rows: Iterable[ExportRow]) -> str:
    """Return a sentence listing the results that did not converge, grouped by reason, or an empty string."""
    named: dict[str, list[str]] = {}
    for row in rows:
        if row.settled is False and row.figure is not None:
            why = ", ".join(reason.name for reason in row.not_converged)
            named.setdefault(why, []).append(_place(row))
    parts = [f"{some_of(places, _MOST_NAMED)} ({_text(why)})" for why, places in named.items()]
    if not parts:
        return ""
    return f"**about** marks results that did not converge, so their means are not reliable: {'; '.join(parts)}."


def _few_events(rows: Iterable[ExportRow]) -> str:
    """Return a sentence listing the percentiles with too few events and the number of events that each needs.

    If there are none, return an empty string.
    """
    found = [(_place(row), row) for row in rows if row.counts]
    few = [f"{place} ({_text(each.sentence)})" for place, row in found if (each := row.cell.few_events()) is not None]
    if not few:
        return ""
    places = some_of(few, _MOST_NAMED, "; ", "; and {} more")
    return f"**{TOO_FEW}** marks percentiles that are not ranked or compared: {places}."


def _remarks(rows: Iterable[ExportRow]) -> Iterator[str]:
    """Yield each remark once, after the names of the cells to which it applies."""
    places: dict[str, list[str]] = {}
    for row in rows:
        for remark in row.remarks:
            places.setdefault(remark, []).append(_place(row))
    yield from (f"{some_of(found, _MOST_NAMED)}: {_text(remark)}." for remark, found in places.items())


def _legend(table: ExportTable) -> str:
    """Return a legend that explains the symbols in the table, including `±` and `of limit`."""
    rows, known = table.rows, [row for row in table.rows if row.settled is not False]
    marks = [f"{mark} {verdict}" for verdict, mark in MARKS.items() if any(row.own.verdict == verdict for row in rows)]
    if any(row.figure and row.figure.half_width is not None for row in known):
        marks.append(f"± margin of error at {table.confidence} confidence")
    if any(row.figure and row.figure.half_width is None for row in known if row.cell.usability().can_be_ranked):
        marks.append("no ± and not struck through: a single trial or build, so no interval")
    if any(row.limit and row.counts for row in rows):
        marks.append("of limit: share of what the layout's disks delivered when each was measured alone")
    return _text(", ".join(marks))


def _made(table: ExportTable) -> str:
    record = table.record
    made = "Imported by" if record.imported else "Measured by"
    return f"{made} {_text(versions_text(record, record.facts.get('distribution', ''), record.begun_at[:10]))}"


def _code(name: str) -> str:
    """Return a name as inline code. Pipes are escaped, because a pipe would end the table cell even inside code."""
    plain = " ".join(name.split()).replace("|", "\\|")
    longest = max((len(run) for run in re.findall("`+", plain)), default=0)
    fence = "`" * (longest + 1)
    space = " " if longest else ""
    return f"{fence}{space}{plain}{space}{fence}"


def _text(text: str) -> str:
    return _MARKUP.sub(r"\\\1", " ".join(text.split()))
