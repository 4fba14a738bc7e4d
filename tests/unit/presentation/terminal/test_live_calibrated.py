"""The live screen and the time left of a run that measures its disks alone first."""

import pytest

from poolproof.campaign.yaml import parse_campaign
from poolproof.presentation.terminal.live_state import LiveState
from tests.unit.presentation.terminal.live_runs import Clock, screen, trial

TEXT = """
question: Which?
devices: {rust: {emulate: hdd-7200, size: 1G}, ssd: {emulate: sata-ssd, size: 1G}}
layouts: {one: rust | ext4, two: ssd | ext4}
workloads:
  w0: {rw: randread, bs: 4k, size: 64m}
  w1: {rw: randread, bs: 4k, size: 64m, direct: 0}
measure: {trials: 2, time: 5s, calibrate: true}
"""


def test_the_disks_alone_stand_above_the_layouts_each_with_its_own_workloads() -> None:
    state = LiveState(parse_campaign(TEXT, "t"), clock=Clock())
    assert state.layouts == ("bare:rust", "bare:ssd", "one", "two")
    assert state.wanted("bare:rust", "w0") == 2
    assert state.wanted("bare:rust", "w1") == 0, "it is of the shape of w0"
    assert state.total == 2 * 2 + 2 * 2 * 2
    lines = screen(state)
    (bare,) = [line for line in lines if line.startswith("bare:rust")]
    (own,) = [line for line in lines if line.startswith("one")]
    assert (bare.count("·"), own.count("·")) == (2, 4)
    assert any("0 of 12 trials" in line for line in lines)


def test_a_disk_alone_tells_how_long_the_layouts_on_it_will_take() -> None:
    clock = Clock()
    state = LiveState(parse_campaign(TEXT, "t"), clock=clock)
    for layout, took_s in (("bare:rust", 20.0), ("bare:ssd", 5.0)):
        state.layout_begins(layout, 2)
        for number in (1, 2):
            clock.now_s += took_s
            state.trial_ends(trial(layout, "w0", number, begun_s=clock.now_s - took_s, took_s=took_s))
    assert state.left_s() == pytest.approx(4 * 20 + 4 * 5, rel=0.05)


def test_what_the_disks_alone_take_is_not_of_the_budget() -> None:
    measure = "measure: {until: 3%, min: 1s, trials: 2..6, calibrate: true}\ngoal: w0\nbudget: 100s\n"
    clock = Clock()
    state = LiveState(parse_campaign(TEXT.partition("measure:")[0] + measure, "t"), clock=clock)
    for layout in ("bare:rust", "bare:ssd"):
        state.layout_begins(layout, 2)
        clock.now_s += 30
        for number in (1, 2):
            clock.now_s += 20
            state.trial_ends(trial(layout, "w0", number, begun_s=clock.now_s - 20, took_s=20.0))
    assert state.left_s() == pytest.approx(100), "building and four trials of 20 s are over, none of it of the 100 s"
    state.layout_begins("one", 4)
    clock.now_s += 5
    assert state.left_s() == pytest.approx(95)
