"""Trials that prove nothing: equal to the last digit, without a value, with an impossible value, too few, or failed."""

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from poolproof.metrics import TrialMetrics
from poolproof.presentation.html_report.cells import cell_rows
from poolproof.results.runs.directory import RunDirectory
from poolproof.results.runs.loading import load_run
from poolproof.results.runs.model import Trial
from poolproof.statistics.intervals import mean_interval
from tests.unit.command import Command

from .making import CAMPAIGN, RECORD

ONE_WORKLOAD = CAMPAIGN.replace("  stream: {rw: read, bs: 1m}\n  etcd: etcd\n", "")
CLAIM = 'expect: [{claim: faster, source: here, that: "iops(pair, reads) > iops(one, reads)"}]\n'
EQUAL = "all 3 trials agree"


@pytest.fixture
def poolproof(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Command:
    monkeypatch.chdir(tmp_path)
    return Command(monkeypatch, capsys)


def run_of(
    one: Sequence[float],
    pair: Sequence[float],
    *,
    ios: int | None = None,
    builds: int = 1,
    failed: tuple[int, ...] = (),
) -> Path:
    """Create the run `r`.

    `ios`: the number of I/Os in each trial.
    `failed`: the numbers of the trials on `pair` that fail.
    """
    campaign = ONE_WORKLOAD + CLAIM
    campaign = campaign.replace("trials: 3", f"trials: {4 // builds}, builds: {builds}") if builds > 1 else campaign
    run = RunDirectory.create(Path("r"), campaign, replace(RECORD, campaign=campaign))
    for layout, values in (("one", one), ("pair", pair)):
        for number, value in enumerate(values, start=1):
            is_failed = layout == "pair" and number in failed
            figures = TrialMetrics(iops=value, bandwidth_bytes=4096 * value, requests=ios)
            run.append(
                Trial(
                    layout=layout,
                    workload="reads",
                    number=number,
                    verdict="failed" if is_failed else "sound",
                    findings=(),
                    metric="iops",
                    figures=None if is_failed else figures,
                    build=1 + (number - 1) * builds // 4 if builds > 1 else 1,
                    seconds={"fio": 5.0},
                )
            )
    return Path("r")


def answers(poolproof: Command) -> dict[str, str]:
    """Return what each command prints. None of them may crash."""
    commands = {
        "compare": ("compare", "r", "--layouts", "one,pair"),
        "rank": ("rank", "r"),
        "show": ("show", "r"),
        "markdown": ("export", "r", "--markdown"),
        "csv": ("export", "r", "--csv"),
        "json": ("show", "r", "--json"),
    }
    found = {}
    for name, words in commands.items():
        code, out, err = poolproof(*words)
        assert code in (0, 7) and "Traceback" not in out + err, (name, code, out, err)
        text = json.dumps(json.loads(out), ensure_ascii=False) if name == "json" else out + err
        found[name] = " ".join(text.split())
    return found


def test_equal_trials_are_as_imprecise_as_their_resolution(poolproof: Command) -> None:
    """Between trials with 25 I/Os, a difference of 4% is only two I/Os.

    Earlier versions reported a certain winner.
    """
    run_of([100, 100, 100], [104, 104, 104], ios=25)
    found = answers(poolproof)
    assert "undecided" in found["compare"] and "pair, one" in found["rank"]
    assert "? undecided: faster" in found["show"]
    for name, text in found.items():
        assert EQUAL in text and "25 in a trial" in text, name


@pytest.mark.usefixtures("poolproof")
def test_the_page_says_it_too() -> None:
    run = load_run(run_of([100, 100, 100], [104, 105, 106], ios=25))
    one, pair = cell_rows(run, run.cells, {})
    assert [remark.startswith(EQUAL) for remark in one["r"]] == [True] and "r" not in pair


def test_a_difference_beyond_the_resolution_is_found(poolproof: Command) -> None:
    run_of([100, 100, 100], [150, 150, 150], ios=5000)
    found = answers(poolproof)
    assert "1 faster" in found["compare"] and "best: pair" in found["rank"] and EQUAL in found["rank"]
    assert "✓ held: faster" in found["show"]


def test_equal_trials_are_never_without_an_interval(poolproof: Command) -> None:
    """If the number of I/Os is unknown, the resolution is that of the clock."""
    run = load_run(run_of([100, 100, 100], [104, 104, 104]))
    figure = run.cells[0].figure
    assert figure is not None and figure.low is not None and figure.low < 100
    assert "1 ms of 5,000 ms" in answers(poolproof)["compare"]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (math.nan, "trial 2 has no IOPS"),
        (math.inf, "trial 2 has no IOPS"),
        (-5.0, "trial 2 measured −5.00 IOPS"),
    ],
)
def test_a_trial_without_a_usable_value_is_named(poolproof: Command, value: float, said: str) -> None:
    run_of([100, value, 101], [150, 151, 152])
    for name, text in answers(poolproof).items():
        assert said in text and "2 of 3 trials" in text, name


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (math.nan, "trials 1, 2, 3 have no IOPS"),
        (
            -5.0,
            "trials 1, 2, 3 measured −5.00 IOPS, −5.00 IOPS, −5.00 IOPS",
        ),
        (0.0, "a trial measured 0"),
    ],
)
def test_a_cell_without_a_usable_trial_is_left_out_with_the_reason(poolproof: Command, value: float, said: str) -> None:
    run_of([value] * 3, [150, 151, 152])
    found = answers(poolproof)
    assert f"reads: {said}" in found["compare"] and f"one: {said}" in found["rank"]


def test_all_zero_is_an_answer_and_no_crash(poolproof: Command) -> None:
    run_of([0.0] * 3, [0.0] * 3)
    found = answers(poolproof)
    assert "a trial measured 0" in found["compare"] and "all 3 trials measured 0" in found["show"]


def test_a_single_trial_that_measured_0_is_named(poolproof: Command) -> None:
    run_of([100, 0.0, 101], [150, 151, 152])
    assert "one trial 2 measured 0" in answers(poolproof)["show"]


def test_one_trial_and_unequal_counts(poolproof: Command) -> None:
    run_of([100], [150, 151, 152, 149])
    found = answers(poolproof)
    assert "single trial" in found["compare"] and "single trial" in found["rank"]
    assert "pair, one" in found["rank"]


def test_a_build_that_fails_is_left_out_and_named(poolproof: Command) -> None:
    run_of([100, 101, 99, 100], [150, 151, 149, 150], builds=2, failed=(4,))
    found = answers(poolproof)
    assert "undecided" in found["compare"] and "single build" in found["show"]
    assert all("build 2 of 2 failed" in output for output in found.values())


def test_zeros_have_no_resolution() -> None:
    interval = mean_interval([0.0, 0.0, 0.0], None, 0.1)
    assert interval is not None and (interval.low, interval.high) == (0.0, 0.0)
