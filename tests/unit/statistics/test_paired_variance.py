"""Errors of pairs of cells that are estimated together."""

import math
import random

from poolproof.statistics.comparison import LogMean, difference, log_mean
from poolproof.statistics.paired_variance import estimated_together
from poolproof.statistics.shared_variance import CERTAIN, fit_prior

_SIGMA = 1.3


def pairs(chance: random.Random, count: int, *, alike: bool) -> list[tuple[LogMean, LogMean]]:
    deviations = [0.03 * math.exp(chance.gauss(0, _SIGMA)) for _ in range(2 * count)]
    if alike:
        deviations[count:] = deviations[:count]
    cells = [[math.exp(chance.gauss(0, each)) for _ in range(3)] for each in deviations]
    prior = fit_prior(cells)
    means = [mean for cell in cells if (mean := log_mean(cell, prior)) is not None]
    return list(zip(means[:count], means[count:], strict=True))


def width(pair: tuple[LogMean, LogMean], risk: float = 0.002) -> float:
    interval = difference(*pair).interval_at(risk)
    assert interval.low is not None and interval.high is not None
    return math.log(interval.high / interval.low)


def test_alike_cells_have_shorter_intervals_that_still_cover() -> None:
    chance, narrower, covered, count = random.Random(5), 0, 0, 0
    for _ in range(40):
        alone = pairs(chance, 24, alike=True)
        together = estimated_together(alone)
        narrower += sum(width(new) < width(old) for new, old in zip(together, alone, strict=True))
        for pair in together:
            interval = difference(*pair).interval
            assert interval.low is not None and interval.high is not None
            covered += interval.low <= 1 <= interval.high
            count += 1
    assert narrower > 0.7 * count
    assert 0.94 <= covered / count <= 0.97


def test_cells_that_are_not_alike_keep_their_intervals() -> None:
    chance = random.Random(6)
    for _ in range(10):
        alone = pairs(chance, 100, alike=False)
        together = estimated_together(alone)
        changes = [width(new) / width(old) for new, old in zip(together, alone, strict=True)]
        assert 0.8 < sorted(changes)[50] < 1.1


def test_only_pairs_with_a_prior_are_estimated_together() -> None:
    chance = random.Random(7)
    few = pairs(chance, 7, alike=True)
    assert estimated_together(few) == few
    lone = log_mean([1.0, 1.1])
    assert lone is not None
    one, other, *rest = estimated_together([(lone, lone), *pairs(chance, 24, alike=True)])
    assert one == (lone, lone)
    assert all(each[1].known == CERTAIN for each in (other, *rest) if each[1].sampled is not None)
