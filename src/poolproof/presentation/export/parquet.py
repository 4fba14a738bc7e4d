"""A run as Parquet, written by DuckDB: the same columns as the CSV, with types."""

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from poolproof.errors import check_extra
from poolproof.presentation.export.rows import ExportTable, columns_of

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation

_TEXT = {
    *("run", "campaign", "layout", "workload", "metric", "verdict"),
    *("limit_bound", "rules", "why", "mend", "measured_at"),
}
_TYPES = {"counts": "BOOLEAN", "settled": "BOOLEAN", "trials": "INTEGER"}


def write_parquet(table: ExportTable, out: Path) -> None:
    """Write the file.

    Raises:
        HostError: the extra `query` is not installed.
        OSError: the file cannot be written.
    """
    check_extra("query", "writing Parquet")
    with tempfile.TemporaryDirectory(prefix="poolproof-") as folder:
        made = Path(folder) / "made.parquet"
        relation_of(table).write_parquet(str(made), compression="zstd")
        out.write_bytes(made.read_bytes())


def relation_of(table: ExportTable) -> "DuckDBPyRelation":
    """Return one row per cell as a DuckDB relation, in memory.

    Raises:
        HostError: the extra `query` is not installed.
    """
    check_extra("query", "a table of cells")
    import duckdb

    columns = columns_of(table)
    types = {name: _type(name, table) for name in columns}
    connection = duckdb.connect(config={"autoload_known_extensions": "false"})
    with tempfile.TemporaryDirectory(prefix="poolproof-") as folder:
        lines = Path(folder) / "rows.json"
        rows = ({name: value(row) for name, value in columns.items()} for row in table.rows)
        lines.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        connection.read_json(str(lines), columns=types, format="newline_delimited").create("cells")
    return connection.table("cells")


def _type(name: str, table: ExportTable) -> str:
    if name in _TEXT or name in table.settings:
        return "VARCHAR"
    if name in _TYPES:
        return _TYPES[name]
    return "BIGINT" if name.startswith(("fio_", "leaf_")) else "DOUBLE"
