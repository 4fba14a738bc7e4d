"""The time left: trials by their workload, layouts still to build, what is at hand counted off."""

import pytest

from poolproof.report.live_state import LiveState
from poolproof.report.time_left import Pace, pace_of, time_left_s
from tests.unit.report.live_runs import START_S, Clock, campaign, trial


def test_a_pace_tells_trials_by_workload_and_building_apart() -> None:
    trials = [
        trial("l0", "w0", begun_s=START_S + 60, took_s=10),
        trial("l0", "w1", begun_s=START_S + 72, took_s=30),
        trial("l1", "w0", begun_s=START_S + 142, took_s=10),
    ]
    pace = pace_of(trials, START_S)
    assert pace.by_workload == pytest.approx({"w0": 12.0, "w1": 32.0})
    assert pace.trial_s == pytest.approx(22.0)
    assert pace.build_s == pytest.approx(50.0)


def test_a_night_between_two_halves_of_a_run_does_not_count() -> None:
    trials = [trial("l0", "w0", n, begun_s=START_S + 20 + n * 10 + (86400 if n > 3 else 0)) for n in range(6)]
    pace = pace_of(trials, START_S)
    assert pace.by_workload["w0"] == pytest.approx(10.0)


def test_without_a_trial_nothing_is_known() -> None:
    pace = pace_of([], START_S)
    assert pace == Pace({}, None, None)
    assert time_left_s(pace, {"w0": 3}, 2, building=True, since_s=1.0) is None


def test_trials_ahead_and_layouts_to_build_add_up() -> None:
    pace = Pace({"w0": 10.0}, 20.0, 50.0)
    assert time_left_s(pace, {"w0": 2, "new": 1}, 1, building=False, since_s=4.0) == 2 * 10 + 20 + 50 - 4


@pytest.mark.parametrize(("building", "most_s"), [(True, 50.0), (False, 20.0)])
def test_what_takes_longer_than_expected_does_not_eat_up_the_rest(building: bool, most_s: float) -> None:
    pace = Pace({"w0": 10.0}, 20.0, 50.0)
    whole = 3 * 10.0 + 50.0
    assert time_left_s(pace, {"w0": 3}, 1, building=building, since_s=1e6) == whole - most_s


def test_of_a_run_that_goes_evenly_the_end_is_foreseen_from_the_first_trial_on() -> None:
    """Two layouts, each built in 20 s, four trials of 10 s each: 120 s in all."""
    clock = Clock()
    state = LiveState(campaign(2, 2, 2), clock=clock)
    for layout in ("l0", "l1"):
        state.layout_begins(layout, 4)
        clock.now_s += 20
        for workload in ("w0", "w1"):
            for number in (1, 2):
                state.trial_begins(layout, workload, number)
                begun = clock.now_s
                clock.now_s += 5
                left_s = state.left_s()
                assert left_s is None or left_s == pytest.approx(START_S + 120 - clock.now_s)
                clock.now_s += 5
                state.trial_ends(trial(layout, workload, number, begun_s=begun))
                assert state.left_s() == pytest.approx(START_S + 120 - clock.now_s)
    assert state.left_s() == 0
