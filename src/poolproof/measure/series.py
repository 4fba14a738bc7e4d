"""The rate of a running load by time, from the statuses of its generator."""

from collections.abc import Sequence
from dataclasses import fields
from itertools import pairwise

import msgspec

from poolproof.load.generator import Status
from poolproof.stopping.model import RateSeries

_ALMOST = 0.05
_PLACES = ("start", "end")


def after_ramp(statuses: Sequence[Status], ramp_s: float, begun_at_s: float) -> tuple[Status, ...]:
    """Return the statuses after the ramp, at whose end fio's clock starts again.

    `begun_at_s` is the latest time, by the host's clock, at which the generator was started.
    """
    counting = [status for status in statuses if status.ran_s > 0 and status.at_s >= begun_at_s + ramp_s]
    start = 0
    for number in range(1, len(counting)):
        if counting[number].ran_s < counting[number - 1].ran_s:
            start = number
    return tuple(counting[start:])


def series_of(statuses: Sequence[Status], interval_s: float, *, by_bytes: bool) -> RateSeries:
    """Return the rate in intervals of equal length since the start of the clock: bytes or I/Os per second.

    Each report is a few milliseconds late. The total at a time between two reports is interpolated linearly.
    """
    times, totals = [0.0], [0.0]
    for status in statuses:
        if status.ran_s > times[-1]:
            times.append(status.ran_s)
            totals.append(float(status.moved_bytes if by_bytes else status.ios))
    count = int(times[-1] / interval_s + _ALMOST)
    marks = _between(times, totals, [number * interval_s for number in range(count + 1)])
    return RateSeries(interval_s, tuple((b - a) / interval_s for a, b in pairwise(marks)), tuple(times[1:]))


def _between(times: Sequence[float], totals: Sequence[float], wanted: Sequence[float]) -> list[float]:
    """Return the totals at the given times, which are in rising order."""
    found, place = [], 1
    for moment in wanted:
        while place < len(times) - 1 and times[place] < moment:
            place += 1
        if len(times) < 2 or moment >= times[-1]:
            found.append(totals[-1])
            continue
        share = (moment - times[place - 1]) / (times[place] - times[place - 1])
        found.append(totals[place - 1] + share * (totals[place] - totals[place - 1]))
    return found


def series_text(statuses: Sequence[Status]) -> str:
    """Return series.jsonl: a line for each report, totals since fio's clock started."""
    names = [field.name for field in fields(Status) if field.name not in _PLACES]
    rows = [{name: getattr(status, name) for name in names} for status in statuses]
    return "".join(msgspec.json.encode(row).decode() + "\n" for row in rows)
