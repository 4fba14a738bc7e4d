"""Welch's test, checked by hand and by simulation, and without enough values."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolproof.statistics.comparison import Difference, LogMean, difference, log_mean, mixture, ratio_interval
from poolproof.statistics.resolution import bin_deviation


def apart(one: list[float], other: list[float]) -> Difference:
    first, second = log_mean(one), log_mean(other)
    assert first is not None and second is not None
    return difference(first, second)


def log_latency(values: list[float]) -> LogMean | None:
    return log_mean(values, lower_is_better=True, resolution=bin_deviation(1 / 64))


def test_by_hand() -> None:
    one, other = [math.exp(x) for x in (1.0, 2.0, 3.0)], [math.exp(x) for x in (0.0, 0.5, 1.0, 1.5, 2.0)]
    found = apart(one, other)
    # variances 1 and 0.625 over 3 and 5: error² = 1/3 + 1/8; ν = 0.458333² / (0.333333²/2 + 0.125²/4) = 3.53, down to 3
    assert found.log == pytest.approx(1.0)
    assert found.error == pytest.approx(math.sqrt(1 / 3 + 1 / 8))
    assert found.freedom == 3
    # t = 1 / 0.67700 = 1.4771; with 3 degrees of freedom one tail is 1/2 - (atan(x) + x / (1 + x²)) / π, x = t / √3
    x = 1.4771 / math.sqrt(3)
    assert found.p_above(0) == pytest.approx(0.5 - (math.atan(x) + x / (1 + x * x)) / math.pi, rel=1e-4)


@given(st.lists(st.floats(1, 1e9), min_size=2, max_size=6), st.lists(st.floats(1, 1e9), min_size=2, max_size=6))
def test_the_interval_equals_the_one_in_the_table_of_a_run(one: list[float], other: list[float]) -> None:
    own, shown = apart(one, other).interval, ratio_interval(one, other)
    assert shown is not None and shown.low is not None and own.low is not None
    assert own.mean == pytest.approx(shown.mean)
    assert own.low == pytest.approx(shown.low, rel=1e-6)


_ANY = st.floats(5e-324, 1.7e308)


@given(st.lists(_ANY, min_size=1, max_size=4), st.lists(_ANY, min_size=1, max_size=4))
def test_rates_at_the_ends_of_what_a_float_can_hold_have_a_ratio(one: list[float], other: list[float]) -> None:
    found = apart(one, other)
    for shown in (found.interval, found.repeated):
        assert 0 < shown.mean < math.inf
        assert shown.low is None or shown.high is None or 0 < shown.low <= shown.mean <= shown.high < math.inf


def test_lower_is_better_inverts_the_ratio() -> None:
    slow, fast = (
        log_latency([20e6, 21e6, 22e6]),
        log_latency([10e6, 11e6, 10e6]),
    )
    assert slow is not None and fast is not None
    assert difference(fast, slow).interval.mean > 1.9


def test_a_latency_is_known_to_its_bin_only() -> None:
    one, other = (
        log_latency([1e6, 1e6, 1e6]),
        log_latency([1.0157e6] * 3),
    )  # neighbouring bins of fio's
    assert one is not None and other is not None
    assert difference(one, other).error == pytest.approx(math.sqrt(2 * bin_deviation(1 / 64) ** 2))
    assert difference(one, other).p_above(0) > 0.025


def test_a_value_is_the_geometric_mean_in_its_own_unit() -> None:
    latency = log_latency([1e6, 4e6, 2e6])
    assert latency is not None
    figure = latency.interval(lower_is_better=True)
    assert figure.mean == pytest.approx(2e6)
    assert figure.low is not None and figure.high is not None
    # t = 4.303 with 2 degrees of freedom, s = ln 2 on logarithms
    assert math.log(figure.high / figure.mean) == pytest.approx(4.303 * math.log(2) / math.sqrt(3), rel=0.001)
    assert figure.low * figure.high == pytest.approx(figure.mean**2)


def test_rates_that_agree_to_the_last_digit_have_no_error() -> None:
    same = apart([2000.0, 2000.0], [2000.0, 2000.0])
    assert (same.interval.low, same.interval.high, same.p_above(0)) == (1.0, 1.0, 1.0)
    assert apart([2000.0, 2000.0], [1000.0, 1000.0]).p_above(0) == 0.0


def test_without_enough_values_there_is_no_test() -> None:
    assert log_mean([]) is None
    assert log_mean([0.0, 5.0]) is None
    alone = apart([4.0], [2.0, 2.1])
    assert (alone.error, alone.interval.low) == (None, None)


@pytest.mark.parametrize(
    ("one", "other", "noise"), [(3, 3, 0.05), (3, 5, 0.05), (2, 2, 0.1), (2, 5, 0.2), (8, 3, 0.01)]
)
def test_the_interval_covers_the_ratio_95_times_in_100(one: int, other: int, noise: float) -> None:
    chance, hits, rounds = random.Random(3), 0, 2000
    for _ in range(rounds):
        first = [2 * math.exp(chance.gauss(0, noise)) for _ in range(one)]
        second = [math.exp(chance.gauss(0, noise / 3)) for _ in range(other)]
        interval = apart(first, second).interval
        assert interval.low is not None and interval.high is not None
        hits += interval.low <= 2 <= interval.high
    assert hits / rounds >= 0.935, "95%, or more where trials are few"
    assert hits / rounds <= 0.97 or min(one, other) < 4


def test_a_mixture_is_a_weighted_mean_and_its_interval_covers_it() -> None:
    chance, hits, rounds = random.Random(5), 0, 2000
    truth = 3 ** (2 / 3) * 0.5 ** (1 / 3)
    for _ in range(rounds):
        sides = []
        for factors in ((3.0, 0.5), (1.0, 1.0)):
            means = [log_mean([each * math.exp(chance.gauss(0, 0.05)) for _ in range(4)]) for each in factors]
            assert means[0] is not None and means[1] is not None
            sides.append(mixture([(2 / 3, means[0]), (1 / 3, means[1])]))
        interval = difference(*sides).interval
        assert interval.low is not None and interval.high is not None
        hits += interval.low <= truth <= interval.high
    assert 0.935 <= hits / rounds <= 0.975


@pytest.mark.parametrize(("weights", "trials"), [((0.99, 0.01), (2, 5)), ((0.99, 0.01), (2, 6)), ((0.6, 0.4), (2, 5))])
def test_the_interval_covers_a_mixture_of_few_trials(weights: tuple[float, ...], trials: tuple[int, int]) -> None:
    chance, hits, rounds = random.Random(7), 0, 1500
    for _ in range(rounds):
        sides = []
        for count, noise in zip(trials, (0.2, 0.067), strict=True):
            means = [log_mean([math.exp(chance.gauss(0, noise)) for _ in range(count)]) for _ in weights]
            sides.append(mixture([(weight, mean) for weight, mean in zip(weights, means, strict=True) if mean]))
        interval = difference(*sides).interval
        assert interval.low is not None and interval.high is not None
        hits += interval.low <= 1 <= interval.high
    assert hits / rounds >= 0.94


def test_a_mixture_with_a_single_trial_has_no_test() -> None:
    lone, whole = log_mean([4.0]), log_mean([4.0, 4.1])
    assert lone is not None and whole is not None
    assert mixture([(0.5, lone), (0.5, whole)]).parts is None
