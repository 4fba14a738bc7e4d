"""A connection to DuckDB that sees the views over many runs, and nothing else: no file, no network, no extension."""

import contextlib
import re
import tempfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poolproof.errors import Interrupted, RunError, UsageError, check_extra
from poolproof.results.query import copies, views
from poolproof.results.query.campaigns import campaign_name
from poolproof.results.query.found import FoundRun, find_runs
from poolproof.results.query.guard import HINT, check_only_reads
from poolproof.results.query.lines import ends_whole, good_lines
from poolproof.results.query.settled import may_settle, settled_rows

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_LONGEST_S = 600.0
_MEMORY = "600MB"
_NAMES_A_VIEW = re.compile("|".join(views.views()), re.IGNORECASE)
_CONFIG = {
    "memory_limit": _MEMORY,
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "python_enable_replacements": "false",
    "preserve_insertion_order": "false",
}


@dataclass(frozen=True)
class QueryResult:
    """What a query gave: the columns' names and types, and the rows as Python values."""

    columns: tuple[str, ...]
    types: tuple[str, ...]
    rows: list[tuple[Any, ...]]


class Session:
    """The runs below a folder, open for queries. `left_out` grows when a query comes upon damaged lines."""

    def __init__(self, root: Path, scratch: Path) -> None:
        self.runs, left_out = find_runs(root)
        self.left_out = list(left_out)
        self._scratch = scratch
        self._direct: list[FoundRun] = []
        self._mended: dict[str, Path] = {}
        self._unmade: dict[str, str] = {}
        self._settled_known = False
        self._connection = self._connect()

    def ask(self, sql: str) -> QueryResult:
        """The answer to one `select`.

        Raises:
            UsageError: it is no single `select`, or DuckDB refuses it.
            Interrupted: Ctrl-C.
        """
        import duckdb

        try:
            return self._answer(sql)
        except duckdb.Error as error:
            if not self._mend():
                raise _refused(error) from None
        self._connection.close()
        self._connection = self._connect()
        try:
            return self._answer(sql)
        except duckdb.Error as error:
            raise _refused(error) from None

    @property
    def is_worth_copies(self) -> bool:
        """Whether so much was read as text that `keep_copies` would make the next query quicker."""
        return copies.worth_keeping(run.trials_path for run in self._direct)

    def keep_copies(self) -> None:
        """Make columnar copies of what was read as text, where that is much."""
        copies.keep([run.trials_path for run in self._direct])

    def close(self) -> None:
        """End the connection."""
        self._connection.close()

    def _connect(self) -> "DuckDBPyConnection":
        import duckdb

        connection = duckdb.connect(config={**_CONFIG, "temp_directory": str(self._scratch / "spill")})
        kept, direct = self._sources()
        parts = [copies.read(path) for path in kept]
        parts += [views.read_lines([str(path) for path in direct])] if direct else []
        self._fill_runs(connection)
        self._settled_known = not any(map(may_settle, self.runs))
        for statement in (*views.macros(), views.placed_trials(" union all ".join(parts) or views.no_lines())):
            connection.execute(statement)
        _lock(connection, [*kept, *direct])
        self._unmade = views.views()
        return connection

    def _answer(self, sql: str) -> QueryResult:
        """Views are made when a query names them: DuckDB opens every file for each that it makes."""
        check_only_reads(self._connection, sql)
        for name in [name for name in self._unmade if name in sql.lower() or not _NAMES_A_VIEW.search(sql)]:
            self._connection.execute(f"create view {name} as {self._unmade.pop(name)}")
        if not self._settled_known and self._uses_settled(sql):
            self._fill_settled()
        return _answer(self._connection, sql)

    def _uses_settled(self, sql: str) -> bool:
        """Whether a query reads which cells settled: by its name, or in DuckDB's plan of a `*`; yes where it has none.

        The name first: while all is null, DuckDB's plan of `where settled is null` reads nothing.
        """
        import duckdb

        words = sql.lower()
        if "settled" in words or "cells" not in words:
            return "settled" in words
        try:
            plan = self._connection.execute(f"explain (format json) {sql}").fetchall()
        except duckdb.Error:
            return True
        return views.SETTLED_CELLS in str(plan)

    def _fill_settled(self) -> None:
        found = [
            row
            for run in self.runs
            if may_settle(run)
            for row in settled_rows(run, self._mended.get(run.name, run.trials_path))
        ]
        self._settled_known = True
        if found:
            self._connection.execute(views.fill_settled(), [list(values) for values in zip(*found, strict=True)])

    def _sources(self) -> tuple[list[Path], list[Path]]:
        """Columnar copies to read, and files of lines."""
        present = [run for run in self.runs if run.trials_path.is_file() and run.name not in self._mended]
        kept, covered = copies.find([run.trials_path for run in present])
        rest = [run for run in present if run.trials_path not in covered]
        self._direct = [run for run in rest if ends_whole(run.trials_path)]
        for run in rest:
            if run not in self._direct:
                self._mend_one(run)
        return list(kept), [*(run.trials_path for run in self._direct), *self._mended.values()]

    def _mend(self) -> bool:
        """Look at every line of what is read as text; whether any had to be left out."""
        known = len(self.left_out)
        for run in self._direct:
            self._mend_one(run)
        return len(self.left_out) > known

    def _mend_one(self, run: FoundRun) -> None:
        path = self._scratch / f"lines-{len(self._mended)}.jsonl"
        with path.open("wb") as file:
            file.writelines(line + b"\n" for line in good_lines(run.trials_path, run.name, self.left_out))
        self._mended[run.name] = path

    def _fill_runs(self, connection: "DuckDBPyConnection") -> None:
        columns = ", ".join(f"{name} {kind}" for name, kind in views.RUN_COLUMNS.items())
        connection.execute(
            f"create table run_files ({columns}, file VARCHAR, {views.SETTLED_CELLS} MAP(VARCHAR, BOOLEAN))"
        )
        rows = [_run_row(run, self._mended.get(run.name, run.trials_path)) for run in self.runs]
        if rows:
            lists = [list(values) for values in zip(*rows, strict=True)]
            unnested = ", ".join("unnest(?)" for _ in lists)
            connection.execute(f"insert into run_files select {unnested}, null", lists)


@contextlib.contextmanager
def open_runs(root: Path) -> Iterator[Session]:
    """The runs in or below a folder, open for queries.

    Raises:
        HostError: the extra `query` is not installed.
        RunError: no run is there.
    """
    check_extra("query", "reading many runs at once")
    with tempfile.TemporaryDirectory(prefix="poolproof-query-") as scratch:
        session = Session(root, Path(scratch))
        try:
            yield session
        finally:
            session.close()


def _run_row(run: FoundRun, file: Path) -> list[object]:
    record = run.record
    return [
        run.name,
        campaign_name(record.campaign),
        record.host,
        _utc(record.begun_at),
        record.poolproof,
        record.versions.get("fio", ""),
        record.facts.get("kernel", ""),
        record.imported,
        str(file),
    ]


def _utc(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text).astimezone(UTC).replace(tzinfo=None)
    except ValueError:
        return None


def _lock(connection: "DuckDBPyConnection", files: Sequence[Path]) -> None:
    """From here on the connection reads these files and no other, and cannot be told otherwise."""
    names = ", ".join(views.literal(str(path)) for path in files)
    connection.execute(f"set allowed_paths = [{names}]")
    connection.execute("set enable_external_access = false")
    connection.execute("set lock_configuration = true")


def _answer(connection: "DuckDBPyConnection", sql: str) -> QueryResult:
    import duckdb

    timer = threading.Timer(_LONGEST_S, connection.interrupt)
    timer.start()
    try:
        relation = connection.sql(sql)
        _check_times(relation)
        return QueryResult(tuple(relation.columns), tuple(map(str, relation.types)), relation.fetchall())
    except duckdb.InterruptException:
        raise RunError(
            f"the query took longer than {_LONGEST_S:.0f} s", "ask for less of it: a where, a limit"
        ) from None
    except KeyboardInterrupt:
        raise Interrupted("stopped", "") from None
    finally:
        timer.cancel()


def _check_times(relation: Any) -> None:
    for name, kind in zip(relation.columns, relation.types, strict=True):
        if "TIME ZONE" in str(kind):
            raise UsageError(f"{name} is a time with a time zone", f"write ({name})::timestamp; all times here are UTC")


def _refused(error: Exception) -> UsageError:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return UsageError(f"DuckDB refuses the query: {' '.join(lines[:2])}", HINT)
