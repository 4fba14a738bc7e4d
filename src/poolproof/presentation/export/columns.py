"""Export a run as CSV (RFC 4180, UTF-8) or Parquet, with one row per cell and units in the column names."""

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from poolproof.errors import check_extra, one_line
from poolproof.files.scratch import scratch_directory
from poolproof.metrics import COLUMNS, REJECTED, metric_of
from poolproof.presentation.export.rows import ExportRow, ExportTable
from poolproof.presentation.terminal.visible import visible
from poolproof.results.runs.shares import AccountSum

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation

Column = Callable[[ExportRow], object]

_FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_TEXT = {
    *("run", "campaign", "layout", "workload", "metric", "verdict", "emulated"),
    *("limit_bound", "rules", "why", "mend", "measured_at", "state", "remarks", "too_few", "other_verdicts"),
}
_TYPES = {"counts": "BOOLEAN", "settled": "BOOLEAN", "trials": "INTEGER", "left_out": "INTEGER"}


def columns_of(table: ExportTable) -> dict[str, Column]:
    """Return the columns, keyed by name.

    Each column is a function that returns a row's value: a string, number, bool or None.
    """
    labels = ("run", "campaign", "layout", "workload", *table.settings)
    columns: dict[str, Column] = {name: _label(table, name) for name in labels}
    columns |= {
        "metric": lambda row: row.cell.metric,
        "verdict": lambda row: row.own.verdict,
        "counts": lambda row: row.counts,
        "settled": lambda row: row.settled,
        "trials": lambda row: len(row.cell.trials),
        "emulated": lambda row: " ".join(row.cell.emulated) or None,
    }
    for name in COLUMNS:
        columns |= {
            name: _bound(name, "mean"),
            f"{name}_low": _bound(name, "low"),
            f"{name}_high": _bound(name, "high"),
        }
    columns |= {f"{REJECTED}{name}": _bound(name, "mean", rejected=True) for name in COLUMNS}
    columns |= {name: _account(name) for name in AccountSum.__dataclass_fields__}
    if table.has_limits:
        columns |= {
            "limit_share": lambda row: row.limit_share,
            f"{REJECTED}limit_share": lambda row: row.limit.share if row.limit and not row.counts else None,
            "limit_bound": lambda row: row.limit.bound if row.limit else None,
        }
    return columns | {
        "rules": lambda row: " ".join(finding.rule for finding in row.reasons),
        "why": lambda row: row.reasons[0].message if row.reasons else None,
        "mend": lambda row: row.reasons[0].fix if row.reasons else None,
        "too_few": lambda row: " ".join(metric_of(metric).column for metric in row.cell.too_few) or None,
        "other_verdicts": lambda row: " ".join(f"{name}={found}" for name, found in row.other_verdicts.items()) or None,
        "remarks": lambda row: "; ".join(row.remarks) or None,
        "measured_at": lambda row: row.measured_at or None,
        "state": lambda row: row.cell.state,
        "left_out": lambda row: len(row.cell.left_out),
    }


def _label(table: ExportTable, name: str) -> Column:
    return lambda row: table.labels(row).get(name)


def _bound(column: str, bound: str, *, rejected: bool = False) -> Column:
    return lambda row: getattr((row.rejected if rejected else row.figures).get(column), bound, None)


def _account(name: str) -> Column:
    return lambda row: getattr(row.cell.account, name, None)


def csv_text(table: ExportTable) -> str:
    """Return the contents of the CSV file. Values that were not measured are empty fields."""
    columns = columns_of(table)
    return csv_lines(tuple(columns), ([value(row) for value in columns.values()] for row in table.rows))


def csv_lines(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return CSV with a header line and one line per row.

    Strings that a spreadsheet would interpret as formulas are prefixed with `'`, unless they are numbers. Line breaks
    in strings are replaced by spaces, and control characters are escaped.
    """
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(map(_field, columns))
    writer.writerows([_field(value) for value in row] for row in rows)
    return visible(out.getvalue())


def _field(value: object) -> object:
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return value
    text = one_line(value)
    return f"'{text}" if text.startswith(_FORMULAS) and not _NUMBER.fullmatch(text) else text


def parquet_bytes(table: ExportTable) -> bytes:
    """Return the contents of a Parquet file with one row per cell.

    Raises a HostError if the optional dependencies `query` are not installed.
    """
    check_extra("query", "writing Parquet")
    with scratch_directory("poolproof-export-") as folder:
        path = folder / "made.parquet"
        relation_of(table).write_parquet(str(path), compression="zstd")
        return path.read_bytes()


def relation_of(table: ExportTable) -> "DuckDBPyRelation":
    """Return an in-memory DuckDB relation with one row per cell.

    Raises a HostError if the optional dependencies `query` are not installed.
    """
    check_extra("query", "a table of cells")
    import duckdb

    columns = columns_of(table)
    connection = duckdb.connect(config={"autoload_known_extensions": "false"})
    with scratch_directory("poolproof-export-") as folder:
        lines = folder / "rows.json"
        rows = ({name: value(row) for name, value in columns.items()} for row in table.rows)
        lines.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        types = {name: _type(name, table) for name in columns}
        connection.read_json(str(lines), columns=types, format="newline_delimited").create("cells")
    return connection.table("cells")


def _type(name: str, table: ExportTable) -> str:
    if name in _TEXT or name in table.settings:
        return "VARCHAR"
    return _TYPES.get(name) or ("BIGINT" if name.startswith(("fio_", "leaf_")) else "DOUBLE")
