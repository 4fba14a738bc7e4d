"""Detect values that form two distinct groups, so that their mean would describe neither of them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

_LEAST_IN_GROUPS = 3
_APART = 3.0  # with a normal deviation of 20%, 3 values are this far apart in 1 of 1,000 cases
_OVER_WITHIN = 4.0
_OVER_SWING = 3.0


@dataclass(frozen=True)
class ValueGroup:
    """A group of values that agree. `mean`: their geometric mean, in the unit of the values. `count`: their number."""

    mean: float
    count: int


def groups_of(values: Sequence[float], swing: float = 0.0) -> tuple[ValueGroup, ...]:
    """Divide the values into one or two groups, lower values first. The result is empty if there are no values.

    `swing`: the relative standard deviation of the samples behind each value.

    Two groups must be at least a factor of 3 apart. On a logarithmic scale, the gap between them must also be at least
    4 times as wide as either group and at least 3 times `swing`. Fewer than 3 values always form one group.
    """
    ordered = sorted(values)
    split = _split(ordered, swing)
    return tuple(ValueGroup(_group_mean(part), len(part)) for part in (ordered[:split], ordered[split:]) if part)


def _split(ordered: Sequence[float], swing: float) -> int:
    if len(ordered) < _LEAST_IN_GROUPS or ordered[0] <= 0:
        return 0
    logs = [math.log(value) for value in ordered]
    at = max(range(1, len(logs)), key=lambda index: logs[index] - logs[index - 1])
    within = max(logs[at - 1] - logs[0], logs[-1] - logs[at])
    least = max(math.log(_APART), _OVER_WITHIN * within, _OVER_SWING * swing)
    return at if logs[at] - logs[at - 1] >= least else 0


def _group_mean(values: Sequence[float]) -> float:
    """Return the geometric mean of the values, or the arithmetic mean if one of them is 0."""
    if min(values) <= 0:
        return math.fsum(values) / len(values)
    return math.exp(math.fsum(map(math.log, values)) / len(values))
