"""Run one SQL statement: check that it only reads, limit its time, and return its rows.

The check uses DuckDB's own syntax tree, before any name is bound. A leading `select` is not enough: in DuckDB a `with`
can contain a `copy` or an `insert`, and some functions run SQL that they are given as text. So everything that is not
known to be harmless is refused.
"""

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from poolproof.errors import Interrupted, RunError, UsageError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_LONGEST_S = 600.0
_READING_NODES = frozenset({"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"})
_TABLE_FUNCTIONS = frozenset({"unnest", "range", "generate_series", "json_each", "json_tree", "repeat", "repeat_row"})
_HINT = "the views are runs, trials, cells, leaves and findings; their columns: docs/query.md, or run: describe trials"


@dataclass(frozen=True)
class QueryResult:
    """The result of a query: the names and types of its columns, and its rows as Python values."""

    columns: tuple[str, ...]
    types: tuple[str, ...]
    rows: list[tuple[Any, ...]]


def check_only_reads(connection: "DuckDBPyConnection", sql: str) -> None:
    """Check that a query is a single statement that only reads.

    Raises:
        UsageError: it is not exactly one statement, or it could change something.
        duckdb.Error: it is not valid SQL.
    """
    import duckdb

    kinds = [statement.type for statement in connection.extract_statements(sql)]
    if len(kinds) != 1:
        raise UsageError(f"a query must be one statement, but this has {len(kinds)}", 'write one "select …"')
    if kinds[0] != duckdb.StatementType.SELECT:
        raise UsageError(f"a query can only read, but this is {str(kinds[0]).rpartition('.')[2].lower()}", _HINT)
    for node in _nodes(_tree(connection, sql)):
        _check_node(node)


def run_query(connection: "DuckDBPyConnection", sql: str) -> QueryResult:
    """Return the result of a query that was checked.

    Raises:
        UsageError: a column has a time zone.
        RunError: it takes too long.
        Interrupted: Ctrl-C.
        duckdb.Error: DuckDB refuses it.
    """
    import duckdb

    timer = threading.Timer(_LONGEST_S, connection.interrupt)
    timer.start()
    try:
        relation = connection.sql(sql)
        _check_times(relation)
        return QueryResult(tuple(relation.columns), tuple(map(str, relation.types)), relation.fetchall())
    except duckdb.InterruptException:
        raise RunError(f"the query took longer than {_LONGEST_S:.0f} s", "reduce it: add a where or a limit") from None
    except KeyboardInterrupt:
        raise Interrupted("interrupted", "") from None
    finally:
        timer.cancel()


def refusal(error: Exception) -> UsageError:
    """Return the error to raise if DuckDB refuses a query."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return UsageError(f"DuckDB refuses the query: {' '.join(lines[:2])}", _HINT)


def _tree(connection: "DuckDBPyConnection", sql: str) -> Any:
    [(text,)] = connection.execute("select json_serialize_sql(?::VARCHAR)::VARCHAR", [sql]).fetchall()
    tree = json.loads(text)
    if tree.get("error") is not False:
        raise UsageError("poolproof cannot verify that this query only reads", f"write it as a plain select; {_HINT}")
    return tree


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:
    """Yield every object in the tree."""
    waiting = [tree]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            yield each
            waiting += each.values()
        elif isinstance(each, list):
            waiting += each


def _check_node(node: dict[str, Any]) -> None:
    kind = node.get("type")
    if isinstance(kind, str) and kind.endswith("_NODE") and kind not in _READING_NODES:
        raise UsageError(f"a query can only read, but this has a {kind.removesuffix('_QUERY_NODE').lower()}", _HINT)
    if kind == "TABLE_FUNCTION":
        name = str(node.get("function", {}).get("function_name", ""))
        if name.lower() not in _TABLE_FUNCTIONS:
            raise UsageError(f"a query cannot call the table function {name}()", _HINT)


def _check_times(relation: Any) -> None:
    for name, kind in zip(relation.columns, relation.types, strict=True):
        if "TIME ZONE" in str(kind):
            raise UsageError(
                f"{name} is a time with a time zone", f"write ({name})::timestamp; the views' times are UTC"
            )
