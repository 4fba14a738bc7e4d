"""What fio did between two of its reports: the figures of a window out of totals since its start.

Bytes, I/Os, samples and the bins of histograms are counts, so their differences are exact; means follow from sums. What
is no count (least, most, deviations) is not known of a window.
"""

import math
from collections.abc import Mapping
from dataclasses import replace

from poolproof.load.fio.figures import Direction, FioResult, JobResult, Latency
from poolproof.load.fio.histogram import percentiles_of


def since(start: FioResult, end: FioResult) -> FioResult:
    """The later report with what happened after the earlier one alone; both are of the same jobs in the same order."""
    if len(start.jobs) != len(end.jobs):
        return end
    return replace(end, jobs=tuple(_job(a, b) for a, b in zip(start.jobs, end.jobs, strict=True)))


def _job(start: JobResult, end: JobResult) -> JobResult:
    return replace(
        end,
        read=_direction(start.read, end.read),
        write=_direction(start.write, end.write),
        trim=_direction(start.trim, end.trim),
        mixed=_direction(start.mixed, end.mixed),
        sync=_latency(start.sync, end.sync),
        syncs=_less(end.syncs, start.syncs),
        job_runtime_ms=_less(end.job_runtime_ms, start.job_runtime_ms),
    )


def _direction(start: Direction | None, end: Direction | None) -> Direction | None:
    if start is None or end is None:
        return end
    moved, ios = _less(end.io_bytes, start.io_bytes), _less(end.ios, start.ios)
    ran_ms = _less(end.runtime_ms, start.runtime_ms)
    return Direction(
        io_bytes=moved,
        ios=ios,
        runtime_ms=ran_ms,
        bandwidth_bytes=_rate(moved, ran_ms),
        iops=_rate(ios, ran_ms),
        short_ios=_less(end.short_ios, start.short_ios),
        slat=_latency(start.slat, end.slat),
        clat=_latency(start.clat, end.clat),
        lat=_latency(start.lat, end.lat),
    )


def _latency(start: Latency | None, end: Latency | None) -> Latency | None:
    if start is None or end is None or not start.samples or not end.samples:
        return end
    samples = end.samples - start.samples
    if samples <= 0:
        return Latency(samples=0)
    bins = _bins(start.bins_ns, end.bins_ns)
    return Latency(
        samples=samples,
        mean_ns=_mean(start, end, samples),
        percentiles_ns=percentiles_of(bins, end.percentiles_ns) if bins else {},
        bins_ns=bins,
    )


def _mean(start: Latency, end: Latency, samples: int) -> float | None:
    if start.mean_ns is None or end.mean_ns is None:
        return None
    return math.fsum(((end.samples or 0) * end.mean_ns, -(start.samples or 0) * start.mean_ns)) / samples


def _bins(start: Mapping[int, int], end: Mapping[int, int]) -> dict[int, int]:
    return {value: more for value, count in end.items() if (more := count - start.get(value, 0)) > 0}


def _less(end: int | None, start: int | None) -> int | None:
    return None if end is None else end - (start or 0)


def _rate(amount: int | None, ran_ms: int | None) -> float | None:
    return 1000 * amount / ran_ms if amount is not None and ran_ms else None
