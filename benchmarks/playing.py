"""Apply the stopping rule to a recorded or generated series, one checkpoint after another, as in a real trial."""

import math
from collections.abc import Sequence

from poolproof.stopping.decide import decide
from poolproof.stopping.model import RateSeries, StoppingDecision, StoppingRule


def play(values: Sequence[float], interval_s: float, rule: StoppingRule) -> StoppingDecision:
    """Return the decision that ends the trial, or the decision at the end of the series if that comes first."""
    known, asked_s = tuple(values), rule.least_s
    while True:
        count = min(len(known), math.ceil(asked_s / interval_s - 1e-9))
        decision = decide(RateSeries(interval_s, known[:count]), rule)
        if decision.done or decision.next_s is None or count == len(known):
            return decision
        asked_s = max(decision.next_s, (count + 1) * interval_s)
