"""Merge the results of clones and parts that ran concurrently, and of groups that ran one after another.

Percentiles cannot be averaged. A merged percentile is therefore computed from the merged histogram, which maps
latencies in nanoseconds to numbers of I/Os. Without histograms, it is unknown. The combined rate of concurrent parts is
their total bytes divided by the longest runtime (`show_run_stats` in fio's stat.c). The combined rate of successive
groups is their total bytes divided by the sum of their runtimes.
"""

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from poolproof.load.outcome import DIRECTIONS, Direction, Latency, Outcome, PartOutcome, per_second

Number = TypeVar("Number", int, float)

_SAMPLED = ("bandwidth_min_bytes", "bandwidth_max_bytes", "bandwidth_mean_bytes", "iops_mean")
_TOGETHER = 0.05
_CLEARLY_MORE = 1.1
_SUMMED = ("io_bytes", "ios", "bandwidth_bytes", "iops", "samples", "ramp_ios", *_SAMPLED)

DEFAULT_PERCENTILES = (
    1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99,
)  # fmt: skip


def percentiles_of(bins: Mapping[int, int], percents: Iterable[float]) -> dict[float, float]:
    """Compute percentiles as fio does: each is the first bin at which the cumulative count reaches the percentage."""
    total = sum(bins.values())
    found: dict[float, float] = {}
    if not total:
        return found
    rising = iter(sorted(bins.items()))
    value, seen = next(rising)
    for percent in sorted(percents):
        needed = percent / 100 * total
        while seen < needed and not math.isclose(seen, needed, rel_tol=1e-12):
            value, count = next(rising, (value, total - seen))
            seen += count
        found[percent] = float(value)
    return found


def add_bins(histograms: Iterable[Mapping[int, int]]) -> dict[int, int]:
    total: Counter[int] = Counter()
    for bins in histograms:
        total.update(bins)
    return dict(sorted(total.items()))


def percentile(latency: Latency, percent: float) -> float | None:
    """Return a percentile in nanoseconds, or None if unknown.

    It is computed from the histogram if possible, and otherwise taken from the reported percentiles.
    """
    if latency.bins_ns:
        return percentiles_of(latency.bins_ns, [percent])[percent]
    reported = latency.percentiles_ns.items()
    return next((value for printed, value in reported if math.isclose(printed, percent, abs_tol=1e-6)), None)


def merge_latency(latencies: Iterable[Latency | None]) -> Latency | None:
    """Merge several latency distributions, ignoring empty ones. Return None if all are empty.

    The result contains every percentile found in any input, or fio's default percentiles if the inputs have none. They
    are computed from the merged histogram, so they are missing if any input has no histogram. Any other value is None
    if one of the inputs lacks it. A single nonempty distribution is returned unchanged.
    """
    parts = [part for part in latencies if part is not None and part.samples != 0]
    if len(parts) <= 1:
        return parts[0] if parts else None
    bins = add_bins(part.bins_ns for part in parts) if all(part.bins_ns for part in parts) else {}
    percents = {percent for part in parts for percent in part.percentiles_ns} or set(DEFAULT_PERCENTILES)
    return Latency(
        samples=_known(sum, [part.samples for part in parts]),
        mean_ns=_weighted([(part.mean_ns, part.samples) for part in parts]),
        percentiles_ns=percentiles_of(bins, percents),
        bins_ns=bins,
    )


def merge_direction(directions: Iterable[Direction | None]) -> Direction | None:
    """Merge one direction of clones that ran concurrently. Return None if no clone did I/O in this direction.

    The merged runtime is the longest one. As in fio, rates are totals divided by this runtime. If the total or the
    runtime is unknown, the clones' rates are added up instead. The merged standard deviation is None, because the
    clones' rates are not sampled at the same times.
    """
    parts = [part for part in directions if part is not None]
    if len(parts) <= 1:
        return parts[0] if parts else None
    sums: dict[str, Any] = {name: _known(sum, [getattr(part, name) for part in parts]) for name in _SUMMED}
    runtime_ms = _known(max, [part.runtime_ms for part in parts])
    rates = {"bandwidth_bytes": per_second(sums["io_bytes"], runtime_ms), "iops": per_second(sums["ios"], runtime_ms)}
    return Direction(
        **sums | {name: rate or sums[name] for name, rate in rates.items()},
        runtime_ms=runtime_ms,
        slat=merge_latency(part.slat for part in parts),
        clat=merge_latency(part.clat for part in parts),
        lat=merge_latency(part.lat for part in parts),
    )


def merge_jobs(jobs: Sequence[PartOutcome]) -> PartOutcome:
    """Merge clones, or parts that ran concurrently, into one part. Raises ValueError if `jobs` is empty.

    The merged part has the first part's name and options, and the first nonzero `error`.
    """
    if not jobs:
        raise ValueError("there are no jobs to merge")
    if len(jobs) == 1:
        return jobs[0]
    directions: dict[str, Any] = {name: merge_direction(getattr(job, name) for job in jobs) for name in DIRECTIONS}
    return replace(
        jobs[0],
        **directions,
        error=next((job.error for job in jobs if job.error), 0),
        clones=sum(job.clones for job in jobs),
        sync=merge_latency(job.sync for job in jobs),
        syncs=_known(sum, [job.syncs for job in jobs if job.syncs is not None]),
        job_runtime_ms=_known(sum, [job.job_runtime_ms for job in jobs]),
        job_start_ms=_known(min, [job.job_start_ms for job in jobs]),
        latency_shares={},
        user_cpu_percent=_weighted([(job.user_cpu_percent, job.job_runtime_ms) for job in jobs]),
        system_cpu_percent=_weighted([(job.system_cpu_percent, job.job_runtime_ms) for job in jobs]),
        context_switches=_known(sum, [job.context_switches for job in jobs]),
    )


def merge_outcome(result: Outcome) -> PartOutcome:
    """Merge all parts of a result into one. Raises ValueError if the result has no parts."""
    directions: dict[str, Any] = {name: direction_of(result, name) for name in DIRECTIONS}
    return replace(merge_jobs(result.parts), **directions)


def direction_of(result: Outcome, name: str) -> Direction | None:
    """Return the entire run's I/O in one direction (such as "read"), or None if it had none."""
    groups = [each for each in group_directions(result, name) if each is not None]
    merged = merge_direction(groups)
    if merged is None or len(groups) == 1 or groups_ran_at_once(result):
        return merged
    runtime_ms = _known(sum, [each.runtime_ms for each in groups])
    return _over(replace(merged, runtime_ms=None, bandwidth_bytes=None, iops=None), runtime_ms)


def total_rates(result: Outcome) -> tuple[float | None, float | None] | None:
    """Return the combined IOPS and bytes per second of reads and writes that did not run at the same time throughout.

    The rates are totals divided by the time during which any part was running. None if the rates of reads and writes
    can simply be added up, which requires that they took the same time: 64 MiB of writes in 0.1 s and 12 MiB of reads
    in 4 s are 19 MiB/s, not 640 MiB/s.
    """
    ways = ("read", "write", "mixed")
    groups = _by_group(result.parts)
    spans = [_apart_ms(jobs, ways) for jobs in groups]
    in_turn = len(groups) > 1 and not groups_ran_at_once(result)
    several = sum(any(getattr(job, way) is not None for job in result.parts) for way in ways) > 1
    if not any(spans) and not (in_turn and several) and not _last_differently(result, ways):
        return None
    lasted = [span or _longest_ms(jobs, ways) for span, jobs in zip(spans, groups, strict=True)]
    lasted_ms = (sum if in_turn else max)(lasted)
    moved = [getattr(job, way) for job in result.parts for way in ways if getattr(job, way) is not None]
    ios, moved_bytes = (_known(sum, [getattr(each, name) for each in moved]) for name in ("ios", "io_bytes"))
    return per_second(ios, lasted_ms), per_second(moved_bytes, lasted_ms)


def _last_differently(result: Outcome, ways: Sequence[str]) -> bool:
    """True if the I/O in one direction took clearly longer than that in another one."""
    found = [each.runtime_ms for way in ways if (each := direction_of(result, way)) is not None]
    spans = [runtime_ms for runtime_ms in found if runtime_ms]
    return len(spans) > 1 and max(spans) - min(spans) > _TOGETHER * min(spans)


def _by_group(jobs: Iterable[PartOutcome]) -> list[list[PartOutcome]]:
    groups: dict[int, list[PartOutcome]] = {}
    for job in jobs:
        groups.setdefault(job.group, []).append(job)
    return list(groups.values())


def _longest_ms(jobs: Sequence[PartOutcome], ways: Sequence[str]) -> int:
    found = [getattr(job, way) for job in jobs for way in ways]
    return max((each.runtime_ms or 0 for each in found if each is not None), default=0)


def _apart_ms(jobs: Sequence[PartOutcome], ways: Sequence[str]) -> int | None:
    """Return the time in ms during which at least one of a group's jobs was running.

    None if the time is unknown or if all jobs started together.
    """
    spans: list[tuple[int, int]] = []
    for job, start_ms in zip(jobs, _starts_ms(jobs), strict=True):
        if runtime_ms := _longest_ms([job], ways):
            if start_ms is None:
                return None
            spans.append((start_ms, start_ms + runtime_ms))
    starts = [start for start, _ in spans]
    if len(spans) < 2 or max(starts) - min(starts) <= _TOGETHER * min(end - start for start, end in spans):
        return None
    lasted_ms, reached = 0, 0
    for start, end in sorted(spans):
        lasted_ms += max(0, end - max(start, reached))
        reached = max(reached, end)
    return lasted_ms


def _starts_ms(jobs: Sequence[PartOutcome]) -> list[int | None]:
    """Return the time in ms from the start of the jobs' group to each job's first measurement, or None if unknown.

    A job with `wait_for` starts after all clones of the job that it names have ended.
    """
    starts: list[int | None] = []
    ends: dict[str, int | None] = {}
    for job in jobs:
        before_ms = ends.get(job.options.get("wait_for", ""), 0)
        start_ms = None if before_ms is None or job.delay_ms is None else before_ms + job.delay_ms
        known_ms = ends.get(job.name, 0)
        ended_ms = None if start_ms is None else start_ms + _longest_ms([job], DIRECTIONS)
        ends[job.name] = None if ended_ms is None or known_ms is None else max(ended_ms, known_ms)
        starts.append(start_ms)
    return starts


def measured_ms(result: Outcome) -> int:
    """Return the time in ms from the start of the first part's measurement to the end of the last one's.

    If a part's start delay is unknown, all parts are assumed to have started together.
    """
    lasted = [_lasted_ms(part) for part in result.parts]
    starts = [start_ms for start_ms in _starts_ms(result.parts) if start_ms is not None]
    if len(starts) < len(result.parts):
        return max(lasted, default=0)
    ends = [start_ms + part_ms for start_ms, part_ms in zip(starts, lasted, strict=True)]
    return max(ends, default=0) - min(starts, default=0)


def _lasted_ms(part: PartOutcome) -> int:
    """Return how long a part ran, in ms, including the time in which it did no I/O.

    With group_reporting, fio adds up the run times of all clones in `job_runtime` (`__show_run_stats` in stat.c), so
    the longest time in which a clone did I/O is used instead.
    """
    return part.longest_ms if part.clones > 1 and part.longest_ms else part.job_runtime_ms or 0


def _over(direction: Direction | None, runtime_ms: int | None) -> Direction | None:
    """Recompute a direction's rates for a different runtime, or return it unchanged if `runtime_ms` is None.

    Rates that fio sampled over time become None.
    """
    if direction is None or runtime_ms is None:
        return direction
    unknown: dict[str, Any] = dict.fromkeys(_SAMPLED)
    return replace(
        direction,
        **unknown,
        runtime_ms=runtime_ms,
        bandwidth_bytes=per_second(direction.io_bytes, runtime_ms),
        iops=per_second(direction.ios, runtime_ms),
    )


def group_directions(result: Outcome, name: str) -> tuple[Direction | None, ...]:
    """Return each group's I/O in one direction, based on the totals that fio printed, with None for groups without any.

    If a group's jobs started at different times (startdelay, ramp_time, wait_for), the rates are recomputed for the
    time during which at least one of them was running. fio itself divides by the longest runtime, as if all jobs had
    run concurrently.
    """
    return tuple(
        _over(
            _as_reported(
                merge_direction(getattr(job, name) for job in jobs),
                result.groups.get(jobs[0].group, {}).get(name),
                is_single=len(jobs) == 1,
            ),
            _apart_ms(jobs, (name,)),
        )
        for jobs in _by_group(result.parts)
    )


def _as_reported(merged: Direction | None, reported: Direction | None, *, is_single: bool) -> Direction | None:
    """Return the merged direction with the runtime and bandwidth that fio reported for the group.

    The merged number of bytes is kept if it is known, because it is exact. But if fio reported clearly more bytes for
    the group, some clones are missing from the text. In that case, the group's number of bytes is used, and the number
    of I/Os and the IOPS are scaled up to match.

    `is_single`: the group has one job. fio then prints the same values twice, so the job's own values are kept.
    """
    if merged is None or reported is None:
        return merged
    if merged.io_bytes and reported.io_bytes and reported.io_bytes > _CLEARLY_MORE * merged.io_bytes:
        share = reported.io_bytes / merged.io_bytes
        merged = replace(
            merged,
            io_bytes=reported.io_bytes,
            ios=None if merged.ios is None else round(merged.ios * share),
            iops=None if merged.iops is None else merged.iops * share,
        )
    elif is_single:
        return replace(
            merged,
            io_bytes=reported.io_bytes if merged.io_bytes is None else merged.io_bytes,
            runtime_ms=merged.runtime_ms or reported.runtime_ms,
            bandwidth_bytes=merged.bandwidth_bytes or reported.bandwidth_bytes,
        )
    return replace(
        merged,
        io_bytes=reported.io_bytes if merged.io_bytes is None else merged.io_bytes,
        runtime_ms=reported.runtime_ms or merged.runtime_ms,
        bandwidth_bytes=reported.bandwidth_bytes or merged.bandwidth_bytes,
    )


def groups_ran_at_once(result: Outcome) -> bool:
    """True if any group started before the previous one was half finished, or False if a time is unknown."""
    spans: dict[int, tuple[int, int]] = {}
    for job in result.parts:
        if job.job_start_ms is None or not job.job_runtime_ms:
            return False
        begun, ended = job.job_start_ms, job.job_start_ms + job.job_runtime_ms // max(job.clones, 1)
        known = spans.get(job.group, (begun, ended))
        spans[job.group] = min(known[0], begun), max(known[1], ended)
    ordered = itertools.pairwise(sorted(spans.values()))
    return any(later[0] < earlier[1] - (earlier[1] - earlier[0]) // 2 for earlier, later in ordered)


def _known(choose: Callable[[Sequence[Number]], Number], values: Sequence[Number | None]) -> Number | None:
    """Apply `choose` (sum, min or max) to the values. Return None if any value is unknown, or if there are none."""
    known = [value for value in values if value is not None]
    return choose(known) if known and len(known) == len(values) else None


def _weighted(pairs: Sequence[tuple[float | None, int | None]]) -> float | None:
    known = [(value, weight) for value, weight in pairs if value is not None and weight]
    total = sum(weight for _, weight in known)
    return sum(value * weight for value, weight in known) / total if total and len(known) == len(pairs) else None
