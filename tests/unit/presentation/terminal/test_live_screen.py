"""The live screen: what it shows at 80×24 and in smaller terminals, and the state in which it leaves the terminal."""

import io
import sys
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from poolproof.campaign.cell_key import CellKey
from poolproof.measure.model import LiveRates
from poolproof.presentation.terminal.live_screen import live_screen
from poolproof.presentation.terminal.progress import RunProgress
from poolproof.results.runs.model import TrialKey
from tests.unit.presentation.terminal.live_runs import START_S, Clock, campaign, screen_text, trial


def measuring(clock: Clock, layouts: int = 2, workloads: int = 2) -> RunProgress:
    """Return the progress of a run: a layout built in 20 s, a finished trial of 10 s, and a second trial after 3 s."""
    progress = RunProgress(campaign(layouts, workloads), clock=clock)
    progress.layout_begins("l0", 2 * workloads)
    progress.trial_begins(TrialKey("l0", "w0", 1))
    clock.now_s += 30
    progress.trial_ends(trial("l0", "w0", 1, "refuted", begun_s=START_S + 20))
    progress.trial_begins(TrialKey("l0", "w1", 1))
    progress.activity_begins("measure")
    for second in range(1, 4):
        clock.now_s += 1
        progress.live(LiveRates(float(second), second * 40e6, second * 20e6))
    return progress


def test_a_screen_of_80_by_24(wording: Callable[[str], str]) -> None:
    lines = screen_text(measuring(Clock()))
    wording("\n".join(lines))
    assert all(len(line) <= 80 for line in lines) and len(lines) <= 24
    assert lines[0].startswith("Which?") and "1 of 8 trials" in lines[1] and "3 min 27 s" in lines[1]
    assert "l0 · w1 #1: " in lines[3]
    assert lines[4:6] == ["fio   120 MB/s   ▃▆█", "disks 60.0 MB/s  ▂▃▅"]
    assert lines[-3:-1] == ["l0 ✗▸", "l1 ··"]


def test_without_a_finished_trial_no_time_is_estimated() -> None:
    text = "\n".join(screen_text(RunProgress(campaign(), clock=Clock())))
    assert "0 of 8 trials\n" in text and "left" not in text
    assert "no trial" in text and "preparing" in text


def test_the_rates_of_the_last_trial_stay_until_the_next_one_has_some() -> None:
    progress = measuring(Clock())
    progress.trial_ends(trial("l0", "w1", 1))
    progress.trial_begins(TrialKey("l0", "w0", 2))
    text = "\n".join(screen_text(progress))
    assert "rates of l0 · w1 #1" in text and "120 MB/s" in text
    progress.live(LiveRates(1.0, None, 5e6))
    text = "\n".join(screen_text(progress))
    assert "rates of" not in text and "120 MB/s" not in text and "5.00 MB/s" in text


def test_earlier_findings_are_shown_to_those_who_start_watching_late() -> None:
    done = [trial("l0", "w0", 1, "refuted"), trial("l0", "w1", 1)]
    lines = screen_text(RunProgress(campaign(), done, clock=Clock()))
    at = lines.index("last: ✓ sound l0 · w1 #1: 1.00k IOPS")
    assert lines[at + 1].startswith("✗ l0 · w0 #1: ")


def test_an_added_trial_counts_at_once() -> None:
    progress = measuring(Clock())
    progress.trial_added(CellKey("l0", "w0"))
    assert " of 9 trials" in screen_text(progress)[1]


def test_warnings_and_findings_are_listed_newest_first() -> None:
    progress = measuring(Clock())
    progress.warning("l0: it is rebuilt")
    progress.trial_ends(trial("l0", "w1", 1, "suspect"))
    lines = screen_text(progress)
    at = lines.index("! l0: it is rebuilt")
    assert lines[at - 1].startswith("! l0 · w1 #1: ")
    assert lines[at + 1].startswith("✗ l0 · w0 #1: ")


def test_if_not_all_layouts_fit_those_around_the_running_one_are_shown() -> None:
    progress = RunProgress(campaign(60, 2), clock=Clock())
    progress.layout_begins("l30", 4)
    lines = screen_text(progress)
    assert any(line.startswith("l30 ") for line in lines)
    left_out = next(line for line in lines if line.startswith("… "))
    shown = sum(line.startswith("l") and line.endswith("··") for line in lines)
    above, below = (int(word) for word in left_out.split() if word.isdigit())
    assert above + shown + below == 60


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 200), st.integers(1, 60), st.sampled_from([(2, 2), (9, 108), (60, 3)]))
def test_the_screen_fits_every_terminal(width: int, height: int, size: tuple[int, int]) -> None:
    lines = screen_text(measuring(Clock(), *size), width, height)
    assert len(lines) <= height
    assert all(cell_len(line) <= width for line in lines)


def test_long_names_keep_their_ends() -> None:
    names = [f"a-rather-long-name-of-a-matrix[bs={size}]" for size in ("4k", "16k")]
    progress = RunProgress(campaign(), [trial("l0", name) for name in names], clock=Clock())
    progress.trial_begins(TrialKey("l0", names[0], 2))
    lines = screen_text(progress)
    assert lines[3].startswith("l0 · a-rather-l…ix[bs=4k] #2")
    assert any("[bs=16k] #1" in line for line in lines)


def test_control_characters_do_not_reach_the_terminal() -> None:
    progress = measuring(Clock())
    progress.trial_ends(trial("l0", "w1", 1, "failed", message="fio said:\n\x1b[2J\x07gone"))
    lines = screen_text(progress)
    assert all(line.isprintable() for line in lines)
    assert any("gone" in line for line in lines)


def test_the_terminal_is_restored_and_messages_are_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.StringIO()
    monkeypatch.setattr(sys, "stderr", terminal)
    console = Console(file=terminal, width=80, height=24, force_terminal=True, color_system=None)
    progress = RunProgress(campaign(), clock=Clock())
    with pytest.raises(KeyboardInterrupt), live_screen(console, progress) as live:
        progress.warning("l0: it is rebuilt")
        print("poolproof: stopping", file=sys.stderr)
        live.refresh()
        raise KeyboardInterrupt
    drawn, left, after = terminal.getvalue().rpartition("\x1b[?1049l")
    assert left and drawn.startswith("\x1b[?1049h") and "l0: it is rebuilt" in drawn
    assert "\x1b[?25h" in drawn.rpartition("\x1b[?25l")[2] + after
    assert after.replace("\x1b[?25h", "").split("\n") == ["warning: l0: it is rebuilt", "poolproof: stopping", ""]
    assert sys.stderr is terminal
