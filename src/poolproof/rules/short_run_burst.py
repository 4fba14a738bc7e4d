"""Writes too short to fill the buffers."""

from collections.abc import Iterable

from poolproof.load.model import LoadPart
from poolproof.rules.fio_job import fio_job
from poolproof.rules.model import Case, Changes, Finding, Rule
from poolproof.rules.naming import who
from poolproof.rules.reproduction import script
from poolproof.units import format_size

_LONG_S = 60.0
_FIX = "ramp_time=15 and runtime=60 with time_based=1, or steadystate=iops_slope:1% with ss_dur=60"


def _is_burst(case: Case, job: LoadPart) -> bool:
    if not job.writes or job.ramp_s or fio_job(job).text("steadystate") or job.commits_each_write:
        return False
    if job.time_based:
        return (job.runtime_s or 0.0) < _LONG_S
    limit, size = case.target.dirty_limit_bytes if case.target else None, job.io_size_bytes or job.size_bytes
    return bool(limit and size and size * job.clones < 2 * limit)


def _in_job(case: Case) -> Iterable[Finding]:
    jobs = [job for job in case.load.parts if _is_burst(case, job)]
    if case.outcome is not None or not jobs:
        return
    limit = case.target.dirty_limit_bytes if case.target else None
    against = f" (the kernel accepts {format_size(limit)} of dirty data before a writer waits)" if limit else ""
    yield Finding(
        rule="short-run-burst",
        effect="notes",
        message=f"{who(case, jobs)} writes only briefly and without a ramp{against}: write buffers, the open ZFS "
        "transaction group and a drive's fast cache absorb the first seconds",
        fix=_FIX,
        weight=25,
    )


def _mended(_case: Case, job: LoadPart) -> Changes:
    return {"ramp_time": "15", "time_based": "1", "runtime": f"{max(_LONG_S, job.runtime_s or 0):.0f}"}


RULE = Rule(
    id="short-run-burst",
    title="A burst, not a sustained rate",
    wrong="The first seconds of writing fill dirty memory, the open transaction group of ZFS (5 s), a drive's SLC "
    "cache, a controller's memory or a cloud volume's burst credits. The sustained rate comes after that.",
    shows="In a job: writes without ramp_time, for less than 60 s, or of less than twice the dirty limit. In a "
    "result, the rule `unstable` detects the drop.",
    error="Too high, by a factor of 1.5 to 10.",
    fix=_FIX,
    sources=("man zfs.4 (zfs_txg_timeout)", "https://fio.readthedocs.io/en/latest/fio_doc.html (steadystate)"),
    pitfall_numbers="#14",
    in_job=_in_job,
    options=("runtime", "io_size", "size", "rw"),
    fixed_options=_mended,
    reproduce=script(
        "for seconds in 2 30; do fio --name=trap --filename=trap --rw=write --bs=1m --size=4g --time_based "
        "--runtime=$seconds --end_fsync=1; done"
    ),
)
