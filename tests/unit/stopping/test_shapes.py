"""Each kind of non-stationary series is recognized, and is described with its numbers."""

import itertools
import math
import random
import re

import pytest
from benchmarks.made_series import correlated

from poolproof.statistics.stationarity import changes_tail, modes, period, warm_up, without_period
from poolproof.stopping.decide import decide
from poolproof.stopping.model import NotConverged, RateSeries, StoppingDecision, StoppingRule

RULE = StoppingRule(min_s=30, max_s=30)


def _noise(count: int = 300, deviation: float = 1.0) -> list[float]:
    return correlated(random.Random(8), 0.0, deviation)[:count]


def _decide(values: list[float], rule: StoppingRule = RULE) -> StoppingDecision:
    return decide(RateSeries(0.1, tuple(values)), rule)


def _reason(values: list[float]) -> NotConverged:
    decision = _decide(values)
    assert decision.done and not decision.converged
    assert decision.low is None and decision.high is None and decision.mean is not None
    assert len(decision.reasons) == 1
    return decision.reasons[0]


def _numbers(reason: NotConverged) -> list[float]:
    """Return the numbers in a sentence. They are the facts that must be right, regardless of the wording."""
    return [float(text) for text in re.findall(r"\d+(?:\.\d+)?", reason.sentence)]


def test_noise_alone_is_stationary() -> None:
    assert _decide(_noise()).reasons == ()


def test_a_drift_is_reported_with_its_size() -> None:
    reason = _reason([value * (1 + 0.2 * at / 300) for at, value in enumerate(_noise())])
    assert reason.name == "drift"
    assert _numbers(reason) == [18, 30], "per cent over seconds"
    assert "rises" in reason.sentence


def test_a_step_is_reported_with_its_time() -> None:
    reason = _reason([value * (0.6 if at >= 200 else 1) for at, value in enumerate(_noise())])
    assert reason.name == "step"
    assert "46% after 20 s" in reason.sentence


def test_one_long_stall_gives_no_mean() -> None:
    reason = _reason([value * (0 if 140 <= at < 160 else 1) for at, value in enumerate(_noise())])
    assert reason.name == "burst"
    assert _numbers(reason)[:2] == [1, 2], "episodes and seconds"
    assert "stall" in reason.sentence


def test_a_burst_is_distinguished_from_a_stall() -> None:
    values = [value * (3 if at in (100, 101, 180, 181) else 1) for at, value in enumerate(_noise())]
    assert "2 bursts" in _reason(values).sentence


def test_many_stalls_are_part_of_the_result() -> None:
    stalls = set(random.Random(4).sample(range(300), 30))
    decision = _decide(
        [value * (0.2 if at in stalls else 1) for at, value in enumerate(_noise())], StoppingRule(min_s=30)
    )
    assert decision.low is not None
    assert {reason.name for reason in decision.reasons} <= {"noise"}


def test_two_speeds_that_change_seldom_have_no_mean() -> None:
    spans = (30, 110, 25, 60, 75)  # different from each other, so that no period is found
    levels = [level for number, span in enumerate(spans) for level in [0.7 + 0.6 * (number % 2)] * span]
    reason = _reason([value * level for value, level in zip(_noise(), levels, strict=True)])
    assert reason.name == "bimodal"
    assert _numbers(reason) == [86, 4], "per cent apart, and changes"


@pytest.mark.parametrize(
    ("low", "lasts"),
    [({3, 9, 15}, False), ({8, 12, 13}, False), ({8, 9, 10}, True), ({2, 3, 4, 12, 13, 14}, True)],
)
def test_two_speeds_must_last_longer_than_in_a_random_order(low: set[int], lasts: bool) -> None:
    """A skewed sample has two groups too, but they alternate as often as in a random order."""
    values = [value * (0.8 if at in low else 1) for at, value in enumerate(_noise(20))]
    assert (modes(values, 0.05) is not None) is lasts


def test_the_two_groups_of_skewed_noise_are_seldom_two_speeds() -> None:
    """Trials of 20 samples, each the slowest of three: about 15% have two groups, but few of these last."""
    chance = random.Random(5)
    found = sum(
        modes([min(chance.gauss(100, 12) for _ in range(3)) for _ in range(20)], 0.05) is not None for _ in range(1000)
    )
    assert found <= 15


@pytest.mark.parametrize(("count", "others"), [(2, 6), (3, 5), (4, 4)])
def test_the_probability_of_few_changes_is_that_of_all_orders(count: int, others: int) -> None:
    orders = [
        sum(a != b for a, b in itertools.pairwise(at in chosen for at in range(count + others)))
        for chosen in itertools.combinations(range(count + others), count)
    ]
    for changes in range(1, count + others):
        expected = sum(found <= changes for found in orders) / len(orders)
        assert changes_tail(changes, count, others) == pytest.approx(expected)


def test_a_burst_at_the_start_of_a_short_trial_is_always_its_warm_up() -> None:
    """A disk cache takes the first writes at once: eight times the rate for 0.1 s, then noise of 12%."""
    chance = random.Random(6)
    for _ in range(200):
        values = correlated(chance, 0.3, 12)[:20]
        assert 1 <= warm_up([800.0, *values], 0.05) <= 7
    later = [value * (8 if at in (0, 12) else 1) for at, value in enumerate(_noise(20))]
    assert warm_up(later, 0.05) == 0, "a burst that comes again is not a warm-up"


def test_a_period_must_occur_three_times() -> None:
    values = [value * (1 + 0.3 * math.sin(2 * math.pi * at / 120)) for at, value in enumerate(_noise())]
    reason = _reason(values)
    assert reason.name == "periodic"
    assert _numbers(reason)[0] == pytest.approx(12, abs=1)


@pytest.mark.parametrize("shift", [0, 17, 40, 81])
def test_two_periods_give_the_mean_of_whole_ones(shift: int) -> None:
    """240 of the 290 samples are used, wherever the window cuts the wave. The mean has not converged."""
    wave = [100 * (1 + 0.3 * math.sin(2 * math.pi * (at + shift) / 120)) for at in range(290)]
    decision = _decide(wave, StoppingRule(min_s=29, max_s=29))
    assert "periodic" in {reason.name for reason in decision.reasons}
    assert not decision.converged
    assert decision.mean == pytest.approx(100, rel=0.01)


def test_a_period_does_not_hide_a_drift() -> None:
    wave = [value * (1 + 0.3 * math.sin(2 * math.pi * at / 120) + at / 600) for at, value in enumerate(_noise(300))]
    names = {reason.name for reason in _decide(wave, StoppingRule(min_s=30, max_s=30)).reasons}
    assert names & {"drift", "step", "bimodal"}, names


def test_the_mean_is_that_of_whole_periods() -> None:
    saw = [value * (0.25 if at % 50 >= 40 else 1) for at, value in enumerate(_noise(330))]
    decision = _decide(saw, StoppingRule(min_s=33, max_s=33))
    assert decision.converged
    assert decision.mean == pytest.approx(85, rel=0.005)
    assert decision.warmup_s == pytest.approx(3, abs=0.1)


def test_removing_a_period_keeps_the_mean() -> None:
    values = [100.0 + 5 * (at % 20) for at in range(210)]
    found = period(values, 0.03)
    assert found == 20
    assert without_period(values[10:], found) == pytest.approx([147.5] * 200)


def test_a_warm_up_is_cut() -> None:
    values = [value * (0.4 if at < 40 else 1) for at, value in enumerate(_noise())]
    assert 38 <= warm_up(values, 0.03) <= 70
    decision = _decide(values)
    assert decision.converged and decision.mean == pytest.approx(100, rel=0.01)


def test_a_random_start_is_not_cut() -> None:
    cuts = [warm_up(correlated(random.Random(seed), 0.3, 6)[:100], 0.03) for seed in range(40)]
    assert sum(cut > 0 for cut in cuts) <= 4


def test_a_warm_up_that_lasts_too_long_is_not_cut() -> None:
    decision = _decide([value * (0.5 if at < 180 else 1) for at, value in enumerate(_noise())])
    assert not decision.converged and decision.warmup_s == 0


def test_strongly_correlated_samples_are_too_few() -> None:
    rng, level, values = random.Random(12), 100.0, []
    for _ in range(30):
        level += 0.2 * (100 - level) / 10 + rng.gauss(0, 2)
        values.append(level)
    decision = _decide(values, StoppingRule(min_s=3, max_s=3))
    assert not decision.converged and decision.low is None
