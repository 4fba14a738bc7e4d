"""Latency by time: a histogram of the completions in each interval of a trial.

A percentile in a live report covers everything since the start. A histogram is a count, so the difference of two
reports is exactly what completed between them.
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
    """What completed between two reports. `from_s` and `ran_s` are its bounds, in seconds of the generator's clock.

    `at_s` is its end, in seconds since 1970. `bins` and `sync_bins` map a latency in nanoseconds, the middle of its
    bin, to the number of I/Os, or of fsync and fdatasync calls, that took that long.
    """

    at_s: float
    from_s: float
    ran_s: float
    bins: Mapping[int, int]
    sync_bins: Mapping[int, int]


def latencies(report: LiveReport, counting: Sequence[Status]) -> tuple[LatencyInterval, ...]:
    """Return the intervals of an ended trial; none without histograms. `counting` are its reports after the ramp.

    Raises:
        CommandError: the host did not answer.
    """
    chosen = chosen_of(counting)
    if not chosen:
        return ()
    results = report.outcomes(chosen)
    return between(chosen, results) if len(results) == len(chosen) else ()


def chosen_of(counting: Sequence[Status]) -> list[Status]:
    """Return the reports at the ends of the intervals, as evenly spaced as possible; the last report is one of them."""
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
    """Return the differences of successive reports; none if a report with samples has no histogram."""
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
    """Return the text of latency.jsonl: one line per interval."""
    return "".join(msgspec.json.encode(stretch).decode() + "\n" for stretch in stretches)
