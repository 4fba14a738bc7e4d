"""Several trials: their confidence interval, whether they agree, and what cells reveal about one another."""

import random
from dataclasses import replace

import pytest

from poolproof.statistics.shared_variance import VariancePrior, fit_prior
from poolproof.stopping.across import across
from poolproof.stopping.decide import decide
from poolproof.stopping.model import AcrossTrials, RateSeries, StoppingRule, TrialMean


def _trials(*means: float, within: float = 0.5) -> list[TrialMean]:
    half = 2.042 * within
    return [TrialMean(mean, mean - half, mean + half) for mean in means]


def _half(between: AcrossTrials) -> float:
    assert between.low is not None and between.high is not None
    return (between.high - between.low) / 2


def test_one_trial_alone_has_no_interval() -> None:
    between = across(_trials(100), StoppingRule())
    assert not between.done and between.low is None and not between.disagree


def test_one_trial_is_the_last_if_no_more_are_allowed() -> None:
    between = across(_trials(100), StoppingRule(trials_min=1, trials_max=1))
    assert between.done and not between.is_precise


def test_other_cells_give_a_single_trial_an_interval() -> None:
    between = across(_trials(100, within=0.1), StoppingRule(trials_min=1), VariancePrior(0.01, 0.32))
    assert between.is_precise and between.done
    assert between.high == pytest.approx(100 + 2.02, abs=0.05), "a little more than 1.96 deviations of the cells"
    assert not between.disagree
    assert not across(_trials(100, within=5.0), StoppingRule(trials_min=1), VariancePrior(0.01, 0.32)).is_precise, (
        "its own samples scatter"
    )
    assert not across(_trials(100), StoppingRule(trials_min=2), VariancePrior(0.001, 0.32)).is_precise, (
        "two were asked for"
    )


def test_a_cell_without_a_trial_is_refused() -> None:
    with pytest.raises(ValueError):
        across([], StoppingRule())


def test_means_without_intervals_get_student_s_t() -> None:
    between = across([TrialMean(99), TrialMean(101)], StoppingRule())
    assert between.high == pytest.approx(100 + 12.706, abs=1e-3)


def test_trials_that_happen_to_agree_are_no_more_precise_than_their_own_samples() -> None:
    between = across(_trials(100, 100.001, within=1.0), StoppingRule())
    assert not between.is_precise
    assert between.high == pytest.approx(100 + 12.706 / 2**0.5, rel=1e-3)


def test_trials_end_at_the_maximum() -> None:
    between = across(_trials(80, 120, 90, 110, 70, 130), StoppingRule())
    assert between.done and not between.is_precise


def test_trials_that_differ_more_than_their_samples_explain_disagree() -> None:
    assert across(_trials(90, 110, 91), StoppingRule()).disagree
    assert not across(_trials(90, 110, 91, within=8), StoppingRule()).disagree
    assert not across(_trials(99.5, 100.5, 100, within=0.05), StoppingRule()).disagree  # within the tolerance


def test_an_interval_that_was_widened_for_repeated_checks_does_not_hide_that_trials_disagree() -> None:
    """The series has few effective samples, so its 95% interval is ±7%, four times its standard error of 1.7%."""
    means = (94.0, 106.0, 95.0)
    widened = [TrialMean(mean, mean - 7, mean + 7, error=1.7, freedom=6.0) for mean in means]
    assert across(widened, StoppingRule()).disagree
    assert not across([TrialMean(mean, mean - 7, mean + 7) for mean in means], StoppingRule()).disagree


def test_the_error_of_a_trial_is_that_of_its_series_however_often_it_was_checked() -> None:
    rng, rule = random.Random(5), StoppingRule(until=0.01, min_s=3, max_s=60)
    series = RateSeries(0.1, tuple(rng.gauss(100, 8) for _ in range(600)))
    once, often = decide(series, replace(rule, min_s=60)), decide(series, rule)
    assert once.low is not None and once.high is not None and often.low is not None and often.high is not None
    assert often.high - often.low > once.high - once.low, "widened"
    assert once.error_share == often.error_share == pytest.approx(0.08 / 600**0.5, rel=0.2)


def test_a_cell_whose_trials_disagree_uses_only_its_own_variance() -> None:
    """With the typical variance of many quiet cells alone, two trials that differ by 7% would seem precise to 2%."""
    quiet = VariancePrior(0.007, 0.25)
    between = across(_trials(965, 1035, within=5), StoppingRule(), quiet)
    assert between.disagree and not between.is_precise and not between.done
    assert between.high == pytest.approx(across(_trials(965, 1035, within=5), StoppingRule()).high)
    assert across(_trials(995, 1005, within=5), StoppingRule(), quiet).is_precise, (
        "one that is like them has their certainty"
    )
    restless = VariancePrior(0.05, 0.25)
    like_them = across(_trials(965, 1035, within=5), StoppingRule(until=0.06), restless)
    assert across(_trials(965, 1035, within=5), StoppingRule(), restless).disagree
    assert like_them.high is not None and like_them.high < 1000 + 12.7 * 35, "all differ as much: it has their freedom"


def test_other_cells_make_two_trials_enough() -> None:
    two = _trials(99.5, 100.5)
    assert not across(two, StoppingRule()).is_precise
    between = across(two, StoppingRule(), VariancePrior(0.007, 0.32))
    assert between.is_precise and _half(between) == pytest.approx(1.05, abs=0.05)


def test_a_wide_prior_says_less_than_a_narrow_one_and_more_than_none() -> None:
    alone = _half(across(_trials(99, 101), StoppingRule()))
    wide = _half(across(_trials(99, 101), StoppingRule(), VariancePrior(2**0.5 / 100, 2.0)))
    narrow = _half(across(_trials(99, 101), StoppingRule(), VariancePrior(2**0.5 / 100, 0.25)))
    assert narrow == pytest.approx(2.0, abs=0.1) and alone == pytest.approx(12.706, abs=1e-3)
    assert 1.3 * narrow < wide < 0.7 * alone


def test_a_cell_that_varies_more_than_the_others_stays_imprecise() -> None:
    assert not across(_trials(90, 110), StoppingRule(), VariancePrior(0.007, 0.32)).is_precise


@pytest.mark.parametrize("shared", [False, True], ids=["alone", "with the other cells"])
def test_intervals_of_cells_that_stop_when_precise_cover_the_truth(shared: bool) -> None:
    rng, rule, held = random.Random(9), StoppingRule(), []
    for _ in range(12):
        cells = [_Cell(rng, 0.8 * rng.lognormvariate(0, 0.6)) for _ in range(40)]
        spread = fit_prior([trial.mean for trial in cell.trials] for cell in cells) if shared else None
        held += [cell.measured(rule, spread) for cell in cells]
    assert 0.92 <= sum(held) / len(held) <= (0.98 if shared else 1.0)


class _Cell:
    """A simulated cell with a true mean of 100.

    It has two trials, and gets more until its result is precise.
    """

    def __init__(self, rng: random.Random, deviation: float) -> None:
        self.rng, self.deviation = rng, (deviation**2 + 0.25) ** 0.5
        self.trials = _trials(self._draw(), self._draw())

    def _draw(self) -> float:
        return self.rng.gauss(100, self.deviation)

    def measured(self, rule: StoppingRule, spread: VariancePrior | None) -> bool:
        between = self._between(rule, spread)
        while not between.done:
            self.trials += _trials(self._draw())
            between = self._between(rule, spread)
        assert between.low is not None and between.high is not None
        return between.low <= 100 <= between.high

    def _between(self, rule: StoppingRule, spread: VariancePrior | None) -> AcrossTrials:
        return across(self.trials, rule, spread)
