"""Export a run as OpenMetrics text for Prometheus (`promtool tsdb create-blocks-from openmetrics`).

Every metric is a gauge, so that parsers of the older Prometheus text format can also read it. Rejected results are in
separate metric families.

Sources: OpenMetrics 1.0.0 and, for label names, Prometheus's data model.
"""

from collections.abc import Iterable, Iterator, Mapping

from poolproof.metrics import BYTES_PER_S, IOS_PER_S, METRICS, REJECTED, Metric
from poolproof.presentation.export.rows import ExportRow, ExportTable
from poolproof.presentation.terminal.visible import visible

_PLAIN = "95%"
_BOUNDS = {"": ("mean", "mean of the trials"), "_low": ("low", "lower bound"), "_high": ("high", "upper bound")}
_DO_NOT_USE = "refuted or failed, do not use"
_Sample = tuple[ExportRow, Mapping[str, str], float]
_FAMILIES: Mapping[tuple[str, str, str], tuple[Metric, ...]] = {
    ("io_rate", "ios_per_second", "{generator}'s I/Os per second"): tuple(m for m in METRICS if m.unit == IOS_PER_S),
    ("bandwidth", "bytes_per_second", "{generator}'s bytes per second"): tuple(
        m for m in METRICS if m.unit == BYTES_PER_S
    ),
    ("completion_latency", "seconds", "Completion latency of reads and writes"): tuple(
        m for m in METRICS if m.is_of_ios
    ),
    ("sync_latency", "seconds", "Latency of fsync and fdatasync"): tuple(m for m in METRICS if m.of == "syncs"),
}


def openmetrics_text(table: ExportTable) -> str:
    """Return the complete file. Each sample's timestamp is the start of its cell's last trial."""
    return "".join(f"{line}\n" for line in _exposition(table)) + "# EOF\n"


def _exposition(table: ExportTable) -> Iterator[str]:
    confidence = f", {_PLAIN}"  # for all metrics except those by which workloads are compared
    if table.confidence != _PLAIN:
        confidence += f", or {table.confidence} for the metric that the workload is compared by"
    generators = " and ".join(sorted({row.cell.generator for row in table.rows}))
    for (name, unit, template), metrics in _FAMILIES.items():
        meaning = template.format(generator=generators)
        for end, (bound, text) in _BOUNDS.items():
            text = f"{meaning}: {text}{confidence if end else ''}"
            yield from _family(table, f"{name}{end}", unit, text, _samples(table, metrics, bound))
        samples = _samples(table, metrics, "mean", rejected=True)
        yield from _family(table, f"{REJECTED}{name}", unit, f"{meaning}: {_DO_NOT_USE}", samples)
    share = "Share of what the disks delivered when measured alone"
    for prefix, text, counting in (("", share, True), (REJECTED, f"{share}: {_DO_NOT_USE}", False)):
        shares = (
            (row, {"metric": row.cell.metric, "bound": row.limit.bound}, row.limit.share)
            for row in table.rows
            if row.limit and row.counts is counting
        )
        yield from _family(table, f"{prefix}limit_share", "ratio", text, shares)
    trials: Iterator[_Sample] = ((row, {}, float(len(row.cell.trials))) for row in table.rows)
    yield from _family(table, "trials", "", "Trials of the cell", trials)
    rules = {row.cell.key: " ".join(finding.rule for finding in row.reasons) for row in table.rows}
    verdicts: Iterator[_Sample] = (
        (row, {"verdict": row.own.verdict, "rules": rules[row.cell.key]}, 1.0) for row in table.rows
    )
    yield from _family(table, "verdict", "", "Verdict of the cell, as a label; the value is always 1", verdicts)


def _family(table: ExportTable, name: str, unit: str, meaning: str, samples: Iterable[_Sample]) -> Iterator[str]:
    """Yield the lines of a metric family. Yield nothing if the family has no samples."""
    name = f"poolproof_{name}{'_' if unit else ''}{unit}"
    lines = [f"{name}{_sample_text(table, *sample)}" for sample in samples]
    if lines:
        yield f"# TYPE {name} gauge"
        if unit:
            yield f"# UNIT {name} {unit}"
        yield f"# HELP {name} {meaning}"
    yield from lines


def _samples(
    table: ExportTable, metrics: tuple[Metric, ...], bound: str, *, rejected: bool = False
) -> Iterator[_Sample]:
    for row in table.rows:
        figures = row.rejected if rejected else row.figures
        for metric in metrics:
            value = getattr(figures.get(metric.column), bound, None)
            if value is not None:
                few = {"too_few_events": "true"} if metric.id in row.cell.too_few else {}
                verdict = {"verdict": row.cell.result(metric.id).verdict}
                yield row, {**verdict, **_labels(metric), **few}, value * metric.unit.scale


def _labels(metric: Metric) -> Mapping[str, str]:
    """Return a metric's labels. Percentiles of syncs, and of reads and writes combined, have no `direction`."""
    direction = {"direction": metric.of} if metric.is_rate or metric.of in ("read", "write") else {}
    return direction if metric.percent is None else direction | {"percentile": f"{metric.percent:g}"}


def _sample_text(table: ExportTable, row: ExportRow, labels: Mapping[str, str], value: float) -> str:
    """Return a sample's labels, value and timestamp.

    The label `settled` is omitted if the run did not use `until`, and `emulated` if no disks were emulated. Prometheus
    treats a missing label like an empty one.
    """
    settled = {} if row.settled is None else {"settled": "true" if row.settled else "false"}
    emulated = {"emulated": " ".join(row.cell.emulated)} if row.cell.emulated else {}
    every = table.labels(row) | settled | emulated | dict(labels)
    written = ",".join(f'{name}="{_escaped(text)}"' for name, text in every.items())
    measured_at = table.measured_at(row)
    return f"{{{written}}} {value!r} {0 if measured_at is None else int(measured_at.timestamp())}"


def _escaped(text: str) -> str:
    return visible(text).replace("\\", "\\\\").replace('"', '\\"').replace("\r", " ").replace("\n", "\\n")
