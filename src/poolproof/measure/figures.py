"""Compute a trial's metrics from its outcome, over all of its parts.

Each metric is for all I/Os together, or only for the reads, the writes or the syncs.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal

from poolproof.load.merge import direction_of, merge_latency, percentile, total_rates
from poolproof.load.outcome import Direction, Latency, Outcome, separate
from poolproof.metrics import METRICS, Metric, Of, TrialMetrics

_SAMPLES = 4


def figures_of(result: Outcome) -> TrialMetrics:
    """Return a trial's metrics.

    As in fio, the rates of parts that ran at the same time are added up. If reads and writes took different times,
    their total is divided by the longer time. If parts ran one after another, their total is divided by their total run
    time. If a part reports no rate, the trial has none either. Percentiles are computed from the merged histograms of
    all parts. Trims count neither as reads nor as writes.
    """
    result = _counted_once(result)
    latencies: dict[Of, Latency | None] = {
        "ios": latency_of(result),
        "read": latency_of(result, "read"),
        "write": latency_of(result, "write"),
        "trim": latency_of(result, "trim"),
        "syncs": sync_latency_of(result),
    }
    percentiles = {
        metric.field: percentile(latency, metric.percent) if (latency := latencies[metric.of]) else None
        for metric in METRICS
        if metric.percent is not None
    }
    rates = {metric.field: _rate(result, metric) for metric in METRICS if metric.is_rate}
    return TrialMetrics(
        **rates,
        **percentiles,
        requests=_samples(latencies["ios"]),
        syncs=_samples(latencies["syncs"]),
        reads=_samples(latencies["read"]),
        writes=_samples(latencies["write"]),
        swing=max((swing for part in _parts(result) if (swing := _swing(part)) is not None), default=None),
    )


def _rate(result: Outcome, metric: Metric) -> float | None:
    if metric.of == "all" and (totals := total_rates(result)):
        return totals[0] if metric.unit.rate == "iops" else totals[1]
    names = ("read", "write", "mixed") if metric.of == "all" else (metric.of,)
    rates = [getattr(found, metric.unit.rate) for name in names if (found := direction_of(result, name)) is not None]
    return None if None in rates else float(sum(rates))


def _counted_once(result: Outcome) -> Outcome:
    """Return the outcome without the combined total of a part that also reports reads and writes separately.

    Otherwise, the part's I/O would be counted twice.
    """
    totals = [separate(part.read, part.write, part.trim, part.mixed) for part in result.parts]
    parts = (replace(part, mixed=total) for part, total in zip(result.parts, totals, strict=True))
    return replace(result, parts=tuple(parts))


def latency_of(result: Outcome, direction: Literal["all", "read", "write", "trim"] = "all") -> Latency | None:
    """Merge the completion latencies of reads and writes together, or only of reads, of writes or of trims.

    Return None if no latencies were measured. For reads or writes, also return None if the load generator reports a
    single histogram for both.
    """
    if direction == "all":
        return _merged(map(_timed, _parts(_counted_once(result))))
    found = (job.directions.get(direction) for job in result.parts)
    return _merged(_timed(part) for part in found if part is not None)


def _timed(part: Direction) -> Latency | None:
    """Return the completion latency, or the total latency if only that has percentiles (clat_percentiles=0)."""
    timed = [each for each in (part.clat, part.lat) if each is not None]
    return next((each for each in timed if each.bins_ns or each.percentiles_ns), timed[0] if timed else None)


def sync_latency_of(result: Outcome) -> Latency | None:
    """Return the merged latencies of all fsync and fdatasync calls, or None if none were measured."""
    return _merged(job.sync for job in result.parts)


def _samples(latency: Latency | None) -> int | None:
    """Return the number of latency samples: 0 if no latencies were measured, None if the number is unknown."""
    if latency is None:
        return 0
    return latency.samples if latency.samples is not None else sum(latency.bins_ns.values()) or None


def _parts(result: Outcome) -> list[Direction]:
    return [part for job in result.parts for part in (job.read, job.write, job.mixed) if part is not None]


def moved_each_way(result: Outcome) -> tuple[int, int]:
    """Return the number of bytes read and the number of bytes written, as counted by the load generator."""
    reads = sum(job.read.io_bytes or 0 for job in result.parts if job.read is not None)
    writes = sum(job.write.io_bytes or 0 for job in result.parts if job.write is not None)
    return reads, writes


def _merged(latencies: Iterable[Latency | None]) -> Latency | None:
    known = [latency for latency in latencies if latency is not None and latency.samples != 0]
    return merge_latency(known) if known else None


def _swing(direction: Direction) -> float | None:
    """Return the coefficient of variation of fio's rate samples, one per 500 ms.

    Return None if it is unknown, or if there are fewer than four samples.
    """
    mean, deviation = direction.bandwidth_mean_bytes, direction.bandwidth_stddev_bytes
    return None if (direction.samples or 0) < _SAMPLES or not mean or deviation is None else deviation / mean
