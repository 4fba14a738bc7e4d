"""A run as CSV (RFC 4180, UTF-8): a line for each cell, units in the names of the columns."""

import csv
import io
from collections.abc import Iterable, Sequence

from poolproof.presentation.export.rows import ExportTable, columns_of


def csv_text(table: ExportTable) -> str:
    """The whole file; what was not measured is empty."""
    columns = columns_of(table)
    return csv_lines(tuple(columns), ([value(row) for value in columns.values()] for row in table.rows))


def csv_lines(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A heading and a line for each row; a text that a spreadsheet would run as a formula gets a `'` in front."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(columns)
    writer.writerows([_field(value) for value in row] for row in rows)
    return out.getvalue()


def _field(value: object) -> object:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")):
        return f"'{value}"
    return value
