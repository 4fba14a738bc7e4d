"""A run as CSV (RFC 4180, UTF-8): one line for each cell, with units in the column names."""

import csv
import io
from collections.abc import Iterable, Sequence

from poolproof.presentation.export.rows import ExportTable, columns_of


def csv_text(table: ExportTable) -> str:
    """Return the complete file; a value that was not measured is empty."""
    columns = columns_of(table)
    return csv_lines(tuple(columns), ([value(row) for value in columns.values()] for row in table.rows))


def csv_lines(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a header and one line for each row; text that a spreadsheet would run as a formula gets a leading `'`."""
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
