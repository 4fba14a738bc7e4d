"""What the callers of the stopping rule can rely on."""

import random
from typing import Any

import pytest
from benchmarks.made_series import INTERVAL_S, correlated
from hypothesis import given, settings
from hypothesis import strategies as st

from poolproof.stopping.decide import checkpoints, decide
from poolproof.stopping.model import RateSeries, Steady, StoppingRule

RATES = st.lists(st.one_of(st.just(0.0), st.floats(0, 1e12), st.integers(90, 110).map(float)), max_size=200)
STEADY = st.sampled_from(["poolproof", "snia"])


def test_a_trial_is_not_done_before_its_least_time() -> None:
    decision = decide(RateSeries(0.1, (100.0,) * 29), StoppingRule(min_s=3))
    assert not decision.done
    assert decision.next_s == 3
    assert [reason.name for reason in decision.reasons] == ["too-short"]


def test_a_constant_rate_converges_at_the_first_checkpoint() -> None:
    decision = decide(RateSeries(0.1, (100.0,) * 30), StoppingRule(min_s=3))
    assert decision.done and decision.converged and decision.next_s is None
    assert (decision.low, decision.mean, decision.high) == (100, 100, 100)


def test_three_seconds_of_reports_every_quarter_second_are_enough() -> None:
    decision = decide(RateSeries(0.25, tuple(100.0 + number % 2 for number in range(12))), StoppingRule(min_s=3))
    assert decision.converged and decision.used_s == 3


def test_deciding_between_two_checkpoints_changes_nothing() -> None:
    values = tuple(100.0 + 40 * (i % 7) for i in range(40))
    rule = StoppingRule(until=0.01)
    assert decide(RateSeries(0.1, values[:37]), rule) == decide(RateSeries(0.1, values[:31]), rule)


def test_checkpoints_come_in_geometric_steps_and_end_at_the_maximum() -> None:
    assert list(checkpoints(StoppingRule(min_s=3, max_s=7))) == [3, 3.75, 4.6875, 5.859375, 7]
    assert list(checkpoints(StoppingRule(min_s=5, max_s=5))) == [5]


def test_a_write_trial_lasts_three_cycles_even_beyond_the_maximum() -> None:
    rule = StoppingRule(min_s=3, max_s=10, turnover_s=5)
    assert (rule.least_s, rule.most_s) == (15, 15)
    assert not decide(RateSeries(0.1, (100.0,) * 149), rule).done
    assert decide(RateSeries(0.1, (100.0,) * 150), rule).converged


def test_a_rate_of_zero_never_converges() -> None:
    decision = decide(RateSeries(0.1, (0.0,) * 1800), StoppingRule())
    assert decision.done and not decision.converged and decision.low is None
    assert [reason.name for reason in decision.reasons] == ["idle"]


def test_a_noisy_rate_has_a_wide_interval_at_the_maximum() -> None:
    values = correlated(random.Random(1), 0.0, 40)[:100]
    decision = decide(RateSeries(INTERVAL_S, tuple(values)), StoppingRule(max_s=10))
    assert decision.done and not decision.converged
    assert [reason.name for reason in decision.reasons] == ["noise"]
    assert decision.low is not None and decision.high is not None and decision.low < 100 < decision.high


@settings(max_examples=150, deadline=None)
@given(RATES, st.sampled_from([0.1, 0.25, 1.0]), STEADY, st.sampled_from([0.0, 2.0]))
def test_every_decision_is_consistent(
    values: list[float], interval_s: float, steady: Steady, turnover_s: float
) -> None:
    rule = StoppingRule(min_s=2, max_s=15, steady=steady, turnover_s=turnover_s)
    decision = decide(RateSeries(interval_s, tuple(values)), rule)
    assert decision.converged == (not decision.reasons)
    assert decision.done or decision.next_s is not None
    assert decision.done or not decision.converged
    assert 0 <= decision.warmup_s <= decision.used_s <= interval_s * len(values) + 1e-9
    if decision.low is not None and decision.mean is not None and decision.high is not None:
        assert 0 <= decision.low <= decision.mean <= decision.high
    if decision.converged:
        assert decision.low is not None and decision.used_s >= rule.least_s - 1e-9


@pytest.mark.parametrize(
    "wrong",
    [
        {"until": 0.0},
        {"until": 1.0},
        {"confidence": 1.0},
        {"min_s": 5.0, "max_s": 4.0},
        {"turnover_s": -1.0},
        {"trials_min": 0},
        {"trials_min": 3, "trials_max": 2},
    ],
    ids=str,
)
def test_an_impossible_rule_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        StoppingRule(**wrong)
