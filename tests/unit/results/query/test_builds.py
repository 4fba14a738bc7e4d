"""Queries about a run with several builds per layout: builds are columns, and a failed build is left out."""

from pathlib import Path

import pytest

from poolproof.presentation.export.rows import table_of
from poolproof.results.query.connection import listed_runs, open_runs
from poolproof.results.runs.run_object import run_object
from tests.unit.results.runs.several_builds import APART, FAILED, campaign, run_of


def test_queries_and_the_list_of_runs_know_builds(tmp_path: Path) -> None:
    cells = {("one", "w0"): [*APART[:3], [500.0, FAILED]], ("two", "w0"): APART}
    run = run_of(tmp_path / "r", campaign(), cells)
    run_of(tmp_path / "begun", campaign(), {key: builds[:2] for key, builds in cells.items()})
    with open_runs(tmp_path) as session:
        text = "select layout, verdict, trials, builds, iops from cells where run = 'r' order by layout"
        found = session.ask(text).rows
        assert [row[:4] for row in found] == [("one", "sound", 6, 3), ("two", "sound", 8, 4)]
        assert [row[4] for row in found] == pytest.approx([cell.figure.mean for cell in run.cells if cell.figure])
        trials = session.ask("select build, count(*) from trials where run = 'r' group by build order by build").rows
        assert trials == [(1, 4), (2, 4), (3, 4), (4, 4)]
        assert {each.run.name: each.state for each in listed_runs(session)} == {"r": "finished", "begun": "stopped"}


def test_every_output_has_the_same_mean_of_builds_with_unequal_trials(tmp_path: Path) -> None:
    """Each build has the same weight: the mean of 800 and 1000 is 900, although three of the four trials have 1000."""
    run = run_of(tmp_path / "r", campaign(), {("one", "w0"): [[800.0], [1000.0, 1000.0, 1000.0]]})
    (row,) = table_of(run).rows
    (cell,) = run_object(run.path, run.cells, None)["cells"]
    with open_runs(tmp_path) as session:
        found = session.ask("select iops, trials, builds from cells").rows
    assert found == [(pytest.approx(900.0), 4, 2)]
    assert row.figures["iops"].mean == pytest.approx(900.0)
    assert [cell["figure"]["mean"], cell["rates"]["iops"]] == [pytest.approx(900.0)] * 2
