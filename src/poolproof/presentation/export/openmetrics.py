"""A run as OpenMetrics text, for Prometheus (`promtool tsdb create-blocks-from openmetrics`).

Every metric is a gauge, so that readers of the older Prometheus text format accept it too. Results that do not count
have their own families. Source: OpenMetrics 1.0.0, and the data model of Prometheus for names of labels.
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime

from poolproof.metrics import BYTES_PER_S, IOS_PER_S, METRICS, REJECTED, Metric
from poolproof.presentation.export.rows import ExportRow, ExportTable
from poolproof.statistics.intervals import Interval


def _metrics(**row: object) -> tuple[Metric, ...]:
    return tuple(metric for metric in METRICS if all(getattr(metric, name) == value for name, value in row.items()))


_PLAIN = "95 %"
_Bound = Callable[[Interval], float | None]
_BOUNDS: Mapping[str, _Bound] = {
    "": lambda interval: interval.mean,
    "_low": lambda interval: interval.low,
    "_high": lambda interval: interval.high,
}
_MEANS: Mapping[str, str] = {"": "mean of the trials", "_low": "lower bound", "_high": "upper bound"}
_Sample = tuple[ExportRow, Mapping[str, str], float]
_FAMILIES: Mapping[tuple[str, str, str], tuple[Metric, ...]] = {
    ("io_rate", "ios_per_second", "I/Os per second by fio"): _metrics(unit=IOS_PER_S),
    ("bandwidth", "bytes_per_second", "Bytes per second by fio"): _metrics(unit=BYTES_PER_S),
    ("completion_latency", "seconds", "Completion latency of reads and writes"): _metrics(of="requests"),
    ("sync_latency", "seconds", "Latency of fsync and fdatasync"): _metrics(of="syncs"),
}


def openmetrics_text(table: ExportTable) -> str:
    """Return the complete text; the time of each sample is when its cell's last trial began."""
    return "".join(f"{line}\n" for line in _exposition(table)) + "# EOF\n"


def _exposition(table: ExportTable) -> Iterator[str]:
    for (name, unit, meaning), metrics in _FAMILIES.items():
        for bound, pick in _BOUNDS.items():
            text = f"{meaning}: {_MEANS[bound]}{_confidence(table) if bound else ''}"
            yield from _family(f"poolproof_{name}{bound}_{unit}", unit, text, _samples(table, metrics, pick))
        text = f"{meaning}: refuted or failed, not to be used"
        rejected = _samples(table, metrics, _BOUNDS[""], rejected=True)
        yield from _family(f"poolproof_{REJECTED}{name}_{unit}", unit, text, rejected)
    yield from _limits(table)
    trials: Iterator[_Sample] = ((row, {}, float(row.trials)) for row in table.rows)
    yield from _family("poolproof_trials", "", "Trials of the cell", _lines(table, trials))
    verdicts: Iterator[_Sample] = ((row, {"verdict": row.verdict, "rules": _rules(row)}, 1.0) for row in table.rows)
    text = "Verdict of the cell: the sample with that verdict is 1"
    yield from _family("poolproof_verdict", "", text, _lines(table, verdicts))


def _confidence(table: ExportTable) -> str:
    """Return the confidence of the intervals; the requested one applies only to the workloads' own metrics."""
    asked = table.confidence
    return f", {_PLAIN}" if asked == _PLAIN else f", {_PLAIN}, or {asked} if it is the workload's own metric"


def _limits(table: ExportTable) -> Iterator[str]:
    """Yield each result as a share of its limit, with the disk that sets the limit."""
    text = "Share of what the disks delivered when measured alone"
    for prefix, meaning, rejected in (
        ("", text, False),
        (REJECTED, f"{text}: refuted or failed, not to be used", True),
    ):
        found: Iterator[_Sample] = (
            (row, {"metric": row.metric, "bound": row.limit.bound}, row.limit.share)
            for row in table.rows
            if row.limit and row.counts is not rejected
        )
        yield from _family(f"poolproof_{prefix}limit_share_ratio", "ratio", meaning, _lines(table, found))


def _family(name: str, unit: str, meaning: str, samples: Iterator[str]) -> Iterator[str]:
    """Yield the lines of a family; none if it has no samples."""
    first = next(samples, None)
    if first is None:
        return
    yield f"# TYPE {name} gauge"
    if unit:
        yield f"# UNIT {name} {unit}"
    yield f"# HELP {name} {meaning}"
    for sample in (first, *samples):
        yield f"{name}{sample}"


def _samples(table: ExportTable, metrics: tuple[Metric, ...], pick: _Bound, *, rejected: bool = False) -> Iterator[str]:
    found = (
        (row, _labels(metric), value * metric.unit.scale)
        for row in table.rows
        for metric in metrics
        for value in _value(row.rejected if rejected else row.figures, metric.column, pick)
    )
    return _lines(table, found)


def _labels(metric: Metric) -> Mapping[str, str]:
    return {"direction": metric.of} if metric.percent is None else {"percentile": f"{metric.percent:g}"}


def _value(figures: Mapping[str, Interval], column: str, pick: _Bound) -> Iterator[float]:
    value = pick(figures[column]) if column in figures else None
    if value is not None:
        yield value


def _lines(table: ExportTable, found: Iterator[_Sample]) -> Iterator[str]:
    for row, labels, value in found:
        every = {
            "run": table.run,
            "campaign": table.campaign.name,
            "layout": row.layout,
            "workload": row.workload,
            **row.settings,
            **_settled(row),
            **labels,
        }
        written = ",".join(f'{name}="{_escaped(text)}"' for name, text in every.items())
        yield f"{{{written}}} {value!r} {_seconds(row, table)}"


def _seconds(row: ExportRow, table: ExportTable) -> int:
    try:
        return int(datetime.fromisoformat(row.measured_at or table.record.begun_at).timestamp())
    except ValueError:
        return 0


def _settled(row: ExportRow) -> dict[str, str]:
    """Return the label; none for a fixed time, which Prometheus treats like an empty label."""
    return {} if row.settled is None else {"settled": "true" if row.settled else "false"}


def _rules(row: ExportRow) -> str:
    return " ".join(finding.rule for finding in row.reasons)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\r", " ").replace("\n", "\\n")
