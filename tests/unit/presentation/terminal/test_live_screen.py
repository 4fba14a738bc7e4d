"""The live screen: what stands where at 80×24, what goes first where there is less room, how it leaves a terminal."""

import io
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from poolproof.measure.events import LiveRates
from poolproof.presentation.terminal.live_screen import screen_lines
from poolproof.presentation.terminal.live_state import LiveState
from poolproof.presentation.terminal.progress import LiveScreen
from tests.unit.presentation.terminal.live_runs import START_S, Clock, campaign, screen, trial


def measuring(clock: Clock, layouts: int = 2, workloads: int = 2) -> LiveState:
    """One layout built in 20 s, one trial of 10 s done, the second under way for 3 s."""
    state = LiveState(campaign(layouts, workloads), clock=clock)
    state.layout_begins("l0", 2 * workloads)
    state.trial_begins("l0", "w0", 1)
    clock.now_s += 30
    state.trial_ends(trial("l0", "w0", 1, "refuted", begun_s=START_S + 20))
    state.trial_begins("l0", "w1", 1)
    state.step("measure")
    for second in range(1, 4):
        clock.now_s += 1
        state.live(LiveRates(float(second), second * 40e6, second * 20e6))
    return state


def test_a_screen_of_80_by_24_has_everything_in_its_place() -> None:
    assert screen(measuring(Clock())) == [
        "Which?" + " " * 60 + "Ctrl-C ends it",
        "━━━━━─────────────────────────────────── 1 of 8 trials, about 1 min 27 s left",
        "",
        "   w0      w1",
        "l0 ✗·      ▸·",
        "l1 ··      ··",
        "✗ 1 refuted  · 3 to come",
        "",
        "l0 · w1 #1: fio is measuring, 3 s",
        "fio   ▃▆█                     120 MB/s   disks ▂▃▅                    60.0 MB/s",
        "bytes per second, both to one scale",
        "",
        "last: ✗ refuted l0 · w0 #1: 1.00k IOPS",
        "✗ l0 · w0 #1: 50 MiB went missing (write-vanished)",
    ]


def test_before_anything_has_ended_no_time_is_promised() -> None:
    text = "\n".join(screen(LiveState(campaign(), clock=Clock())))
    assert "0 of 8 trials\n" in text and "left" not in text
    assert "no trial has ended yet" in text and "preparing" in text


def test_the_rates_of_the_last_trial_stay_and_are_named_as_its_own() -> None:
    state = measuring(Clock())
    state.trial_ends(trial("l0", "w1", 1))
    state.trial_begins("l0", "w0", 2)
    text = "\n".join(screen(state))
    assert "both to one scale, of l0 · w1 #1" in text and "120 MB/s" in text
    state.live(LiveRates(1.0, None, 5e6))
    text = "\n".join(screen(state))
    assert "scale, of" not in text and "120 MB/s" not in text and "5.00 MB/s" in text


def test_who_comes_later_sees_what_was_found_before() -> None:
    state = LiveState(campaign(), [trial("l0", "w0", 1, "refuted"), trial("l0", "w1", 1)], clock=Clock())
    state.live(LiveRates(1.0, 7e6, 5e6))
    lines = screen(state)
    assert "bytes per second, both to one scale, of l0 · w1 #1" in lines
    assert lines[-2:] == [
        "last: ✓ sound l0 · w1 #1: 1.00k IOPS",
        "✗ l0 · w0 #1: 50 MiB went missing (write-vanished)",
    ]


def test_a_trial_added_to_a_cell_counts_at_once() -> None:
    state = measuring(Clock())
    state.trial_added("l0", "w0")
    assert " of 9 trials" in screen(state)[1]


def test_warnings_and_findings_stand_with_the_newest_first() -> None:
    state = measuring(Clock())
    state.warning("l0: it is built anew")
    state.trial_ends(trial("l0", "w1", 1, "suspect"))
    lines = screen(state)
    assert lines[-3:] == [
        "! l0 · w1 #1: 50 MiB went missing (write-vanished)",
        "! l0: it is built anew",
        "✗ l0 · w0 #1: 50 MiB went missing (write-vanished)",
    ]


def test_the_map_of_108_workloads_by_9_layouts_is_condensed() -> None:
    state = measuring(Clock(), 9, 108)
    for number in range(2, 40):
        state.trial_ends(trial("l0", f"w{number}", 1, "sound"))
    lines = screen(state)
    assert "108 workloads, 2 to a mark: the worst of them" in lines[3]
    rows = [line for line in lines if line[:1] == "l" and line[1:2].isdigit() and line[2:3] == " " and ":" not in line]
    assert len(rows) == 9 and all(len(row) == 57 for row in rows)
    assert rows[0].startswith("l0 ✗✓✓✓") and rows[1] == "l1 " + "·" * 54
    assert len(lines) <= 24


def test_many_layouts_show_those_around_the_one_at_hand() -> None:
    state = LiveState(campaign(60, 2), clock=Clock())
    state.layout_begins("l30", 4)
    lines = screen(state)
    assert any(line.startswith("l30 ") for line in lines)
    left_out = next(line for line in lines if line.startswith("… "))
    shown = sum(line.startswith("l") and line.endswith("··") for line in lines)
    above, below = (int(word) for word in left_out.split() if word.isdigit())
    assert above + shown + below == 60


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 200), st.integers(1, 60), st.sampled_from([(2, 2), (9, 108), (60, 3)]))
def test_no_size_of_terminal_gets_more_than_it_holds(width: int, height: int, size: tuple[int, int]) -> None:
    lines = screen_lines(measuring(Clock(), *size), "Ctrl-C ends it", width, height)
    assert len(lines) <= height
    assert all(cell_len(line.plain) <= width for line in lines)


def test_letters_that_would_move_the_cursor_do_not_reach_the_terminal() -> None:
    state = measuring(Clock())
    state.trial_ends(trial("l0", "w1", 1, "failed", message="fio said:\n\x1b[2J\x07gone"))
    lines = screen_lines(state, "", 80, 24)
    assert all(line.plain.isprintable() for line in lines)
    assert any("gone" in line.plain for line in lines)


def test_the_terminal_is_left_as_it_was_and_what_was_said_is_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.StringIO()
    monkeypatch.setattr(sys, "stderr", terminal)
    console = Console(file=terminal, width=80, height=24, force_terminal=True, color_system=None)
    with pytest.raises(KeyboardInterrupt), LiveScreen(console, LiveState(campaign(), clock=Clock())) as live:
        live.warning("l0: it is built anew")
        print("poolproof: stopping", file=sys.stderr)
        live.refresh()
        raise KeyboardInterrupt
    drawn, left, after = terminal.getvalue().rpartition("\x1b[?1049l")
    assert left and drawn.startswith("\x1b[?1049h") and "l0: it is built anew" in drawn
    assert "\x1b[?25h" in drawn.rpartition("\x1b[?25l")[2] + after
    assert after.replace("\x1b[?25h", "").split("\n") == ["warning: l0: it is built anew", "poolproof: stopping", ""]
    assert sys.stderr is terminal
