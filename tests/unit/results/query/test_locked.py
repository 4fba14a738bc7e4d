"""A query can read only the runs, and can't write anything."""

from pathlib import Path

import pytest

from poolproof.errors import UsageError
from poolproof.results.query.connection import QuerySession, open_runs

READS = [
    "select * from read_text('{secret}')",
    "select * from read_blob('{secret}')",
    "select * from read_csv('{secret}')",
    "select * from sniff_csv('{secret}')",
    "select * from read_json('{secret}')",
    "select * from read_parquet('{secret}')",
    "select * from '{secret}'",
    "select * from glob('{folder}/*')",
    "select * from query('select * from read_text(''{secret}'')')",
    "select * from duckdb_secrets()",
    "select getenv('HOME')",
    "select * from read_csv('https://example.org/a.csv')",
    "select * from 's3://example/a.parquet'",
    "select * from session",
    "from python_scan",
    "select load_aws_credentials()",
    "select * from st_read('{secret}')",
    "select * from sqlite_scan('{secret}', 't')",
]
CHANGES = [
    "copy (select 1) to '{folder}/written.csv'",
    "copy (select 1) to '{trials}' (use_tmp_file false)",
    "select * from query('copy (select 1) to ''{trials}''')",
    "with x as (copy (select 1) to '{trials}' (use_tmp_file false)) select * from x",
    "select (with x as (copy (select 1) to '{trials}' (use_tmp_file false)) select count(*) from x)",
    "select * from query('with x as (copy (select 1) to ''{trials}'' (use_tmp_file false)) select * from x')",
    "select * from json_execute_serialized_sql(json_serialize_sql("
    "'with x as (copy (select 1) to ''{trials}'' (use_tmp_file false)) select * from x'))",
    "pivot cells on verdict using count(*)",
    "explain analyze copy (select 1) to '{trials}' (use_tmp_file false)",
    "export database '{folder}/written'",
    "attach '{folder}/written.db'",
    "attach '{trials}'",
    "create table t as select 1",
    "insert into run_files select * from run_files",
    "with x as (insert into run_files select * from run_files returning *) select * from x",
    "with x as (delete from run_files returning *) select * from x",
    "drop view trials",
    "install httpfs",
    "load httpfs",
    "call enable_logging(storage = 'file', storage_path = '{folder}/written')",
    "select * from enable_logging(storage = 'file', storage_path = '{folder}/written')",
    "select * from enable_profiling(save_location = '{folder}/written')",
    "pragma enable_profiling",
    "set enable_external_access = true",
    "reset enable_external_access",
    "set lock_configuration = false",
    "set temp_directory = '{folder}'",
    "set memory_limit = '99GB'",
    "checkpoint",
    "select 1; copy (select 1) to '{folder}/written'",
    "",
    "-- nothing",
]


def _snapshot(root: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("query", [*READS, *CHANGES])
def test_it_is_refused_and_nothing_changes(session: QuerySession, root: Path, tmp_path: Path, query: str) -> None:
    secret = tmp_path / "secret"
    secret.write_text("a,b\n1,2\n", encoding="utf-8")
    before, cells = _snapshot(root), session.ask("select count(*) from trials").rows
    with pytest.raises(UsageError) as refused:
        session.ask(query.format(secret=secret, folder=tmp_path, trials=root / "grid" / "trials.jsonl"))
    assert refused.value.hint
    assert _snapshot(root) == before
    assert [path.name for path in tmp_path.iterdir()] == ["secret"]
    assert session.ask("select count(*) from trials").rows == cells


READING = [
    "describe trials",
    "summarize cells",
    "show tables",
    "from runs",
    "with a as (select 1 as n) select * from a union all select 2 order by n limit 1",
    "with recursive r as (select 1 as n union all select n + 1 from r where n < 3) select * from r",
    "select run, row_number() over (partition by run order by iops) from cells qualify true",
    "select * from (select unnest([1, 2])), range(3), generate_series(1, 2)",
    "select list_transform([1], lambda x: x + 1), [x for x in [1, 2]], columns('iops') from trials",
    "select a.run from runs a join runs b using (run) where exists (select 1 from cells where cells.run = a.run)",
    "values (1)",
]


@pytest.mark.parametrize("query", READING)
def test_what_only_reads_is_answered(session: QuerySession, query: str) -> None:
    assert session.ask(query).columns


def test_the_variables_of_this_program_are_not_tables(session: QuerySession) -> None:
    stolen = [("a", 1)]
    assert stolen
    with pytest.raises(UsageError, match="stolen"):
        session.ask("select * from stolen")


def test_nothing_is_left_in_the_working_directory(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with open_runs(root) as session:
        session.ask("select * from trials order by iops")
    assert list(tmp_path.iterdir()) == []
