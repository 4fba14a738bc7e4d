"""The durations of trials and builds, computed from the times recorded with the trials."""

import statistics
from dataclasses import replace

import pytest

from poolproof.campaign.cell_key import CellKey
from poolproof.results.runs.timing import took
from tests.unit.presentation.terminal.live_runs import START_S, trial


def test_trials_and_building_are_timed_separately() -> None:
    trials = [
        trial("l0", "w0", begun_s=START_S + 60, took_s=10),
        trial("l0", "w1", begun_s=START_S + 72, took_s=30),
        trial("l1", "w0", begun_s=START_S + 142, took_s=10),
    ]
    found = took(trials, START_S)
    means = {cell: statistics.fmean(times) for cell, times in found.trials.items()}
    assert means == pytest.approx({CellKey("l0", "w0"): 12.0, CellKey("l0", "w1"): 32.0, CellKey("l1", "w0"): 12.0})
    assert found.builds == pytest.approx({"l0": 60.0, "l1": 40.0})


def test_a_pause_of_a_day_does_not_count() -> None:
    trials = [trial("l0", "w0", n, begun_s=START_S + 20 + n * 10 + (86400 if n > 3 else 0)) for n in range(6)]
    assert statistics.fmean(took(trials, START_S).trials[CellKey("l0", "w0")]) == pytest.approx(10.0)
    apart = [trial(f"l{n}", "w0", begun_s=START_S + 20 + n * 30 + (86400 if n > 1 else 0)) for n in range(4)]
    assert took(apart, START_S).builds == pytest.approx({"l0": 20.0, "l1": 20.0, "l3": 20.0})


def test_a_pause_before_a_resume_does_not_count_as_building() -> None:
    """The run was killed while the second layout was built.

    It was resumed 50 minutes later, and the layout was then built in 30 s.
    """
    done = [trial("l0", "w0", begun_s=START_S + 20), trial("l1", "w0", begun_s=START_S + 30 + 3000 + 30)]
    assert took(done, START_S + 30 + 3000).builds["l1"] == pytest.approx(30.0)
    assert took(done, START_S).builds["l1"] == pytest.approx(3030.0)


def test_a_failed_build_is_charged_to_its_own_layout() -> None:
    """The first layout was built in 20 s, the second failed after 900 s, and the third was built in 30 s."""
    failed = [replace(trial("l1", "w0", number, begun_s=START_S + 930), seconds={}) for number in (1, 2)]
    done = [trial("l0", "w0", begun_s=START_S + 20), *failed, trial("l2", "w0", begun_s=START_S + 960)]
    found = took(done, START_S)
    assert found.builds == pytest.approx({"l0": 20.0, "l1": 900.0, "l2": 30.0})
    assert set(found.trials) == {CellKey("l0", "w0"), CellKey("l2", "w0")}
