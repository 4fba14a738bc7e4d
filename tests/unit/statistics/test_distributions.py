"""Student's t compared with published tables, its symmetry, and its limit, the normal distribution."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolproof.statistics.distributions import f_upper_tail, incomplete_beta, quantile, upper_tail

# Two-sided 95% and 99%, one-sided 99.95%: any handbook's table (NIST/SEMATECH e-Handbook, 1.3.6.7.2)
TABLE = [
    (0.975, 1, 12.706), (0.975, 2, 4.303), (0.975, 3, 3.182), (0.975, 10, 2.228), (0.975, 30, 2.042),
    (0.995, 1, 63.657), (0.995, 4, 4.604), (0.995, 20, 2.845), (0.999, 5, 5.893), (0.999, 100, 3.174),
    (0.9995, 2, 31.599), (0.9995, 8, 5.041), (0.90, 6, 1.440), (0.95, 40, 1.684),
]  # fmt: skip


@pytest.mark.parametrize(("probability", "freedom", "t"), TABLE)
def test_quantiles_match_the_tables_of_handbooks(probability: float, freedom: int, t: float) -> None:
    assert quantile(probability, freedom) == pytest.approx(t, abs=0.0006)
    assert upper_tail(t, freedom) == pytest.approx(1 - probability, rel=0.002)


@pytest.mark.parametrize("t", [0.1, 1.0, 7.5, 1e4, 1e9])
def test_one_and_two_degrees_of_freedom_have_closed_forms(t: float) -> None:
    assert upper_tail(t, 1) == pytest.approx(math.atan2(1, t) / math.pi, rel=1e-9)
    root = math.sqrt(2 + t * t)
    assert upper_tail(t, 2) == pytest.approx(1 / (root * (root + t)), rel=1e-9)


@pytest.mark.parametrize("t", [0.5, 1.96, 4.0])
def test_many_degrees_of_freedom_give_the_normal_distribution(t: float) -> None:
    assert upper_tail(t, 1e7) == pytest.approx(math.erfc(t / math.sqrt(2)) / 2, rel=1e-5)


@given(st.floats(0.5, 0.9999), st.floats(0.8, 500))
def test_the_quantile_inverts_the_tail(probability: float, freedom: float) -> None:
    assert upper_tail(quantile(probability, freedom), freedom) == pytest.approx(1 - probability, rel=1e-6)


@given(st.floats(-50, 50), st.floats(0.8, 500))
def test_both_tails_sum_to_one(t: float, freedom: float) -> None:
    assert upper_tail(t, freedom) + upper_tail(-t, freedom) == pytest.approx(1)


def test_infinite_and_zero_arguments() -> None:
    assert (upper_tail(math.inf, 3), upper_tail(-math.inf, 3), upper_tail(0, 3)) == (0.0, 1.0, 0.5)
    assert (incomplete_beta(2, 3, 0), incomplete_beta(2, 3, 1)) == (0.0, 1.0)
    assert incomplete_beta(2, 3, 0.4) == pytest.approx(0.5248)  # a binomial sum: P(at least 2 of 4 at 0.4)


def test_the_tail_of_f_matches_the_tables() -> None:
    assert f_upper_tail(4.17, 1, 30) == pytest.approx(0.05, abs=2e-4)
    assert f_upper_tail(5.39, 2, 30) == pytest.approx(0.01, abs=2e-4)
    assert f_upper_tail(0, 2, 30) == 1


def test_t_with_any_number_of_degrees_of_freedom_becomes_normal() -> None:
    normal = 0.5 * math.erfc(2 / math.sqrt(2))
    for exponent in range(5, 40):
        assert upper_tail(2.0, 10.0**exponent) == pytest.approx(normal, rel=1e-4)
        assert upper_tail(-2.0, 10.0**exponent) == pytest.approx(1 - normal, rel=1e-5)
