"""Find trials that fall into two groups: a mean of both describes neither, and hides the cause."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

FEWEST = 3
_APART = 3.0  # times: trials that spread by 20 % as a normal law does come so far apart once in 1,000 cells of 3
_OVER_WITHIN = 4.0
_OVER_SWING = 3.0


@dataclass(frozen=True)
class Group:
    """Trials that agree: the geometric mean of their values, in the unit of the metric, and their number."""

    mean: float
    trials: int


def groups_of(values: Sequence[float], swing: float = 0.0) -> tuple[Group, ...]:
    """Return the trials of a cell as one group or two, the group with the lower values first.

    Two only if the gap between them is 3 times or more, and on a logarithmic scale 4 times as wide as either group
    and 3 times the `swing` of the rate within a trial (its standard deviation over its mean): the trials then disagree
    far more than the variation within each. Of fewer than 3 trials, none is an outlier. No values: no group.
    """
    ordered = sorted(values)
    if not ordered:
        return ()
    split = _split(ordered, swing)
    parts = [ordered[:split], ordered[split:]] if split else [ordered]
    return tuple(Group(_mean(part), len(part)) for part in parts)


def _split(ordered: Sequence[float], swing: float) -> int:
    """Return how many of the values belong to the lower of two groups; 0 if they are one group."""
    if len(ordered) < FEWEST or ordered[0] <= 0:
        return 0
    logs = [math.log(value) for value in ordered]
    at = max(range(1, len(logs)), key=lambda index: logs[index] - logs[index - 1])
    within = max(logs[at - 1] - logs[0], logs[-1] - logs[at])
    least = max(math.log(_APART), _OVER_WITHIN * within, _OVER_SWING * swing)
    return at if logs[at] - logs[at - 1] >= least else 0


def _mean(values: Sequence[float]) -> float:
    """Return the geometric mean, or the arithmetic mean if a value is 0."""
    if min(values) <= 0:
        return math.fsum(values) / len(values)
    return math.exp(math.fsum(map(math.log, values)) / len(values))
