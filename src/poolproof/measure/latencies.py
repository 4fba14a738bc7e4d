"""Latency through time: how many completions each of fio's bins took in, stretch by stretch of a trial.

A percentile that fio prints while it runs is one of everything since its start, and tells nothing of a moment. Its
histogram (json+) is a count, so what a report has more than the one before is exactly what completed between the two.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import msgspec

from poolproof.load.generator import LiveReport, Status
from poolproof.load.outcome import Latency, Outcome
from poolproof.measure.figures import latency_of, sync_latency_of

MOST_STRETCHES = 40
SHORTEST_S = 0.25


@dataclass(frozen=True)
class LatencyInterval:
    """What completed between two reports. `from_s` and `ran_s`: its bounds, seconds since fio's clock started.

    `at_s`: its end, seconds since 1970. `bins` and `sync_bins`: a latency in nanoseconds, the middle of its bin, and
    how many I/Os, or calls of fsync and fdatasync, took that long.
    """

    at_s: float
    from_s: float
    ran_s: float
    bins: Mapping[int, int]
    sync_bins: Mapping[int, int]


def latencies(report: LiveReport, counting: Sequence[Status]) -> tuple[LatencyInterval, ...]:
    """The stretches of a trial that has ended; none where fio gave no histograms. `counting`: its reports, no ramp.

    Raises:
        CommandError: the host could not be asked.
    """
    chosen = chosen_of(counting)
    if not chosen:
        return ()
    results = report.outcomes(chosen)
    return between(chosen, results) if len(results) == len(chosen) else ()


def chosen_of(counting: Sequence[Status]) -> list[Status]:
    """The reports that bound the stretches: as even as they come, the last one among them."""
    if not counting:
        return []
    step_s = max(SHORTEST_S, counting[-1].ran_s / MOST_STRETCHES)
    chosen: list[Status] = []
    for status in counting:
        if status.ran_s >= (chosen[-1].ran_s if chosen else 0.0) + 0.9 * step_s:
            chosen.append(status)
    if chosen and counting[-1].ran_s < chosen[-1].ran_s + 0.5 * step_s:
        chosen.pop()
    return [*chosen, counting[-1]]


def between(statuses: Sequence[Status], results: Sequence[Outcome]) -> tuple[LatencyInterval, ...]:
    """The differences of reports, the first one to nothing; none where a report with samples lacks its histogram."""
    found = [(latency_of(result), sync_latency_of(result)) for result in results]
    if any(each is not None and each.samples and not each.bins_ns for pair in found for each in pair):
        return ()
    bins = [({}, {}), *((_bins(both), _bins(syncs)) for both, syncs in found)]
    bounds = [0.0, *(status.ran_s for status in statuses)]
    return tuple(
        LatencyInterval(status.at_s, from_s, to_s, _more(before[0], after[0]), _more(before[1], after[1]))
        for status, (from_s, to_s), (before, after) in zip(statuses, pairwise(bounds), pairwise(bins), strict=True)
    )


def _bins(latency: Latency | None) -> Mapping[int, int]:
    return {} if latency is None else latency.bins_ns


def _more(before: Mapping[int, int], after: Mapping[int, int]) -> dict[int, int]:
    return {value: more for value, count in after.items() if (more := count - before.get(value, 0)) > 0}


def latency_text(stretches: Sequence[LatencyInterval]) -> str:
    """latency.jsonl: a line for each stretch."""
    return "".join(msgspec.json.encode(stretch).decode() + "\n" for stretch in stretches)
