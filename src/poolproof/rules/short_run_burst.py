"""Runs that are too short for their writes to fill the buffers."""

from collections.abc import Sequence

from poolproof.load.model import LoadPart
from poolproof.rules.fio_job import fio_job, is_on_devices
from poolproof.rules.model import Case, Changes, Findings, Rule, fio_doc, fio_source, linux_source, notes, zfs_source
from poolproof.rules.path import drops_data, is_zfs, may_end_in_ram
from poolproof.units import format_duration, format_size

_LONG_S = 60.0  # the kernel may keep dirty pages for 30 s before it writes them (vm.dirty_expire_centisecs)
_LONG_PAST_RAM_S = 30.0  # a ZFS transaction group stays open for 5 s, and small write caches fill in seconds
_WHEN_TIMED = "set ramp_time=15 and runtime=60; or set steadystate=iops_slope:1% with ss_dur=60"


def _in_job(case: Case) -> Findings:
    if case.target is not None and case.target.volatile:
        return  # the volatile-target rule reports that no disk is involved
    limit = case.target.dirty_limit_bytes if case.target else None
    limit = case.target.dirty_limit_bytes if case.target else None
    jobs = [job for job in case.jobs if not drops_data(job) and _is_burst(case, job)]
    if case.outcome is None and jobs:
        is_buffered = limit and may_end_in_ram(jobs[0], case.target)
        buffered = (
            f" (the kernel accepts {format_size(limit or 0)} of dirty data before writers wait)" if is_buffered else ""
        )
        all_timed = all(job.time_based for job in jobs)
        lasts = f"for only {format_duration(max(job.runtime_s or 0 for job in jobs))}" if all_timed else "only briefly"
        yield notes(
            f"{case.who(jobs)} writes {lasts} and without a ramp{buffered}: {_buffers(case, jobs)} the first few "
            "seconds",
            weight=25,
            fix=_WHEN_TIMED if all_timed else "",
        )


def _buffers(case: Case, jobs: Sequence[LoadPart]) -> str:
    """Return the caches that may absorb the writes, and the verb."""
    if all(map(is_on_devices, jobs)) and not any(may_end_in_ram(job, case.target) for job in jobs):
        return "a drive's fast cache absorbs"
    may_be_zfs = case.target is None or is_zfs(case.target)
    return f"write buffers{', the open ZFS transaction group' if may_be_zfs else ''} and a drive's fast cache absorb"


def _is_burst(case: Case, job: LoadPart) -> bool:
    if not job.writes or job.ramp_s or fio_job(job).text("steadystate") or job.commits_each_write:
        return False
    is_buffered = may_end_in_ram(job, case.target)
    if job.time_based:  # without runtime, time_based has no effect
        return job.runtime_s is not None and job.runtime_s < (_LONG_S if is_buffered else _LONG_PAST_RAM_S)
    limit = case.target.dirty_limit_bytes if case.target and is_buffered else None
    size = job.io_size_bytes or job.size_bytes
    return bool(limit and size and size * job.clones < 2 * limit)


def _fixed_options(_case: Case, job: LoadPart) -> Changes:
    return {"ramp_time": "15", "time_based": "1", "runtime": f"{max(_LONG_S, job.runtime_s or 0):.0f}"}


RULE = Rule(
    title="A burst, not a sustained rate",
    wrong="In the first seconds, dirty pages in RAM, ZFS's open transaction group (5 s), a drive's SLC cache or a "
    "controller's cache absorb the writes, or a cloud volume uses its burst credits. The sustained rate comes after "
    "that.",
    shows="In a job: writes without ramp_time that last less than 30 s (with time_based). Buffered writes are also "
    "reported if they last less than 60 s or amount to less than twice the dirty limit. See also `unstable`.",
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
