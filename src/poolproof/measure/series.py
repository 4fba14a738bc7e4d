"""Compute a load's rate and latency over time from the reports of its load generator.

A percentile in a live report covers the whole time since the start. Counts and histograms, in contrast, can be
subtracted: the difference between two reports is exactly what completed between them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple

import msgspec

from poolproof.load.generator import LiveReport, Status
from poolproof.load.outcome import Outcome
from poolproof.measure.figures import latency_of, sync_latency_of
from poolproof.stopping.model import RateSeries

MOST_INTERVALS = 40
SHORTEST_S = 0.25
_MOST_MARKS = 1_000_000  # a host can report any time; intervals of 0.25 s cover 69 hours
_ALMOST = 0.05


def after_ramp(statuses: Sequence[Status], ramp_s: float, begun_at_s: float) -> tuple[Status, ...]:
    """Return the statuses after the ramp. When the ramp ends, the load generator restarts its clock.

    `begun_at_s`: the time at which the generator was started, by the clock of the statuses' timestamps.
    """
    counting = [status for status in statuses if status.ran_s > 0 and status.at_s >= begun_at_s + ramp_s]
    start = 0
    for number in range(1, len(counting)):
        if counting[number].ran_s < counting[number - 1].ran_s:
            start = number
    return tuple(counting[start:])


def series_of(statuses: Sequence[Status], interval_s: float, *, by_bytes: bool) -> RateSeries:
    """Return the rate in intervals of equal length since the generator's clock started, in bytes or I/Os per second.

    The totals at the ends of the intervals are interpolated linearly, because reports are a few milliseconds late. The
    series has at most a million intervals.
    """
    times, totals = [0.0], [0.0]
    for status in statuses:
        if status.ran_s > times[-1]:
            times.append(status.ran_s)
            totals.append(float(status.moved_bytes if by_bytes else status.ios))
    count = int(min(times[-1] / interval_s + _ALMOST, _MOST_MARKS))
    marks = _totals_at(times, totals, [number * interval_s for number in range(count + 1)])
    return RateSeries(interval_s, tuple((b - a) / interval_s for a, b in pairwise(marks)), tuple(times[1:]))


def _totals_at(times: Sequence[float], totals: Sequence[float], moments: Sequence[float]) -> list[float]:
    """Return the totals at these points in time, which must be sorted."""
    found, index = [], 1
    for moment in moments:
        while index < len(times) - 1 and times[index] < moment:
            index += 1
        if len(times) < 2 or moment >= times[-1]:
            found.append(totals[-1])
            continue
        share = (moment - times[index - 1]) / (times[index] - times[index - 1])
        found.append(totals[index - 1] + share * (totals[index] - totals[index - 1]))
    return found


def series_text(statuses: Sequence[Status]) -> str:
    """Return the contents of series.jsonl: one line per report, with the totals since the generator's clock started."""
    names = [each.name for each in fields(Status) if each.name not in ("start", "end")]
    rows = [{name: getattr(status, name) for name in names} for status in statuses]
    return "".join(msgspec.json.encode(row).decode() + "\n" for row in rows)


@dataclass(frozen=True)
class LatencyInterval:
    """The I/Os that completed between two reports, from `from_s` to `ran_s` by the generator's clock.

    `at_s`: the end of the interval, in seconds since 1970.
    `bins`: the latency histogram, which maps the middle of each bin, in nanoseconds, to a number of I/Os.
    `sync_bins`: the same for fsync and fdatasync calls.
    `read_bins`, `write_bins`: separate histograms for reads and writes. They are empty unless the load both read and
    wrote, because `bins` is sufficient otherwise.
    """

    at_s: float
    from_s: float
    ran_s: float
    bins: Mapping[int, int]
    sync_bins: Mapping[int, int]
    read_bins: Mapping[int, int] = field(default_factory=dict)
    write_bins: Mapping[int, int] = field(default_factory=dict)


def latencies(report: LiveReport, counting: Sequence[Status]) -> tuple[LatencyInterval, ...]:
    """Return the latency intervals of a finished trial, or an empty tuple if its reports contain no histograms.

    Raises a CommandError if the host does not respond.

    `counting`: the trial's reports after the ramp.
    """
    chosen = chosen_of(counting)
    if not chosen:
        return ()
    results = report.outcomes(chosen)
    return between(chosen, results) if len(results) == len(chosen) else ()


def chosen_of(counting: Sequence[Status]) -> list[Status]:
    """Return the reports at which an interval ends.

    They are spaced as evenly as possible and include the last report.
    """
    if not counting:
        return []
    step_s = max(SHORTEST_S, counting[-1].ran_s / MOST_INTERVALS)
    chosen: list[Status] = []
    for status in counting:
        if status.ran_s >= (chosen[-1].ran_s if chosen else 0.0) + 0.9 * step_s:
            chosen.append(status)
    if chosen and counting[-1].ran_s < chosen[-1].ran_s + 0.5 * step_s:
        chosen.pop()
    return [*chosen, counting[-1]]


def between(statuses: Sequence[Status], results: Sequence[Outcome]) -> tuple[LatencyInterval, ...]:
    """Return the differences between successive reports.

    If a report has samples but no histogram, the result is empty.
    """
    is_mixed = bool(results) and None not in (latency_of(results[-1], "read"), latency_of(results[-1], "write"))
    found = [_histograms(result, apart=is_mixed) for result in results]
    if None in found:
        return ()
    totals = [_Totals(), *(each for each in found if each is not None)]
    bounds = [0.0, *(status.ran_s for status in statuses)]
    return tuple(
        LatencyInterval(status.at_s, from_s, to_s, *map(more_bins, before, after))
        for status, (from_s, to_s), (before, after) in zip(statuses, pairwise(bounds), pairwise(totals), strict=True)
    )


class _Totals(NamedTuple):
    """The histograms of a report, in the order of the fields of `LatencyInterval`."""

    bins: Mapping[int, int] = MappingProxyType({})
    sync_bins: Mapping[int, int] = MappingProxyType({})
    read_bins: Mapping[int, int] = MappingProxyType({})
    write_bins: Mapping[int, int] = MappingProxyType({})


def _histograms(result: Outcome, *, apart: bool) -> _Totals | None:
    """Return the histograms of a report, or None if the report has samples without a histogram.

    `apart`: whether to return separate histograms for reads and writes too.
    """
    found = [latency_of(result), sync_latency_of(result)]
    if apart:
        found += [latency_of(result, "read"), latency_of(result, "write")]
    if any(each is not None and each.samples and not each.bins_ns for each in found):
        return None
    return _Totals(*(each.bins_ns if each else {} for each in found))


def more_bins(before: Mapping[int, int], after: Mapping[int, int]) -> dict[int, int]:
    """Return the number of samples that were added to each bin, omitting unchanged bins."""
    return {value: more for value, count in after.items() if (more := count - before.get(value, 0)) > 0}


def latency_text(intervals: Sequence[LatencyInterval]) -> str:
    """Return the contents of latency.jsonl: one line per interval."""
    return "".join(msgspec.json.encode(interval).decode() + "\n" for interval in intervals)
