"""The rates of a finished trial, second by second, from the samples and fio's own series in its directory."""

import bisect
from collections.abc import Sequence
from pathlib import Path

import msgspec

from poolproof.evidence.counters import Counters
from poolproof.measure.events import LiveRates
from poolproof.results.runs.files import whole_lines

_EVERY_S = 1.0


class _Sample(msgspec.Struct):
    at_s: float
    leaves: dict[str, Counters]


class _Report(msgspec.Struct):
    at_s: float
    read_bytes: int
    write_bytes: int


Totals = tuple[list[float], list[float]]
"""Moments, seconds since 1970, and the bytes moved until then."""


def rates_of(directory: Path) -> list[LiveRates]:
    """Rates as a listener would have heard them; empty where nothing was kept, or it is damaged."""
    try:
        disks, fio = _disks(directory / "samples.jsonl"), _fio(directory / "series.jsonl")
    except (OSError, msgspec.DecodeError):
        return []
    if len(disks[0]) < 2:
        return []
    begun, end = disks[0][0], disks[0][-1]
    moments = [begun + number * _EVERY_S for number in range(1, int((end - begun) / _EVERY_S) + 1)]
    return [LiveRates(at - begun, _rate(fio, at), _rate(disks, at) or 0.0) for at in moments]


def _disks(path: Path) -> Totals:
    samples = [msgspec.json.decode(line, type=_Sample) for line in whole_lines(path)]
    moved = [float(sum(each.read_bytes + each.write_bytes for each in sample.leaves.values())) for sample in samples]
    return [sample.at_s for sample in samples], moved


def _fio(path: Path) -> Totals:
    reports = [msgspec.json.decode(line, type=_Report) for line in whole_lines(path)]
    return [report.at_s for report in reports], [float(report.read_bytes + report.write_bytes) for report in reports]


def _rate(totals: Totals, at_s: float) -> float | None:
    """Bytes per second in the second that ends at that moment; None where it is not covered."""
    times, moved = totals
    first, last = _until(times, at_s - _EVERY_S), _until(times, at_s)
    if first is None or last is None or times[last] <= times[first] or moved[last] < moved[first]:
        return None
    return (moved[last] - moved[first]) / (times[last] - times[first])


def _until(times: Sequence[float], at_s: float) -> int | None:
    """The place of the last moment that is not later."""
    place = bisect.bisect_right(times, at_s) - 1
    return place if place >= 0 else None
