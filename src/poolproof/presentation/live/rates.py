"""The rates of a finished trial, second by second, from the samples and fio's own reports in its directory."""

import bisect
from collections.abc import Sequence

from poolproof.measure.events import LiveRates
from poolproof.presentation.charts.trial_data import TrialData

_EVERY_S = 1.0
Totals = tuple[list[float], list[float]]
"""Times, in seconds since 1970, and the bytes moved until then."""


def rates_of(trial: TrialData | None) -> list[LiveRates]:
    """Return the rates that a listener would have been sent; empty without data."""
    if trial is None:
        return []
    disks = (
        [sample.at_s for sample in trial.samples],
        [float(sample.read_bytes + sample.write_bytes) for sample in trial.samples],
    )
    fio = (
        [report.at_s for report in trial.reports],
        [float(report.read_bytes + report.write_bytes) for report in trial.reports],
    )
    begun, end = disks[0][0], disks[0][-1]
    moments = [begun + number * _EVERY_S for number in range(1, int((end - begun) / _EVERY_S) + 1)]
    return [LiveRates(at - begun, _rate(fio, at), _rate(disks, at) or 0.0) for at in moments]


def _rate(totals: Totals, at_s: float) -> float | None:
    """Return bytes per second in the second that ends then; None if it is not covered."""
    times, moved = totals
    first, last = _place(times, at_s - _EVERY_S), _place(times, at_s)
    if first is None or last is None or times[last] <= times[first] or moved[last] < moved[first]:
        return None
    return (moved[last] - moved[first]) / (times[last] - times[first])


def _place(times: Sequence[float], at_s: float) -> int | None:
    """Return the place of the last time that is not later."""
    place = bisect.bisect_right(times, at_s) - 1
    return place if place >= 0 else None
