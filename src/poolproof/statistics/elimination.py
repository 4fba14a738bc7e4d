"""Successive elimination: which of several contenders need no further samples because they are not the best.

As in racing algorithms (Maron and Moore 1994, "Hoeffding races", NIPS 6; Birattari et al. 2002, GECCO, use t-tests, as
values without a known range need), a contender is eliminated as soon as it is worse than the leader with confidence.
Each test of one pair at one checkpoint is made at (1 - confidence) / (pairs × checkpoints). By Bonferroni's inequality
all of them together eliminate the true best with a probability of at most 1 - confidence, however they depend on each
other, provided that each test errs no more often than it claims. With unequal numbers of samples, a single test at such
a small risk does err more often; that the whole procedure still keeps the promise is simulated (docs/stopping.md).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from poolproof.statistics.comparison import LogMean, difference

_LEAST_ERROR = 1e-6

Scores = Mapping[str, LogMean | None]
"""Contenders by name, with their mean logarithms; None for one that was not sampled enough to be tested."""


@dataclass(frozen=True)
class Behind:
    """Why a contender is not the best: the leader is `times` as fast, and at least `least` times at the test's risk."""

    leader: str
    times: float
    least: float


def eliminated(contenders: Scores, confidence: float, checkpoints: int) -> Mapping[str, Behind]:
    """Return the contenders that are not the best, and how far each is behind the leader.

    `checkpoints` is how often this is called at most.

    Raises:
        ValueError: no checkpoint, or a confidence outside 0 to 1.
    """
    if checkpoints < 1 or not 0 < confidence < 1:
        raise ValueError(
            f"{checkpoints} checkpoints at a confidence of {confidence:g}: at least 1, and between 0 and 1"
        )
    leader = leader_of(contenders)
    if leader is None:
        return {}
    best = contenders[leader]
    risk = risk_of_a_test(confidence, len(contenders), checkpoints)
    found = {}
    for name, score in contenders.items():
        if name == leader or score is None or best is None:
            continue
        lead = difference(best, score)
        least = lead.lower_bound(risk, _LEAST_ERROR)
        if least > 0:
            found[name] = Behind(leader, math.exp(lead.log), math.exp(least))
    return found


def leader_of(contenders: Scores) -> str | None:
    """Return the contender with the best mean; None if none was sampled enough."""
    means = {name: score.mean for name, score in contenders.items() if score is not None}
    return max(means, key=means.__getitem__, default=None)


def risk_of_a_test(confidence: float, contenders: int, checkpoints: int) -> float:
    """Return the risk at which one pair is tested at one checkpoint."""
    return (1 - confidence) / (max(1, contenders - 1) * checkpoints)
