"""A DuckDB connection that can read only the views over the runs, and no other files, networks or extensions."""

import contextlib
import functools
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from poolproof.campaign.calibration import campaign_cells
from poolproof.campaign.yaml import parse_campaign
from poolproof.errors import Interrupted, PoolproofError, check_extra
from poolproof.files.reading import is_regular
from poolproof.files.scratch import scratch_directory
from poolproof.results.query import copies, views
from poolproof.results.query.cell_cache import known_rows
from poolproof.results.query.find_runs import FoundRun, ends_whole, find_runs, good_lines
from poolproof.results.query.statement import (
    DEFAULT_LIMIT_S,
    Deadline,
    QueryResult,
    check_only_reads,
    interruptible,
    memory_limited,
    refusal,
    run_query,
)
from poolproof.results.runs.directory import RunDirectory
from poolproof.results.runs.trust import distrust
from poolproof.units import parse_time
from poolproof.verdicts import WORST_FIRST, Verdict

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

RunState = Literal["going", "stopped", "finished", "imported"]

_NAMES_A_VIEW = re.compile("|".join(views.views()), re.IGNORECASE)
_KNOWN_COLUMNS = tuple(name for name in views.known_columns() if name not in views.CELL_NAMES)
_KNOWN_WORDS = ("settled", "too_few", "_low", "_high", "other_verdicts")
_WITH_KNOWN = ("cells", "trials", "leaves")
_PATTERN = frozenset("*?[]{}\\")
_CONFIG = {
    "memory_limit": "600MB",
    "max_temp_directory_size": "1GB",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "python_enable_replacements": "false",
    "preserve_insertion_order": "false",
}
_CELLS = """
with counted as (
  select run, layout, workload, state, count(distinct build) as own from trials
  where not starts_with(layout, 'bare:') group by all
), built as (select run, min(own) as least from counted group by run)
select run, verdict, count(*)::INTEGER, sum(trials + left_out)::INTEGER,
  min(trials + left_out)::INTEGER,
  coalesce(any_value(least), 0)::INTEGER
from cells left join built using (run) group by run, verdict
"""


class QuerySession:
    """The runs in or below a folder, opened for queries.

    If a query encounters damaged lines, they are added to `left_out`. A query may take at most `limit_s` seconds.
    """

    def __init__(self, root: Path, scratch: Path, limit_s: float) -> None:
        self.runs, left_out = find_runs(root)
        self.left_out = list(left_out)
        self._scratch = scratch
        self._limit_s = limit_s
        self._direct: list[FoundRun] = []
        self._readable: dict[str, Path] = {}
        self._unmade: dict[str, str] = {}
        self._cells_known = False
        self._connection = self._connect()

    def ask(self, sql: str) -> QueryResult:
        """Return the result of a `select` statement.

        Raises:
            UsageError: the statement is not a `select`, is invalid, returns a column with a time zone, returns too
                much, or needs too much memory.
            RunError: the query exceeded its time limit.
            Interrupted: the user pressed Ctrl-C, or another signal arrived.
        """
        import duckdb

        until = Deadline(self._limit_s, time.monotonic() + self._limit_s)
        try:
            return self._answer(sql, until)
        except duckdb.Error as error:
            if not self._drop_damaged_lines():
                raise refusal(error) from None
        self._connection.close()
        self._connection = self._connect()
        try:
            return self._answer(sql, until)
        except duckdb.Error as error:
            raise refusal(error) from None

    @property
    def is_worth_copies(self) -> bool:
        """True if `keep_copies` would make the next query faster."""
        return copies.worth_keeping(run.trials_path for run in self._direct)

    def keep_copies(self) -> None:
        """Make columnar copies of the files that are still parsed as JSON, if they are large enough to justify it."""
        copies.keep([run.trials_path for run in self._direct])

    def close(self) -> None:
        self._connection.close()

    def _connect(self) -> "DuckDBPyConnection":
        import duckdb

        connection = duckdb.connect(config={**_CONFIG, "temp_directory": str(self._scratch / "spill")})
        with contextlib.suppress(duckdb.Error):  # a notebook without ipywidgets has no progress bar
            connection.execute("set enable_progress_bar = false")  # a progress bar would be part of the output
        kept, direct = self._sources()
        parts = [copies.read(path) for path in kept]
        parts += [views.read_lines([str(path) for path in direct])] if direct else []
        self._fill_runs(connection)
        self._cells_known = False
        columns = ", ".join(f"{name} {kind}" for name, kind in views.known_columns().items())
        connection.execute(f"create table {views.KNOWN_CELLS} ({columns})")
        connection.execute(views.fill_known(), views.known_of_no_cell())
        for statement in (*views.macros(), views.placed_trials(" union all ".join(parts) or views.no_lines())):
            connection.execute(statement)
        allowed = ", ".join(views.literal(str(path)) for path in (*kept, *direct))
        for setting in (f"allowed_paths = [{allowed}]", "enable_external_access = false", "lock_configuration = true"):
            connection.execute(f"set {setting}")  # no statement can lift these restrictions
        self._unmade = views.views()
        return connection

    def _answer(self, sql: str, until: Deadline) -> QueryResult:
        """Run a query after creating the views that it names, or all views if it names none.

        Views are created only when needed, because DuckDB opens every file for each view.
        """
        with memory_limited(), interruptible(self._connection, self._scratch, until):
            return self._limited_answer(sql)

    def _limited_answer(self, sql: str) -> QueryResult:
        check_only_reads(self._connection, sql)
        for name in [name for name in self._unmade if name in sql.lower() or not _NAMES_A_VIEW.search(sql)]:
            self._connection.execute(f"create view {name} as {self._unmade.pop(name)}")
        if not self._cells_known and self._uses_known(sql):
            self._fill_known()
        return run_query(self._connection, sql)

    def _uses_known(self, sql: str) -> bool:
        """True if the query may read a column of `KNOWN_CELLS`.

        First, the query string is searched, and then the query plan, which also lists the columns selected by `*`. The
        plan alone is not enough: in `where settled is null`, it omits the column as long as all of its values are null.
        If DuckDB does not return a plan, the query is assumed to read every column.
        """
        import duckdb

        words = sql.lower()
        if not any(name in words for name in _WITH_KNOWN):
            return False
        if "emulated" in words or ("cells" in words and any(word in words for word in _KNOWN_WORDS)):
            return True
        try:
            plan = self._connection.execute(f"explain (format json) {sql}").fetchall()
        except duckdb.Error:
            return True
        return any(name in str(plan) for name in _KNOWN_COLUMNS)

    def _fill_known(self) -> None:
        """Store the confidence intervals, verdicts and marks of all cells in `KNOWN_CELLS`.

        These values are computed in Python, as for all other outputs, so the trials of all runs are loaded again, or
        the values are read from the user's cache.
        """
        found = known_rows(self.runs)
        self._cells_known = True
        if found:
            self._connection.execute(views.fill_known(), [list(values) for values in zip(*found, strict=True)])

    def _sources(self) -> tuple[list[Path], list[Path]]:
        present = [run for run in self.runs if is_regular(run.trials_path) and run.name not in self._readable]
        kept, covered = copies.find([run.trials_path for run in present if _is_plain(run.trials_path)])
        rest = [run for run in present if run.trials_path not in covered]
        self._direct = [run for run in rest if _can_be_opened_again(run) and ends_whole(run.trials_path)]
        for run in rest:
            if run not in self._direct:
                self._save_readable(run)
        return list(kept), [*(run.trials_path for run in self._direct), *self._readable.values()]

    def _drop_damaged_lines(self) -> bool:
        """Check every line of the files that are parsed as JSON, and return True if any line is damaged."""
        known = len(self.left_out)
        for run in self._direct:
            self._save_readable(run)
        return len(self.left_out) > known

    def _save_readable(self, run: FoundRun) -> None:
        path = self._scratch / f"lines-{len(self._readable)}.jsonl"
        with path.open("wb") as file:
            file.writelines(line + b"\n" for line in good_lines(run.trials_path, run.name, self.left_out))
        self._readable[run.name] = path

    def _fill_runs(self, connection: "DuckDBPyConnection") -> None:
        columns = ", ".join(f"{name} {kind}" for name, kind in views.RUN_COLUMNS.items())
        connection.execute(f"create table run_files ({columns}, file VARCHAR)")
        rows = [_run_row(run, self._readable.get(run.name, run.trials_path)) for run in self.runs]
        if rows:
            lists = [list(values) for values in zip(*rows, strict=True)]
            unnested = ", ".join("unnest(?)" for _ in lists)
            connection.execute(f"insert into run_files select {unnested}", lists)


@contextlib.contextmanager
def open_runs(root: Path, limit_s: float = DEFAULT_LIMIT_S) -> Iterator[QuerySession]:
    """Open the runs in or below a folder for queries, each of which may take at most `limit_s` seconds.

    Raises:
        HostError: the optional dependencies `query` are not installed.
        RunError: the runs could not be found (see `find_runs`).
        Interrupted: a signal interrupted DuckDB.
    """
    check_extra("query", "reading many runs at once")
    with scratch_directory("poolproof-query-") as scratch:
        try:
            session = QuerySession(root, scratch, limit_s)
            try:
                yield session
            finally:
                session.close()
        except RuntimeError as error:  # DuckDB reports in this way that a signal stopped it
            if "interrupted" not in str(error):
                raise
            raise Interrupted("interrupted", "") from None


def _can_be_opened_again(run: FoundRun) -> bool:
    """True if DuckDB can be given the path of the run's trials, which it opens only when it reads them.

    By then, another user who can change the run could have replaced the file with a link, or with a FIFO, on which
    DuckDB would wait forever. The lines of such a file are copied instead.
    """
    return _is_plain(run.trials_path) and distrust(run.path) is None


def _is_plain(path: Path) -> bool:
    """True if DuckDB can be given the path unchanged, because it is printable and contains no wildcards.

    DuckDB would expand wildcards, and so also read files of other runs. A path that is not valid UTF-8 does not count
    as printable.
    """
    text = str(path)
    return not _PATTERN.intersection(text) and text.isprintable()


def _run_row(run: FoundRun, file: Path) -> list[object]:
    record = run.record
    begun = parse_time(record.begun_at)
    begun_at = begun and begun.replace(tzinfo=None)
    versions = record.poolproof, record.versions.get("fio", ""), record.facts.get("kernel", "")
    return [run.name, run.campaign, record.host, begun_at, *versions, record.imported, str(file)]


@dataclass(frozen=True)
class ListedRun:
    """A run as listed by `poolproof runs`.

    `state`: `imported` for imported results, `going` if a poolproof process is using the run, `stopped` if trials are
    missing or the campaign can't be read, otherwise `finished`.
    `cells`: the number of cells with at least one trial.
    `cells_wanted`: the number of cells in the campaign, or None if the campaign can't be read. For imported results, it
    equals `cells`.
    `verdicts`: the number of cells per verdict.
    `unusable`: the number of cells in which some trial has no usable value for the workload's own metric.
    `too_few`: the number of cells whose percentile has too few events.
    """

    run: FoundRun
    campaign: str
    state: RunState
    trials: int
    cells: int
    cells_wanted: int | None
    verdicts: Mapping[Verdict, int]
    unusable: int = 0
    too_few: int = 0


def listed_runs(session: QuerySession) -> tuple[ListedRun, ...]:
    """Return all readable runs, oldest first."""
    found: dict[str, dict[Verdict, tuple[int, int, int, int]]] = {}
    for run, verdict, *numbers in session.ask(_CELLS).rows:
        found.setdefault(run, {})[verdict] = (numbers[0], numbers[1], numbers[2], numbers[3])
    doubts = {run: (unusable, few) for run, unusable, few in session.ask(views.doubts()).rows}
    runs = sorted(session.runs, key=lambda run: (run.record.begun_s, run.name))
    return tuple(_listed(run, found.get(run.name, {}), doubts.get(run.name, (0, 0))) for run in runs)


def _listed(run: FoundRun, found: Mapping[Verdict, tuple[int, int, int, int]], doubts: tuple[int, int]) -> ListedRun:
    cells = sum(count for count, _, _, _ in found.values())
    wanted = _wanted(run.record.campaign)
    state: RunState = "stopped"
    if run.record.imported:
        state, wanted = "imported", wanted and (cells, 0, 0)
    elif RunDirectory(run.path).is_going():
        state = "going"
    elif wanted is not None and cells >= wanted[0] and all(_is_whole(each, wanted) for each in found.values()):
        state = "finished"
    return ListedRun(
        run=run,
        campaign=run.campaign,
        state=state,
        trials=sum(trials for _, trials, _, _ in found.values()),
        cells=cells,
        cells_wanted=wanted[0] if wanted else None,
        verdicts={verdict: found[verdict][0] for verdict in reversed(WORST_FIRST) if verdict in found},
        unusable=doubts[0],
        too_few=doubts[1],
    )


def _is_whole(found: tuple[int, int, int, int], wanted: tuple[int, int, int]) -> bool:
    """True if every cell with this verdict has all of its builds and trials.

    For disks that were measured individually, the number of builds is not checked, because they are built only once.
    """
    _cells, _trials, least, builds = found
    return least >= wanted[1] and builds in (0, wanted[2])


@functools.lru_cache(maxsize=256)
def _wanted(campaign: str) -> tuple[int, int, int] | None:
    """Return the number of cells in a campaign, of trials per cell and build, and of builds per layout.

    Return None if the campaign can't be read.
    """
    try:
        read = parse_campaign(campaign, "run.json", recorded=True)
    except PoolproofError:
        return None
    return len(campaign_cells(read)), read.measure.trials, read.measure.builds
