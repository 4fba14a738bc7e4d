"""Decisions about many cells together: false decisions are as rare as promised, and true differences are found."""

import math
import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolproof.statistics.comparison import Difference, Word, decide, difference, holm, log_mean

ROUNDS = 1000
EFFECT = 0.02
ALLOWED = 0.05 + 3 * math.sqrt(0.05 * 0.95 / ROUNDS)
"""5% plus three standard errors of the simulation."""


def measured(chance: random.Random, truth: float, noise: float, trials: int) -> Difference:
    b = log_mean([truth * math.exp(chance.gauss(0, noise)) for _ in range(trials)])
    a = log_mean([math.exp(chance.gauss(0, noise)) for _ in range(trials)])
    assert a is not None and b is not None
    return difference(b, a)


def right(word: Word, truth: float, effect: float) -> bool:
    match word:
        case "faster":
            return truth > 1 + effect
        case "slower":
            return truth < 1 - effect
        case "same":
            return 1 - effect <= truth <= 1 + effect
    return True


def wrong_families(truths: Sequence[float], effect: float, noise: float, trials: int) -> float:
    """Return the share of simulated comparisons with at least one false decision."""
    chance, wrong = random.Random(17), 0
    for _ in range(ROUNDS):
        decisions = decide([measured(chance, truth, noise, trials) for truth in truths], effect)
        wrong += any(not right(decision.word, truth, effect) for decision, truth in zip(decisions, truths, strict=True))
    return wrong / ROUNDS


@pytest.mark.parametrize(
    ("truths", "effect", "noise"),
    [
        ([1.0] * 8, 0.0, 0.02),  # nothing differs, and any difference counts
        ([1.0] * 8, EFFECT, 0.02),
        ([1.02] * 8, EFFECT, 0.005),  # exactly at the threshold, which is the hardest case for `faster`
        ([1.0201] * 8, EFFECT, 0.005),  # just above it, which is the hardest case for `same`
        ([0.9799] * 8, EFFECT, 0.005),
        ([1.0] * 3 + [1.02] * 3 + [1.5] * 2, EFFECT, 0.01),
    ],
)
def test_with_95_per_cent_confidence_no_word_is_wrong(truths: list[float], effect: float, noise: float) -> None:
    assert wrong_families(truths, effect, noise, trials=3) <= ALLOWED


def test_without_a_correction_it_would_be_wrong_almost_always() -> None:
    chance, wrong = random.Random(17), 0
    for _ in range(200):
        wrong += any(decide([measured(chance, 1.0, 0.02, 5)], 0.0)[0].word != "undecided" for _ in range(12))
    assert wrong / 200 > 0.3


@pytest.mark.parametrize(
    ("truth", "word"), [(1.5, "faster"), (0.7, "slower"), (1.0, "same"), (1.005, "same"), (0.995, "same")]
)
def test_true_differences_are_found(truth: float, word: Word) -> None:
    chance = random.Random(23)
    found = [decide([measured(chance, truth, 0.004, 5)], EFFECT)[0].word for _ in range(200)]
    assert found.count(word) > 180


def test_few_and_noisy_trials_decide_nothing() -> None:
    chance = random.Random(29)
    found = [decide([measured(chance, 1.1, 0.2, 3)], EFFECT)[0].word for _ in range(300)]
    assert found.count("undecided") > 270


def test_a_cell_without_a_test_is_not_part_of_the_correction() -> None:
    lone = Difference(1.0, None, 0.0)
    sure = Difference(0.5, 0.02, 8.0)
    first, second = decide([lone, sure], EFFECT)
    assert (first.word, first.p, first.p_holm) == ("undecided", None, None)
    assert second.word == "faster" and second.p == second.p_holm


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx((0.03, 0.06, 0.06, 0.02))
    assert holm([0.6, 0.7]) == (1.0, 1.0)
    assert holm([]) == ()


@given(st.lists(st.floats(0, 1), max_size=12))
def test_corrected_values_keep_their_order_and_never_shrink(values: list[float]) -> None:
    corrected = holm(values)
    assert all(own <= new <= 1 for own, new in zip(values, corrected, strict=True))
    by_value = [new for _, new in sorted(zip(values, corrected, strict=True))]
    assert by_value == sorted(by_value)


@given(st.floats(-1, 1), st.floats(0.001, 0.5), st.floats(1, 30))
def test_directions_mirror_each_other(log: float, error: float, freedom: float) -> None:
    (up,), (down,) = (decide([Difference(sign * log, error, freedom)], 0.0) for sign in (1, -1))
    mirrored = {"faster": "slower", "slower": "faster"}
    assert down.word == mirrored.get(up.word, up.word)
    assert down.p == pytest.approx(up.p)
