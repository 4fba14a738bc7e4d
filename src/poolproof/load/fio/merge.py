"""Figures over several clones or jobs that ran side by side, as fio itself sums them under group_reporting.

A percentile comes from the merged histogram (json+) or not at all: percentiles cannot be averaged.
Means and deviations: the pairwise formula of fio's `__sum_stat` (stat.c); rates: all bytes over the longest runtime.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from poolproof.load.fio.figures import Direction, JobResult, Latency
from poolproof.load.fio.histogram import DEFAULT_PERCENTILES, add_bins, percentiles_of

Number = TypeVar("Number", int, float)


def percentile(latency: Latency, percent: float) -> float | None:
    """The percentile in nanoseconds: from the histogram where there is one, else as fio printed it, else None."""
    if latency.bins_ns:
        return percentiles_of(latency.bins_ns, [percent])[percent]
    for printed, value in latency.percentiles_ns.items():
        if math.isclose(printed, percent, abs_tol=1e-6):
            return value
    return None


def merge_latency(latencies: Iterable[Latency | None]) -> Latency | None:
    """One distribution out of several; None when none holds a sample that is known.

    A figure that a part lacks is None in the whole. Percentiles are those that the parts name, or else fio's usual.
    """
    parts = [part for part in latencies if part is not None and part.samples != 0]
    if len(parts) <= 1:
        return parts[0] if parts else None
    bins = add_bins(part.bins_ns for part in parts) if all(part.bins_ns for part in parts) else {}
    named = {percent for part in parts for percent in part.percentiles_ns} or set(DEFAULT_PERCENTILES)
    mean, stddev = _moments(parts)
    return Latency(
        samples=_sum([part.samples for part in parts]),
        min_ns=_known(min, [part.min_ns for part in parts]),
        max_ns=_known(max, [part.max_ns for part in parts]),
        mean_ns=mean,
        stddev_ns=stddev,
        percentiles_ns=percentiles_of(bins, named),
        bins_ns=bins,
    )


def merge_direction(directions: Iterable[Direction | None]) -> Direction | None:
    """The sum of one direction over clones that ran side by side; None when none did I/O in it.

    `runtime_ms` is the longest, rates are all bytes and I/Os over it (fio's own rule), or the sum of the rates where
    bytes or runtime are not known. Rate samples of different clones are not aligned: their deviation is None.
    """
    parts = [part for part in directions if part is not None]
    if len(parts) <= 1:
        return parts[0] if parts else None
    io_bytes, ios = _sum([part.io_bytes for part in parts]), _sum([part.ios for part in parts])
    runtime_ms = _known(max, [part.runtime_ms for part in parts])
    return Direction(
        io_bytes=io_bytes,
        ios=ios,
        runtime_ms=runtime_ms,
        bandwidth_bytes=_rate(io_bytes, runtime_ms) or _sum([part.bandwidth_bytes for part in parts]),
        iops=_rate(ios, runtime_ms) or _sum([part.iops for part in parts]),
        short_ios=_sum([part.short_ios for part in parts]),
        bandwidth_min_bytes=_sum([part.bandwidth_min_bytes for part in parts]),
        bandwidth_max_bytes=_sum([part.bandwidth_max_bytes for part in parts]),
        bandwidth_mean_bytes=_sum([part.bandwidth_mean_bytes for part in parts]),
        iops_min=_sum([part.iops_min for part in parts]),
        iops_max=_sum([part.iops_max for part in parts]),
        iops_mean=_sum([part.iops_mean for part in parts]),
        samples=_sum([part.samples for part in parts]),
        slat=merge_latency(part.slat for part in parts),
        clat=merge_latency(part.clat for part in parts),
        lat=merge_latency(part.lat for part in parts),
    )


def merge_jobs(jobs: Sequence[JobResult]) -> JobResult:
    """Clones of one job, or jobs that ran side by side, as one: name, options and first error of the first that has it.

    Raises:
        ValueError: there are no jobs.
    """
    if not jobs:
        raise ValueError("there is no job to merge")
    if len(jobs) == 1:
        return jobs[0]
    return replace(
        jobs[0],
        error=next((job.error for job in jobs if job.error), 0),
        jobs=sum(job.jobs for job in jobs),
        read=merge_direction(job.read for job in jobs),
        write=merge_direction(job.write for job in jobs),
        trim=merge_direction(job.trim for job in jobs),
        mixed=merge_direction(job.mixed for job in jobs),
        sync=merge_latency(job.sync for job in jobs),
        syncs=_sum([job.syncs for job in jobs if job.syncs is not None]),
        job_runtime_ms=_sum([job.job_runtime_ms for job in jobs]),
        job_start_ms=_known(min, [job.job_start_ms for job in jobs]),
        user_cpu_percent=_weighted([(job.user_cpu_percent, job.job_runtime_ms) for job in jobs]),
        system_cpu_percent=_weighted([(job.system_cpu_percent, job.job_runtime_ms) for job in jobs]),
        depth_levels=_merged_levels(jobs),
    )


def total_ios(job: JobResult) -> int:
    """I/Os of a job over all directions, as far as they are known."""
    return sum(part.ios or 0 for part in (job.read, job.write, job.trim, job.mixed) if part is not None)


def _moments(parts: Sequence[Latency]) -> tuple[float | None, float | None]:
    """Mean and sample deviation of the whole."""
    mean, count = 0.0, 0
    squares: float | None = 0.0
    for part in parts:
        if part.mean_ns is None or not part.samples:
            return None, None
        if squares is not None and part.stddev_ns is not None:
            apart = part.mean_ns - mean
            squares += part.stddev_ns**2 * (part.samples - 1) + apart**2 * count * part.samples / (count + part.samples)
        else:
            squares = None
        mean = (mean * count + part.mean_ns * part.samples) / (count + part.samples)
        count += part.samples
    if squares is None:
        return mean, None
    return mean, math.sqrt(squares / (count - 1)) if count > 1 else 0.0


def _merged_levels(jobs: Sequence[JobResult]) -> Mapping[str, float]:
    """Shares of queue depths, weighted by I/Os; nothing where a job's are not known."""
    weights = [total_ios(job) for job in jobs]
    if not sum(weights) or not all(job.depth_levels for job in jobs):
        return {}
    levels = {level: 0.0 for job in jobs for level in job.depth_levels}
    for job, weight in zip(jobs, weights, strict=True):
        for level, share in job.depth_levels.items():
            levels[level] += share * weight / sum(weights)
    return levels


def _rate(amount: int | None, runtime_ms: int | None) -> float | None:
    return 1000 * amount / runtime_ms if amount is not None and runtime_ms else None


def _sum(values: Sequence[Number | None]) -> Number | None:
    """The sum, None when a value is not known."""
    known = [value for value in values if value is not None]
    return sum(known[1:], start=known[0]) if known and len(known) == len(values) else None


def _known(choose: Callable[[Sequence[Number]], Number], values: Sequence[Number | None]) -> Number | None:
    """The smallest or largest, None when a value is not known."""
    known = [value for value in values if value is not None]
    return choose(known) if known and len(known) == len(values) else None


def _weighted(pairs: Sequence[tuple[float | None, int | None]]) -> float | None:
    known = [(value, weight) for value, weight in pairs if value is not None and weight]
    total = sum(weight for _, weight in known)
    return sum(value * weight for value, weight in known) / total if total and len(known) == len(pairs) else None
