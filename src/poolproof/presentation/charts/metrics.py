"""What a metric is called on an axis, and how its values are written there: always SI units."""

from collections.abc import Iterable

from poolproof.campaign.model import Measure
from poolproof.metrics import MetricId, metric_of
from poolproof.presentation.terminal.words import value_text
from poolproof.results.runs.summary import Cell
from poolproof.statistics.intervals import CONFIDENCE, Interval, mean_interval


def axis_value(value: float, metric: MetricId) -> float:
    """A figure in the unit of its axis: I/Os per second, bytes per second, or seconds (figures have nanoseconds)."""
    return value * metric_of(metric).unit.scale


def figure_of(cell: Cell, metric: MetricId) -> Interval | None:
    """The cell's figure in any metric: its own one as it is printed everywhere; None where it was not measured."""
    return cell.figure if metric == cell.metric else mean_interval(cell.values_of(metric))


def drawn_of(cell: Cell, metric: MetricId) -> Interval | None:
    """The same as a chart draws it: what did not settle is a place without an interval, which would not hold."""
    figure = figure_of(cell, metric)
    return Interval(figure.mean) if figure is not None and cell.is_unsettled else figure


def figure_words(cell: Cell, metric: MetricId) -> str:
    """The cell's figure in any metric. Of one that did not settle, about where it is and between what its trials lie:
    `about 131 IOPS (unsettled, trials 120 IOPS … 142 IOPS)`.
    """
    figure = figure_of(cell, metric)
    if figure is None:
        return "no figure"
    if not cell.is_unsettled:
        return interval_text(figure, metric)
    values = cell.values_of(metric)
    trials = f"trials {value_text(min(values), metric)} … {value_text(max(values), metric)}"
    return f"about {value_text(figure.mean, metric)} (unsettled, {trials if len(values) > 1 else 'one trial'})"


def intervals_text(cells: Iterable[Cell], metric: MetricId, measure: Measure) -> str:
    """Which intervals the figures of a metric have: `95 % intervals`, or with the confidence that was asked for.

    That is the one of a workload's own metric; any other has Student's t for 95 %.
    """
    asked = confidence_text(measure)
    plain = f"{100 * CONFIDENCE:g} %"
    own = {cell.metric == metric for cell in cells if cell.values_of(metric)}
    if asked == plain or True not in own:
        return f"{plain} intervals"
    return f"{asked} intervals" if False not in own else f"{asked} intervals for workloads about it, {plain} for others"


def confidence_text(measure: Measure) -> str:
    """The confidence of the figures of workloads' own metrics: `95 %` where none was asked for."""
    return f"{100 * (measure.until.confidence if measure.until else CONFIDENCE):.6g} %"


def label_expression(metric: MetricId) -> str:
    """A Vega expression that writes a tick of the metric's axis: `12k`, `150 MB/s`, `2 ms`."""
    unit = metric_of(metric).unit.symbol
    number = "format(datum.value, '~s')"
    return number if not unit else f"replace({number}, /([0-9])([^0-9.]?)$/, '$1 $2') + '{unit}'"


def decade_label_expression(metric: MetricId) -> str:
    """The same for a logarithmic axis: 1 and 3 of each decade. Of all ticks Vega keeps the first that has room, and
    drops the 10 for a 9.
    """
    return f"test(/^[13]0*[^0-9.]?$/, format(datum.value, '~s')) ? {label_expression(metric)} : ''"


def title(metric: MetricId) -> str:
    """What the axis is called, and which end of it is good."""
    return metric_of(metric).axis_title


def interval_text(interval: Interval, metric: MetricId) -> str:
    """A figure with its interval: `131 IOPS (120 IOPS … 142 IOPS)`; one trial alone has none, and says so."""
    mean = value_text(interval.mean, metric)
    if interval.low is None or interval.high is None:
        return f"{mean} (one trial: no interval)"
    return f"{mean} ({value_text(interval.low, metric)} … {value_text(interval.high, metric)})"
