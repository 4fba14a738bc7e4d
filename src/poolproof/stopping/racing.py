"""A race of layouts for a goal: which of them need no further trials, because they are not the best.

Racing (Maron and Moore 1994, "Hoeffding races", NIPS 6; with t-tests in place of Hoeffding's bound, as figures of disks
have no known range: Birattari et al. 2002, GECCO) drops a contender as soon as it is worse than the leader with
confidence. Each test of one pair at one look is made at (1 − confidence) / (pairs × looks), so that by Bonferroni's
inequality all of them together drop the true best with a chance of 1 − confidence at most, however they depend on each
other, as far as each test errs no oftener than it says. With unequal numbers of trials that does not hold of each at
risks so small; that whole races keep the promise all the same is simulated (docs/stopping.md). Figures are compared on
a logarithmic scale: a goal of several workloads is the mean of their logarithms.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from poolproof.statistics.students_t import quantile
from poolproof.stopping.freedom import welch_freedom
from poolproof.stopping.model import VariancePrior
from poolproof.stopping.spread import moderated

_LEAST = 1e-12


@dataclass(frozen=True)
class ContenderSamples:
    """What the trials of one workload on one layout gave: more is better, all above 0.

    `spread` is how much trials differ in the cells of the campaign with figures of this kind. `resolution` is the
    least standard error of their mean, relative, however many they are: that of the bin of a percentile. `below` and
    `above`: how far from their mean logarithm the truth may lie besides, because the rate changes; no trial more
    narrows that.
    """

    trials: tuple[float, ...]
    spread: VariancePrior | None = None
    resolution: float = 0.0
    below: float = 0.0
    above: float = 0.0


@dataclass(frozen=True)
class Contender:
    """A layout by name and its figures for each workload of the goal."""

    name: str
    figures: tuple[ContenderSamples, ...]


@dataclass(frozen=True)
class Behind:
    """Why a contender is not the best: the leader is `times` as fast, and `least` times or more at the race's risk."""

    leader: str
    times: float
    least: float


@dataclass(frozen=True)
class _Score:
    """The mean of the logarithms over the workloads; the parts of its variance, each with its degrees of freedom.

    `below` and `above`: how far from it the truth may lie besides.
    """

    mean: float
    parts: tuple[tuple[float, float], ...]
    below: float
    above: float


def out_of_race(contenders: Sequence[Contender], confidence: float, looks: int) -> Mapping[str, Behind]:
    """The contenders that are not the best, each with how far it is behind the leader.

    `looks` is how often this is asked at most. One without two trials of each workload stays in the race.

    Raises:
        ValueError: no look, or a confidence that is none.
    """
    if looks < 1 or not 0 < confidence < 1:
        raise ValueError(f"{looks} looks with a confidence of {confidence:g}: at least one, and from 0 to 1")
    scores = _scores(contenders)
    if len(scores) < 2:
        return {}
    leader = max(scores, key=lambda name: scores[name].mean)
    risk = risk_of_a_test(confidence, len(contenders), looks)
    found = {}
    for name, score in scores.items():
        least = _least_lead(scores[leader], score, risk)
        if name != leader and least > 0:
            found[name] = Behind(leader, math.exp(scores[leader].mean - score.mean), math.exp(least))
    return found


def leader_of(contenders: Sequence[Contender]) -> str | None:
    """Who has the best mean of those with two trials of each workload; None where nobody has."""
    scores = _scores(contenders)
    return max(scores, key=lambda name: scores[name].mean, default=None)


def risk_of_a_test(confidence: float, contenders: int, looks: int) -> float:
    """How likely the test of one pair at one look may err, so that all together err by 1 - confidence at most."""
    return (1 - confidence) / (max(1, contenders - 1) * looks)


def _least_lead(leader: _Score, score: _Score, risk: float) -> float:
    """How far the leader is ahead at least, on logarithms, at that risk; 0 or less where it may not be ahead at all."""
    parts = (*leader.parts, *score.parts)
    variance, lead = math.fsum(part for part, _ in parts), leader.mean - leader.below - score.mean - score.above
    if variance <= _LEAST:
        return lead - math.sqrt(_LEAST)
    return lead - quantile(1 - risk, welch_freedom(leader.parts, score.parts)) * math.sqrt(variance)


def _scores(contenders: Sequence[Contender]) -> Mapping[str, _Score]:
    return {each.name: score for each in contenders if (score := _score(each)) is not None}


def _score(contender: Contender) -> _Score | None:
    cells, count = contender.figures, len(contender.figures)
    if not cells or any(len(cell.trials) < 2 or min(cell.trials) <= 0 for cell in cells):
        return None
    means = [math.fsum(map(math.log, cell.trials)) / len(cell.trials) for cell in cells]
    parts = [_part(cell, mean) for cell, mean in zip(cells, means, strict=True)]
    shares = tuple((variance / count**2, freedom) for variance, freedom in parts)
    below, above = (math.fsum(side) / count for side in zip(*((each.below, each.above) for each in cells), strict=True))
    return _Score(math.fsum(means) / count, shares, below, above)


def _part(cell: ContenderSamples, mean: float) -> tuple[float, float]:
    """The variance of the mean logarithm of one cell, and its degrees of freedom."""
    count, freedom = len(cell.trials), float(len(cell.trials) - 1)
    variance = math.fsum((math.log(each) - mean) ** 2 for each in cell.trials) / freedom
    variance, freedom = moderated(variance, freedom, cell.spread)
    return max(variance / count, cell.resolution**2), freedom
