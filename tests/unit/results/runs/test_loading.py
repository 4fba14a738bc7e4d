"""Loading a run strictly, leniently, or while trials are added, and the states of a cell."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from poolproof.campaign.yaml import parse_campaign
from poolproof.errors import RunError
from poolproof.files.writing import write_output
from poolproof.results.runs.loading import TrialFollower, load_run
from poolproof.results.runs.summary import cells_of
from tests.unit.presentation.html_report.making import CAMPAIGN, all_trials, make_run, trial


def test_a_damaged_line_is_an_error_or_listed_as_missing(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", all_trials())
    lines = (run / "trials.jsonl").read_bytes()
    (run / "trials.jsonl").write_bytes(b"{}\n" + lines)
    with pytest.raises(RunError):
        load_run(run)
    loaded = load_run(run, lenient=True)
    assert (len(loaded.trials), loaded.left_out, len(loaded.missing)) == (12, 1, 1)
    assert loaded.cell("one", "reads").trials[0].number == 1


def test_a_follower_returns_only_whole_new_lines(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", all_trials())
    path = run / "trials.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + lines[1][:10])
    follower = TrialFollower(path)
    assert [len(follower.new_trials()[0]), follower.new_trials()] == [1, ((), 0)]
    path.write_bytes(b"".join(lines[:3]) + b"{}\n")
    trials, damaged = follower.new_trials()
    assert (len(trials), damaged) == (2, 1)


def test_a_follower_returns_the_trials_that_were_measured_again(tmp_path: Path) -> None:
    """Before `resume` repeats failed trials, it replaces trials.jsonl with a file without them."""
    run = make_run(tmp_path / "run", all_trials())
    path = run / "trials.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    follower = TrialFollower(path)
    first, _ = follower.new_trials()
    write_output(path, b"".join(lines[:-2]))
    assert follower.new_trials() == ((), 0)
    with path.open("ab") as file:
        file.write(lines[-2].replace(b'"number":', b'"number": ') + lines[-1])
    assert [trial.key for trial in follower.new_trials()[0]] == [first[-2].key]


def test_a_trial_without_a_state_is_healthy(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", all_trials())
    path = run / "trials.jsonl"
    old = [{key: value for key, value in json.loads(line).items() if key != "state"} for line in path.open()]
    path.write_text("".join(json.dumps(line) + "\n" for line in old))
    assert {cell.key.state for cell in load_run(run).cells} == {"healthy"}


def test_trials_of_two_states_are_two_cells() -> None:
    broken = replace(trial("pair", "reads", 1), state="one disk missing")
    campaign = replace(parse_campaign(CAMPAIGN, "t"), states=("healthy", "one disk missing"))
    cells = cells_of([broken, trial("pair", "reads", 1)], campaign)
    assert [(cell.state, len(cell.trials)) for cell in cells] == [("healthy", 1), ("one disk missing", 1)]
