"""Latency percentiles over time, each over intervals with enough I/Os for it.

Neighbouring intervals are joined until ten I/Os are slower than the percentile, as the rule few-samples requires.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from poolproof.load.merge import percentiles_of
from poolproof.presentation.charts import theme as look
from poolproof.presentation.charts.metrics import latency_axis
from poolproof.presentation.charts.model import Column, Lines, TrialChart
from poolproof.presentation.charts.trial_data import LatencyLine, TrialData, short
from poolproof.results.runs.loading import LoadedRun

SLOWER = 10
_NS = 1e-9
_POINTS_PER_STEP = 5


@dataclass(frozen=True)
class Percentile:
    """A percentile that is drawn: of I/Os, or of fsync and fdatasync calls (`syncs`)."""

    name: str
    per_cent: float
    colour: str
    dash: tuple[int, int]
    syncs: bool = False


_PERCENTILES = (
    Percentile("p50", 50.0, look.SERIES[0], (1, 0)),
    Percentile("p99", 99.0, look.SERIES[2], (6, 3)),
    Percentile("p99.9", 99.9, look.SERIES[3], (2, 2)),
    Percentile("sync p50", 50.0, look.WRITE, (1, 0), syncs=True),
    Percentile("sync p99", 99.0, look.SERIES[4], (6, 3), syncs=True),
)


@dataclass(frozen=True)
class LatencyInterval:
    """An interval, in seconds since fio's clock started, and its latencies: nanoseconds → number."""

    from_s: float
    to_s: float
    bins: Mapping[int, int]


def percentile_lines(reported: Sequence[LatencyLine], start_s: float, most_steps: int) -> list[Lines]:
    """Return the percentiles over at most `most_steps` intervals; nothing if none of them has enough I/Os.

    `start_s`: the start of the window, in seconds since 1970.
    """
    if not reported:
        return []
    clock_s = min(each.at_s - each.ran_s for each in reported) - start_s  # a report may be late, but never early
    size = max(1, -(-len(reported) // most_steps))
    groups = [reported[start : start + size] for start in range(0, len(reported), size)]
    bounds = [groups[0][0].from_s, *(group[-1].ran_s for group in groups)]
    values: dict[str, list[float | None]] = {}
    for percentile in _PERCENTILES:
        intervals = [_joined([_interval(line, syncs=percentile.syncs) for line in group]) for group in groups]
        steps = {
            step.from_s: short(percentiles_of(step.bins, [percentile.per_cent])[percentile.per_cent] * _NS)
            for step in joined_intervals(intervals, percentile.per_cent)
        }
        if steps:
            last = [*steps.values()][-1]
            values[percentile.name] = [*(steps.get(bound) for bound in bounds[:-1]), last]
    return [Lines([short(bound + clock_s) for bound in bounds], values)] if values else []


def joined_intervals(intervals: Iterable[LatencyInterval], per_cent: float) -> Iterator[LatencyInterval]:
    """Join neighbours until `SLOWER` I/Os are slower than the percentile; a rest at the end joins the last ones."""
    needed = round(100 * SLOWER / (100 - per_cent))
    complete: list[LatencyInterval] = []
    collected: list[LatencyInterval] = []
    missing = needed
    for interval in intervals:
        collected.append(interval)
        missing -= sum(interval.bins.values())
        if missing <= 0:
            if complete:
                yield _joined(complete)
            complete, collected, missing = collected, [], needed
    if complete:
        yield _joined([*complete, *collected])


def _interval(line: LatencyLine, *, syncs: bool) -> LatencyInterval:
    return LatencyInterval(line.from_s, line.ran_s, line.sync_bins if syncs else line.bins)


def _joined(intervals: Sequence[LatencyInterval]) -> LatencyInterval:
    bins: Counter[int] = Counter()
    for interval in intervals:
        bins.update(interval.bins)
    return LatencyInterval(intervals[0].from_s, intervals[-1].to_s, bins)


def _note(_trial: TrialData, lines: Sequence[Lines]) -> str:
    if not lines:
        return (
            "There are no latencies over time: fio reported them only at the end (a job limited by its size, or "
            "shorter than a second), or too few I/Os completed."
        )
    names = lines[0].values
    has_syncs = any(each.syncs and each.name in names for each in _PERCENTILES)
    missing = [each.name for each in _PERCENTILES if each.name not in names and (has_syncs or not each.syncs)]
    return f"Too few I/Os for {' and '.join(missing)}." if missing else ""


def _draw(data: alt.InlineData, _run: LoadedRun) -> Any:
    names = [each.name for each in _PERCENTILES]
    return look.step_lines(
        data,
        latency_axis(alt.Y, minExtent=48),
        "percentile",
        colours=look.series_scale(names, [each.colour for each in _PERCENTILES]),
        dashes=look.series_scale(names, [each.dash for each in _PERCENTILES]),
        height=150,
    )


CHART = TrialChart(
    name="latency-time",
    title="Latency percentiles over time",
    description="Each step is the percentile of the I/Os that completed in it, and lasts until ten of them are slower "
    "than the percentile.",
    section="time",
    columns=(Column("at_s", "time", "s"), Column("percentile", "percentile"), Column("seconds", "latency", "s")),
    draw=_draw,
    lines=lambda trial: percentile_lines(trial.latencies, trial.start_s, max(1, trial.most_points // _POINTS_PER_STEP)),
    note=_note,
    order=30,
)
