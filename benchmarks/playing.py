"""Apply the stopping rule to a recorded or generated series, one checkpoint after another, as in a real trial."""

import math
from collections.abc import Sequence

from poolproof.stopping.decide import decide
from poolproof.stopping.model import RateSeries, StoppingDecision, StoppingRule


def play(
    values: Sequence[float], interval_s: float, rule: StoppingRule, reports_s: Sequence[float] = ()
) -> StoppingDecision:
    """Return the decision that ends the trial, or the decision at the end of the series if that comes first.

    `reports_s`: the times of the reports from which the values were computed. Empty if each report gave one value.
    """
    known, asked_s = tuple(values), rule.least_s
    while True:
        count = min(len(known), math.ceil(asked_s / interval_s - 1e-9))
        so_far = tuple(at_s for at_s in reports_s if at_s <= (count + 0.5) * interval_s)
        decision = decide(RateSeries(interval_s, known[:count], so_far), rule)
        if decision.done or decision.next_s is None or count == len(known):
            return decision
        asked_s = max(decision.next_s, (count + 1) * interval_s)
