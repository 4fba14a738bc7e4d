"""What callers of the stopping rule rely on."""

import pytest

from poolproof.stopping.across import across
from poolproof.stopping.decide import decide
from poolproof.stopping.model import Rule, Series, TrialMean


def test_a_trial_is_not_done_before_its_least_time() -> None:
    decision = decide(Series(0.1, (100.0,) * 29), Rule(min_s=3))
    assert not decision.done
    assert decision.next_s == 3
    assert [reason.name for reason in decision.reasons] == ["too-short"]


def test_a_constant_rate_is_known_at_the_first_look() -> None:
    decision = decide(Series(0.1, (100.0,) * 30), Rule(min_s=3))
    assert decision.done and decision.settled and decision.next_s is None
    assert (decision.low, decision.mean, decision.high) == (100, 100, 100)


def test_asking_between_two_looks_changes_nothing() -> None:
    values = tuple(100.0 + 40 * (i % 7) for i in range(40))
    assert decide(Series(0.1, values[:37]), Rule(until=0.01)) == decide(Series(0.1, values[:31]), Rule(until=0.01))


@pytest.mark.parametrize(
    "wrong", [{"until": 0.0}, {"until": 1.0}, {"confidence": 1.0}, {"min_s": 5.0, "max_s": 4.0}, {"trials_min": 0}]
)
def test_an_impossible_rule_is_no_rule(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError):
        Rule(**wrong)  # type: ignore[arg-type]


def test_one_trial_alone_has_no_interval() -> None:
    between = across([TrialMean(100, 99, 101)], Rule())
    assert not between.done and between.low is None
