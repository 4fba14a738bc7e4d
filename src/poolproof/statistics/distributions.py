"""Tail probabilities of the t and F distributions, quantiles of the t distribution, and related special functions.

Degrees of freedom may be any positive number. Sources: NIST Digital Library of Mathematical Functions (DLMF), 8.17 for
the incomplete beta function (8.17.22 for its continued fraction) and 5.11.2 for the digamma function; Press et al.,
Numerical Recipes, 3rd edition, 6.4 for the modified Lentz method and 6.14.3 for t from beta.
"""

import math
from functools import lru_cache

_PRECISION = 1e-15
_TINY = 1e-300
_MOST_TERMS = 10_000
_ASYMPTOTIC_FROM = 8
_NORMAL_FROM = 1e8  # beyond this, the incomplete beta function loses more digits than t differs from a normal variable

_cached = lru_cache(maxsize=4096)  # cached, because thousands of cells have the same few degrees of freedom


def upper_tail(t: float, freedom: float) -> float:
    """Return the upper tail probability of Student's t distribution at `t`.

    It is accurate to nine digits, even with thousands of degrees of freedom.
    """
    if math.isinf(t):
        return 0.0 if t > 0 else 1.0
    if freedom > _NORMAL_FROM:
        return 0.5 * math.erfc(t / math.sqrt(2))
    # 0.5 · I(ν / (ν + t²); ν/2, 1/2) stays accurate far out in the tail
    tail = 0.5 * incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t))
    return tail if t >= 0 else 1 - tail


@_cached
def quantile(probability: float, freedom: float) -> float:
    """Return the quantile of Student's t distribution for a probability between 0 and 1.

    For example, it is 4.303 for a probability of 0.975 and 2 degrees of freedom.
    """
    if probability < 0.5:
        return -quantile(1 - probability, freedom)
    tail = 1 - probability
    low, high = 0.0, 1.0
    while upper_tail(high, freedom) > tail:
        low, high = high, high * 2
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if upper_tail(middle, freedom) > tail else (low, middle)
    return (low + high) / 2


def t_half_width(error: float, freedom: float, confidence: float) -> float:
    """Return the half width of a mean's confidence interval, computed from its standard error and Student's t."""
    return quantile((1 + confidence) / 2, freedom) * error


def f_upper_tail(f: float, upper: float, lower: float) -> float:
    """Return the upper tail probability of the F distribution at `f` (DLMF 8.17).

    `upper`, `lower`: the degrees of freedom of the numerator and the denominator.
    """
    return incomplete_beta(lower / 2, upper / 2, lower / (lower + upper * f)) if f > 0 else 1.0


def incomplete_beta(a: float, b: float, x: float) -> float:
    """Return the regularized incomplete beta function I(x; a, b) for 0 ≤ x ≤ 1."""
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):  # the continued fraction converges fast only on the other side
        return 1 - incomplete_beta(b, a, 1 - x)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    return front * _continued_fraction(a, b, x) / a


def _continued_fraction(a: float, b: float, x: float) -> float:
    c, d = 1.0, 1 - (a + b) * x / (a + 1)
    value = d = 1 / (d if abs(d) > _TINY else _TINY)
    for m in range(1, _MOST_TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d, c = 1 + term * d, 1 + term / c
            d = 1 / (d if abs(d) > _TINY else _TINY)
            c = c if abs(c) > _TINY else _TINY
            value *= c * d
        if abs(c * d - 1) < _PRECISION:
            break
    return value


@_cached
def digamma(x: float) -> float:
    """Return ψ(x) for x > 0, from the recurrence below 8 and the asymptotic series above (DLMF 5.11.2)."""
    shift = 0.0
    while x < _ASYMPTOTIC_FROM:
        shift, x = shift - 1 / x, x + 1
    square = 1 / (x * x)
    return shift + math.log(x) - 0.5 / x - square * (1 / 12 - square * (1 / 120 - square / 252))


@_cached
def trigamma(x: float) -> float:
    """Return ψ′(x) for x > 0, computed like `digamma`."""
    shift = 0.0
    while x < _ASYMPTOTIC_FROM:
        shift, x = shift + 1 / (x * x), x + 1
    square = 1 / (x * x)
    return shift + 1 / x + square / 2 + square / x * (1 / 6 - square * (1 / 30 - square / 42))


@_cached
def pentagamma(x: float) -> float:
    """Return ψ‴(x) for x > 0, computed like `digamma`."""
    shift = 0.0
    while x < _ASYMPTOTIC_FROM:
        shift, x = shift + 6 / x**4, x + 1
    square = 1 / (x * x)
    return shift + square / x * (2 + 3 / x + square * (2 - square * (1 - square * 4 / 3)))


@_cached
def trigamma_inverse(value: float) -> float:
    """Return the positive x with ψ′(x) = `value`, found by bisection, which works because ψ′ decreases from ∞ to 0."""
    low, high = 1e-3, 1e6
    while high > low * (1 + 1e-9):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if trigamma(middle) > value else (low, middle)
    return low
