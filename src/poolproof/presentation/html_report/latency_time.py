"""Latency percentiles through a trial: stretches put together until each percentile has enough I/Os to stand on."""

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from poolproof.load.histogram import percentiles_of
from poolproof.presentation.charts.latency_time import LINES
from poolproof.presentation.html_report.numbers import short

SLOWER = 10
"""So many I/Os of a stretch have to be slower than a percentile for it to be drawn, as the rule few-samples wants."""
_NS = 1e-9


class LatencyLine(msgspec.Struct):
    """A line of latency.jsonl. Times in seconds; bins: nanoseconds → how many took that long."""

    at_s: float
    from_s: float
    ran_s: float
    bins: dict[int, int]
    sync_bins: dict[int, int]


@dataclass(frozen=True)
class LatencyPart:
    """A stretch of time, seconds since fio's clock started, and the latencies in it."""

    from_s: float
    to_s: float
    bins: Mapping[int, int]

    @functools.cached_property
    def count(self) -> int:
        """I/Os, or calls."""
        return sum(self.bins.values())


def latency_lines(stretches: Sequence[LatencyLine], window_s: float, points: int) -> dict[str, Any]:
    """`ends`: bounds of at most `points` stretches, the first begin before them, in seconds from the window's start.

    `lines`: by the percentile's place in `LINES` seconds of latency for each stretch, 0 where the step before goes on.
    Nothing where no percentile has enough I/Os. `window_s`: when the window began, seconds since 1970.
    """
    if not stretches:
        return {}
    clock_s = min(each.at_s - each.ran_s for each in stretches) - window_s  # a report may come late, never early
    groups = list(_groups(stretches, points))
    bounds = [groups[0][0].from_s, *(group[-1].ran_s for group in groups)]
    parts = {syncs: list(_parts(groups, syncs=syncs)) for syncs in (False, True)}
    lines: dict[str, list[float | None]] = {}
    for number, line in enumerate(LINES):
        steps = {step.from_s: step.bins for step in enough(parts[line.syncs], line.per_cent)}
        if steps:
            lines[str(number)] = [short(_latency_s(steps.get(begin), line.per_cent)) for begin in bounds[:-1]]
    return {"lat": {"ends": [short(bound + clock_s) for bound in bounds], "lines": lines}} if lines else {}


def _latency_s(bins: Mapping[int, int] | None, per_cent: float) -> float:
    return 0.0 if bins is None else percentiles_of(bins, [per_cent])[per_cent] * _NS


def enough(parts: Iterable[LatencyPart], per_cent: float) -> Iterator[LatencyPart]:
    """Neighbours put together until `SLOWER` are above the percentile; what is left at the end joins the last ones."""
    needed = round(100 * SLOWER / (100 - per_cent))
    ready: list[LatencyPart] = []
    held: list[LatencyPart] = []
    lacking = needed
    for part in parts:
        held.append(part)
        lacking -= part.count
        if lacking <= 0:
            if ready:
                yield _joined(ready)
            ready, held, lacking = held, [], needed
    if ready:
        yield _joined([*ready, *held])


def _joined(parts: Sequence[LatencyPart]) -> LatencyPart:
    if len(parts) == 1:
        return parts[0]
    bins = dict(parts[0].bins)
    for part in parts[1:]:
        for value, count in part.bins.items():
            bins[value] = bins.get(value, 0) + count
    return LatencyPart(parts[0].from_s, parts[-1].to_s, bins)


def _groups(stretches: Sequence[LatencyLine], points: int) -> Iterator[Sequence[LatencyLine]]:
    each = max(1, -(-len(stretches) // points))
    for start in range(0, len(stretches), each):
        yield stretches[start : start + each]


def _parts(groups: Sequence[Sequence[LatencyLine]], *, syncs: bool) -> Iterator[LatencyPart]:
    for group in groups:
        yield _joined([LatencyPart(each.from_s, each.ran_s, each.sync_bins if syncs else each.bins) for each in group])
