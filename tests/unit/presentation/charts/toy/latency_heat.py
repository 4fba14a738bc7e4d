"""A heat map of latencies over time, which shows the number of I/Os for each power of ten of their latency."""

import math
from collections import Counter
from typing import Any

import altair as alt

from poolproof.presentation.charts import theme as look
from poolproof.presentation.charts.model import Column, Lines, TrialChart
from poolproof.presentation.charts.trial_data import TrialData, short
from poolproof.results.runs.loading import LoadedRun

_DECADES = {-9: "ns", -6: "µs", -3: "ms", 0: "s"}


def _lines(trial: TrialData) -> list[Lines]:
    intervals = [_by_decade(each.bins) for each in trial.latencies]
    decades = sorted({decade for each in intervals for decade in each})
    clock_s = min((each.at_s - each.ran_s for each in trial.latencies), default=0.0) - trial.start_s
    at = [short(each.from_s + clock_s) for each in trial.latencies]
    return [Lines(at, {_name(decade): [each.get(decade) for each in intervals] for decade in decades})]


def _by_decade(bins: dict[int, int]) -> Counter[int]:
    counts: Counter[int] = Counter()
    for latency_ns, count in bins.items():
        counts[math.floor(math.log10(latency_ns * 1e-9))] += count
    return counts


def _name(decade: int) -> str:
    unit = max(each for each in _DECADES if each <= decade)
    return f"{10 ** (decade - unit)} {_DECADES[unit]}"


def _draw(data: alt.InlineData, run: LoadedRun) -> Any:
    del run
    return (
        alt.Chart(data)
        .mark_square(size=90)
        .encode(
            x=look.seconds(), y=alt.Y("latency:N", title="latency from"), opacity=alt.Opacity("count:Q", legend=None)
        )
        .properties(width=640, height=alt.Step(18))
    )


CHART = TrialChart(
    name="latency-heat",
    title="Latencies over time",
    section="time",
    columns=(Column("at_s", "time", "s"), Column("latency", "latency from"), Column("count", "I/Os")),
    draw=_draw,
    lines=_lines,
    in_pictures=True,
)
