"""`settled` in SQL has the same value as in `--json` for each cell, regardless of how a query names the column."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from poolproof.results.query.connection import QuerySession, open_runs
from poolproof.results.runs.loading import load_run
from tests.unit.presentation.export.making import unsettled_run
from tests.unit.results.compare.making import CAMPAIGN, RECORD, changed, make_run

UNTIL = changed(CAMPAIGN.replace("{time: 5s, trials: 3}", "{until: 10%, trials: 2..6}"))
VALUES = {
    ("one", "reads"): [1000.0, 1001.0, 1002.0],
    ("pair", "reads"): [2000.0, 2001.0, 2002.0],
    ("union", "reads"): [100.0, 900.0],
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three runs: one with a fixed time, one with drifting cells, and one with a drifting and a disagreeing cell."""
    root = tmp_path_factory.mktemp("runs")
    make_run(root / "fixed", VALUES, record=RECORD)
    make_run(root / "small", VALUES, record=UNTIL, unsettled={("pair", "reads"): "drift"})
    unsettled_run(root / "grid")
    return root


@pytest.fixture
def session(root: Path) -> Iterator[QuerySession]:
    with open_runs(root) as session:
        yield session


@pytest.mark.parametrize(
    "query",
    [
        "select run, layout, workload, settled from cells",
        "select run, layout, workload, Settled from (select * from cells)",
        "select columns('^(run|layout|workload|settled)$') from cells",
        "with c as (from cells) select run, layout, workload, s from (select * rename (settled as s) from c)",
    ],
)
def test_every_cell_is_as_everywhere_else(session: QuerySession, root: Path, query: str) -> None:
    expected = {
        (name, cell.layout, cell.workload): None if cell.settling is None else cell.settling.converged
        for name in ("fixed", "small", "grid")
        for cell in load_run(root / name).cells
    }
    assert {row[:3]: row[3] for row in session.ask(query).rows} == expected
    assert {None, True, False} == set(expected.values())
    assert expected["small", "union", "reads"] is False, "its trials settled, and do not agree"


@pytest.mark.parametrize(
    ("where", "count"), [("settled", 1), ("not settled", 2), ("settled is null", 3), ("settled is not false", 4)]
)
def test_it_can_be_asked_for(session: QuerySession, where: str, count: int) -> None:
    assert session.ask(f"select count(*) from cells where run <> 'grid' and {where}").rows == [(count,)]


def test_a_star_has_it_too(session: QuerySession) -> None:
    answer = session.ask("select * from cells where run = 'small' order by layout")
    assert [row[answer.columns.index("settled")] for row in answer.rows] == [True, False, False]


def test_what_did_not_ask_for_it_is_answered_as_before(session: QuerySession) -> None:
    assert session.ask("select max(iops) from cells where run = 'small'").rows == [(2001.0,)]
    assert session.ask("select count(*) from cells where run = 'small' and not settled").rows == [(2,)]


def test_a_trial_says_what_its_own_series_does(session: QuerySession) -> None:
    rows = session.ask(
        "select layout, bool_and(settled) from trials where run = 'small' group by all order by all"
    ).rows
    assert rows == [("one", True), ("pair", False), ("union", True)]
    assert session.ask("select distinct settled from trials where run = 'fixed'").rows == [(None,)]


def test_a_damaged_line_leaves_the_rest(tmp_path: Path) -> None:
    path = make_run(tmp_path / "runs" / "small", VALUES, record=UNTIL, unsettled={("pair", "reads"): "drift"})
    lines = (path / "trials.jsonl").read_bytes().splitlines(keepends=True)
    (path / "trials.jsonl").write_bytes(b"".join([*lines, b"{damaged\n"]))
    with open_runs(tmp_path / "runs") as session:
        assert session.ask("select count(*) from cells where not settled").rows == [(2,)]
        assert len(session.left_out) == 1
