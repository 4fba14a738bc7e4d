"""Values that form two groups."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolproof.statistics.two_groups import ValueGroup, groups_of

rates = st.floats(1, 1e12)


@pytest.mark.parametrize(
    ("values", "trials"),
    [
        ([12e6, 240e6, 11.8e6], [2, 1]),
        ([240e6, 250e6, 12e6], [1, 2]),
        ([100.0, 101.0, 900.0, 880.0, 99.0], [3, 2]),
    ],
)
def test_two_groups_are_seen_and_the_slower_comes_first(values: list[float], trials: list[int]) -> None:
    found = groups_of(values, swing=0.1)
    assert [group.count for group in found] == trials
    assert found[0].mean < found[1].mean


@given(st.lists(st.floats(1, 2.99), min_size=1, max_size=12), rates, st.floats(0, 10))
def test_trials_within_a_factor_of_three_are_one_group(spread: list[float], scale: float, swing: float) -> None:
    (group,) = groups_of([each * scale for each in spread], swing)
    assert group.count == len(spread)
    assert min(spread) * scale * (1 - 1e-9) <= group.mean <= max(spread) * scale * (1 + 1e-9)


@given(rates, st.floats(1, 5), st.integers(3, 10))
def test_a_drift_is_one_group(start: float, step: float, count: int) -> None:
    assert len(groups_of([start * step**index for index in range(count)])) == 1


@given(st.lists(rates, max_size=2))
def test_fewer_than_three_trials_are_never_two_groups(values: list[float]) -> None:
    assert len(groups_of(values)) == min(1, len(values))


@given(rates, rates, st.integers(1, 5), st.integers(2, 5), st.randoms(use_true_random=False))
def test_two_values_apart_are_two_groups_in_any_order(
    low: float, high: float, few: int, many: int, order: random.Random
) -> None:
    low, high = min(low, high), max(low, high)
    values = [low] * few + [high] * many
    order.shuffle(values)
    found = groups_of(values)
    if high / low >= 3.01:
        assert [group.count for group in found] == [few, many]
    assert sum(group.count for group in found) == few + many


@given(st.floats(3.1, 100))
def test_trials_that_swing_within_as_much_as_between_are_one_group(ratio: float) -> None:
    assert len(groups_of([1.0, ratio, ratio], swing=math.log(ratio))) == 1


def test_normal_trials_raise_no_alarm() -> None:
    """If trials vary by 15%, as on a noisy machine, 10,000 cells with 3, 5 or 10 trials cause no false alarm."""
    chance = random.Random(7)
    for count in (3, 5, 10):
        for _ in range(10_000):
            assert len(groups_of([100 * math.exp(chance.gauss(0, 0.15)) for _ in range(count)])) == 1


def test_a_figure_of_nought_is_no_group_of_its_own() -> None:
    assert groups_of([0.0, 100.0, 200.0]) == (ValueGroup(100.0, 3),)
