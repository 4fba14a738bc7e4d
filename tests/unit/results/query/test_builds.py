"""Queries over a run with several builds of each layout: the builds are columns, and a failed build is left out."""

from pathlib import Path

from poolproof.results.query.session import listed_runs, open_runs
from tests.unit.results.runs.several_builds import APART, FAILED, campaign, run_of


def test_queries_and_the_list_of_runs_know_builds(tmp_path: Path) -> None:
    cells = {("one", "w0"): [*APART[:3], [500.0, FAILED]], ("two", "w0"): APART}
    run = run_of(tmp_path / "r", campaign(), cells)
    run_of(tmp_path / "begun", campaign(), {key: builds[:2] for key, builds in cells.items()})
    with open_runs(tmp_path) as session:
        text = "select layout, verdict, trials, builds, iops from cells where run = 'r' order by layout"
        found = session.ask(text).rows
        assert [row[:4] for row in found] == [("one", "sound", 6, 3), ("two", "sound", 8, 4)]
        assert [row[4] for row in found] == [sum(cell.values()) / len(cell.values()) for cell in run.cells]
        trials = session.ask("select build, count(*) from trials where run = 'r' group by build order by build").rows
        assert trials == [(1, 4), (2, 4), (3, 4), (4, 4)]
        assert {each.run.name: each.state for each in listed_runs(session)} == {"r": "finished", "begun": "stopped"}
