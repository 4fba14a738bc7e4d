"""Confidence intervals compared with textbook values and by simulation: 95% of them contain the true value."""

import math
import random

import pytest

from poolproof.statistics.comparison import ratio_interval
from poolproof.statistics.distributions import t_half_width
from poolproof.statistics.intervals import Interval, error_of_mean, mean_interval, standard_error
from poolproof.statistics.shared_variance import VariancePrior, fit_prior, summed


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
    """Three trials are in one of fio's bins, and three in the next. The true ratio may be 1 or one bin's width."""
    plain = ratio_interval([101.6] * 3, [100.0] * 3)
    binned = ratio_interval([101.6] * 3, [100.0] * 3, 0.0045)
    assert plain is not None and (plain.low, plain.high) == (plain.mean, plain.mean)
    assert binned is not None and binned.low is not None and binned.high is not None
    assert binned.mean == pytest.approx(1.016) and binned.low < 1 < binned.high


def test_the_variance_of_few_trials_follows_from_the_prior_unless_it_is_too_large() -> None:
    prior = VariancePrior(0.01, 0.32)
    centre = math.fsum(weight * math.log(variance) for variance, weight in prior.posterior(1e-4, 1))
    assert centre == pytest.approx(math.log(1e-4), abs=0.05)
    calm = math.fsum(weight * variance for variance, weight in prior.posterior(0.0, 4))
    wild = math.fsum(weight * variance for variance, weight in prior.posterior(4e-4, 4))
    assert 0.7e-4 < calm < 1.1e-4 < wild < 4e-4, "between the prior and the own variance"
    many = math.fsum(weight * variance for variance, weight in prior.posterior(2e-4, 400))
    assert many == pytest.approx(2e-4, rel=0.1), "many trials speak for themselves"
    own = error_of_mean(0.01, 2, prior)
    assert (own.estimated, own.freedom) == (0.005, 1), "ten deviations: only its own variance"
    assert error_of_mean(0.01, 2, None) == own


@pytest.mark.parametrize("freedom", [1, 2, 5, 29])
@pytest.mark.parametrize("scatter", [0.25, 0.8, 2.0])
def test_the_posterior_equals_that_of_a_fine_grid(scatter: float, freedom: int) -> None:
    prior = VariancePrior(0.02, scatter)
    centre, total, weighted = math.log(4e-4), 0.0, 0.0
    for step in range(4001):
        log = centre + scatter * (step - 2000) / 2000 * 4.5
        weight = math.exp(-0.5 * ((log - centre) / scatter) ** 2 - freedom / 2 * (log + 1e-3 / math.exp(log)))
        total, weighted = total + weight, weighted + weight * math.sqrt(math.exp(log))
    found = math.fsum(weight * math.sqrt(variance) for variance, weight in prior.posterior(1e-3, freedom))
    assert found == pytest.approx(weighted / total, rel=1e-3)


def test_the_typical_deviation_is_recovered() -> None:
    rng = random.Random(1)
    prior = fit_prior([(rng.gauss(100, 1.5), rng.gauss(100, 1.5)) for _ in range(400)])
    assert prior is not None
    assert prior.deviation == pytest.approx(0.015, rel=0.1)
    assert prior.scatter < 0.8, "no scatter, plus the standard error of its estimate"


def test_groups_with_very_different_variances_say_little_about_each_other() -> None:
    rng = random.Random(6)
    cells = []
    for _ in range(200):
        deviation = rng.lognormvariate(0, 1.5)
        cells.append([rng.gauss(100, deviation) for _ in range(4)])
    prior = fit_prior(cells)
    assert prior is not None and prior.scatter == pytest.approx(3.0, abs=0.4) and prior.freedom < 4


@pytest.mark.parametrize("trials", [3, 6])
def test_an_outlier_does_not_change_the_prior_of_the_others(trials: int) -> None:
    """Reads on btrfs raid1 come from a hard disk in one trial and from an SSD in the next.

    The 24 other cells vary by 3%.
    """
    rng = random.Random(7)
    cells = [
        [rng.gauss(100, 3 * deviation) for _ in range(trials)]
        for deviation in (rng.lognormvariate(0, 0.5) for _ in range(24))
    ]
    outlier = [100.0 if number % 2 else 1000.0 for number in range(trials)]
    alone, together = fit_prior(cells), fit_prior([*cells, outlier])
    assert alone is not None and together is not None
    assert not alone.has_outliers and together.has_outliers
    assert (together.deviation, together.scatter) == (alone.deviation, alone.scatter)
    assert mean_interval([100.0], alone) != Interval(100.0)
    assert mean_interval([100.0], together) == Interval(100.0), "a second trial might be ten times as fast"
    own, with_prior = mean_interval(outlier), mean_interval(outlier, together)
    assert own == with_prior


def test_cells_that_vary_by_different_amounts_are_rarely_outliers() -> None:
    rng, found, runs = random.Random(8), 0, 200
    for _ in range(runs):
        deviations = [rng.lognormvariate(0, 0.5) for _ in range(24)]
        prior = fit_prior([[rng.gauss(100, deviation) for _ in range(3)] for deviation in deviations])
        found += prior is not None and prior.has_outliers
    assert found <= 0.05 * runs


def test_values_that_are_zero_equal_or_not_finite_give_a_prior_or_none() -> None:
    assert fit_prior([(0.0, 0.0)] * 9) is None
    equal = fit_prior([(5.0, 5.0)] * 9)
    assert equal is not None and 0 < equal.deviation < 1e-3
    whole = fit_prior([(1.0, 1.1)] * 8)
    assert fit_prior([*[(1.0, 1.1)] * 8, (math.nan, 2.0), (math.inf, 1.0)]) == whole


def test_fewer_than_eight_groups_give_no_prior() -> None:
    assert fit_prior([(99.0, 101.0)] * 7) is None
    assert fit_prior([(99.0,)] * 20) is None


def test_an_interval_around_a_mean_is_cut_off_at_zero() -> None:
    assert Interval.around(10.0, 4.0) == Interval(10.0, 6.0, 14.0)
    assert Interval.around(10.0, 40.0) == Interval(10.0, 0.0, 50.0)
    assert Interval.around(10.0, None) == Interval(10.0)


def test_the_half_width_of_a_mean_is_t_times_its_standard_error() -> None:
    values = [10.0, 12.0, 14.0]
    interval = mean_interval(values)
    assert interval is not None
    assert t_half_width(standard_error(values), 2, 0.95) == pytest.approx(interval.half_width)


def test_a_variance_of_zero_does_not_coarsen_a_sum() -> None:
    some = tuple((10.0**exponent, 0.04) for exponent in range(-12, 12))
    with_zero = summed(((0.0, 0.04), *some), ((0.0, 0.04), *some))
    assert len(with_zero) > 20
    assert sum(weight for _, weight in with_zero) == pytest.approx(1)
