"""A race of layouts for a goal: which of them need no further trials, because they are not the best.

Racing (Maron and Moore 1994, "Hoeffding races", NIPS 6; with t-tests in place of Hoeffding's bound, as figures of disks
have no known range: Birattari et al. 2002, GECCO) drops a contender as soon as it is worse than the leader with
confidence. Each test of one pair at one look is made at (1 − confidence) / (pairs × looks), so that by Bonferroni's
inequality all of them together drop the true best with a chance of 1 − confidence at most, however they depend on each
other. Figures are compared on a logarithmic scale: a goal of several workloads is the mean of their logarithms.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from poolproof.stopping.model import Spread
from poolproof.student import quantile

_LEAST = 1e-12


@dataclass(frozen=True)
class Contender:
    """A layout by name and, for each workload of the goal, the figures of its trials: more is better, all above 0."""

    name: str
    figures: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Behind:
    """Why a contender is not the best: the leader is `times` as fast, and `least` times or more at the race's risk."""

    leader: str
    times: float
    least: float


@dataclass(frozen=True)
class _Score:
    mean: float
    variance: float
    freedom: float


def out_of_race(
    contenders: Sequence[Contender], confidence: float, looks: int, spread: Spread | None = None
) -> Mapping[str, Behind]:
    """The contenders that are not the best, each with how far it is behind the leader.

    `looks` is how often this is asked at most. One without two trials of each workload stays in the race. `spread` is
    how much trials of one cell differ in this campaign.

    Raises:
        ValueError: no look, or a confidence that is none.
    """
    if looks < 1 or not 0 < confidence < 1:
        raise ValueError(f"{looks} looks with a confidence of {confidence:g}: at least one, and from 0 to 1")
    scores = {each.name: score for each in contenders if (score := _score(each, spread)) is not None}
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


def leader_of(contenders: Sequence[Contender], spread: Spread | None = None) -> str | None:
    """Who has the best mean of those with two trials of each workload; None where nobody has."""
    scores = {each.name: score for each in contenders if (score := _score(each, spread)) is not None}
    return max(scores, key=lambda name: scores[name].mean, default=None)


def risk_of_a_test(confidence: float, contenders: int, looks: int) -> float:
    """How likely the test of one pair at one look may err, so that all together err by 1 - confidence at most."""
    return (1 - confidence) / (max(1, contenders - 1) * looks)


def _least_lead(leader: _Score, score: _Score, risk: float) -> float:
    """How far the leader is ahead at least, on logarithms, at that risk; 0 or less where it may not be ahead at all."""
    variance = score.variance + leader.variance
    if variance <= _LEAST:
        return leader.mean - score.mean - math.sqrt(_LEAST)
    # Satterthwaite (1946), rounded down
    freedom = variance**2 / (score.variance**2 / score.freedom + leader.variance**2 / leader.freedom)
    return leader.mean - score.mean - quantile(1 - risk, max(1, math.floor(freedom))) * math.sqrt(variance)


def _score(contender: Contender, spread: Spread | None) -> _Score | None:
    """The mean of the logarithms over the workloads, and the variance of that mean."""
    parts = [_part(figures, spread) for figures in contender.figures]
    known = [part for part in parts if part is not None]
    if not known or len(known) < len(parts):
        return None
    count = len(known)
    variance = math.fsum(part.variance for part in known) / count**2
    squares = math.fsum((part.variance / count**2) ** 2 / part.freedom for part in known)
    freedom = variance**2 / squares if squares else math.fsum(part.freedom for part in known)
    return _Score(math.fsum(part.mean for part in known) / count, variance, freedom)


def _part(figures: Sequence[float], spread: Spread | None) -> _Score | None:
    if len(figures) < 2 or min(figures) <= 0:
        return None
    logs = [math.log(figure) for figure in figures]
    mean = math.fsum(logs) / len(logs)
    freedom = float(len(logs) - 1)
    variance = math.fsum((each - mean) ** 2 for each in logs) / freedom
    if spread is not None:
        variance = (freedom * variance + spread.freedom * spread.deviation**2) / (freedom + spread.freedom)
        freedom += spread.freedom
    return _Score(mean, variance / len(logs), freedom)
