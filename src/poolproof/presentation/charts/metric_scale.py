"""The axes, values, confidence intervals and labels that charts use for the results of any metric."""

from collections.abc import Iterable
from typing import Any

import altair as alt

from poolproof.campaign.model import Measure
from poolproof.metrics import MetricId, metric_of
from poolproof.presentation.charts.model import Column, Row
from poolproof.presentation.charts.trial_data import short
from poolproof.presentation.terminal.words import confidence_text, value_text
from poolproof.results.runs.few_events import TOO_FEW
from poolproof.results.runs.summary import Cell
from poolproof.statistics.intervals import CONFIDENCE, Interval

RESULT = (
    Column("value"),
    Column("low"),
    Column("high"),
    Column("counts"),
    Column("unsettled"),
    Column("few"),
    Column("text", "result"),
    Column("verdict", "verdict"),
)
"""The columns that describe a result.

`value`, `low` and `high` are in the axis's unit. `low` and `high` are None if the result has no confidence interval
(for example, because there was only one trial), if it did not converge, or if it is a percentile with too few events
(`few`).
"""
IS_RELIABLE = "datum.counts && !datum.unsettled && !datum.few"
"""A Vega expression that is true for results that are valid, have converged and have enough events.

Only these results are drawn as filled points and connected by lines.
"""


def result_row(cell: Cell, metric: MetricId) -> Row | None:
    """Return the cell's values for the columns in `RESULT`, or None if the cell has no result for the metric."""
    result = cell.result(metric)
    if result.interval is None:
        return None
    interval = Interval(result.interval.mean) if cell.did_not_converge else result.interval  # its bounds are not valid
    bounds = (interval.mean, interval.low, interval.high)
    value, low, high = (None if each is None else short(axis_value(each, metric)) for each in bounds)
    found = cell.usability(metric)
    doubts = (found.counts, not found.converged, found.few is not None)
    return value, low, high, *doubts, result_text(cell, metric), result.verdict


def axis_value(value: float, metric: MetricId) -> float:
    """Convert a result to the unit of the chart's axis: I/Os per second, bytes per second, or seconds."""
    return value * metric_of(metric).unit.scale


def result_text(cell: Cell, metric: MetricId) -> str:
    """Format the cell's result for a metric.

    A result that did not converge is shown with the range of its trials: `about 131 IOPS (not converged, trials 120
    IOPS … 142 IOPS)`. The text also says if the disks were emulated or if a percentile has too few events.
    """
    result = cell.result(metric)
    if result.interval is None:
        return "no result"
    emulated = ", emulated" if cell.emulated else ""
    few = cell.few_events(metric) is not None
    if not cell.did_not_converge:
        return interval_text(result.interval, metric, trials=len(result.values), few=few) + emulated
    least, most = (value_text(value, metric) for value in (min(result.values), max(result.values)))
    trials = f"trials {least} … {most}" if len(result.values) > 1 else "one trial"
    return f"about {value_text(result.interval.mean, metric)} (not converged, {trials}{f', {TOO_FEW}' * few}){emulated}"


def interval_text(interval: Interval, metric: MetricId, trials: int, *, few: bool = False) -> str:
    """Format a result with its confidence interval, for example `131 IOPS (120 IOPS … 142 IOPS)`.

    Without an interval, the text gives the reason instead: too few events (`few`), a single trial, or a single build.
    """
    mean = value_text(interval.mean, metric)
    if few or interval.low is None or interval.high is None:
        return f"{mean} ({TOO_FEW if few else 'one trial' if trials == 1 else 'one build'}: no interval)"
    return f"{mean} ({value_text(interval.low, metric)} … {value_text(interval.high, metric)})"


def intervals_text(cells: Iterable[Cell], metric: MetricId, measure: Measure) -> str:
    """Return the confidence level of a metric's intervals as text, for example `95% intervals`.

    If workloads are compared by this metric, their intervals use the requested confidence level. All other intervals
    use 95% (Student's t). If the cells include both kinds of workload, the text names both levels.
    """
    requested, usual = confidence_text(measure), f"{100 * CONFIDENCE:g}%"
    is_own = {cell.metric == metric for cell in cells if cell.values(metric)}
    if requested == usual or True not in is_own:
        return f"{usual} intervals"
    if False not in is_own:
        return f"{requested} intervals"
    return f"{requested} intervals for workloads compared by this metric, {usual} for others"


def title(metric: MetricId) -> str:
    """Return the metric's axis title, which says whether higher or lower is better."""
    return metric_of(metric).axis_title


def label_expression(metric: MetricId) -> str:
    """Return a Vega expression that formats the metric's axis labels, for example as `12k`, `150 MB/s` or `2 ms`."""
    unit = metric_of(metric).unit.symbol
    number = "format(datum.value, '~s')"
    return number if not unit else f"replace({number}, /([0-9])([^0-9.]?)$/, '$1 $2') + '{unit}'"


def latency_axis(channel: type[alt.X] | type[alt.Y], **axis: Any) -> Any:
    """Return a logarithmic axis for the field `seconds`, labelled at 1 and 3 in each decade.

    Vega's own labels are unsuitable: it drops labels that don't fit, and may label a 9 rather than the 10 next to it.
    """
    labels = f"test(/^[13]0*[^0-9.]?$/, format(datum.value, '~s')) ? {label_expression('p99')} : ''"
    scale = alt.Scale(type="log")
    return channel("seconds:Q", title="latency", scale=scale, axis=alt.Axis(labelExpr=labels, tickCount=5, **axis))
