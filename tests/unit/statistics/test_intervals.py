"""Intervals against textbook values and by simulation: a 95 % interval covers the truth about 95 times in 100."""

import random

import pytest

from poolproof.statistics.comparison import ratio_interval
from poolproof.statistics.intervals import mean_interval


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
