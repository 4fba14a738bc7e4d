"""Complete the blocks of jobs whose first lines, with the direction and the rate, were cut off, from their totals.

The numbers of issued I/Os below such a block, or the totals of its group, show the direction. If the block is the only
one of its group, the totals are also its own.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from poolproof.load.fio.text_lines import RateLine
from poolproof.load.outcome import Direction, PartOutcome

SAME_SUM = 0.02
"""The part by which totals and the sum of the jobs may differ, because fio rounds both."""

_SUMMED = ("io_bytes", "bandwidth_bytes")
_UNKNOWN = "mixed"


def only_issued(counts: Mapping[str, int]) -> str:
    """Return the only direction with I/Os, or an empty string if there are several or none."""
    issued = [name for name, count in counts.items() if count]
    return issued[0] if len(issued) == 1 else ""


def with_totals(part: PartOutcome, totals: Mapping[str, Direction], *, is_alone: bool) -> PartOutcome:
    """Return the part, with a direction and totals that were cut off taken from its group's totals.

    `is_alone`: True if no other part belongs to the group, so that its totals are those of the part.
    """
    part = _with_direction(part, totals)
    if len(part.directions) != 1 or not is_alone:
        return part
    ((name, values),) = part.directions.items()
    own = totals.get(name)
    if own is None or _has_rate(values):
        return part
    iops = 1000 * values.ios / own.runtime_ms if values.ios and own.runtime_ms else None
    whole = replace(
        values, io_bytes=own.io_bytes, runtime_ms=own.runtime_ms, bandwidth_bytes=own.bandwidth_bytes, iops=iops
    )
    completed: dict[str, Any] = {name: whole}
    return replace(part, **completed)


def _with_direction(part: PartOutcome, totals: Mapping[str, Direction]) -> PartOutcome:
    """Return the part, with latencies of an unknown direction assigned to the only direction of its group's totals."""
    only = next(iter(totals)) if len(totals) == 1 else _UNKNOWN
    values = part.mixed if list(part.directions) == [_UNKNOWN] else None
    if values is None or only == _UNKNOWN or values.iops or values.bandwidth_bytes:
        return part
    moved: dict[str, Any] = {_UNKNOWN: None, only: values}
    return replace(part, **moved)


def _has_rate(values: Direction) -> bool:
    return any(value is not None for value in (values.io_bytes, values.bandwidth_bytes, values.iops))


def is_sum(group: RateLine, jobs: Iterable[Mapping[str, Direction]]) -> bool:
    """True if the totals are the sum over the jobs, in bytes or, if these are unknown, in bytes per second."""
    own = [directions[group.direction] for directions in jobs if group.direction in directions]
    pairs = ((getattr(group.values, name), [getattr(each, name) for each in own]) for name in _SUMMED)
    known = ((total, values) for total, values in pairs if total and values and None not in values)
    return next((abs(sum(values) - total) <= SAME_SUM * total for total, values in known), False)
