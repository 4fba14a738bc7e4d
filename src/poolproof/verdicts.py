"""The five verdicts, from worst to best, and what a result with each verdict can be used for."""

from collections.abc import Iterable
from typing import Literal, get_args

Verdict = Literal["failed", "refuted", "suspect", "unproven", "sound"]

WORST_FIRST: tuple[Verdict, ...] = get_args(Verdict)

_COUNTING: frozenset[Verdict] = frozenset({"suspect", "unproven", "sound"})


def counts(verdict: Verdict) -> bool:
    """True if a result with this verdict may be compared, ranked and averaged.

    This is false for refuted and failed results.
    """
    return verdict in _COUNTING


def decides(verdict: Verdict) -> bool:
    """True if a leading result with this verdict answers a question. A suspect one is ranked, but decides nothing."""
    return counts(verdict) and verdict != "suspect"


def has_values(verdict: Verdict) -> bool:
    """True if a trial with this verdict has results. A refuted trial has results, but they must not be compared."""
    return verdict != "failed"


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the worst of the verdicts, of which there must be at least one."""
    return min(verdicts, key=WORST_FIRST.index)
