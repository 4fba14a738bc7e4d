"""Test the stopping rule on series with a known true mean: `python -m benchmarks.synthetic [SERIES OF EACH KIND]`.

For each kind of series, the table shows how often a series converged, how often its confidence interval contained the
true value, how often it converged but was off by more than the tolerance (wrong), and how long this took. `least` is
the length of the shortest trial that the rule allows. The rule can't see what happens after a trial has ended.
"""

import random
import statistics
from collections.abc import Sequence

from benchmarks.arguments import arguments
from benchmarks.made_series import INTERVAL_S, SHAPED, STATIONARY, Kind
from benchmarks.playing import play
from poolproof.stopping.model import StoppingDecision, StoppingRule

SEED = 5
_USUAL = 200
_TURNOVER_S = 10.0


def decisions(kind: Kind, rule: StoppingRule, count: int, seed: int = SEED) -> list[StoppingDecision]:
    """Return the final decision on each of `count` generated series of one kind."""
    rng = random.Random(seed)
    return [play(kind.make(rng), INTERVAL_S, rule) for _ in range(count)]


def coverage(kind: Kind, ended: Sequence[StoppingDecision]) -> float | None:
    """Return the share of converged trials whose confidence interval contains the true value.

    None if none converged.
    """
    held = [
        decision.low <= kind.truth <= decision.high
        for decision in ended
        if kind.truth is not None and decision.converged and decision.low is not None and decision.high is not None
    ]
    return sum(held) / len(held) if held else None


def false_settled(kind: Kind, ended: Sequence[StoppingDecision], rule: StoppingRule) -> float:
    """Return the share of series that converged but are off by more than the tolerance, or that have no true mean."""
    return sum(_is_false(kind, decision, rule) for decision in ended) / len(ended)


def _is_false(kind: Kind, decision: StoppingDecision, rule: StoppingRule) -> bool:
    if not decision.converged or decision.mean is None:
        return False
    return kind.truth is None or abs(decision.mean / kind.truth - 1) > rule.until


def _line(kind: Kind, rule: StoppingRule, ended: Sequence[StoppingDecision]) -> str:
    settled = sum(decision.converged for decision in ended) / len(ended)
    held = coverage(kind, ended)
    held_text = "" if held is None else f"{held:.1%}"
    seconds = statistics.median(decision.used_s for decision in ended)
    return (
        f"| {kind.name} | {rule.least_s:g} s | {settled:.0%} | {held_text} | {false_settled(kind, ended, rule):.1%} "
        f"| {seconds:.1f} s |"
    )


def main() -> int:
    """Print the table, and return the exit code."""
    words = arguments(__doc__)
    count = int(words[0]) if words else _USUAL
    print("| series | least | converged | coverage | wrong | median time |\n|---|---|---|---|---|---|")
    short, long = StoppingRule(), StoppingRule(turnover_s=_TURNOVER_S)
    for kind in (*STATIONARY, *SHAPED):
        for rule in (short, long) if kind in SHAPED else (short,):
            print(_line(kind, rule, decisions(kind, rule, count)), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
