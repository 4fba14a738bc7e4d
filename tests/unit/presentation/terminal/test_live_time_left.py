"""The time left: trials by what their cell, layout and workload took, layouts still to build, what is at hand."""

import random
import statistics
from dataclasses import replace

import pytest
from benchmarks.time_left import Timed, kept, timed_trial

from poolproof.campaign.least_trial import least_trials_s
from poolproof.campaign.yaml import parse_campaign
from poolproof.presentation.terminal.live_state import LiveState
from poolproof.presentation.terminal.time_left import Forecast, kinds_of, race_s, time_left_s
from poolproof.presentation.terminal.trials_expected import in_the_race, likely
from poolproof.results.runs.model import Convergence, NotConverged, TrialMetrics
from poolproof.results.runs.timing import Took, begin_s, took
from tests.unit.presentation.terminal.live_runs import START_S, Clock, campaign, trial
from tests.unit.presentation.terminal.made_runs import made_run

DISKS = parse_campaign(
    """\
devices:
  a: {file: 2G}
  b: {file: 2G}
  rust: {emulate: hdd-7200, size: 2G}
layouts:
  {one: a | ext4, other: b | xfs, slow: rust | ext4, pair: btrfs raid1 a b, mix: mergerfs (a | ext4) (rust | ext4)}
workloads: {r: {rw: read, bs: 1m, size: 64m}, w: {rw: write, bs: 1m, size: 64m}}
measure: {time: 5s, trials: 2}
""",
    "t",
)


def forecast(trials: dict[tuple[str, str], tuple[float, ...]], **builds: float) -> Forecast:
    return Forecast(DISKS, Took(trials, builds))


def test_trials_and_building_are_told_apart() -> None:
    trials = [
        trial("l0", "w0", begun_s=START_S + 60, took_s=10),
        trial("l0", "w1", begun_s=START_S + 72, took_s=30),
        trial("l1", "w0", begun_s=START_S + 142, took_s=10),
    ]
    found = took(trials, START_S)
    means = {cell: statistics.fmean(times) for cell, times in found.trials.items()}
    assert means == pytest.approx({("l0", "w0"): 12.0, ("l0", "w1"): 32.0, ("l1", "w0"): 12.0})
    assert found.builds == pytest.approx({"l0": 60.0, "l1": 40.0})


def test_a_night_between_two_halves_of_a_run_does_not_count() -> None:
    trials = [trial("l0", "w0", n, begun_s=START_S + 20 + n * 10 + (86400 if n > 3 else 0)) for n in range(6)]
    assert statistics.fmean(took(trials, START_S).trials["l0", "w0"]) == pytest.approx(10.0)
    apart = [trial(f"l{n}", "w0", begun_s=START_S + 20 + n * 30 + (86400 if n > 1 else 0)) for n in range(4)]
    assert took(apart, START_S).builds == pytest.approx({"l0": 20.0, "l1": 20.0, "l3": 20.0})


def test_a_pause_before_a_run_was_gone_on_with_is_no_building() -> None:
    """Killed while the second layout was built, gone on with 50 minutes later, when it was built in 30 s."""
    done = [trial("l0", "w0", begun_s=START_S + 20), trial("l1", "w0", begun_s=START_S + 30 + 3000 + 30)]
    assert took(done, START_S + 30 + 3000).builds["l1"] == pytest.approx(30.0)
    assert took(done, START_S).builds["l1"] == pytest.approx(3030.0), "nothing tells"


def test_a_layout_that_could_not_be_built_took_its_own_time_and_not_that_of_the_next() -> None:
    """The first was built in 20 s, the second was given up after 900 s, the third was built in 30 s."""
    failed = [replace(trial("l1", "w0", number, begun_s=START_S + 930), seconds={}) for number in (1, 2)]
    done = [trial("l0", "w0", begun_s=START_S + 20), *failed, trial("l2", "w0", begun_s=START_S + 960)]
    found = took(done, START_S)
    assert found.builds == pytest.approx({"l0": 20.0, "l1": 900.0, "l2": 30.0})
    assert set(found.trials) == {("l0", "w0"), ("l2", "w0")}


def test_without_a_trial_nothing_is_known() -> None:
    nothing = forecast({})
    assert time_left_s(nothing, {("one", "r"): 3}, ["one", "other"], at="one", since_s=1.0) is None


def test_layouts_stand_on_devices_of_some_kind() -> None:
    kinds = kinds_of(DISKS)
    assert kinds["one"] == kinds["other"]
    assert len(kinds["pair"]) == 2 and len(set(kinds["mix"])) == 2


def test_a_cell_speaks_for_itself_and_like_ones_for_one_that_has_no_trial() -> None:
    known = forecast({("one", "r"): (10.0, 12.0), ("one", "w"): (4.0,), ("slow", "r"): (50.0,), ("other", "w"): (8.0,)})
    assert known.trial_s("one", "r") == 11.0
    assert known.trial_s("slow", "w") == pytest.approx(50 / 11 * 6 if 50 / 11 < 4 else 4 * 6), "rust is slow, in bounds"
    assert known.trial_s("other", "r") == pytest.approx(2 * 11.0), "its writes took twice as long"
    assert known.trial_s("mix", "r") == 50.0, "what is on a disk and a file takes as long as on the slower"


def test_writes_last_three_turns_of_what_the_layout_holds_back() -> None:
    adaptive = parse_campaign(
        """\
devices: {a: {file: 2G}, b: {file: 2G}}
layouts: {plain: a | ext4, pair: btrfs raid1 a b, quick: a | btrfs commit=5, union: mergerfs (a | btrfs) (b | ext4)}
workloads:
  r: {rw: read, bs: 1m, size: 64m}
  w: {rw: randwrite, bs: 4k, size: 64m}
  held: {rw: write, bs: 1m, size: 64m, direct: 0}
measure: {until: 3%}
""",
        "t",
    )
    least = least_trials_s(adaptive)
    assert {name: least[name, "w"] for name in ("plain", "pair", "quick", "union")} == {
        "plain": 0.0,
        "pair": 90.0,
        "quick": 15.0,
        "union": 90.0,
    }
    assert (least["pair", "r"], least["plain", "held"]) == (0.0, 105.0)
    known = Forecast(adaptive, Took({("plain", "w"): (6.0,), ("plain", "r"): (4.0,)}, {}))
    assert known.trial_s("pair", "w") == 90.0 and known.trial_s("pair", "r") == 4.0
    seen = Forecast(adaptive, Took({("plain", "w"): (6.0,), ("pair", "w"): (40.0,)}, {}))
    assert seen.trial_s("union", "w") == 40.0, "the host's turns are shorter than usual: it was seen"
    assert not least_trials_s(DISKS), "of trials of a fixed time nothing is held up"


def test_a_layout_is_built_as_fast_as_those_on_the_same_devices() -> None:
    known = forecast({("one", "r"): (1.0,)}, one=4.0, slow=20.0)
    assert known.build_s("one") == 4.0
    assert known.build_s("other") == 4.0
    assert known.build_s("pair") == pytest.approx(4.0 * 2**0.5)
    assert known.build_s("mix") == pytest.approx(20.0 * 2**0.5)


def test_trials_ahead_and_layouts_to_build_add_up() -> None:
    known = forecast({("one", "r"): (10.0,), ("one", "w"): (20.0,)}, one=50.0)
    ahead = {("one", "r"): 2, ("other", "w"): 1}
    assert time_left_s(known, ahead, ["other"], at=("one", "r"), since_s=4.0) == 2 * 10 + 20 + 50 - 4
    assert time_left_s(known, ahead, ["other"], at=None, since_s=4.0) == 2 * 10 + 20 + 50


def test_what_takes_longer_than_expected_does_not_eat_up_the_rest_and_speaks_for_its_like() -> None:
    known = forecast({("one", "r"): (10.0,)}, one=50.0)
    assert time_left_s(known, {("one", "r"): 3}, ["other"], at="other", since_s=1e6) == 3 * 10.0
    assert time_left_s(known, {("one", "r"): 3}, [], at=("one", "r"), since_s=30.0) == 2 * 30.0


def test_a_race_is_built_anew_for_each_round() -> None:
    known = forecast({("one", "r"): (10.0,), ("other", "r"): (12.0,)}, one=5.0, other=6.0)
    assert race_s(known, {("one", "r"): 2, ("other", "r"): 1}) == 2 * (5 + 6) + 2 * 10 + 12
    assert race_s(known, {}) == 0


def test_cells_get_as_many_more_trials_as_their_workload_needed_elsewhere() -> None:
    adaptive = parse_campaign(
        "layouts: {one: dir /a, two: dir /b}\nworkloads: {r: {rw: read, size: 1m}, w: {rw: write, size: 1m}}\n"
        "measure: {until: 3%, trials: 2..6}",
        "t",
    )
    wanted = {("one", "r"): 5, ("one", "w"): 2, ("two", "r"): 2, ("two", "w"): 2}
    counts = {("one", "r"): 5, ("one", "w"): 2, ("two", "r"): 1}
    assert likely(adaptive, wanted, counts, "two") == {("two", "r"): 4.0, ("two", "w"): 2.0}


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


def test_a_budget_bounds_what_is_left() -> None:
    text = "layouts: {one: dir /a, two: dir /b}\nworkloads: {r: {rw: read, size: 1m}}\n"
    limited = parse_campaign(f"{text}measure: {{until: 3%, trials: 2..6, min: 1s}}\nbudget: 100s", "t")
    clock = Clock()
    state = LiveState(limited, clock=clock)
    state.layout_begins("one", 2)
    state.trial_begins("one", "r", 1)
    clock.now_s += 60
    state.trial_ends(timed_trial("one", "r", 1, 0.0, 60.0))
    left_s = state.left_s()
    assert left_s is not None and left_s <= 40


def test_a_trial_that_nobody_announced_counts_while_it_runs() -> None:
    """After a resume, or for one who follows from the middle: the cell has its third trial, and the fourth runs."""
    text = "layouts: {one: dir /a}\nworkloads: {r: {rw: read, size: 1m}}\nmeasure: {until: 3%, trials: 2..6}"
    done = [timed_trial("one", "r", number, 10.0 * number, 10.0) for number in (1, 2, 3)]
    clock = Clock()
    clock.now_s = START_S + 60
    state = LiveState(parse_campaign(text, "t"), done, begun_s=START_S, clock=clock)
    assert (state.done, state.total) == (3, 3)
    state.trial_begins("one", "r", 4)
    assert (state.done, state.total) == (3, 4)
    assert state.left_s() == pytest.approx(10.0)
    state.trial_added("one", "r")
    state.trial_begins("one", "r", 5)
    assert state.total == 5, "an announced one counts once"


def test_layouts_whose_rate_does_not_stand_still_have_no_race_ahead() -> None:
    text = "layouts: {one: dir /a, two: dir /b}\nworkloads: {r: {rw: read, size: 1m}}\n"
    asked = parse_campaign(f"{text}measure: {{until: 3%, trials: 2..6, min: 1s}}\nbudget: 1000s", "t")
    drift = Convergence(False, 0.0, 10.0, 10.0, reasons=(NotConverged("drift", "it falls"),))
    figures = {1: TrialMetrics(100.0, 1.0), 2: TrialMetrics(200.0, 1.0)}
    trials = [
        replace(timed_trial(layout, "r", number, 0.0, 10.0), figures=figures[number])
        for layout in ("one", "two")
        for number in (1, 2)
    ]
    assert in_the_race(asked, trials) == {("one", "r"): 4, ("two", "r"): 4}
    assert in_the_race(asked, [*trials[:2], *(replace(each, settling=drift) for each in trials[2:])]) == {}


def test_a_run_that_stood_still_for_a_night_has_spent_nothing_of_its_budget_meanwhile() -> None:
    text = "layouts: {one: dir /a, two: dir /b}\nworkloads: {r: {rw: read, size: 1m}}\n"
    limited = parse_campaign(f"{text}measure: {{until: 3%, trials: 2..6, min: 1s}}\nbudget: 1000s", "t")
    done = [timed_trial("one", "r", 1, 0.0, 60.0), timed_trial("one", "r", 2, 60.0, 60.0)]
    clock = Clock()
    clock.now_s = START_S + 43200
    seen = [LiveState(limited, done, begun_s=begun_s, clock=clock) for begun_s in (START_S, None)]
    for state in seen:
        state.layout_begins("two", 2)
        assert state.left_s() == pytest.approx(LiveState(limited, done, clock=clock).left_s())
        assert (state.left_s() or 0) > 100, "two trials of a minute each, and what the race may take"


@pytest.mark.parametrize("run", kept(), ids=lambda run: run.name)
def test_half_way_through_a_real_run_the_time_left_is_within_a_fifth(run: Timed) -> None:
    error = run.error(0.5)
    assert error is not None and abs(error) <= 0.2


@pytest.mark.parametrize(("layouts", "workloads", "adaptive"), [(4, 4, False), (8, 6, True), (9, 20, False)])
def test_half_way_through_runs_of_unlike_cells_it_is_mostly_within_a_fifth(
    layouts: int, workloads: int, adaptive: bool
) -> None:
    """Where each kind of device has had its turn by then: of the others nobody can know how slow they are."""
    rng = random.Random(5)
    runs = [made_run(rng, layouts, workloads, adaptive=adaptive) for _ in range(40)]
    errors = [abs(run.error(0.5) or 0.0) for run in runs if _has_seen_all_kinds(run)]
    assert len(errors) >= 10
    assert statistics.median(errors) <= 0.12
    assert sum(error <= 0.2 for error in errors) >= 0.75 * len(errors)


def _has_seen_all_kinds(run: Timed) -> bool:
    half_s = (run.begun_s + run.ended_s) / 2
    kinds = kinds_of(run.campaign)
    seen = {kind for trial in run.trials if begin_s(trial) < half_s for kind in kinds[trial.layout]}
    return all(set(kinds[trial.layout]) <= seen for trial in run.trials)
