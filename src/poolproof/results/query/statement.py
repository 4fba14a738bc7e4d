"""Run an SQL statement: check that it is read-only, limit its time and memory, and format its rows.

The check uses the syntax tree from DuckDB's own parser, before names are resolved. It is not enough that the statement
begins with `select` or `with`: in DuckDB, a `with` can contain a `copy` or an `insert`, and some functions execute SQL
passed to them as a string. Everything that is not known to be harmless is therefore rejected.
"""

import contextlib
import json
import math
import os
import re
import resource
import select
import shutil
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poolproof.errors import Interrupted, PoolproofError, RunError, UsageError
from poolproof.units import format_duration, format_number_of

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MOST_VALUES = 2_000_000
"""The maximum number of values (rows × columns) in a result. A result of this size takes about 200 MB of memory."""

MOST_MEMORY_BYTES = 2 * 1024**3
"""The maximum memory of a query.

DuckDB's own limit does not include the values of rows, for example of `range(1000000000)`.
"""

DEFAULT_LIMIT_S = 600.0
"""How long a query may take, in seconds, unless `--time-limit` sets another limit."""

_INTERRUPT_EVERY_S = 0.05
_GIVE_UP_S = 1.5
_JOIN_S = 5.0
_ROWS_AT_ONCE = 2048
_MOST_ROWS = 1000
_WIDEST = 60
_NUMERIC = re.compile("DOUBLE|FLOAT|DECIMAL|.*INT$|.*INTEGER$")
_READING_NODES = frozenset({"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"})
_TABLE_FUNCTIONS = frozenset({"unnest", "range", "generate_series", "json_each", "json_tree", "repeat", "repeat_row"})
_SMALLER = "add a where clause or a limit"
_FASTER = "add a where clause, for example run = 'NAME', or allow more time, for example --time-limit 1h"
_HINT = (
    "the views are runs, trials, cells, leaves and findings; their columns: docs/query.md, or poolproof query "
    "DIR 'describe trials'"
)

_SIMPLER = f"write a simple select; {_HINT}"


@dataclass(frozen=True)
class QueryResult:
    """A query result: the names and types of its columns, and its rows as Python values."""

    columns: tuple[str, ...]
    types: tuple[str, ...]
    rows: list[tuple[Any, ...]]


@dataclass(frozen=True)
class Deadline:
    """A query's time limit in seconds, and the time at which it expires, as a value of `time.monotonic()`."""

    limit_s: float
    at: float


def check_only_reads(connection: "DuckDBPyConnection", sql: str) -> None:
    """Check that a query is a single read-only statement.

    Raises:
        UsageError: it is not a single statement, or not read-only.
        duckdb.Error: it is not valid SQL.
    """
    import duckdb

    kinds = [statement.type for statement in connection.extract_statements(sql)]
    if len(kinds) != 1:
        raise UsageError(f"a query must be one statement, not {len(kinds)}", 'write one "select …"')
    if kinds[0] != duckdb.StatementType.SELECT:
        raise UsageError(f"queries are read-only: {str(kinds[0]).rpartition('.')[2]} is not allowed", _HINT)
    [(text,)] = connection.execute("select json_serialize_sql(?::VARCHAR)::VARCHAR", [sql]).fetchall()
    try:
        tree = json.loads(text)
    except RecursionError:
        raise UsageError("the query is nested too deeply", _SIMPLER) from None
    if tree.get("error") is not False:
        raise UsageError("poolproof cannot verify that this query is read-only", _SIMPLER)
    for node in _nodes(tree):
        _check_node(node)


def run_query(connection: "DuckDBPyConnection", sql: str) -> QueryResult:
    """Run a query that has passed `check_only_reads`, and return its result.

    Raises:
        UsageError: a column has a time zone, or the result is too large.
        duckdb.Error: DuckDB rejected the query.
    """
    relation = connection.sql(sql)
    for name, kind in zip(relation.columns, relation.types, strict=True):
        if "TIME ZONE" in str(kind):
            raise UsageError(
                f"the column {name} has a time zone", f"write ({name})::timestamp; the views' times are UTC"
            )
    rows = _fetched(connection.execute(sql), MOST_VALUES // max(1, len(relation.columns)))
    return QueryResult(tuple(relation.columns), tuple(map(str, relation.types)), rows)


@contextlib.contextmanager
def memory_limited() -> Iterator[None]:
    """Limit how much more memory the process may allocate while the context is active.

    An existing lower limit is kept. Raises a UsageError if a query exceeds the limit.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    used_pages = int(Path("/proc/self/statm").read_text().split()[5])
    most = used_pages * resource.getpagesize() + MOST_MEMORY_BYTES
    lower = [limit for limit in (soft, hard) if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_DATA, (min([most, *lower]), hard))
    try:
        yield
    except MemoryError:
        gib = MOST_MEMORY_BYTES // 1024**3
        raise UsageError(f"the query needs more than {gib} GiB of memory", _SMALLER) from None
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


class _Limits:
    """Interrupts a query from another thread when a signal arrives or the time limit is reached.

    Python runs signal handlers only in the main thread, which DuckDB occupies while it computes. DuckDB also checks for
    signals itself, but missed about one in thirty. The other thread therefore waits on a file descriptor to which
    Python writes a byte as soon as a signal arrives.
    """

    def __init__(self, connection: "DuckDBPyConnection", scratch: Path, until: Deadline) -> None:
        self.has_signal = False
        self._until = until
        self._connection = connection
        self._scratch = scratch
        self._arrived, self._wakeup = socket.socketpair()
        self._wakeup.setblocking(False)
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._wait, daemon=True)
        self._in_main = threading.current_thread() is threading.main_thread()
        self._old = signal.set_wakeup_fd(self._wakeup.fileno()) if self._in_main else -1
        self._thread.start()

    def close(self) -> None:
        """Stop waiting for signals, and restore the previous signal file descriptor."""
        self._is_over.set()
        if self._in_main:
            signal.set_wakeup_fd(self._old)
        self._wakeup.close()
        self._thread.join(_JOIN_S)
        self._arrived.close()

    def _wait(self) -> None:
        ready, _, _ = select.select([self._arrived], [], [], max(0.0, self._until.at - time.monotonic()))
        self.has_signal = bool(ready) and not self._is_over.is_set()
        deadline = time.monotonic() + _GIVE_UP_S
        while not self._is_over.wait(_INTERRUPT_EVERY_S):
            self._connection.interrupt()  # repeatedly: DuckDB forgets an interrupt that comes between two statements
            if time.monotonic() > deadline:
                self._end_process()

    def error(self) -> PoolproofError:
        if self.has_signal:
            return Interrupted("interrupted", "")
        return RunError(
            f"the query was ended because it took longer than {format_duration(self._until.limit_s)}", _FASTER
        )

    def _end_process(self) -> None:
        shutil.rmtree(self._scratch, ignore_errors=True)
        error = self.error()
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.write(f"poolproof: {error}\n")
            sys.stderr.flush()
        os._exit(error.exit_code)


@contextlib.contextmanager
def interruptible(connection: "DuckDBPyConnection", scratch: Path, until: Deadline) -> Iterator[None]:
    """Interrupt the queries inside the context if a signal arrives or the deadline has passed.

    If DuckDB does not stop, remove the directory `scratch` and end the process.

    Raises:
        RunError: the time limit was exceeded.
        Interrupted: the user pressed Ctrl-C, or another signal arrived.
    """
    import duckdb

    limits = _Limits(connection, scratch, until)
    try:
        yield
    except duckdb.InterruptException:
        raise limits.error() from None
    except BaseException as error:
        connection.interrupt()  # otherwise, closing the connection waits for the end of the query
        if isinstance(error, KeyboardInterrupt):
            raise Interrupted("interrupted", "") from None
        raise
    finally:
        limits.close()


def _fetched(connection: "DuckDBPyConnection", most_rows: int) -> list[tuple[Any, ...]]:
    """Return the rows, or raise a UsageError if there are too many.

    DuckDB computes rows only when they are fetched, so fetching stops as soon as there are too many.
    """
    rows: list[tuple[Any, ...]] = []
    while found := connection.fetchmany(_ROWS_AT_ONCE):
        rows += found
        if len(rows) > most_rows:
            raise UsageError(f"the result has more than {MOST_VALUES} values", _SMALLER)
    return rows


def refusal(error: Exception) -> UsageError:
    """Convert the error from a query that DuckDB rejected into a UsageError."""
    import duckdb

    if isinstance(error, duckdb.OutOfMemoryException):
        return UsageError(f"the query needs too much memory: {str(error).splitlines()[0]}", _SMALLER)
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return UsageError(f"DuckDB rejected the query: {' '.join(lines[:2])}", _HINT)


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:
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
        raise UsageError(f"queries are read-only: {kind.removesuffix('_QUERY_NODE')} is not allowed", _HINT)
    if kind == "TABLE_FUNCTION":
        name = str(node.get("function", {}).get("function_name", ""))
        if name.lower() not in _TABLE_FUNCTIONS:
            raise UsageError(f"the table function {name}() is not allowed in queries", _HINT)


def table_lines(answer: QueryResult) -> Iterator[str]:
    """Yield the lines of a table: the headings, up to 1000 rows, and the number of further rows, if any.

    Numbers are right-aligned, and long strings are truncated.
    """
    shown = [[_text(value) for value in row] for row in answer.rows[:_MOST_ROWS]]
    names = [_text(name) for name in answer.columns]
    right = [bool(_NUMERIC.match(kind)) for kind in answer.types]
    widths = [max(map(len, column)) for column in zip(names, *shown, strict=True)]
    yield _line(names, widths, right)
    yield _line(["-" * width for width in widths], widths, right)
    for row in shown:
        yield _line(row, widths, right)
    more = len(answer.rows) - len(shown)
    if more:
        yield f"… and {format_number_of(more, 'more row')}; print all of them with --csv or --json"


def _line(fields: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    padded = (
        field.rjust(width) if to_right else field.ljust(width)
        for field, width, to_right in zip(fields, widths, right, strict=True)
    )
    return "  ".join(padded).rstrip()


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    text = str(text_value(value))
    text = text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…"  # first, because a value may have 200 MB
    return "".join(letter if letter.isprintable() else " " for letter in text)


def json_value(value: Any) -> Any:
    """Convert a value for JSON.

    Times become ISO 8601 strings, NaN and infinity become None, and values of other types become strings.
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): json_value(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [json_value(inner) for inner in value]
    return text_value(value)


def text_value(value: Any) -> Any:
    """Convert a value for CSV.

    Times become ISO 8601 strings, numbers and None stay unchanged, and values of other types become strings.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return value.isoformat(sep=" ", timespec="milliseconds" if value.microsecond else "seconds")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.hex()
    return value if value is None or isinstance(value, int | float | str) else str(value)
