"""The progress of a run: the number of trials, the remaining time, and the plain lines."""

from pathlib import Path

import pytest

from poolproof.campaign.cell_key import CellKey
from poolproof.campaign.yaml import parse_campaign
from poolproof.presentation.terminal.progress import PlainLines, RunProgress
from poolproof.results.runs.model import TrialKey
from tests.unit.presentation.terminal.live_runs import START_S, Clock, campaign, screen_text, trial

LAYOUTS = "layouts: {one: dir /a, two: dir /b}\nworkloads: {r: {rw: read, size: 1m}}\n"
CALIBRATED = """
question: Which?
devices: {hdd: {emulate: hdd-7200, size: 1G}, ssd: {emulate: sata-ssd, size: 1G}}
layouts: {one: hdd | ext4, two: ssd | ext4}
workloads:
  w0: {rw: randread, bs: 4k, size: 64m}
  w1: {rw: randread, bs: 4k, size: 64m, direct: 0}
"""


def test_the_estimate_is_the_mean_time_of_a_trial_with_its_share_of_building() -> None:
    """Two layouts, each built in 20 s, and four trials of 10 s on each take 120 s in total."""
    clock = Clock()
    progress = RunProgress(campaign(2, 2, 2), clock=clock)
    assert progress.left_s() is None
    for layout in ("l0", "l1"):
        progress.layout_begins(layout, 4)
        clock.now_s += 20
        for workload in ("w0", "w1"):
            for number in (1, 2):
                progress.trial_begins(TrialKey(layout, workload, number))
                clock.now_s += 10
                progress.trial_ends(trial(layout, workload, number, begun_s=clock.now_s - 10))
        if layout == "l0":
            assert progress.left_s() == pytest.approx(60)
            clock.now_s += 15
            assert progress.left_s() == pytest.approx(45)
            clock.now_s -= 15
    assert progress.left_s() == 0
    assert progress.left_text() == ""


def test_with_a_budget_what_is_left_of_it_is_shown() -> None:
    limited = parse_campaign(f"{LAYOUTS}measure: {{until: 3%, trials: 2..6, min: 1s}}\nbudget: 100s", "t")
    clock = Clock()
    progress = RunProgress(limited, clock=clock)
    progress.layout_begins("one", 2)
    progress.trial_begins(TrialKey("one", "r", 1))
    clock.now_s += 60
    progress.trial_ends(trial("one", "r", 1, took_s=60.0))
    assert progress.left_s() == pytest.approx(40)


@pytest.mark.parametrize("begun_s", [START_S, None])
def test_a_pause_of_half_a_day_costs_no_budget(begun_s: float | None) -> None:
    limited = parse_campaign(f"{LAYOUTS}measure: {{until: 3%, trials: 2..6, min: 1s}}\nbudget: 1000s", "t")
    done = [trial("one", "r", number, begun_s=START_S + 60 * (number - 1), took_s=60.0) for number in (1, 2)]
    clock = Clock(START_S + 43200)
    progress = RunProgress(limited, done, begun_s=begun_s, clock=clock)
    progress.layout_begins("two", 2)
    assert progress.left_s() == pytest.approx(880)


def test_single_disks_are_listed_first_and_each_with_its_own_workloads() -> None:
    progress = RunProgress(parse_campaign(f"{CALIBRATED}measure: {{trials: 2, time: 5s, calibrate: true}}", "t"))
    assert tuple(progress.rows) == ("bare:hdd", "bare:ssd", "one", "two")
    assert progress.expected(CellKey("bare:hdd", "w0")) == 2
    assert progress.expected(CellKey("bare:hdd", "w1")) == 0, "w0 covers it"
    assert progress.total == 2 * 2 + 2 * 2 * 2
    lines = screen_text(progress)
    (bare,) = [line for line in lines if line.startswith("bare:hdd ")]
    (own,) = [line for line in lines if line.startswith("one ")]
    assert (bare.count("·"), own.count("·")) == (1, 2)


def test_measuring_single_disks_costs_no_budget() -> None:
    measure = "measure: {until: 3%, min: 1s, trials: 2..6, calibrate: true}\ngoal: w0\nbudget: 100s\n"
    clock = Clock()
    progress = RunProgress(parse_campaign(CALIBRATED + measure, "t"), clock=clock)
    for layout in ("bare:hdd", "bare:ssd"):
        progress.layout_begins(layout, 2)
        clock.now_s += 30
        for number in (1, 2):
            clock.now_s += 20
            progress.trial_ends(trial(layout, "w0", number, begun_s=clock.now_s - 20, took_s=20.0))
    assert progress.left_s() == pytest.approx(100)
    progress.layout_begins("one", 4)
    clock.now_s += 5
    assert progress.left_s() == pytest.approx(95)


def test_a_trial_beyond_the_planned_ones_counts_while_it_runs() -> None:
    """The run was resumed, or is followed from the middle. The cell has three trials, and the fourth is running."""
    text = "layouts: {one: dir /a}\nworkloads: {r: {rw: read, size: 1m}}\nmeasure: {until: 3%, trials: 2..6}"
    done = [trial("one", "r", number, begun_s=START_S + 10.0 * number) for number in (1, 2, 3)]
    progress = RunProgress(parse_campaign(text, "t"), done, begun_s=START_S, clock=Clock(START_S + 60))
    assert (progress.done, progress.total) == (3, 3)
    progress.trial_begins(TrialKey("one", "r", 4))
    assert (progress.done, progress.total) == (3, 4)
    progress.trial_added(CellKey("one", "r"))
    progress.trial_begins(TrialKey("one", "r", 5))
    assert progress.total == 5, "a reported one counts once"


def test_plain_lines_count_trials_and_estimate_the_time_left(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    with path.open("w") as file:
        clock = Clock()
        lines = PlainLines(file, campaign(1, 1, 2), clock=clock)
        lines.layout_begins("l0", 2)
        for number in (1, 2):
            lines.trial_begins(TrialKey("l0", "w0", number))
            begun_s, clock.now_s = clock.now_s, clock.now_s + 10
            lines.trial_ends(trial("l0", "w0", number, "refuted" if number == 2 else "sound", begun_s=begun_s))
    assert path.read_text().splitlines() == [
        "building l0 (2 trials)",
        "[1/2] l0 · w0 #1: 1.00k IOPS, sound, about 10 s left",
        "[2/2] l0 · w0 #2: 1.00k IOPS, refuted",
    ]
