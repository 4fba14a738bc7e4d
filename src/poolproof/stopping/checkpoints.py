"""When a running trial is looked at: at times in geometric steps, so that few looks decide and chance has few tries.

Stopping at the first moment at which an interval happens to be narrow makes it hold less often than it says (Law and
Kelton 1982, Management Science 28, 550-562); the cure that all sequential procedures share is few, ever farther looks.
"""

from collections.abc import Iterator

from poolproof.stopping.model import StoppingRule

STEP = 1.25
"""From one look to the next the trial gets longer by this factor."""


def checkpoints(rule: StoppingRule) -> Iterator[float]:
    """Seconds into the trial of every look, from the least to the most."""
    at_s = rule.least_s
    while at_s < rule.most_s:
        yield at_s
        at_s *= STEP
    yield rule.most_s


def checkpoint_before(rule: StoppingRule, elapsed_s: float) -> tuple[float | None, float | None]:
    """The last look at or before this moment, and the next one after it; None where there is none."""
    last = None
    for at_s in checkpoints(rule):
        if at_s > elapsed_s * (1 + 1e-9):
            return last, at_s
        last = at_s
    return last, None
