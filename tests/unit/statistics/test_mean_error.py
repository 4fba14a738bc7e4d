"""The error of a mean as a mixture of normal distributions, compared with a direct computation."""

import math
import random

import pytest

from poolproof.statistics.shared_variance import CERTAIN, MeanError, Points, condensed

CASES = [(decades, count, seed) for decades in (0, 1, 6, 12) for count in (1, 2, 300) for seed in range(3)]


def made(decades: float, count: int, seed: int, *, zeros: float = 0.0) -> Points:
    """Return a distribution whose variances are spread over this number of decades."""
    rng = random.Random(seed)
    variances = [0.0 if rng.random() < zeros else 10 ** rng.uniform(-decades, 0) for _ in range(count)]
    weights = [rng.uniform(0.01, 1) for _ in variances]
    return tuple((variance, weight / sum(weights)) for variance, weight in zip(variances, weights, strict=True))


def tail(points: Points, distance: float) -> float:
    return math.fsum(0.5 * weight * math.erfc(distance / math.sqrt(2 * value)) for value, weight in points if value)


def reach(points: Points, risk: float) -> float:
    """Find the reach by bisection, which takes 200 steps instead of a dozen."""
    low, high = 0.0, 100.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if tail(points, middle) > risk else (low, middle)
    return high


@pytest.mark.parametrize(("decades", "count", "seed"), CASES)
@pytest.mark.parametrize("risk", [0.49, 0.025, 1e-4, 1e-9, 1e-15])
def test_the_reach_is_where_the_tail_has_this_risk(decades: float, count: int, seed: int, risk: float) -> None:
    points = made(decades, count, seed)
    found = MeanError(points).reach(risk)
    assert found == pytest.approx(reach(points, risk), rel=1e-6)
    assert MeanError(points).tail(found) == pytest.approx(risk, rel=1e-5)


@pytest.mark.parametrize("seed", range(5))
def test_an_error_that_may_be_0_is_not_certain(seed: int) -> None:
    """Zeros at the front once made the whole error 0, and zeros at the back a division by zero."""
    points = made(3, 20, seed, zeros=0.5)
    for order in (sorted(points), sorted(points, reverse=True)):
        error = MeanError(tuple(order))
        assert not error.is_zero
        assert error.reach(0.025) == pytest.approx(reach(points, 0.025), rel=1e-6)
        assert error.tail(0.01) == pytest.approx(tail(points, 0.01), rel=1e-9)
    often_zero = MeanError(((0.0, 0.97), (1.0, 0.03)))
    assert often_zero.reach(0.025) == 0.0 and often_zero.reach(0.01) > 0.4
    assert MeanError(CERTAIN).is_zero and MeanError(((0.0, 0.5), (0.0, 0.5))).reach(0.025) == 0.0


@pytest.mark.parametrize("zeros", [0.0, 0.3])
@pytest.mark.parametrize(("decades", "count", "seed"), CASES)
def test_a_condensed_distribution_keeps_the_mean_and_nearly_the_reach(
    decades: float, count: int, seed: int, zeros: float
) -> None:
    points = made(decades, count, seed, zeros=zeros)
    found = condensed(points)
    assert len(found) <= 33
    assert math.fsum(weight for _, weight in found) == pytest.approx(1)
    mean, kept = (math.fsum(value * weight for value, weight in each) for each in (points, found))
    assert kept == pytest.approx(mean, rel=1e-12)
    error = 0.03 if decades <= 6 else 0.1
    for risk in (0.025, 1e-4):
        assert MeanError(found).reach(risk) == pytest.approx(MeanError(points).reach(risk), rel=error, abs=1e-12)


def test_equal_variances_and_zeros_are_condensed_exactly() -> None:
    assert condensed([(0.04, 0.25), (0.04, 0.75)]) == ((0.04, 1.0),)
    assert condensed([(0.04, 0.25), (0.0, 0.5), (0.04, 0.25)]) == ((0.0, 0.5), (0.04, 0.5))
    assert condensed([(0.0, 0.5), (0.0, 0.5)]) == ((0.0, 1.0),)
