"""A layout that is measured in two states: a result in one state never replaces the result in the other."""

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from poolproof.campaign.cell_key import CellKey
from poolproof.presentation.export.markdown import markdown_text
from poolproof.presentation.export.rows import table_of
from poolproof.presentation.history import NamedRun, series_of
from poolproof.presentation.html_report.cells import cell_rows
from poolproof.presentation.html_report.page import page
from poolproof.presentation.terminal.progress import RunProgress
from poolproof.presentation.terminal.table import print_table
from poolproof.results.compare.cell_comparison import Side, compare
from poolproof.results.compare.comparison_object import comparison_object
from poolproof.results.query.connection import open_runs
from poolproof.results.runs.directory import RunDirectory
from poolproof.results.runs.loading import LoadedRun, load_run
from poolproof.results.runs.run_object import run_object
from poolproof.results.runs.timing import took
from tests.unit.presentation.html_report.making import all_trials, make_run

STATE = "one disk lost"
LOST = CellKey("pair", "reads", STATE)
HEALTHY = CellKey("pair", "reads")


@pytest.fixture
def run(tmp_path: Path) -> LoadedRun:
    """A run with results for all cells. `pair` is also measured without one of its disks, which halves its rate."""
    trials = all_trials()
    for each in [trial for trial in trials if trial.layout == "pair"]:
        assert each.figures is not None
        halved = replace(each.figures, iops=(each.figures.iops or 0) / 2)
        trials.append(replace(each, state=STATE, figures=halved))
    return load_run(make_run(tmp_path / "run", trials))


def mean(run: LoadedRun, key: CellKey) -> float:
    figure = run.by_key[key].figure
    assert figure is not None
    return figure.mean


def test_trials_of_two_states_have_their_own_files(run: LoadedRun) -> None:
    keys = [trial.key for trial in run.trials]
    directory = RunDirectory(run.path)
    assert len(set(keys)) == len({directory.trial_path(key) for key in keys}) == len(keys) == 16
    path = directory.trial_path(run.by_key[HEALTHY].trials[0].key).relative_to(run.path)
    assert path == Path("cells/pair/reads/1"), "the path of earlier versions"
    assert all(run.trial_file(trial, "job.fio") for trial in run.trials)


def test_both_states_are_loaded_and_only_the_trials_of_the_campaign_count_as_done(run: LoadedRun) -> None:
    assert mean(run, HEALTHY) == pytest.approx(2 * mean(run, LOST))
    assert run.layouts_in_states == ["bare-a", "one", "pair", f"pair ({STATE})"]
    assert (run.done, run.wanted) == (12, 12)
    assert len(took([replace(each, begun_at="2026-01-01T00:00:00Z") for each in run.trials], 0.0).trials) == 8


def test_both_states_are_in_the_table_and_in_json(run: LoadedRun) -> None:
    out = io.StringIO()
    print_table(Console(file=out, width=100), run.cells, None)
    assert sum(line.startswith("  pair ") for line in out.getvalue().splitlines()) == 4
    assert f"  pair ({STATE})  " in out.getvalue()
    cells = json.loads(json.dumps(run_object(run.path, run.cells, None)))["cells"]
    assert len({(each["layout"], each["workload"], each["state"]) for each in cells}) == 8


def test_both_states_are_compared(run: LoadedRun) -> None:
    found = compare(Side(run), Side(run), effect=0.02)
    assert [cell.key for cell in found.cells] == [cell.key for cell in run.cells]
    assert {each["state"] for each in comparison_object(found)["cells"]} == {"healthy", STATE}
    layouts = compare(Side(run, "pair"), Side(run, "pair"), effect=0.02)
    assert {cell.key for cell in layouts.cells} == {
        CellKey("", name, state) for name in ("reads", "stream") for state in ("healthy", STATE)
    }


def test_sql_has_a_row_for_each_state(run: LoadedRun) -> None:
    with open_runs(run.path) as session:
        rows = session.ask("select state, trials, iops from cells where layout = 'pair' and workload = 'reads'").rows
    assert {row[0]: row[1] for row in rows} == {"healthy": 2, STATE: 2}
    assert {row[0]: row[2] for row in rows} == pytest.approx({"healthy": mean(run, HEALTHY), STATE: mean(run, LOST)})


def test_both_states_are_in_the_report_the_history_and_the_exports(run: LoadedRun) -> None:
    rows = cell_rows(run, run.cells, {})
    assert len({(row["l"], row["w"]) for row in rows}) == 8
    assert f'"pair ({STATE})"' in page(run)
    assert f"pair ({STATE})" in {each.layout for each in series_of([NamedRun("run", run)])}
    assert f"`pair ({STATE})`" in markdown_text(table_of(run))


def test_progress_counts_the_trials_of_each_state(run: LoadedRun) -> None:
    progress = RunProgress(replace(run.campaign, states=("healthy", STATE)), run.trials)
    assert (progress.expected(HEALTHY), progress.expected(LOST)) == (2, 2)
    assert list(progress.rows) == [
        f"{name}{state}" for name in ("bare-a", "one", "pair") for state in ("", f" ({STATE})")
    ]
