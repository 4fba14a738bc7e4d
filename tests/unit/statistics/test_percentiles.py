"""The confidence interval of a percentile, from sections of a trial: its coverage, and the samples it needs."""

import math
import random
from collections import Counter

import pytest

from poolproof.statistics.percentiles import Histogram, estimate, extremes, percentile

_Z99 = 2.3263


def stretch(rng: random.Random, level: float, samples: int, phi: float) -> tuple[Histogram, float]:
    """Return log-normal latencies with the given correlation, in bins as wide as those of fio."""
    bins: Counter[int] = Counter()
    for _ in range(samples):
        level = phi * level + math.sqrt(1 - phi * phi) * rng.gauss(0, 1)
        bins[_bin(round(1e6 * math.exp(0.5 * level)))] += 1
    return bins, level


def _bin(value: int) -> int:
    shift = max(0, value.bit_length() - 7)
    return ((value >> shift) << shift) + (1 << shift) // 2


def trial(rng: random.Random, samples: int, phi: float) -> list[Histogram]:
    found, level = [], rng.gauss(0, 1)
    for _ in range(20):
        bins, level = stretch(rng, level, samples // 20, phi)
        found.append(bins)
    return found


@pytest.mark.parametrize(("samples", "phi"), [(12_000, 0.0), (12_000, 0.9)])
def test_the_interval_covers_the_true_percentile_as_often_as_it_claims(samples: int, phi: float) -> None:
    rng = random.Random(4)
    found = [estimate(trial(rng, samples, phi), 99, 0.95, 1 / 64) for _ in range(40)]
    truth = 1e6 * math.exp(0.5 * _Z99)
    held = [each is not None and each.half is not None and abs(each.value - truth) <= each.half for each in found]
    assert sum(held) >= 0.95 * len(held) - 2.5 * math.sqrt(0.95 * 0.05 * len(held))


def test_more_samples_narrow_the_interval() -> None:
    rng = random.Random(4)
    short, long = (estimate(trial(rng, samples, 0.0), 99, 0.95, 1 / 64) for samples in (12_000, 60_000))
    assert short is not None and long is not None and short.half is not None and long.half is not None
    assert long.half < short.half


def test_too_few_samples_beyond_the_percentile_give_no_interval() -> None:
    found = estimate(trial(random.Random(4), 2_000, 0.0), 99.9, 0.95, 1 / 64)
    assert found is not None and found.value > 0 and found.half is None
    assert estimate([{}, {}], 99, 0.95, 1 / 64) is None


def test_a_percentile_is_no_more_precise_than_its_bin() -> None:
    found = estimate([{1_000_000: 5_000}] * 10, 99, 0.95, 1 / 64)
    assert found is not None and found.half == pytest.approx(1_000_000 / 128)
    exact = estimate([{1_000_000: 5_000}] * 10, 99, 0.95, 0.0)
    assert exact is not None and exact.half == exact.error == 0


@pytest.mark.parametrize(("percent", "value"), [(50, 10), (99, 20), (99.9, 30), (100, 30)])
def test_a_percentile_is_the_bin_that_holds_it(percent: float, value: int) -> None:
    assert percentile({20: 100, 10: 895, 30: 5}, percent) == value


def test_the_extremes_are_those_of_ten_sections() -> None:
    slow = [Counter({1000: 99, 9000 if number in (6, 7) else 2000: 1}) for number in range(20)]
    assert extremes(slow, 99.5) == (2000.0, 9000.0)
    assert extremes(slow, 50) == (1000.0, 1000.0)


def test_too_few_or_empty_sections_have_no_extremes() -> None:
    some = Counter({1000: 5})
    assert extremes([], 99) is None
    assert extremes([some] * 4, 99) is None
    assert extremes([some] * 5, 99) == (1000.0, 1000.0)
    assert extremes([some] * 5 + [Counter()] * 5, 99) is None


@pytest.mark.parametrize("count", [1_000, 41_000, 82_000])
def test_the_rank_of_a_percentile_is_exact(count: int) -> None:
    """In floating point, 41,000 × 99.9 / 100 is slightly more than 40,959."""
    beyond = count // 1_000
    assert percentile({1: count - beyond, 2: beyond}, 99.9) == 1.0
