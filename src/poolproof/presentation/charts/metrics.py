"""The title and labels of a metric's axis in SI units, and figures as charts draw and describe them."""

from collections.abc import Iterable

from poolproof.campaign.model import Measure
from poolproof.metrics import MetricId, metric_of
from poolproof.presentation.terminal.words import value_text
from poolproof.results.runs.summary import Cell
from poolproof.statistics.intervals import CONFIDENCE, Interval, mean_interval


def axis_value(value: float, metric: MetricId) -> float:
    """Return a figure in the unit of its axis: I/Os per second, bytes per second, or seconds (from nanoseconds)."""
    return value * metric_of(metric).unit.scale


def figure_of(cell: Cell, metric: MetricId) -> Interval | None:
    """Return the cell's figure in any metric; None if it was not measured."""
    return cell.figure if metric == cell.metric else mean_interval(cell.values(metric))


def drawn_of(cell: Cell, metric: MetricId) -> Interval | None:
    """Return the figure as a chart draws it: without an interval if it is unsettled, because it would not be valid."""
    figure = figure_of(cell, metric)
    return Interval(figure.mean) if figure is not None and cell.is_unsettled else figure


def figure_words(cell: Cell, metric: MetricId) -> str:
    """Return the cell's figure in any metric as text.

    An unsettled one has the range of its trials: `about 131 IOPS (unsettled, trials 120 IOPS … 142 IOPS)`.
    """
    figure = figure_of(cell, metric)
    if figure is None:
        return "no figure"
    if not cell.is_unsettled:
        return interval_text(figure, metric)
    values = cell.values(metric)
    trials = f"trials {value_text(min(values), metric)} … {value_text(max(values), metric)}"
    return f"about {value_text(figure.mean, metric)} (unsettled, {trials if len(values) > 1 else 'one trial'})"


def intervals_text(cells: Iterable[Cell], metric: MetricId, measure: Measure) -> str:
    """Return which intervals the figures of a metric have, such as `95 % intervals`.

    A workload's own metric has the requested confidence; any other has 95 %, by Student's t.
    """
    asked = confidence_text(measure)
    plain = f"{100 * CONFIDENCE:g} %"
    own = {cell.metric == metric for cell in cells if cell.values(metric)}
    if asked == plain or True not in own:
        return f"{plain} intervals"
    return f"{asked} intervals" if False not in own else f"{asked} intervals for workloads about it, {plain} for others"


def confidence_text(measure: Measure) -> str:
    """Return the confidence of the workloads' own metrics: `95 %` if none was requested."""
    return f"{100 * (measure.until.confidence if measure.until else CONFIDENCE):.6g} %"


def label_expression(metric: MetricId) -> str:
    """Return a Vega expression for the labels of the metric's axis: `12k`, `150 MB/s`, `2 ms`."""
    unit = metric_of(metric).unit.symbol
    number = "format(datum.value, '~s')"
    return number if not unit else f"replace({number}, /([0-9])([^0-9.]?)$/, '$1 $2') + '{unit}'"


def decade_label_expression(metric: MetricId) -> str:
    """Return the same for a logarithmic axis: 1 and 3 of each decade.

    Without it, Vega keeps the first label that has room, and drops the 10 for a 9.
    """
    return f"test(/^[13]0*[^0-9.]?$/, format(datum.value, '~s')) ? {label_expression(metric)} : ''"


def title(metric: MetricId) -> str:
    """Return the title of the axis, which says which direction is better."""
    return metric_of(metric).axis_title


def interval_text(interval: Interval, metric: MetricId) -> str:
    """Return a figure with its interval: `131 IOPS (120 IOPS … 142 IOPS)`, or a note that a single trial has none."""
    mean = value_text(interval.mean, metric)
    if interval.low is None or interval.high is None:
        return f"{mean} (one trial: no interval)"
    return f"{mean} ({value_text(interval.low, metric)} … {value_text(interval.high, metric)})"
