"""Latency percentiles over time.

Neighbouring intervals are merged until at least ten I/Os are slower than the percentile, which is the minimum that the
few-samples rule requires.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import altair as alt

from poolproof.load.merge import percentiles_of
from poolproof.presentation.charts import theme as look
from poolproof.presentation.charts.metric_scale import latency_axis
from poolproof.presentation.charts.model import Column, Lines, TrialChart
from poolproof.presentation.charts.trial_data import LatencyLine, TrialData, short
from poolproof.results.runs.loading import LoadedRun

SLOWER = 10
_NS = 1e-9
_POINTS_PER_STEP = 5


@dataclass(frozen=True)
class Percentile:
    """A percentile to plot, either of I/O latencies (`bins`) or of fsync and fdatasync latencies (`sync_bins`)."""

    name: str
    per_cent: float
    colour: str
    dash: tuple[int, int]
    bins: Literal["bins", "sync_bins"] = "bins"


_PERCENTILES = (
    Percentile("p50", 50.0, look.SERIES[0], (1, 0)),
    Percentile("p99", 99.0, look.SERIES[2], (6, 3)),
    Percentile("p99.9", 99.9, look.SERIES[3], (2, 2)),
    Percentile("sync p50", 50.0, look.WRITE, (1, 0), "sync_bins"),
    Percentile("sync p99", 99.0, look.SERIES[4], (6, 3), "sync_bins"),
)


def percentile_lines(reported: Sequence[LatencyLine], start_s: float, most_steps: int) -> list[Lines]:
    """Return each percentile over time, or an empty list if there are too few I/Os for any of them.

    `start_s`: the start of the measurement window, in seconds since 1970.
    `most_steps`: the maximum number of intervals.
    """
    if not reported:
        return []
    clock_s = min(each.at_s - each.ran_s for each in reported) - start_s  # a report can be late, but never early
    size = max(1, -(-len(reported) // most_steps))
    groups = [reported[start : start + size] for start in range(0, len(reported), size)]
    bounds = [groups[0][0].from_s, *(group[-1].ran_s for group in groups)]
    values: dict[str, list[float | None]] = {}
    for name, per_cent, field in ((each.name, each.per_cent, each.bins) for each in _PERCENTILES):
        bins = [_sum([getattr(line, field) for line in group]) for group in groups]
        steps = {
            bounds[number]: short(percentiles_of(joined, [per_cent])[per_cent] * _NS)
            for number, joined in joined_bins(bins, per_cent).items()
        }
        if steps:
            values[name] = [*(steps.get(bound) for bound in bounds[:-1]), [*steps.values()][-1]]
    return [Lines([short(bound + clock_s) for bound in bounds], values)] if values else []


def _sum(intervals: Sequence[Mapping[int, int]]) -> Counter[int]:
    total = Counter(intervals[0])
    for bins in intervals[1:]:
        total.update(bins)
    return total


def joined_bins(intervals: Sequence[Mapping[int, int]], per_cent: float) -> dict[int, Counter[int]]:
    """Merge neighbouring intervals into groups that each have at least `SLOWER` I/Os above the percentile.

    Each interval is a histogram that maps latencies in nanoseconds to I/O counts. Return each group's combined
    histogram, keyed by the index of the group's first interval. Intervals left over at the end are added to the last
    group. If all intervals together have too few I/Os, the result is empty.
    """
    needed = round(100 * SLOWER / (100 - per_cent))
    steps: dict[int, Counter[int]] = {}
    last: Counter[int] | None = None
    for number, bins in enumerate(intervals):
        if last is None or last.total() >= needed:
            last = steps[number] = Counter()
        last.update(bins)
    if last is not None and last.total() < needed:
        steps.popitem()
        for before in [*steps.values()][-1:]:
            before.update(last)
    return steps


def _note(trial: TrialData, lines: Sequence[Lines]) -> str:
    if not lines:
        return (
            f"No latencies over time: {trial.generator} reported them only at the end (because the job was limited by "
            "its size or took less than a second), or too few I/Os completed."
        )
    names = lines[0].values
    shown = {each.bins for each in _PERCENTILES if each.name in names} | {"bins"}
    missing = [each.name for each in _PERCENTILES if each.name not in names and each.bins in shown]
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
    description="Each step shows the percentile of the I/Os that completed during the step. A step is long enough for "
    "at least ten of its I/Os to be slower than the percentile.",
    section="time",
    values=1,
    columns=(Column("at_s", "time", "s"), Column("percentile", "percentile"), Column("seconds", "latency", "s")),
    draw=_draw,
    lines=lambda trial: percentile_lines(trial.latencies, trial.start_s, max(1, trial.most_points // _POINTS_PER_STEP)),
    note=_note,
    order=30,
)
