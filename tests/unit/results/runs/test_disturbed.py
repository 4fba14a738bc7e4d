"""Trials that other work disturbed are left out of results if enough others remain, and every output says so."""

import io
import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from poolproof.campaign.yaml import parse_campaign
from poolproof.measure.order import TrialOrder
from poolproof.presentation.terminal.table import print_table
from poolproof.results.runs.cell_builds import counting, left_out
from poolproof.results.runs.changing_rates import mean_to_test
from poolproof.results.runs.convergence import convergence_of, metric_log_mean, needs_trial, trials_ahead
from poolproof.results.runs.disturbed import is_disturbed
from poolproof.results.runs.elimination import elimination_of
from poolproof.results.runs.model import SCHEMA, Convergence, Trial
from poolproof.results.runs.run_object import run_object
from poolproof.results.runs.summary import Cell, cells_of
from poolproof.results.runs.trial_files import decode
from poolproof.rules.model import Finding
from tests.golden import Message
from tests.unit.results.compare.making import CAMPAIGN

from .disturbed_trials import BACKGROUND, BUSY, DISKS, SLOW_PERCENTILE, STOLEN, trial

FIXED = parse_campaign(CAMPAIGN, "t")
UNTIL = parse_campaign(CAMPAIGN.replace("{time: 5s, trials: 3}", "{until: 3%, min: 1s, trials: 3..6}"), "t")
STEADY = (1000.0, 1004.0, 998.0, 1001.0, 1002.0)
OLD_LINE = {
    "layout": "one",
    "workload": "reads",
    "number": 4,
    "verdict": "suspect",
    "metric": "iops",
    "figures": {"iops": 512.5, "bandwidth_bytes": 2099200.0},
    "findings": [
        {
            "rule": "other-work",
            "effect": "suspects",
            "message": "other programs used 1.1 of 2 processors, and tasks waited for one 34 % of the time",
            "fix": "stop the other programs",
            "weight": 76,
        }
    ],
    "schema": SCHEMA,
}


def clean(count: int, *, first: int = 1, build: int = 1) -> list[Trial]:
    return [trial(first + at, STEADY[at % 5], build=build) for at in range(count)]


def disturbed(count: int, *, first: int, build: int = 1) -> list[Trial]:
    return [trial(first + at, 620.0, STOLEN, build=build) for at in range(count)]


def cell(trials: list[Trial]) -> Cell:
    (found,) = cells_of(trials, FIXED)
    return found


@pytest.mark.parametrize(
    ("findings", "expected"),
    [
        ([STOLEN], True),
        ([BUSY], True),
        ([STOLEN, BUSY, DISKS], True),
        ([STOLEN, SLOW_PERCENTILE], True),
        ([DISKS], False),
        ([STOLEN, BACKGROUND], False),
        ([replace(STOLEN, effect="notes")], False),
        ([replace(STOLEN, metrics=("p99",))], False),
        ([], False),
    ],
)
def test_only_lost_processor_time_makes_a_trial_disturbed(findings: list[Finding], expected: bool) -> None:
    assert is_disturbed(trial(1, 1000.0, *findings)) is expected


def test_a_refuted_trial_is_never_left_out() -> None:
    wrong = Finding("write-vanished", "refutes", "the bytes are missing", "use direct=1")
    refuted = replace(trial(4, 9000.0, STOLEN), verdict="refuted", findings=(wrong, STOLEN))
    assert cell([*clean(3), refuted]).verdict == "refuted"


def test_a_disturbed_trial_of_an_older_run_is_recognized() -> None:
    found = decode(json.dumps(OLD_LINE).encode(), Trial, SCHEMA, "trials.jsonl")
    assert is_disturbed(found)
    assert [each.number for each in counting([*clean(3), found])] == [1, 2, 3]


@pytest.mark.parametrize(
    ("others", "count", "kept"),
    [(3, 1, 3), (5, 1, 5), (3, 3, 3), (2, 1, 3), (3, 4, 7), (4, 2, 4), (0, 6, 6), (6, 0, 6)],
)
def test_three_others_remain_and_at_most_half_are_left_out(others: int, count: int, kept: int) -> None:
    trials = [*disturbed(count, first=1), *clean(others, first=count + 1)]
    assert len(counting(trials)) == kept
    assert len(left_out(trials)) == len(trials) - kept


def test_a_failed_trial_is_not_one_of_the_three_others() -> None:
    trials = [*clean(2), trial(3, 0.0), trial(4, 620.0, STOLEN)]
    assert counting(trials) == tuple(trials)


def test_each_build_is_considered_alone() -> None:
    full, short = [*clean(3), *disturbed(1, first=4)], [*clean(2, first=5, build=2), *disturbed(2, first=7, build=2)]
    assert [each.number for each in counting([*full, *short])] == [1, 2, 3, 5, 6, 7, 8]
    assert [each.number for each in left_out([*full, *short])] == [4]
    failed = [trial(9, 1000.0, build=3), trial(10, 0.0, build=3), *disturbed(1, first=11, build=3)]
    assert [each.number for each in left_out([*full, *failed])] == [4]


def test_the_cell_has_the_verdict_and_the_values_of_the_trials_that_count(message: Message) -> None:
    found = cell([*clean(5), *disturbed(1, first=6)])
    assert (found.verdict, found.values(), found.result("bandwidth").verdict) == ("sound", STEADY, "sound")
    assert found.figure is not None and found.figure.low is not None and found.figure.low > 990
    (remark,) = found.remarks()
    assert "1 of 6 trials" in message(remark)
    assert [each.number for each in found.all_trials] == [1, 2, 3, 4, 5, 6]
    disturbed_too_often = cell([*clean(2), *disturbed(4, first=3)])
    assert (disturbed_too_often.verdict, disturbed_too_often.left_out) == ("suspect", ())
    assert disturbed_too_often.reasons() == (STOLEN,)
    (remark,) = disturbed_too_often.remarks()
    assert "4 of 6 trials" in message(remark)


@pytest.mark.parametrize(("count", "words"), [(1, "the only trial"), (2, "both trials"), (4, "all 4 trials")])
def test_if_every_trial_was_disturbed_the_remark_names_no_others(count: int, words: str, message: Message) -> None:
    (remark,) = (each for each in cell(disturbed(count, first=1)).remarks() if "other work" in each)
    assert words in message(remark) and "others" not in remark


def test_other_suspicions_about_the_remaining_trials_stay() -> None:
    found = cell([*clean(2), trial(3, 1000.0, DISKS), *disturbed(2, first=4), *clean(1, first=6)])
    assert (found.verdict, found.reasons()) == ("suspect", (DISKS,))


def test_the_table_says_how_many_trials_are_left_out() -> None:
    text = io.StringIO()
    print_table(Console(file=text, width=100), cells_of([*clean(5), *disturbed(1, first=6)], FIXED), None)
    assert "1 of 6 trials" in text.getvalue()


def test_the_json_counts_the_trials_that_are_left_out(message: Message) -> None:
    found = cells_of([*clean(4), *disturbed(2, first=5)], FIXED)
    (row,) = run_object(Path("run"), found, None)["cells"]
    assert (row["trials"], row["left_out"], row["verdict"]) == (4, 2, "sound")
    (remark,) = row["remarks"]
    assert "2 of 6 trials" in message(remark)


def settled(trial: Trial) -> Trial:
    return replace(trial, settling=Convergence(True, 0.0, 3.0, 180.0, 0.999, 1.001, error_share=0.0005, freedom=20))


def sampled(disturb: set[int], campaign: str = "3..6") -> list[int]:
    """Run a cell's trials until it needs no more, with these numbers disturbed. Return the numbers of the trials."""
    measure = parse_campaign(
        CAMPAIGN.replace("{time: 5s, trials: 3}", f"{{until: 3%, trials: {campaign}}}"), "t"
    ).measure
    done: list[Trial] = []
    while needs_trial(done, measure):
        number = len(done) + 1
        found = trial(number, 620.0, STOLEN) if number in disturb else trial(number, STEADY[number % 5])
        done.append(settled(found))
    return [each.number for each in done]


@pytest.mark.parametrize(
    ("disturb", "campaign", "trials"),
    [
        (set(), "3..6", 3),
        ({1}, "3..6", 4),
        ({1, 3}, "3..6", 5),
        ({1, 2, 3}, "3..6", 6),
        ({1, 2, 3, 4}, "3..6", 4),
        ({1}, "2..6", 4),
        ({2}, "5..8", 6),
        (set(range(20)), "2..6", 4),
    ],
)
def test_with_until_a_disturbed_trial_is_followed_by_another(disturb: set[int], campaign: str, trials: int) -> None:
    assert len(sampled(disturb, campaign)) == trials


def test_trials_of_a_fixed_number_are_not_followed_by_others() -> None:
    assert not needs_trial([*clean(2), *disturbed(1, first=3)], FIXED.measure)
    assert trials_ahead([*clean(2), *disturbed(1, first=3)], replace(FIXED, layouts=FIXED.layouts[:1])) == 6


def test_a_cell_converges_if_the_trials_that_count_are_precise() -> None:
    trials = [settled(each) for each in (*clean(3), *disturbed(1, first=4))]
    measure = replace(UNTIL.measure, trials=4, most_trials=4)
    found = convergence_of(trials, measure)
    assert found is not None and found.converged
    assert found.across_trials is not None and found.across_trials.mean == pytest.approx(1000.67, abs=0.01)


def test_the_order_of_trials_adds_one_for_a_disturbed_trial() -> None:
    order = TrialOrder("one", UNTIL.workloads[:1], UNTIL.measure, 1)
    numbers = []
    for _workload, number in order.ahead():
        numbers.append(number)
        order.add(settled(trial(number, 620.0, STOLEN) if number == 2 else trial(number, STEADY[number % 5])))
    assert numbers == [1, 2, 3, 4]


def test_a_disturbed_trial_does_not_decide_an_elimination() -> None:
    asked = replace(UNTIL, goal="reads", budget_s=3600.0, layouts=UNTIL.layouts[:2], workloads=UNTIL.workloads[:1])
    slower = [trial(number, 500.0 + number, layout="pair") for number in (1, 2, 3, 4)]
    calm = [*clean(4), *slower]
    noisy = [*calm, *disturbed(1, first=5), trial(5, 1300.0, BUSY, layout="pair")]
    found = [elimination_of(map(settled, trials), asked) for trials in (calm, noisy)]
    names = [[each.layout for each in race.dropped] for race in found if race is not None]
    assert names == [["pair"], ["pair"]]


def test_disturbed_trials_that_cannot_be_left_out_widen_what_is_tested() -> None:
    trials = [*clean(2), *disturbed(1, first=3)]
    found = cell(trials)
    mean = metric_log_mean(found.samples(), "iops", None)
    assert mean is not None
    widened = mean_to_test(mean, found.trials, "iops")
    assert math.exp(mean.mean - widened.below) == pytest.approx(620.0)
    assert math.exp(mean.mean + widened.above) == pytest.approx(max(STEADY[:2]))
    assert mean_to_test(mean, cell(clean(3)).trials, "iops") == mean
