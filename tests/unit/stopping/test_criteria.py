"""The steady-state criterion in SNIA's specification."""

import pytest

from poolproof.stopping.decide import decide
from poolproof.stopping.model import RateSeries, StoppingDecision, StoppingRule

SNIA = StoppingRule(min_s=1, max_s=250, steady="snia")  # rounds of 10 s


def _rounds(*means: float, rule: StoppingRule = SNIA) -> StoppingDecision:
    return decide(RateSeries(1.0, tuple(mean for mean in means for _ in range(10))), rule)


def test_snia_requires_five_rounds() -> None:
    decision = _rounds(100, 100, 100, 100)
    assert not decision.done and decision.next_s == 50
    assert [reason.name for reason in decision.reasons] == ["too-short"]


def test_snia_allows_twenty_per_cent_between_rounds() -> None:
    assert _rounds(100, 110, 91, 109, 92).converged
    assert not _rounds(100, 111, 90, 110, 90).converged


def test_snia_allows_a_trend_of_ten_per_cent() -> None:
    assert _rounds(95.1, 97.5, 100, 102.5, 104.9).converged
    decision = _rounds(94, 97, 100, 103, 106)
    assert not decision.converged
    assert "12%" in decision.reasons[0].sentence


def test_snia_uses_only_the_last_five_rounds() -> None:
    decision = _rounds(300, 200, 150, 100, 101, 100, 99, 100)
    assert decision.converged and decision.warmup_s == 30 and decision.used_s == 80
    assert decision.mean == pytest.approx(100)


def test_snia_gives_up_after_twenty_five_rounds() -> None:
    means = [100.0 * 1.1**number for number in range(25)]
    assert not _rounds(*means[:24]).done
    decision = _rounds(*means)
    assert decision.done and not decision.converged and decision.low is None


def test_a_trial_with_five_rounds_that_is_shorter_than_the_minimum_names_the_minimum() -> None:
    decision = _rounds(100, 101, 100, 99, 100, rule=StoppingRule(min_s=100, max_s=250, steady="snia"))
    assert not decision.done and "100 s" in decision.reasons[0].sentence
