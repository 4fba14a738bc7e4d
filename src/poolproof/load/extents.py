"""The bytes of files that a load covers: what clones share, and what a run can touch."""

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Extent:
    """Bytes [start, end) of a file; `end` is infinite if the size is not known. `scale` is the unit: "bytes", "percent"
    of the file, or a scale of its own if positions cannot be compared. The files that a clone creates for itself count
    as one.
    """

    file: str
    start: float
    end: float
    scale: str = "bytes"


def most_sharers(extents: Iterable[Extent]) -> int:
    """Return the largest number of extents that contain the same byte."""
    return max((_deepest(group) for group in _by_file(extents).values()), default=0)


def union_bytes(extents: Iterable[Extent]) -> int | None:
    """Return the bytes in at least one extent; None if the size of an extent is not known."""
    groups = _by_file(extents)
    if not groups or any(scale != "bytes" for _, scale in groups):
        return None
    total = sum(_covered(group) for group in groups.values())
    return None if math.isinf(total) else int(total)


def _by_file(extents: Iterable[Extent]) -> dict[tuple[str, str], list[Extent]]:
    groups: dict[tuple[str, str], list[Extent]] = defaultdict(list)
    for extent in extents:
        groups[extent.file, extent.scale].append(extent)
    return groups


def _deepest(extents: list[Extent]) -> int:
    edges = sorted([(extent.start, 1) for extent in extents] + [(extent.end, -1) for extent in extents])
    depth = deepest = 0
    for _, change in edges:
        depth += change
        deepest = max(deepest, depth)
    return deepest


def _covered(extents: list[Extent]) -> float:
    covered = 0.0
    reached = -math.inf
    for extent in sorted(extents, key=lambda item: (item.start, item.end)):
        covered += max(0.0, extent.end - max(extent.start, reached))
        reached = max(reached, extent.end)
    return covered
