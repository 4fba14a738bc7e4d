"""The metrics of a trial, for tables, reports, charts, exports, SQL and rules.

Each metric is a row of `METRICS`.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from poolproof.statistics.percentiles import LEAST_BEYOND
from poolproof.units import format_count, format_duration, format_rate

MetricId = str
"""The `id` of a metric, such as `iops` or `p99`."""

Of = Literal["all", "read", "write", "trim", "ios", "syncs"]
"""The I/Os or latencies that a metric is about. See `Metric`."""


@dataclass(frozen=True)
class Unit:
    """The unit of a metric's values.

    `text`: a function that formats a value for people, for example as `183 MB/s`.
    `scale`: the factor that converts a value to the SI unit `symbol`, in which charts show it.
    `rate`: the field of a `Direction` that contains a rate in this unit.
    """

    text: Callable[[float], str]
    scale: float = 1.0
    symbol: str = ""
    rate: Literal["", "iops", "bandwidth_bytes"] = ""


IOS_PER_S = Unit(lambda value: f"{format_count(value)} IOPS", rate="iops")
BYTES_PER_S = Unit(format_rate, symbol="B/s", rate="bandwidth_bytes")
NANOSECONDS = Unit(lambda value: format_duration(value / 1e9), scale=1e-9, symbol="s")


class _Events(NamedTuple):
    noun: str
    field: str


_EVENTS: Mapping[Of, _Events] = {
    "all": _Events("I/O", "requests"),
    "ios": _Events("I/O", "requests"),
    "read": _Events("read", "reads"),
    "write": _Events("write", "writes"),
    "syncs": _Events("sync", "syncs"),
}


@dataclass(frozen=True)
class Metric:
    """A metric of a trial.

    `field`: the name of the metric's field in `TrialMetrics`.
    `column`: the metric's name in exports and SQL.
    `is_comparable`: whether layouts can be compared by the metric (`metric:`, `--metric`, claims).
    `percent`: the percentile for a latency percentile, or None for a rate.
    `of`: for a rate: `all` (reads and writes), `read`, `write` or `trim`. For a latency percentile: `ios` (completion
    latency of all I/Os), `read` or `write` (completion latency of reads or of writes), or `syncs` (latency of fsync and
    fdatasync).
    """

    id: MetricId
    title: str
    unit: Unit
    field: str
    column: str
    of: Of
    percent: float | None = None
    more_is_better: bool = False
    is_comparable: bool = True

    @property
    def is_rate(self) -> bool:
        """True if the metric is a rate, False if it is a latency percentile."""
        return self.percent is None

    @property
    def is_of_ios(self) -> bool:
        """True if the metric is a latency percentile of reads, of writes or of both.

        False for a percentile of syncs, and for a rate.
        """
        return self.percent is not None and self.of != "syncs"

    @property
    def event(self) -> str:
        """The noun for what the metric counts or times: `I/O`, `read`, `write`, `trim` or `sync`."""
        return _EVENTS[self.of].noun if self.of in _EVENTS else self.of

    @property
    def events_field(self) -> str | None:
        """The field in `TrialMetrics` with the number of events behind the metric, or None if they are not counted.

        The events are latencies for a percentile, and I/Os for a rate.
        """
        return _EVENTS[self.of].field if self.of in _EVENTS else None

    @property
    def of_both(self) -> MetricId | None:
        """The same metric for reads and writes together.

        None if it does not exist, or if this metric is not specific to reads or writes.
        """
        both = self.id.partition("_")[2] if self.of in ("read", "write") else ""
        return both if both in _BY_ID else None

    @property
    def events_needed(self) -> int:
        """The number of I/Os or syncs needed in a trial so that ten are slower than the percentile. 0 for a rate."""
        return 0 if self.percent is None else events_needed(self.percent)

    @property
    def axis_title(self) -> str:
        """The title of a chart axis: the name of the metric, and whether higher or lower is better."""
        return f"{self.title} ({'higher' if self.more_is_better else 'lower'} is better)"


def events_needed(percent: float) -> int:
    """Return the number of events needed so that ten are slower than the percentile, for example 1,000 for p99."""
    return math.ceil(round(LEAST_BEYOND / (1 - percent / 100), 6))


def _rate(metric: MetricId, title: str, unit: Unit, of: Of, field: str = "") -> Metric:
    field = field or metric
    column = f"{field}_per_s" if unit is BYTES_PER_S else field
    return Metric(metric, title, unit, field, column, of, more_is_better=True, is_comparable=of == "all")


def _latency(metric: MetricId, title: str, of: Of, percent: float, *, is_comparable: bool = True) -> Metric:
    return Metric(metric, title, NANOSECONDS, f"{metric}_ns", f"{metric}_ns", of, percent, is_comparable=is_comparable)


METRICS: tuple[Metric, ...] = (
    _rate("iops", "IOPS", IOS_PER_S, "all"),
    _rate("read_iops", "read IOPS", IOS_PER_S, "read"),
    _rate("write_iops", "write IOPS", IOS_PER_S, "write"),
    _rate("bandwidth", "bandwidth", BYTES_PER_S, "all", "bandwidth_bytes"),
    _rate("read_bandwidth", "read bandwidth", BYTES_PER_S, "read", "read_bandwidth_bytes"),
    _rate("write_bandwidth", "write bandwidth", BYTES_PER_S, "write", "write_bandwidth_bytes"),
    _latency("p50", "median latency", "ios", 50.0),
    _latency("p99", "p99 latency", "ios", 99.0),
    _latency("p999", "p99.9 latency", "ios", 99.9),
    _latency("read_p50", "median read latency", "read", 50.0),
    _latency("read_p99", "p99 of reads", "read", 99.0),
    _latency("read_p999", "p99.9 of reads", "read", 99.9),
    _latency("write_p50", "median write latency", "write", 50.0),
    _latency("write_p99", "p99 of writes", "write", 99.0),
    _latency("write_p999", "p99.9 of writes", "write", 99.9),
    _latency("sync_p50", "median of fsync", "syncs", 50.0, is_comparable=False),
    _latency("sync_p99", "p99 of fsync", "syncs", 99.0),
)

_BY_ID: Mapping[MetricId, Metric] = {metric.id: metric for metric in METRICS}

COMPARABLE: tuple[MetricId, ...] = tuple(metric.id for metric in METRICS if metric.is_comparable)
"""The metrics by which layouts can be compared. They are the valid values of `metric:` and `--metric`."""

COLUMNS: Mapping[str, str] = {metric.column: metric.field for metric in METRICS}
"""The name of the field in `TrialMetrics`, keyed by column in exports and SQL."""

REJECTED = "rejected_"
"""The prefix of the columns with values that were refuted or that failed."""

LOWER_IS_BETTER: frozenset[MetricId] = frozenset(metric.id for metric in METRICS if not metric.more_is_better)


def rates_of(*of: Of) -> tuple[MetricId, ...]:
    """Return the IDs of the rates that count the given kinds of I/O, such as `all` and `write`."""
    return tuple(metric.id for metric in METRICS if metric.is_rate and metric.of in of)


def metric_of(metric: MetricId) -> Metric:
    """Return the metric with the given id.

    Raises:
        ValueError: no metric has this id.
    """
    try:
        return _BY_ID[metric]
    except KeyError:
        raise ValueError(f"`{metric}` is not a metric") from None
