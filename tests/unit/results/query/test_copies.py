"""Columnar copies yield the same answers as the original lines, and are never used for a file that has changed."""

import os
from pathlib import Path

import pytest

from poolproof.results.query import copies
from poolproof.results.query.connection import open_runs
from poolproof.results.runs.directory import RunDirectory

from .making import folder_of_runs

QUERIES = [
    "select * exclude (stored_bytes, seconds, columns) from trials order by all",
    "select * from cells order by all",
    "select * from leaves order by all",
    "select * from findings order by all",
]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of runs. The minimum size for copies is so low that each run gets its own copy."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(copies, "WORTH_IT_BYTES", 0)
    monkeypatch.setattr(copies, "GROUP_BYTES", 1)
    return folder_of_runs(tmp_path / "runs")


def _answers(root: Path) -> list[object]:
    with open_runs(root) as session:
        return [session.ask(query).rows for query in QUERIES]


def _keep(root: Path) -> None:
    with open_runs(root) as session:
        assert session.is_worth_copies
        session.keep_copies()
        assert not session.is_worth_copies


def _cached(tmp_path: Path, pattern: str) -> list[Path]:
    return sorted((tmp_path / "cache" / "poolproof" / "query").glob(pattern))


def test_a_copy_gives_the_same_answers(root: Path, tmp_path: Path) -> None:
    before = _answers(root)
    _keep(root)
    assert len(list(_cached(tmp_path, "*.parquet"))) == 3
    assert _answers(root) == before


def test_a_copy_is_read_in_place_of_the_lines(root: Path) -> None:
    _keep(root)
    path = root / "grid" / "trials.jsonl"
    stat, text = path.stat(), path.read_bytes()
    path.write_bytes(b"x" * len(text))
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    with open_runs(root) as session:
        assert session.ask("select count(*) from trials where run = 'grid'").rows == [(71,)]


def test_a_run_that_went_on_is_read_anew(root: Path) -> None:
    _keep(root)
    run = RunDirectory.open(root / "grid")
    run.append(run.trials()[0])
    with open_runs(root) as session:
        assert session.is_worth_copies
        assert session.ask("select count(*) from trials where run = 'grid'").rows == [(72,)]


def test_a_damaged_run_is_never_copied(root: Path) -> None:
    path = root / "grid" / "trials.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"schema":1}', b'"schema":2}', 1))
    with open_runs(root) as session:
        assert session.ask("select count(*) from trials where run = 'grid'").rows == [(70,)]
        session.keep_copies()
    with open_runs(root) as session:
        assert session.ask("select count(*) from trials where run = 'grid'").rows == [(70,)]
        assert [each.what for each in session.left_out] == ["grid, line 1 of trials.jsonl"]


def test_a_cache_that_cannot_be_written_costs_only_time(root: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("no folder", encoding="utf-8")
    with open_runs(root) as session:
        session.keep_copies()
        assert session.ask("select count(*) from trials").rows == [(79,)]


INTERVALS = "select layout, iops, iops_low, iops_high, p99_ns_high, too_few, settled from cells order by all"


def _intervals(root: Path) -> list[tuple[object, ...]]:
    with open_runs(root) as session:
        return session.ask(INTERVALS).rows


def test_intervals_are_stored_and_give_the_same_answers(root: Path, tmp_path: Path) -> None:
    first = _intervals(root)
    stored = _cached(tmp_path, "*.cells")
    written = [path.stat().st_ino for path in stored]
    assert len(stored) == 3 and any(row[2] is not None for row in first)
    assert _intervals(root) == first
    assert [path.stat().st_ino for path in _cached(tmp_path, "*.cells")] == written


def test_stored_intervals_are_used(root: Path, tmp_path: Path) -> None:
    """The stored rows of the grid are exchanged for none, so its cells have no intervals."""
    first = _intervals(root)
    for path in _cached(tmp_path, "*.cells"):
        path.write_bytes(b"\x90")
    assert _intervals(root) != first


def test_intervals_of_a_changed_run_are_computed_again(root: Path, tmp_path: Path) -> None:
    first = _intervals(root)
    run = RunDirectory.open(root / "grid")
    run.append(run.trials()[0])
    assert _intervals(root) != first
    assert len(_cached(tmp_path, "*.cells")) == 4


@pytest.mark.parametrize("damage", [b"", b"\x91\x90", b"\x91\xa1x", b"not msgpack"])
def test_damaged_stored_intervals_are_computed_again(root: Path, tmp_path: Path, damage: bytes) -> None:
    first = _intervals(root)
    for path in _cached(tmp_path, "*.cells"):
        path.write_bytes(damage)
    assert _intervals(root) == first
