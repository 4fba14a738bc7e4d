"""Equal layouts get a false winner in at most 5% of runs.

This is a short form of `python -m benchmarks.false_winners`.
"""

import random

import pytest
from benchmarks import changing_rates, disturbed_trials
from benchmarks.false_winners import Setting, simulate

from poolproof.statistics.comparison import difference, log_mean
from poolproof.stopping.across import across
from poolproof.stopping.model import StoppingRule, TrialMean


@pytest.mark.parametrize(
    ("setting", "runs", "power"),
    [
        (Setting(24, 2, sigma=0.5), 70, 0.3),
        pytest.param(Setting(24, 2, sigma=0.8), 150, 0.12, marks=pytest.mark.slow),
        pytest.param(Setting(24, 2, sigma=1.3, alike=True), 100, 0.15, marks=pytest.mark.slow),
        (Setting(24, 3, sigma=1.3, alike=True), 30, 0.5),
        (Setting(24, 1, sigma=0.5), 60, 0.05),
        (Setting(24, None, sigma=0.5), 16, 0.9),
    ],
    ids=["2 trials", "unlike deviations", "very unlike deviations", "3 trials", "1 trial", "until"],
)
def test_equal_layouts_get_a_false_winner_in_at_most_5_per_cent_of_runs(
    setting: Setting, runs: int, power: float
) -> None:
    found = simulate(setting, runs)
    assert found.false <= 0.05 + 2 * (0.05 * 0.95 / runs) ** 0.5, "two standard errors of the simulation"
    assert 0.93 <= found.coverage <= 0.99
    assert found.power[1] > power, "a planted difference of 20%"


@pytest.mark.parametrize(("least", "most", "deviation"), [(2, 6, 0.03), (3, 10, 0.03)])
def test_trials_that_stop_when_they_agree_do_not_look_more_precise(least: int, most: int, deviation: float) -> None:
    """Two cells are measured until each is precise to within 3%, so the number of trials depends on their results."""
    chance, rule, covered, runs = random.Random(3), StoppingRule(trials_min=least, trials_max=most), 0, 1500
    for _ in range(runs):
        cells: list[list[TrialMean]] = [[], []]
        for trials in cells:
            while len(trials) < least or not across(trials, rule).done:
                trials.append(TrialMean(chance.lognormvariate(0, deviation)))
        one, other = (log_mean([trial.mean for trial in trials], least_count=least) for trials in cells)
        assert one is not None and other is not None
        interval = difference(one, other).interval
        assert interval.low is not None and interval.high is not None
        covered += interval.low <= 1 <= interval.high
    assert 0.935 <= covered / runs <= 0.98


def test_disturbed_trials_hide_fewer_differences_if_they_are_left_out() -> None:
    """A short form of `python -m benchmarks.disturbed_trials`, with unequal shares of disturbed trials."""
    setting = disturbed_trials.Setting((0.1, 0.4), 6)
    used, left = (disturbed_trials.simulate(setting, 5, uses_evidence=evidence) for evidence in (False, True))
    assert (used.left_out, left.left_out > 0.1, left.false) == (0.0, True, 0.0)
    assert used.power < 0.3 < 0.7 < left.power
    assert used.coverage < 0.92 < left.coverage


def test_random_changes_of_the_rate_hide_fewer_differences() -> None:
    """A short form of `python -m benchmarks.changing_rates`: noise that looks like a change in some trials."""
    found = changing_rates.simulate(changing_rates.Setting("steady", every=1), 4)
    at_extremes, used, never = (found[rule] for rule in changing_rates.RULES)
    assert (used.false, never.false) == (0, 0)
    assert at_extremes.power[0] < 0.6 * used.cells < 0.8 * used.cells < used.power[0]
    assert used.covered >= 0.93 * used.cells


@pytest.mark.parametrize("kind", ["step after 0.7 s", "decay in 0.7 s"])
def test_a_change_in_each_trial_is_not_hidden_by_trials_that_agree(kind: str) -> None:
    found = changing_rates.simulate(changing_rates.Setting(kind), 3)
    assert found["none"].false == 3, "the trials agree on a wrong rate"
    assert (found["used"].false, found["used"].covered) == (0, found["used"].cells)


def test_speeds_that_last_longer_than_a_trial_are_tested_with_caution() -> None:
    found = changing_rates.simulate(changing_rates.Setting("±20%, 20 s each", every=1), 4)
    assert found["none"].covered < 0.8 * found["none"].cells
    assert found["used"].covered > 0.88 * found["used"].cells
