"""What the disks did through each trial: the counters' samples as rates, as many as a page has room for."""

import bisect
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from poolproof.evidence.counters import Counters
from poolproof.presentation.html_report.latency_time import LatencyLine, latency_lines
from poolproof.presentation.html_report.numbers import short
from poolproof.presentation.html_report.reading import LoadedRun
from poolproof.results.runs.files import whole_lines
from poolproof.results.runs.model import Trial
from poolproof.results.runs.summary import Cell
from poolproof.verdicts import WORST_FIRST

MOST_POINTS, FEWEST_POINTS = 200, 40
ROOM_NUMBERS = 150_000
"""Numbers of all series together: about 0.8 MB of a page."""
MOST_STEPS, FEWEST_STEPS = 40, 8
ROOM_LATENCIES = 52_000
"""The same for latencies through time."""
_LATENCY_COLUMNS = 4
_ALL_TRIALS_UP_TO = 150
_MEGA = 1e6
Line = TypeVar("Line")


class Sample(msgspec.Struct):
    """A line of samples.jsonl."""

    at_s: float
    leaves: dict[str, Counters]


class Report(msgspec.Struct):
    """A line of series.jsonl: fio's own totals, after `ran_s` of its clock."""

    at_s: float
    ran_s: float
    read_bytes: int
    write_bytes: int


@dataclass(frozen=True)
class ChosenTrials:
    """The series of a page by cell and trial, and what is missing: files that are not there, cells without room."""

    series: Mapping[tuple[str, str], tuple[Mapping[str, Any], ...]]
    missing: int
    left_out: int
    points: int
    one_trial_each: bool


def through_time(seen: LoadedRun, cells: Sequence[Cell]) -> ChosenTrials:
    """Series of the cells that matter most first: those that are not sound before those that are."""
    ordered = sorted(cells, key=lambda cell: WORST_FIRST.index(cell.verdict))
    all_trials = sum(len(cell.trials) for cell in cells) <= _ALL_TRIALS_UP_TO
    chosen = [(cell, trial) for cell in ordered for trial in (cell.trials if all_trials else _first(cell))]
    columns = 2 + max((len(trial.leaves) for _, trial in chosen), default=0)
    most = ROOM_NUMBERS // (FEWEST_POINTS * columns)
    series_count = max(1, min(most, len(chosen)))
    points = max(FEWEST_POINTS, min(MOST_POINTS, ROOM_NUMBERS // (columns * series_count)))
    steps = max(FEWEST_STEPS, min(MOST_STEPS, ROOM_LATENCIES // (_LATENCY_COLUMNS * series_count)))
    found: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    missing = 0
    for cell, trial in chosen[:most]:
        series = _series(seen, trial, points, steps)
        if series is not None:
            found.setdefault((cell.layout, cell.workload), []).append(series)
        elif trial.leaves:
            missing += 1
    by_cell = {key: tuple(each) for key, each in found.items()}
    return ChosenTrials(by_cell, missing, max(0, len(chosen) - most), points, not all_trials)


def _first(cell: Cell) -> tuple[Trial, ...]:
    """The first trial that was measured."""
    return next(((trial,) for trial in cell.trials if trial.leaves), ())


def _series(seen: LoadedRun, trial: Trial, points: int, steps: int) -> Mapping[str, Any] | None:
    samples = _whole(whole_lines(seen.trial_file(trial, "samples.jsonl")), Sample)
    if len(samples) < 2 or trial.account is None:
        return None
    reports = _whole(whole_lines(seen.trial_file(trial, "series.jsonl")), Report)
    stretches = _whole(whole_lines(seen.trial_file(trial, "latency.jsonl")), LatencyLine)
    window_s = samples[-1].at_s - trial.account.window_s
    rates = series_of(samples, trial, points) | fio_rates(reports, window_s, points)
    return rates | latency_lines(stretches, window_s, steps)


def fio_rates(reports: Sequence[Report], start_s: float, points: int) -> dict[str, Any]:
    """fio's own rate in MB/s, as (seconds from the window, rate), the last one once more at its end.

    Nothing where fio did not report on its way. By fio's own clock, for its last report comes late.
    """
    if not reports:
        return {}
    clock_s = min(report.at_s - report.ran_s for report in reports) - start_s
    moved = [(0.0, 0), *((report.ran_s, report.read_bytes + report.write_bytes) for report in reports)]
    step = max(1, -(-len(moved) // points))
    picked = [*moved[:-1:step], moved[-1]]
    rates = [
        [short(clock_s + from_s), _rate(after - before, to_s - from_s)]
        for (from_s, before), (to_s, after) in itertools.pairwise(picked)
    ]
    return {"fioRate": [*rates, [short(clock_s + picked[-1][0]), rates[-1][1]]]}


def _whole(lines: Iterable[bytes], kind: type[Line]) -> list[Line]:
    """The lines in the order of time; a damaged one ends them."""
    decoder = msgspec.json.Decoder(kind)
    found: list[Line] = []
    for line in lines:
        try:
            found.append(decoder.decode(line))
        except msgspec.DecodeError:
            break
    return found


def series_of(samples: Sequence[Sample], trial: Trial, points: int) -> dict[str, Any]:
    """Rates in MB/s and busy shares in per cent, over stretches that begin `dt` apart from `t0` on.

    Seconds count from the start of the window: the samples end where it does, and the account knows its length.
    """
    account = trial.account
    assert account is not None, "a trial without an account has no samples"
    start_s = samples[-1].at_s - account.window_s
    picked = _picked(samples, points)
    names = list(samples[0].leaves)
    pairs = list(itertools.pairwise(picked))
    spans = [later.at_s - earlier.at_s for earlier, later in pairs]
    return {
        "n": trial.number,
        "t": [short(sample.at_s - start_s) for sample in picked],
        "r": [_rate(_read(b) - _read(a), span) for (a, b), span in zip(pairs, spans, strict=True)],
        "w": [_rate(_written(b) - _written(a), span) for (a, b), span in zip(pairs, spans, strict=True)],
        "u": {name: [_busy(a, b, name, span) for (a, b), span in zip(pairs, spans, strict=True)] for name in names},
        "fio": short((account.fio_read_bytes + account.fio_write_bytes) / account.window_s / _MEGA)
        if account.window_s
        else None,
        "warm": short(trial.settling.warmup_s) if trial.settling else 0,
        "window": short(account.window_s),
        "drain": short(account.drain_s),
        "late": _rate(account.leaf_drained_write_bytes - account.leaf_write_bytes, account.drain_s),
    }


def _picked(samples: Sequence[Sample], points: int) -> list[Sample]:
    """At most `points` + 1 of them, evenly in time; counters are totals, so nothing between them is lost."""
    if len(samples) <= points + 1:
        return list(samples)
    first, last = samples[0].at_s, samples[-1].at_s
    times = [sample.at_s for sample in samples]
    wanted = (first + (last - first) * number / points for number in range(points + 1))
    places = sorted({min(bisect.bisect_left(times, at), len(samples) - 1) for at in wanted})
    return [samples[place] for place in places]


def _read(sample: Sample) -> int:
    return sum(counters.read_bytes for counters in sample.leaves.values())


def _written(sample: Sample) -> int:
    return sum(counters.write_bytes for counters in sample.leaves.values())


def _rate(moved: float, seconds: float) -> float | None:
    return short(max(0.0, moved) / seconds / _MEGA) if seconds > 0 else None


def _busy(earlier: Sample, later: Sample, name: str, seconds: float) -> int | None:
    if seconds <= 0 or name not in later.leaves or name not in earlier.leaves:
        return None
    return round(100 * min(1.0, max(0, later.leaves[name].busy_ms - earlier.leaves[name].busy_ms) / 1000 / seconds))
