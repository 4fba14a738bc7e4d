"""Runs that are too short for their writes to fill the buffers."""

from poolproof.load.model import LoadPart
from poolproof.rules.fio_job import fio_job
from poolproof.rules.model import Case, Changes, Findings, Rule, fio_doc, fio_source, linux_source, notes, zfs_source
from poolproof.rules.path import may_end_in_ram
from poolproof.units import format_size

_LONG_S = 60.0
_WHEN_TIMED = "set ramp_time=15 and runtime=60; or set steadystate=iops_slope:1% with ss_dur=60"


def _in_job(case: Case) -> Findings:
    if case.target is not None and case.target.volatile:
        return  # the volatile-target rule reports that no disk is involved
    limit = case.target.dirty_limit_bytes if case.target else None
    jobs = [job for job in case.jobs if _is_burst(job, limit if may_end_in_ram(job, case.target) else None)]
    if case.outcome is None and jobs:
        is_buffered = limit and may_end_in_ram(jobs[0], case.target)
        buffered = (
            f" (the kernel accepts {format_size(limit or 0)} of dirty data before writers wait)" if is_buffered else ""
        )
        yield notes(
            f"{case.who(jobs)} writes only briefly and without a ramp{buffered}: write buffers, the open ZFS "
            "transaction group and a drive's fast cache absorb the first few seconds",
            weight=25,
            fix=_WHEN_TIMED if all(job.time_based for job in jobs) else "",
        )


def _is_burst(job: LoadPart, dirty_limit_bytes: int | None) -> bool:
    if not job.writes or job.ramp_s or fio_job(job).text("steadystate") or job.commits_each_write:
        return False
    if job.time_based:
        return job.runtime_s is not None and job.runtime_s < _LONG_S  # without runtime, time_based has no effect
    size = job.io_size_bytes or job.size_bytes
    return bool(dirty_limit_bytes and size and size * job.clones < 2 * dirty_limit_bytes)


def _fixed_options(_case: Case, job: LoadPart) -> Changes:
    return {"ramp_time": "15", "time_based": "1", "runtime": f"{max(_LONG_S, job.runtime_s or 0):.0f}"}


RULE = Rule(
    title="A burst, not a sustained rate",
    wrong="In the first seconds, dirty pages in RAM, ZFS's open transaction group (5 s), a drive's SLC cache or a "
    "controller's cache absorb the writes, or a cloud volume uses its burst credits. The sustained rate comes after "
    "that.",
    shows="In a job: writes without ramp_time that last less than 60 s (with time_based) or, if they are buffered, "
    "amount to less than twice the dirty limit. See also `unstable`.",
    error="Too high by a factor of 1.5 to 10.",
    fix="set ramp_time=15, time_based=1 and runtime=60; or set steadystate=iops_slope:1% with ss_dur=60",
    sources=(
        linux_source("6.12", "mm/page-writeback.c", "balance_dirty_pages, domain_dirty_limits"),
        zfs_source("2.3.0", "module/zfs/txg.c", "txg_sync_thread (zfs_txg_timeout)"),
        fio_source("3.42", "steadystate.c", "steadystate_check"),
        fio_doc("steadystate"),
    ),
    in_job=_in_job,
    options=("runtime", "io_size", "size", "rw"),
    fixed_options=_fixed_options,
    commands="for s in 2 30; do fio --rw=write --bs=1m --size=4g --time_based --runtime=$s --end_fsync=1; done",
)
