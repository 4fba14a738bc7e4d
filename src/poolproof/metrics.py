"""The metrics of a trial, for tables, reports, charts, exports, SQL and rules.

Each metric is a field of `TrialMetrics`.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, Literal, NamedTuple

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
    `suffix`, `column_suffix`: the ends of the names of fields and columns in this unit.
    """

    text: Callable[[float], str]
    scale: float = 1.0
    symbol: str = ""
    rate: Literal["", "iops", "bandwidth_bytes"] = ""
    suffix: str = ""
    column_suffix: str = ""


IOS_PER_S = Unit(lambda value: f"{format_count(value)} IOPS", rate="iops")
BYTES_PER_S = Unit(format_rate, symbol="B/s", rate="bandwidth_bytes", suffix="_bytes", column_suffix="_bytes_per_s")
NANOSECONDS = Unit(
    lambda value: format_duration(value / 1e9), scale=1e-9, symbol="s", suffix="_ns", column_suffix="_ns"
)


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

    `is_comparable`: whether layouts can be compared by the metric (`metric:`, `--metric`, claims).
    `percent`: the percentile for a latency percentile, or None for a rate.
    `of`: for a rate: `all` (reads and writes), `read`, `write` or `trim`. For a latency percentile: `ios` (completion
    latency of all I/Os), `read` or `write` (completion latency of reads or of writes), or `syncs` (latency of fsync and
    fdatasync).
    """

    id: MetricId
    title: str
    unit: Unit
    of: Of
    percent: float | None = None
    is_comparable: bool = True

    @property
    def field(self) -> str:
        """The name of the metric's field in `TrialMetrics`."""
        return self.id + self.unit.suffix

    @property
    def column(self) -> str:
        """The metric's name in exports and SQL."""
        return self.id + self.unit.column_suffix

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
        return f"{self.title} ({'higher' if self.is_rate else 'lower'} is better)"


def events_needed(percent: float) -> int:
    """Return the number of events needed so that ten are slower than the percentile, for example 1,000 for p99."""
    return math.ceil(round(LEAST_BEYOND / (1 - percent / 100), 6))


def _rate(metric: MetricId, title: str, unit: Unit, of: Of, default: Any = None) -> Any:
    return _field(Metric(metric, title, unit, of, is_comparable=of == "all"), default)


def _latency(metric: MetricId, title: str, of: Of, percent: float, *, is_comparable: bool = True) -> Any:
    return _field(Metric(metric, title, NANOSECONDS, of, percent, is_comparable), None)


def _field(metric: Metric, default: Any) -> Any:
    return field(default=default, metadata={"metric": metric})


@dataclass(frozen=True, kw_only=True, slots=True)
class TrialMetrics:
    """The results of a trial for all jobs together, with None for values that the load generator did not measure.

    Latencies are completion latencies of reads and writes, except for `sync_*`, which are latencies of fsync and
    fdatasync. The order of the fields is the order of the metrics in all outputs.

    `swing`: the coefficient of variation of the rate within the trial. For a trial of a fixed length, it is the largest
    of the coefficients that the load generator reports for the reads and writes of each job.
    `requests`, `reads`, `writes`, `syncs`: the number of latencies on which the percentiles are based. None in older
    runs.
    """

    iops: float | None = _rate("iops", "IOPS", IOS_PER_S, "all", MISSING)
    read_iops: float | None = _rate("read_iops", "read IOPS", IOS_PER_S, "read", 0.0)
    write_iops: float | None = _rate("write_iops", "write IOPS", IOS_PER_S, "write", 0.0)
    bandwidth_bytes: float | None = _rate("bandwidth", "bandwidth", BYTES_PER_S, "all", MISSING)
    read_bandwidth_bytes: float | None = _rate("read_bandwidth", "read bandwidth", BYTES_PER_S, "read", 0.0)
    write_bandwidth_bytes: float | None = _rate("write_bandwidth", "write bandwidth", BYTES_PER_S, "write", 0.0)
    p50_ns: float | None = _latency("p50", "median latency", "ios", 50.0)
    p99_ns: float | None = _latency("p99", "p99 latency", "ios", 99.0)
    p999_ns: float | None = _latency("p999", "p99.9 latency", "ios", 99.9)
    read_p50_ns: float | None = _latency("read_p50", "median read latency", "read", 50.0)
    read_p99_ns: float | None = _latency("read_p99", "p99 of reads", "read", 99.0)
    read_p999_ns: float | None = _latency("read_p999", "p99.9 of reads", "read", 99.9)
    write_p50_ns: float | None = _latency("write_p50", "median write latency", "write", 50.0)
    write_p99_ns: float | None = _latency("write_p99", "p99 of writes", "write", 99.0)
    write_p999_ns: float | None = _latency("write_p999", "p99.9 of writes", "write", 99.9)
    sync_p50_ns: float | None = _latency("sync_p50", "median of fsync", "syncs", 50.0, is_comparable=False)
    sync_p99_ns: float | None = _latency("sync_p99", "p99 of fsync", "syncs", 99.0)
    swing: float | None = None
    requests: int | None = None
    syncs: int | None = None
    reads: int | None = None
    writes: int | None = None

    def events(self, metric: MetricId) -> int | None:
        """Return the number of latencies on which a percentile is based, or the number of I/Os for a rate.

        None if unknown.
        """
        field = metric_of(metric).events_field
        counted: int | None = None if field is None else getattr(self, field)
        return counted

    def metric(self, metric: MetricId) -> float | None:
        """Return a metric's value, in I/Os per second, bytes per second or nanoseconds, or None if it is unknown."""
        value: float | None = getattr(self, metric_of(metric).field)
        return value


METRICS: tuple[Metric, ...] = tuple(each.metadata["metric"] for each in fields(TrialMetrics) if each.metadata)

_BY_ID: Mapping[MetricId, Metric] = {metric.id: metric for metric in METRICS}

COMPARABLE: tuple[MetricId, ...] = tuple(metric.id for metric in METRICS if metric.is_comparable)
"""The metrics by which layouts can be compared. They are the valid values of `metric:` and `--metric`."""

COLUMNS: Mapping[str, str] = {metric.column: metric.field for metric in METRICS}
"""The name of the field in `TrialMetrics`, keyed by column in exports and SQL."""

REJECTED = "rejected_"
"""The prefix of the columns with values that were refuted or that failed."""

LOWER_IS_BETTER: frozenset[MetricId] = frozenset(metric.id for metric in METRICS if not metric.is_rate)


def rates_of(*of: Of) -> tuple[MetricId, ...]:
    """Return the IDs of the rates that count the given kinds of I/O, such as `all` and `write`."""
    return tuple(metric.id for metric in METRICS if metric.is_rate and metric.of in of)


def not_comparable(text: str) -> str:
    """Return the reason why layouts can't be compared by `text`: only tables show the metric, or it does not exist."""
    return f"`{text}` cannot be used to compare layouts" if text in _BY_ID else f"unknown metric `{text}`"


def metric_of(metric: MetricId) -> Metric:
    """Return the metric with the given id. Raises a ValueError if no metric has this id."""
    try:
        return _BY_ID[metric]
    except KeyError:
        raise ValueError(f"`{metric}` is not a metric") from None
