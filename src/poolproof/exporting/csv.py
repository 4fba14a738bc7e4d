"""A run as CSV (RFC 4180, UTF-8): a line for each cell, units in the names of the columns."""

import csv
import io

from poolproof.exporting.rows import Table, columns_of


def csv_text(table: Table) -> str:
    """The whole file. What was not measured is empty; a text that a spreadsheet would run as a formula gets a `'`."""
    columns = columns_of(table)
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(columns)
    writer.writerows([_field(value(row)) for value in columns.values()] for row in table.rows)
    return out.getvalue()


def _field(value: object) -> object:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")):
        return f"'{value}"
    return value
