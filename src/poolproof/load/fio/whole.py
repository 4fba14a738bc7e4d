"""A run as one: its groups, each as fio itself sums it, one after the other.

fio makes a new group where jobs wait for those before them (`stonewall`); a group's rate is all its bytes over its
longest runtime (`show_run_stats` in stat.c), which plain output states under `Run status group`. Groups that are seen
to run at once (`new_group` alone, by `job_start`) count side by side.
"""

import itertools
from collections.abc import Sequence
from dataclasses import replace

from poolproof.load.fio.figures import Direction, FioResult, JobResult
from poolproof.load.fio.merge import merge_direction, merge_jobs


def whole(result: FioResult) -> JobResult:
    """All jobs as one; of each direction the bytes of all, the time of all groups, and the rate over it.

    Raises:
        ValueError: there are no jobs.
    """
    merged = merge_jobs(result.jobs)
    return replace(
        merged,
        read=direction_of(result, "read"),
        write=direction_of(result, "write"),
        trim=direction_of(result, "trim"),
        mixed=direction_of(result, "mixed"),
    )


def direction_of(result: FioResult, name: str) -> Direction | None:
    """One direction of the whole run; None where nothing moved in it."""
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


def group_directions(result: FioResult, name: str) -> tuple[Direction | None, ...]:
    """One direction of each group, as fio sums it."""
    groups: dict[int, list[JobResult]] = {}
    for job in result.jobs:
        groups.setdefault(job.group, []).append(job)
    return tuple(
        _stated(merge_direction(getattr(job, name) for job in jobs), result.groups.get(number, {}).get(name))
        for number, jobs in groups.items()
    )


def _stated(merged: Direction | None, stated: Direction | None) -> Direction | None:
    """With fio's own figures of the group over what was summed here, which is exact only for bytes that jobs tell."""
    if merged is None or stated is None:
        return merged
    return replace(
        merged,
        io_bytes=stated.io_bytes if merged.io_bytes is None else merged.io_bytes,
        runtime_ms=stated.runtime_ms or merged.runtime_ms,
        bandwidth_bytes=stated.bandwidth_bytes or merged.bandwidth_bytes,
    )


def _at_once(result: FioResult) -> bool:
    """A group began while one before it still ran."""
    spans: dict[int, tuple[int, int]] = {}
    for job in result.jobs:
        if job.job_start_ms is None or not job.job_runtime_ms:
            return False
        begun, ended = job.job_start_ms, job.job_start_ms + job.job_runtime_ms // max(job.jobs, 1)
        known = spans.get(job.group, (begun, ended))
        spans[job.group] = min(known[0], begun), max(known[1], ended)
    ordered: Sequence[tuple[int, int]] = sorted(spans.values())
    return any(later[0] < earlier[1] - (earlier[1] - earlier[0]) // 2 for earlier, later in itertools.pairwise(ordered))


def _rate(amount: int | None, runtime_ms: int | None) -> float | None:
    return 1000 * amount / runtime_ms if amount is not None and runtime_ms else None


def _sum(values: Sequence[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None
