"""Whether a query only reads: judged by its syntax tree as DuckDB itself gives it, before anything of it is bound.

`select` is not enough to go by: DuckDB lets a `with` hold a `copy` or an `insert`, and functions run SQL given as text.
What is not known to be harmless is refused.
"""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from poolproof.errors import UsageError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_READING_NODES = frozenset({"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"})
_TABLE_FUNCTIONS = frozenset({"unnest", "range", "generate_series", "json_each", "json_tree", "repeat", "repeat_row"})
HINT = "the views are runs, trials, cells, leaves, findings; their columns: docs/query.md, or: describe trials"


def check_only_reads(connection: "DuckDBPyConnection", sql: str) -> None:
    """Check that a query is a single statement that only reads.

    Raises:
        UsageError: it has no statement or several, or could change something.
        duckdb.Error: it is not valid SQL.
    """
    import duckdb

    kinds = [statement.type for statement in connection.extract_statements(sql)]
    if len(kinds) != 1:
        raise UsageError(f"a query is one statement, and this is {len(kinds)}", 'write one "select …"')
    if kinds[0] != duckdb.StatementType.SELECT:
        raise UsageError(f"a query only reads, and this is {str(kinds[0]).rpartition('.')[2].lower()}", HINT)
    for place in _places(_tree(connection, sql)):
        _check(place)


def _tree(connection: "DuckDBPyConnection", sql: str) -> Any:
    [(text,)] = connection.execute("select json_serialize_sql(?::VARCHAR)::VARCHAR", [sql]).fetchall()
    tree = json.loads(text)
    if tree.get("error") is not False:
        raise UsageError("this query cannot be shown to only read", f"write it as a plain select; {HINT}")
    return tree


def _places(tree: Any) -> Iterator[dict[str, Any]]:
    """Every object of the tree."""
    waiting = [tree]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            yield each
            waiting += each.values()
        elif isinstance(each, list):
            waiting += each


def _check(place: dict[str, Any]) -> None:
    kind = place.get("type")
    if isinstance(kind, str) and kind.endswith("_NODE") and kind not in _READING_NODES:
        raise UsageError(f"a query only reads, and this has a {kind.removesuffix('_QUERY_NODE').lower()}", HINT)
    if kind == "TABLE_FUNCTION":
        name = str(place.get("function", {}).get("function_name", ""))
        if name.lower() not in _TABLE_FUNCTIONS:
            raise UsageError(f"a query may not call the table function {name}()", HINT)
