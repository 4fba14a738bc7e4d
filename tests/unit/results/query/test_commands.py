"""The commands `poolproof query` and `poolproof runs`: answers, what is left out, and exit codes."""

import csv
import fcntl
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from poolproof.errors import RunError
from poolproof.results.query.find_runs import find_runs
from poolproof.results.runs.directory import RunDirectory
from tests.unit.command import Command
from tests.unit.presentation.export.making import grid_run, trials_of
from tests.unit.results.compare.making import make_run

from .making import READS, folder_of_runs, set_schema


@pytest.fixture
def poolproof(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Command:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return Command(monkeypatch, capsys, columns=160)


BY_RUN = "select run, count(*) as trials, min(iops) as least from trials group by run order by run"


def test_an_answer_as_table_csv_and_json(poolproof: Command) -> None:
    folder_of_runs(Path("runs"))
    code, out, err = poolproof("query", "runs", BY_RUN)
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "run           trials  least",
        "------------  ------  -----",
        "deeper/small       6    100",
        "grid              71    101",
        "nasty              2    101",
    ]
    expected = [["deeper/small", 6, 100.0], ["grid", 71, 101.0], ["nasty", 2, 101.0]]
    rows = list(csv.reader(io.StringIO(poolproof("query", "runs", BY_RUN, "--csv")[1])))
    assert rows == [["run", "trials", "least"], *([str(value) for value in row] for row in expected)]
    found = json.loads(poolproof("query", "runs", BY_RUN, "--json")[1])
    assert found["rows"] == expected
    assert found["columns"][1] == {"name": "trials", "type": "BIGINT"}
    assert found["left_out"] == []


def test_values_that_json_and_csv_do_not_have(poolproof: Command) -> None:
    folder_of_runs(Path("runs"))
    sql = (
        "select 'nan'::double, date '2026-01-02', timestamp '2026-01-02 03:04:05', {'a': [1, null]}, map {'k': 1}, "
        "1.50::decimal(9,2), 'x'::blob, null, true, '=1+1', 'a\nb'"
    )
    [row] = json.loads(poolproof("query", "runs", sql, "--json")[1])["rows"]
    dates = ["2026-01-02", "2026-01-02 03:04:05"]
    assert row == [None, *dates, {"a": [1, None]}, {"k": 1}, "1.50", "78", None, True, "=1+1", "a\nb"]
    [_, fields] = csv.reader(io.StringIO(poolproof("query", "runs", sql, "--csv")[1], newline=""))
    assert fields[8:] == ["true", "'=1+1", "a b"]
    assert poolproof("query", "runs", sql)[1].count("\n") == 3


def test_a_mistake_says_where_the_columns_are(poolproof: Command) -> None:
    folder_of_runs(Path("runs"))
    for sql, word in (("selec 1", "selec"), ("select nothing from cells", "nothing"), ("select now()", "time zone")):
        code, out, err = poolproof("query", "runs", sql)
        assert (code, out) == (2, "")
        assert word in err
        assert "::timestamp" in err or "docs/query.md" in err


def test_a_folder_without_runs_is_named(poolproof: Command) -> None:
    Path("runs").mkdir()
    assert poolproof("query", "runs", "select 1")[0] == 7
    code, _, err = poolproof("runs", "nowhere")
    assert code == 7
    assert "nowhere" in err


def test_root_is_suggested_only_if_permission_is_missing() -> None:
    with pytest.raises(RunError, match="cannot be read") as refused:
        find_runs(Path("x" * 300))
    assert refused.value.hint.startswith("ls -ld ")


def test_runs_of_another_schema_are_named_and_left_out(poolproof: Command) -> None:
    folder_of_runs(Path("runs"))
    set_schema(Path("runs/grid"), 2)
    set_schema(Path("runs/nasty"), 0)
    code, out, err = poolproof("query", "runs", BY_RUN, "--csv")
    assert code == 7
    assert [row[0] for row in csv.reader(io.StringIO(out))] == ["run", "deeper/small"]
    assert "skipped grid:" in err and "newer poolproof (schema 2" in err
    assert "skipped nasty:" in err and "older poolproof (schema 0" in err
    assert "git pull && make setup" in err


def _replace(run: str, line: int, old: bytes, new: bytes) -> None:
    path = Path(run) / "trials.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    assert old in lines[line - 1]
    lines[line - 1] = lines[line - 1].replace(old, new, 1)
    path.write_bytes(b"".join(lines))


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (b'"schema":1}', b'"schema":2}', "newer poolproof"),
        (b'"figures":{', b'"figures":{{', "damaged"),
        (b'"iops":', b'"iops":"many","x":', "damaged"),
        (b'"layout"', b"\x00\xff", "damaged"),
    ],
)
def test_damaged_lines_are_named_and_left_out(poolproof: Command, old: bytes, new: bytes, why: str) -> None:
    folder_of_runs(Path("runs"))
    _replace("runs/grid", 5, old, new)
    _replace("runs/grid", 7, old, new)
    code, out, err = poolproof("query", "runs", BY_RUN, "--csv")
    assert code == 7
    assert list(csv.reader(io.StringIO(out)))[1:] == [
        ["deeper/small", "6", "100.0"],
        ["grid", "69", "101.0"],
        ["nasty", "2", "101.0"],
    ]
    assert all(fact in err for fact in ("grid, line 5", "1 more", "trials.jsonl"))
    assert why in err


def test_a_line_that_is_being_written_is_no_fault(poolproof: Command) -> None:
    folder_of_runs(Path("runs"))
    with Path("runs/grid/trials.jsonl").open("ab") as file:
        file.write(b'{"layout":"mirror","workl')
    code, out, err = poolproof("query", "runs", BY_RUN, "--csv")
    assert (code, err) == (0, "")
    assert "grid,71,101.0" in out


def test_runs_without_a_trial(poolproof: Command) -> None:
    trials_of(Path("runs/empty"), [])
    Path("runs/empty/trials.jsonl").unlink()
    trials_of(Path("runs/begun"), [])
    for view in ("trials", "cells", "leaves", "findings"):
        assert json.loads(poolproof("query", "runs", f"select * from {view}", "--json")[1])["rows"] == []
    assert json.loads(poolproof("query", "runs", "select run from runs", "--json")[1])["rows"] == [["begun"], ["empty"]]


def test_the_list_of_runs(poolproof: Command) -> None:
    folder_of_runs(Path("runs"))
    trials_of(Path("runs/begun"), RunDirectory.open(Path("runs/grid")).trials()[:3])
    code, out, err = poolproof("runs", "runs")
    assert (code, err) == (0, "")
    lines = {line.split()[0]: " ".join(line.split()) for line in out.splitlines()}
    assert lines["begun"] == "begun 2026-11-21 19:30 grid local stopped 2 of 36 3 ✓ 2 sound"
    assert lines["deeper/small"] == "deeper/small 2026-11-21 19:30 t local stopped 2 of 9 6 ✓ 1 sound ! 1 suspect"
    assert lines["grid"] == (
        "grid 2026-11-21 19:30 grid local stopped 36 of 36 71 ✓ 32 sound ! 1 suspect ✗ 2 refuted – 1 failed"
    )


def test_states_of_runs(poolproof: Command) -> None:
    whole = {(layout, "reads"): [1.0, 2.0, 3.0] for layout in ("one", "pair", "union")}
    whole |= {(layout, "stream"): [1e6, 2e6, 3e6] for layout in ("one", "pair", "union")}
    whole |= {(layout, "etcd"): [1e6, 2e6, 3e6] for layout in ("one", "pair", "union")}
    make_run(Path("runs/finished"), whole)
    make_run(Path("runs/going"), READS)
    with Path("runs/going/.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        found = json.loads(poolproof("runs", "runs", "--json")[1])
        text = poolproof("runs", "runs")[1]
    assert {each["run"]: each["state"] for each in found["runs"]} == {"finished": "finished", "going": "going"}
    assert re.search(r"^going .* local +running ", text, re.MULTILINE)
    found = json.loads(poolproof("runs", "runs", "--json")[1])
    assert {each["run"]: each["state"] for each in found["runs"]} == {"finished": "finished", "going": "stopped"}


def test_one_run_alone_may_be_asked(poolproof: Command) -> None:
    grid_run(Path("grid"))
    assert json.loads(poolproof("query", "grid", "select distinct run from trials", "--json")[1])["rows"] == [["grid"]]


def test_a_process_that_asked_says_nothing_at_its_end(tmp_path: Path) -> None:
    """DuckDB's Python module reports leaks if it is not freed."""
    folder_of_runs(tmp_path / "runs")
    done = subprocess.run(
        [str(Path(sys.executable).with_name("poolproof")), "query", str(tmp_path / "runs"), BY_RUN],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert done.stderr == ""


def test_a_name_that_is_a_pattern_or_not_utf_8_is_only_a_name(poolproof: Command) -> None:
    """DuckDB would interpret the first names as patterns, and read the trials of other runs several times."""
    names = ["*", "[ab]", "{a,b}", "a?", "a\\b", "a\nb", "a\udcffb"]
    for each in ("a", "b", *names):
        make_run(Path("runs") / each, {("one", "reads"): (1.0, 1.1)})
    shown = [each.encode(errors="backslashreplace").decode() for each in ("a", "b", *names)]
    code, out, _ = poolproof("query", "runs", "select run, count(*) from trials group by run order by run", "--json")
    assert code == 0
    assert json.loads(out)["rows"] == [[each, 2] for each in sorted(shown)]
    assert poolproof("runs", "runs")[0] == 0
    for kind in ("csv", "parquet"):
        assert poolproof("export", f"runs/{names[-1]}", "--format", kind, "--out", f"it.{kind}")[0] == 0
