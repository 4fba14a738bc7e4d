"""The latency percentiles of a cell, each trial a dot."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import altair as alt

from poolproof.metrics import METRICS
from poolproof.presentation.charts import theme as look
from poolproof.presentation.charts.metrics import decade_label_expression
from poolproof.results.runs.summary import Cell

_PERCENTILES = tuple(metric for metric in METRICS if metric.is_comparable and not metric.is_rate)
PERCENTILES = tuple(metric.title for metric in _PERCENTILES)
"""What they are called on the axis, from the least to the most."""


@dataclass(frozen=True)
class LatencyPoint:
    """One percentile of one trial, in seconds."""

    trial: str
    percentile: str
    seconds: float


def latency_points(cells: Iterable[Cell]) -> tuple[LatencyPoint, ...]:
    """All percentiles that fio measured."""
    return tuple(
        LatencyPoint(f"trial {trial.number}", metric.title, value * metric.unit.scale)
        for cell in cells
        for trial in cell.trials
        for metric in _PERCENTILES
        if (value := trial.result(metric.id).value)
    )


def latencies(points: Sequence[LatencyPoint]) -> Any:
    """The chart: a logarithmic axis, because a p99.9 is often a hundred medians."""
    return (
        alt.Chart(alt.InlineData(values=[asdict(point) for point in points]))
        .mark_point(size=80, strokeWidth=2, color=look.READ)
        .encode(
            x=alt.X(
                "seconds:Q",
                title="latency",
                scale=alt.Scale(type="log"),
                axis=alt.Axis(labelExpr=decade_label_expression("p99"), tickCount=5),
            ),
            y=alt.Y("percentile:N", title=None, sort=list(PERCENTILES)),
            shape=alt.Shape("trial:N", title=None, legend=alt.Legend(orient="top")),
            tooltip=[alt.Tooltip("trial:N"), alt.Tooltip("percentile:N"), alt.Tooltip("seconds:Q", format=".3s")],
        )
        .properties(width=560, height=alt.Step(26))
    )
