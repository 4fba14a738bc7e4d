"""A query uses a limited amount of memory and temporary files, and removes the files if a signal stops it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from poolproof.results.query.connection import open_runs
from tests.unit.results.compare.making import make_run
from tests.unit.results.query.making import folder_of_runs

from ...command import Command

_WITH_PEAK = """
import atexit, resource, sys
atexit.register(lambda: print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr))
from poolproof.cli.main import main
main()
"""
_WITH_PYTHON_PEAK = """
import atexit, sys, tracemalloc
tracemalloc.start()
atexit.register(lambda: print(tracemalloc.get_traced_memory()[1], file=sys.stderr))
from poolproof.cli.main import main
main()
"""
_VALUES = {("one", "reads"): (1.0, 1.1)}


def test_a_result_without_bounds_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make_run(tmp_path / "a", _VALUES)
    poolproof = Command(monkeypatch, capsys)
    code, out, err = poolproof("query", str(tmp_path), "select * from range(50000000)")
    assert (code, out) == (2, "")
    assert "more than 2000000 values" in err
    code, out, _ = poolproof("query", str(tmp_path), "select count(*) from range(50000000)", "--csv")
    assert (code, out.split()) == (0, ["count_star()", "50000000"])


@pytest.mark.parametrize(
    "sql",
    [
        "select range(1000000000)",
        "select repeat('a', 2000000000)",
        "select length(repeat('a', 4000000000))",
        "select repeat('a', 200000000) from range(20)",
    ],
)
def test_a_value_without_bounds_is_refused(tmp_path: Path, sql: str) -> None:
    make_run(tmp_path / "a", _VALUES)
    most_kib = 2_500_000  # without poolproof's limit, these queries need 4 GB or more
    argv = [sys.executable, "-c", _WITH_PEAK, "query", str(tmp_path), sql]
    found = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    first, hint = found.stderr.splitlines()[:2]
    assert first.startswith("poolproof: ") and "memory" in first
    assert "limit" in hint
    assert (found.returncode, found.stdout) == (2, "")
    assert int(found.stderr.splitlines()[-1]) < most_kib


def test_a_long_value_is_truncated_at_once(tmp_path: Path) -> None:
    make_run(tmp_path / "a", _VALUES)
    sql = "select repeat('a', 100000000)"
    argv = [sys.executable, "-c", _WITH_PYTHON_PEAK, "query", str(tmp_path), sql]
    found = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    assert found.stdout.splitlines()[-1] == "a" * 59 + "…"
    # 287 MB without DuckDB's copies, whose number varies; 1.05 GB if each letter becomes an object
    assert int(found.stderr.splitlines()[-1]) < 400_000_000


def test_text_that_is_a_formula_is_quoted_and_numbers_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make_run(tmp_path / "a", _VALUES)
    sql = "select -5 as a, -1.5e-7::double as b, '=1+1' as c, '-cmd' as d, '@x' as e, '+1' as f, 'x' as \"=g\""
    code, out, _ = Command(monkeypatch, capsys)("query", str(tmp_path), sql, "--csv")
    assert code == 0
    assert out.splitlines() == ["a,b,c,d,e,f,'=g", "-5,-1.5e-07,'=1+1,'-cmd,'@x,+1,x"]


@pytest.mark.parametrize(
    "number", [signal.SIGTERM, *(pytest.param(each, marks=pytest.mark.slow) for each in (signal.SIGHUP, signal.SIGINT))]
)
@pytest.mark.parametrize(
    "sql",
    [
        "select count(distinct a.range * b.range) from range(30000) a, range(30000) b",
        "select length(lpad('x', 2000000000, 'y'))",  # DuckDB reacts to no interrupt while it builds the string
        "select length(lpad('x', 2000000000, 'y')), count(*) from cells",  # built even before the query runs
    ],
)
def test_a_signal_ends_the_query_and_removes_its_files(tmp_path: Path, number: signal.Signals, sql: str) -> None:
    make_run(tmp_path / "runs" / "a", _VALUES)
    scratch = tmp_path / "tmp"
    scratch.mkdir()
    argv = [sys.executable, "-c", "from poolproof.cli.main import main; main()", "query", str(tmp_path / "runs"), sql]
    with subprocess.Popen(argv, env={**os.environ, "TMPDIR": str(scratch)}, stderr=subprocess.PIPE, text=True) as query:
        try:
            deadline = time.monotonic() + 30
            while not list(scratch.glob("*")) and time.monotonic() < deadline:
                time.sleep(0.05)
            time.sleep(2)
            query.send_signal(number)
            _, err = query.communicate(timeout=8)
        finally:
            query.kill()
    assert query.returncode == 130, err
    assert list(scratch.iterdir()) == []


@pytest.mark.parametrize(
    "sql",
    [
        "select count(distinct a.range * b.range) from range(30000) a, range(30000) b",
        "select length(lpad('x', 2000000000, 'y'))",  # DuckDB reacts to no interrupt while it builds the string
        "with recursive x as (select 1 as n union all select n + 1 from x) select * from x",
    ],
)
def test_the_time_limit_ends_a_query_and_removes_its_files(tmp_path: Path, sql: str) -> None:
    make_run(tmp_path / "runs" / "a", _VALUES)
    scratch = tmp_path / "tmp"
    scratch.mkdir()
    argv = [sys.executable, "-c", "from poolproof.cli.main import main; main()", "query", str(tmp_path / "runs"), sql]
    begun = time.monotonic()
    found = subprocess.run(
        [*argv, "--time-limit", "1s"],
        env={**os.environ, "TMPDIR": str(scratch)},
        capture_output=True,
        text=True,
        timeout=40,
        check=False,
    )
    assert (found.returncode, found.stdout) == (7, "")
    assert "longer than 1.0 s" in found.stderr and "--time-limit 1h" in found.stderr
    assert list(scratch.iterdir()) == []
    assert time.monotonic() - begun < 20


@pytest.mark.parametrize("text", ["0", "soon", "8d", "-1s", "nan"])
def test_a_time_limit_that_is_not_a_duration_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    make_run(tmp_path / "a", _VALUES)
    code, out, err = Command(monkeypatch, capsys)("query", str(tmp_path), "select 1", f"--time-limit={text}")
    assert (code, out) == (2, "")
    assert text in err and "--time-limit 30m" in err


@pytest.mark.parametrize(("opened", "closed"), [("(select * from ", ")"), ("(", ")"), ("[", "]"), ("not ", "")])
def test_a_query_that_is_nested_too_deeply_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], opened: str, closed: str
) -> None:
    make_run(tmp_path / "a", _VALUES)
    inner = "trials" if "from" in opened else "true"
    start = "select * from " if "from" in opened else "select "
    sql = start + opened * 900 + inner + closed * 900
    code, _, err = Command(monkeypatch, capsys)("query", str(tmp_path), sql)
    assert code in (0, 2), err


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_signal_ends_a_query_whose_rows_never_end(tmp_path: Path) -> None:
    make_run(tmp_path / "a", _VALUES)
    sql = "with recursive x as (select 1 as n union all select n + 1 from x) select * from x"
    argv = [sys.executable, "-c", "from poolproof.cli.main import main; main()", "query", str(tmp_path), sql]
    for _ in range(6):  # without an interrupt, every second query waited forever when its connection was closed
        with subprocess.Popen(argv, stderr=subprocess.PIPE, stdout=subprocess.PIPE) as query:
            try:
                time.sleep(4)
                query.terminate()
                query.communicate(timeout=15)
            finally:
                query.kill()
        assert query.returncode == 130


def test_trials_that_another_user_replaces_after_the_check_are_not_opened(tmp_path: Path) -> None:
    runs = folder_of_runs(tmp_path / "runs")
    count = "select count(*) from trials"
    with open_runs(runs) as session:
        usual = session.ask(count).rows
    (runs / "grid").chmod(0o777)
    with open_runs(runs) as session:
        (runs / "grid" / "trials.jsonl").unlink()
        (runs / "grid" / "trials.jsonl").symlink_to(runs / "deeper" / "small" / "trials.jsonl")
        assert session.ask(count).rows == usual
