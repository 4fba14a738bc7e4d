"""Intervals against textbook values and by simulation: a 95 % interval covers the truth about 95 times in 100."""

import random

import pytest

from poolproof.statistics.comparison import ratio_interval
from poolproof.statistics.intervals import VariancePrior, fit_prior, mean_interval, moderated


def test_three_values_by_hand() -> None:
    interval = mean_interval([10.0, 12.0, 14.0])
    assert interval is not None and interval.low is not None and interval.high is not None
    # s = 2, n = 3, t(0.975, 2) = 4.303: half width 4.303 * 2 / sqrt(3) = 4.969
    assert interval.mean == 12.0
    assert interval.high - interval.mean == pytest.approx(4.969, abs=0.001)
    assert interval.mean - interval.low == pytest.approx(4.969, abs=0.001)


def test_one_value_has_no_interval_and_no_value_has_no_mean() -> None:
    alone = mean_interval([5.0])
    assert alone is not None and (alone.mean, alone.low, alone.high, alone.half_width) == (5.0, None, None, None)
    assert mean_interval([]) is None


@pytest.mark.parametrize("trials", [2, 3, 5, 12])
def test_the_interval_covers_the_mean_95_times_in_100(trials: int) -> None:
    chance = random.Random(7)
    hits = 0
    for _ in range(2000):
        interval = mean_interval([chance.gauss(100, 10) for _ in range(trials)])
        assert interval is not None and interval.low is not None and interval.high is not None
        hits += interval.low <= 100 <= interval.high
    assert 0.93 <= hits / 2000 <= 0.97


def test_the_interval_covers_the_ratio_and_never_crosses_zero() -> None:
    chance = random.Random(11)
    hits = 0
    for _ in range(2000):
        upper = [chance.gauss(200, 20) for _ in range(4)]
        lower = [chance.gauss(100, 5) for _ in range(3)]
        interval = ratio_interval(upper, lower)
        assert interval is not None and interval.low is not None and interval.high is not None
        assert interval.low > 0
        hits += interval.low <= 2.0 <= interval.high
    assert 0.93 <= hits / 2000 <= 0.99


def test_without_positive_values_there_is_no_ratio() -> None:
    assert ratio_interval([1.0], []) is None
    assert ratio_interval([1.0, 2.0], [0.0, 1.0]) is None
    single = ratio_interval([4.0], [2.0])
    assert single is not None and (round(single.mean, 9), single.low) == (2.0, None)


def test_a_ratio_of_percentiles_is_known_to_their_bins_only() -> None:
    """Three trials in one of fio's bins against three in the next: they may differ by a bin or be equal."""
    plain = ratio_interval([101.6] * 3, [100.0] * 3)
    binned = ratio_interval([101.6] * 3, [100.0] * 3, 0.0045)
    assert plain is not None and (plain.low, plain.high) == (plain.mean, plain.mean)
    assert binned is not None and binned.low is not None and binned.high is not None
    assert binned.mean == pytest.approx(1.016) and binned.low < 1 < binned.high


def test_the_variance_of_few_trials_is_moderated_unless_it_is_too_large() -> None:
    spread = VariancePrior(0.01, 20.0)
    assert moderated(0.0, 1, spread)[0] == pytest.approx(1e-4 * 20 / 21)
    assert moderated(4e-4, 1, spread)[1] == 21
    assert moderated(0.01, 1, spread) == (0.01, 1), "ten deviations"
    assert moderated(0.01, 1, None) == (0.01, 1)


def test_the_typical_deviation_is_recovered() -> None:
    rng = random.Random(1)
    spread = fit_prior([(rng.gauss(100, 1.5), rng.gauss(100, 1.5)) for _ in range(400)])
    assert spread is not None
    assert spread.deviation == pytest.approx(0.015, rel=0.1)
    assert spread.freedom > 15


def test_groups_with_very_different_variances_say_little_about_each_other() -> None:
    rng = random.Random(6)
    cells = []
    for _ in range(200):
        deviation = rng.lognormvariate(0, 1.5)
        cells.append([rng.gauss(100, deviation) for _ in range(4)])
    spread = fit_prior(cells)
    assert spread is not None and spread.freedom < 4


def test_fewer_than_eight_groups_give_no_prior() -> None:
    assert fit_prior([(99.0, 101.0)] * 7) is None
    assert fit_prior([(99.0,)] * 20) is None
