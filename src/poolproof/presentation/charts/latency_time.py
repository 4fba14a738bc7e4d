"""Over time: latency percentiles, each over intervals with enough I/Os for it.

Neighbouring intervals are joined until ten I/Os are slower than the percentile, as the rule few-samples requires.
"""

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from poolproof.load.merge import percentiles_of
from poolproof.presentation.charts import theme as look
from poolproof.presentation.charts.metrics import decade_label_expression
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
    syncs: bool = False


PERCENTILES = (
    Percentile("p50", 50.0),
    Percentile("p99", 99.0),
    Percentile("p99.9", 99.9),
    Percentile("sync p50", 50.0, syncs=True),
    Percentile("sync p99", 99.0, syncs=True),
)
_COLOURS = (look.SERIES[0], look.SERIES[2], look.SERIES[3], look.WRITE, look.SERIES[4])
_DASHES = ((1, 0), (6, 3), (2, 2), (1, 0), (6, 3))


@dataclass(frozen=True)
class LatencyInterval:
    """An interval, in seconds since fio's clock started, and its latencies: nanoseconds → number."""

    from_s: float
    to_s: float
    bins: Mapping[int, int]

    @functools.cached_property
    def count(self) -> int:
        return sum(self.bins.values())


def _lines(trial: TrialData) -> list[Lines]:
    return percentile_lines(trial.latencies, trial.start_s, max(1, trial.most_points // _POINTS_PER_STEP))


def percentile_lines(reported: Sequence[LatencyLine], start_s: float, most_steps: int) -> list[Lines]:
    """Return the percentiles over at most `most_steps` intervals; nothing if none of them has enough I/Os.

    `start_s`: the start of the window, in seconds since 1970.
    """
    if not reported:
        return []
    clock_s = min(each.at_s - each.ran_s for each in reported) - start_s  # a report may be late, but never early
    groups = list(_groups(reported, most_steps))
    bounds = [groups[0][0].from_s, *(group[-1].ran_s for group in groups)]
    values: dict[str, list[float | None]] = {}
    for percentile in PERCENTILES:
        intervals = [_joined([_interval(each, syncs=percentile.syncs) for each in group]) for group in groups]
        steps = {step.from_s: step.bins for step in joined_intervals(intervals, percentile.per_cent)}
        if steps:
            line = [_latency_s(steps.get(bound), percentile.per_cent) for bound in bounds[:-1]]
            values[percentile.name] = [*line, next(value for value in reversed(line) if value is not None)]
    return [Lines([short(bound + clock_s) for bound in bounds], values)] if values else []


def joined_intervals(intervals: Iterable[LatencyInterval], per_cent: float) -> Iterator[LatencyInterval]:
    """Join neighbours until `SLOWER` I/Os are slower than the percentile; a rest at the end joins the last ones."""
    needed = round(100 * SLOWER / (100 - per_cent))
    complete: list[LatencyInterval] = []
    collected: list[LatencyInterval] = []
    missing = needed
    for interval in intervals:
        collected.append(interval)
        missing -= interval.count
        if missing <= 0:
            if complete:
                yield _joined(complete)
            complete, collected, missing = collected, [], needed
    if complete:
        yield _joined([*complete, *collected])


def _joined(intervals: Sequence[LatencyInterval]) -> LatencyInterval:
    bins = dict(intervals[0].bins)
    for interval in intervals[1:]:
        for value, count in interval.bins.items():
            bins[value] = bins.get(value, 0) + count
    return LatencyInterval(intervals[0].from_s, intervals[-1].to_s, bins)


def _groups(reported: Sequence[LatencyLine], most_steps: int) -> Iterator[Sequence[LatencyLine]]:
    each = max(1, -(-len(reported) // most_steps))
    for start in range(0, len(reported), each):
        yield reported[start : start + each]


def _interval(line: LatencyLine, *, syncs: bool) -> LatencyInterval:
    return LatencyInterval(line.from_s, line.ran_s, line.sync_bins if syncs else line.bins)


def _latency_s(bins: Mapping[int, int] | None, per_cent: float) -> float | None:
    return None if bins is None else short(percentiles_of(bins, [per_cent])[per_cent] * _NS)


def _note(_trial: TrialData, lines: Sequence[Lines]) -> str:
    if not lines:
        return (
            "There are no latencies over time: fio reported them only at the end (a job limited by its size, or "
            "shorter than a second), or too few I/Os completed."
        )
    names = lines[0].values
    has_syncs = any(each.syncs and each.name in names for each in PERCENTILES)
    missing = [each.name for each in PERCENTILES if each.name not in names and (has_syncs or not each.syncs)]
    return f"Too few I/Os for {' and '.join(missing)}." if missing else ""


def _draw(data: alt.InlineData, _run: LoadedRun) -> Any:
    names = [percentile.name for percentile in PERCENTILES]
    colours = alt.Scale(domain=names, range=list(_COLOURS))
    dashes = alt.Scale(domain=names, range=[list(dash) for dash in _DASHES])
    axis = alt.Axis(labelExpr=decade_label_expression("p99"), tickCount=5, minExtent=48)
    return (
        alt.Chart(data)
        .mark_line(interpolate="step-after", strokeWidth=1.8, clip=True)
        .encode(
            x=look.seconds(),
            y=alt.Y("seconds:Q", title="latency", scale=alt.Scale(type="log"), axis=axis),
            color=alt.Color("percentile:N", title=None, scale=colours, legend=alt.Legend(orient="top")),
            strokeDash=alt.StrokeDash("percentile:N", title=None, scale=dashes),
        )
        .properties(width=640, height=150)
    )


CHART = TrialChart(
    name="latency-time",
    title="Latency percentiles over time",
    description="Each step is the percentile of the I/Os that completed in it, and lasts until ten of them are slower "
    "than the percentile.",
    section="time",
    columns=(Column("at_s", "time", "s"), Column("percentile", "percentile"), Column("seconds", "latency", "s")),
    draw=_draw,
    lines=_lines,
    note=_note,
    order=30,
)
