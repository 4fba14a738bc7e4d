"""The rate of a running load by time, out of its generator's statuses."""

from collections.abc import Sequence
from dataclasses import fields
from itertools import pairwise

import msgspec

from poolproof.load.generator import Status
from poolproof.stopping.model import RateSeries

_ALMOST = 0.05
_PLACES = ("start", "end")


def after_ramp(statuses: Sequence[Status], ramp_s: float, begun_at_s: float) -> tuple[Status, ...]:
    """Those that count: fio's clock runs, and starts anew when its ramp is over.

    `begun_at_s` is when fio was started, at the latest, by the host's clock.
    """
    counting = [status for status in statuses if status.ran_s > 0 and status.at_s >= begun_at_s + ramp_s]
    start = 0
    for number in range(1, len(counting)):
        if counting[number].ran_s < counting[number - 1].ran_s:
            start = number
    return tuple(counting[start:])


def series_of(statuses: Sequence[Status], interval_s: float, *, by_bytes: bool) -> RateSeries:
    """The rate in each interval of equal length from the start of fio's clock: bytes or I/Os per second.

    fio's reports come a few milliseconds late each; what was done up to a moment between two lies on a straight line.
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
    """The totals at the rising moments wanted."""
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
