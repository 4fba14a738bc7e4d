"""What may be said of each of many differences: faster, slower, the same, or nothing yet.

The effect x is what matters: `faster` is more than x faster, `slower` more than x slower, `same` is within x. Each is
a claim about the truth, tested against its contrary: a minimum-effect test (two-sided) for the first two, two one-sided
tests (Schuirmann 1987, J. Pharmacokinetics and Biopharmaceutics 15, 657-680) for the third. At most one of them can
have a p-value below a half, and that is the difference's p-value.

The p-values are corrected by Holm's step-down (1979, Scandinavian Journal of Statistics 6, 65-70), so that with 95 %
confidence not one of all the words is wrong. That directions keep this under step-down tests is shown by Finner (1999,
Annals of Statistics 27, 274-289); tests/unit/results/compare simulates it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from poolproof.results.compare.welch import Difference
from poolproof.results.runs.interval import CONFIDENCE

Word = Literal["faster", "slower", "same", "undecided"]
WORDS: tuple[Word, ...] = ("faster", "slower", "same", "undecided")


@dataclass(frozen=True)
class ComparisonDecision:
    """The word for one difference; `p` of its own, `p_holm` among all. Both None where there is no test."""

    word: Word
    p: float | None = None
    p_holm: float | None = None


def decide(differences: Sequence[Difference], effect: float) -> tuple[ComparisonDecision, ...]:
    """A word for each difference, all together right with 95 % confidence. `effect` is a share: 0.02 for 2 %."""
    claims = [None if each.error is None else _claim(each, effect) for each in differences]
    corrected = iter(holm([claim[1] for claim in claims if claim is not None]))
    return tuple(
        ComparisonDecision("undecided") if claim is None else _decision(*claim, next(corrected)) for claim in claims
    )


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Holm's corrected p-values, in the order given."""
    corrected = [0.0] * len(p_values)
    highest = 0.0
    for rank, at in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[at]))
        corrected[at] = highest
    return tuple(corrected)


def _claim(each: Difference, effect: float) -> tuple[Word, float]:
    """The claim that the difference is nearest to, and its p-value."""
    low, high = math.log1p(-effect), math.log1p(effect)
    claims: tuple[tuple[Word, float], ...] = (
        ("faster", min(1.0, 2 * each.p_above(high))),
        ("slower", min(1.0, 2 * each.p_below(low))),
        ("same", max(each.p_above(low), each.p_below(high))),
    )
    return min(claims, key=lambda claim: claim[1])


def _decision(word: Word, p: float, p_holm: float) -> ComparisonDecision:
    return ComparisonDecision(word if p_holm <= 1 - CONFIDENCE else "undecided", p, p_holm)
