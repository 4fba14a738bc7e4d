"""Sums of outcomes: over clones and parts that ran at once, and over groups that ran one after the other.

A percentile comes from the merged histogram or is not known: percentiles cannot be averaged. Means and deviations
follow the pairwise formula of fio's `__sum_stat` (stat.c). The rate of parts that ran at once is all their bytes over
the longest runtime (`show_run_stats` in fio's stat.c); that of groups that ran one after the other is all bytes over
the sum of the groups' runtimes.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from poolproof.load.histogram import DEFAULT_PERCENTILES, add_bins, percentiles_of
from poolproof.load.outcome import Direction, Latency, Outcome, PartOutcome

Number = TypeVar("Number", int, float)


def percentile(latency: Latency, percent: float) -> float | None:
    """Return the percentile in nanoseconds, from the histogram or else as it was reported; None if neither has it."""
    if latency.bins_ns:
        return percentiles_of(latency.bins_ns, [percent])[percent]
    for printed, value in latency.percentiles_ns.items():
        if math.isclose(printed, percent, abs_tol=1e-6):
            return value
    return None


def merge_latency(latencies: Iterable[Latency | None]) -> Latency | None:
    """Return one distribution from several; None if none of them has samples.

    A value that one of them lacks is None in the result. Percentiles are those that they name, or fio's usual ones.
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
    """Return the sum of one direction over clones that ran at once; None if none did I/O in it.

    `runtime_ms` is the longest. Rates are all bytes and I/Os over it, as in fio, or the sum of the rates if bytes or
    runtime are not known. Rate samples of different clones are not aligned, so their deviation is None.
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


def merge_jobs(jobs: Sequence[PartOutcome]) -> PartOutcome:
    """Return clones, or parts that ran at once, as one. Name and options are those of the first, `error` is the first.

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
        clones=sum(job.clones for job in jobs),
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


def whole(result: Outcome) -> PartOutcome:
    """Return all parts as one. Each direction has the bytes of all parts and the time of all groups.

    Raises:
        ValueError: there are no jobs.
    """
    merged = merge_jobs(result.parts)
    return replace(
        merged,
        read=direction_of(result, "read"),
        write=direction_of(result, "write"),
        trim=direction_of(result, "trim"),
        mixed=direction_of(result, "mixed"),
    )


def direction_of(result: Outcome, name: str) -> Direction | None:
    """Return one direction of the whole run; None if there was no I/O in it."""
    groups = [each for each in group_directions(result, name) if each is not None]
    if len(groups) <= 1 or _at_once(result):
        return merge_direction(groups)
    together = merge_direction(groups)
    assert together is not None
    runtime_ms = _sum([each.runtime_ms for each in groups])
    return replace(
        together,
        runtime_ms=runtime_ms,
        bandwidth_bytes=_rate(together.io_bytes, runtime_ms),
        iops=_rate(together.ios, runtime_ms),
        bandwidth_min_bytes=None,
        bandwidth_max_bytes=None,
        bandwidth_mean_bytes=None,
        iops_min=None,
        iops_max=None,
        iops_mean=None,
    )


def group_directions(result: Outcome, name: str) -> tuple[Direction | None, ...]:
    """Return one direction of each group, as fio sums it."""
    groups: dict[int, list[PartOutcome]] = {}
    for job in result.parts:
        groups.setdefault(job.group, []).append(job)
    return tuple(
        _stated(merge_direction(getattr(job, name) for job in jobs), result.groups.get(number, {}).get(name))
        for number, jobs in groups.items()
    )


def _stated(merged: Direction | None, stated: Direction | None) -> Direction | None:
    """Return the sum with fio's own values of the group instead of those summed here; only summed bytes are exact."""
    if merged is None or stated is None:
        return merged
    return replace(
        merged,
        io_bytes=stated.io_bytes if merged.io_bytes is None else merged.io_bytes,
        runtime_ms=stated.runtime_ms or merged.runtime_ms,
        bandwidth_bytes=stated.bandwidth_bytes or merged.bandwidth_bytes,
    )


def _at_once(result: Outcome) -> bool:
    """True if a group began while an earlier one was still running."""
    spans: dict[int, tuple[int, int]] = {}
    for job in result.parts:
        if job.job_start_ms is None or not job.job_runtime_ms:
            return False
        begun, ended = job.job_start_ms, job.job_start_ms + job.job_runtime_ms // max(job.clones, 1)
        known = spans.get(job.group, (begun, ended))
        spans[job.group] = min(known[0], begun), max(known[1], ended)
    ordered: Sequence[tuple[int, int]] = sorted(spans.values())
    return any(later[0] < earlier[1] - (earlier[1] - earlier[0]) // 2 for earlier, later in itertools.pairwise(ordered))


def total_ios(job: PartOutcome) -> int:
    """Return the I/Os of a part over all directions, as far as they are known."""
    return sum(part.ios or 0 for part in (job.read, job.write, job.trim, job.mixed) if part is not None)


def _moments(parts: Sequence[Latency]) -> tuple[float | None, float | None]:
    """Return the mean and the sample standard deviation of the merged distribution."""
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


def _merged_levels(jobs: Sequence[PartOutcome]) -> Mapping[str, float]:
    """Return the shares of queue depths, weighted by I/Os; empty if a part lacks them."""
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
    """Return the sum; None if a value is not known."""
    known = [value for value in values if value is not None]
    return sum(known[1:], start=known[0]) if known and len(known) == len(values) else None


def _known(choose: Callable[[Sequence[Number]], Number], values: Sequence[Number | None]) -> Number | None:
    """Return the smallest or largest; None if a value is not known."""
    known = [value for value in values if value is not None]
    return choose(known) if known and len(known) == len(values) else None


def _weighted(pairs: Sequence[tuple[float | None, int | None]]) -> float | None:
    known = [(value, weight) for value, weight in pairs if value is not None and weight]
    total = sum(weight for _, weight in known)
    return sum(value * weight for value, weight in known) / total if total and len(known) == len(pairs) else None
