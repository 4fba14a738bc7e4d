"""The error of a mean of repeated measurements, and the highest precision that a value can have."""

import math

import pytest

from poolproof.statistics.distributions import f_upper_tail, t_half_width
from poolproof.statistics.repeated_means import (
    PooledError,
    least_half_width,
    means_disagree,
    pooled_error,
    repeated_half_width,
)
from poolproof.statistics.resolution import bin_deviation, step_deviation, widest_bin_deviation
from poolproof.statistics.shared_variance import CERTAIN, LEAST_DEVIATION, MeanError


def test_errors_are_pooled_by_their_squares() -> None:
    assert pooled_error([(3.0, 10), (4.0, 20)]) == PooledError(math.sqrt(12.5), 30)
    assert pooled_error([]) is None


@pytest.mark.parametrize("error", [0.5, 1.0, 1.8, 4.0])
def test_means_disagree_if_an_f_test_at_1_percent_says_so(error: float) -> None:
    within = PooledError(error, 30.0)
    assert means_disagree([98.0, 102.0], within, 0.02) == (f_upper_tail(8 / error**2, 1, 30.0) < 0.01)


def test_means_within_the_tolerance_never_disagree() -> None:
    assert not means_disagree([99.0, 101.0], PooledError(0.0, 30.0), 0.02)
    assert means_disagree([99.0, 101.1], PooledError(0.0, 30.0), 0.02)
    assert not means_disagree([1.0, 1000.0], None, 0.02), "their own error is unknown"


def test_an_interval_is_wider_after_the_minimum_number_of_measurements() -> None:
    error = MeanError(CERTAIN, 1e-4, 4)
    plain = t_half_width(0.01, 4, 0.95)
    assert repeated_half_width(error, 5, 5, 0.95, None) == pytest.approx(plain)
    assert repeated_half_width(error, 5, 3, 0.95, None) == pytest.approx(plain * (1 + 1 / math.sqrt(8) / 2))


def test_the_smallest_half_width_follows_from_the_resolution() -> None:
    assert least_half_width(3, 5, 0.95, 0.01) == pytest.approx(1.96 * 0.01, rel=1e-3)
    assert least_half_width(3, 5, 0.95, 0.01) > least_half_width(3, 5, 0.95, 0.001) > 0


def test_a_value_that_is_off_by_a_step_or_within_a_bin_has_a_uniform_distribution() -> None:
    assert step_deviation(1, 100) == pytest.approx(0.01 / math.sqrt(3))
    assert bin_deviation(0.02) == pytest.approx(0.02 / math.sqrt(12))
    assert widest_bin_deviation([0.01, 0.5], 1.0) == bin_deviation(0.5)
    assert widest_bin_deviation([], 0.25) == bin_deviation(0.25)
    assert widest_bin_deviation([1e9], 1.0) == bin_deviation(1.0)
    assert widest_bin_deviation([0.0], 1.0) == LEAST_DEVIATION
