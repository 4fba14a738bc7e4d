"""What a metric is called on an axis, and how its values are written there: always SI units."""

from collections.abc import Mapping

from poolproof.campaign.model import LOWER_IS_BETTER, Metric
from poolproof.report.words import METRICS, value_text
from poolproof.runs.interval import Interval, mean_interval
from poolproof.runs.summary import Cell

_UNITS: Mapping[Metric, str] = {"iops": "", "bandwidth": "B/s"}


def axis_value(value: float, metric: Metric) -> float:
    """A figure in the unit of its axis: I/Os per second, bytes per second, or seconds (figures have nanoseconds)."""
    return value / 1e9 if metric in LOWER_IS_BETTER else value


def figure_of(cell: Cell, metric: Metric) -> Interval | None:
    """The cell's figure in any metric: its own one as it is printed everywhere; None where it was not measured."""
    return cell.figure if metric == cell.metric else mean_interval(cell.values_of(metric))


def label_expression(metric: Metric) -> str:
    """A Vega expression that writes a tick of the metric's axis: `12k`, `150 MB/s`, `2 ms`."""
    unit = _UNITS.get(metric, "s")
    number = "format(datum.value, '~s')"
    return number if not unit else f"replace({number}, /([0-9])([^0-9.]?)$/, '$1 $2') + '{unit}'"


def title(metric: Metric) -> str:
    """What the axis is called, and which end of it is good."""
    return f"{METRICS[metric]} ({'less' if metric in LOWER_IS_BETTER else 'more'} is better)"


def interval_text(interval: Interval, metric: Metric) -> str:
    """A figure with its interval: `131 IOPS (120 IOPS … 142 IOPS)`; one trial alone has none, and says so."""
    mean = value_text(interval.mean, metric)
    if interval.low is None or interval.high is None:
        return f"{mean} (one trial: no interval)"
    return f"{mean} ({value_text(interval.low, metric)} … {value_text(interval.high, metric)})"
