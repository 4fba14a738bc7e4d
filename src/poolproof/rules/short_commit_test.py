"""etcd's disk test, which is over too quickly at its published size."""

from poolproof.load.model import LoadPart
from poolproof.rules.fio_job import fio_job
from poolproof.rules.model import Case, Findings, Rule, fio_source, notes
from poolproof.units import format_count, format_size

_ENOUGH_COMMITS = 50_000
_LARGEST_COMMIT = 128 * 1024  # larger synchronous writes measure throughput; no database commits so much at a time
_FAST_BYTES_PER_S = 2e9
_ENOUGH_S = 30
_FIX = "use size=220m, or time_based=1 with runtime=60; run it three times; use the p99 of fdatasync, not of clat"


def _in_job(case: Case) -> Findings:
    for job in case.jobs if case.outcome is None else ():
        size = job.io_size_bytes or job.size_bytes
        is_commit = job.writes and job.commits_each_write and job.max_block_bytes <= _LARGEST_COMMIT
        if not is_commit or job.time_based or not size:
            continue
        moved = size * (fio_job(job).number("loops") or 1)
        commits = moved // job.max_block_bytes
        if commits < _ENOUGH_COMMITS and moved * job.clones < _ENOUGH_S * _FAST_BYTES_PER_S:
            each = f" in each of {job.clones} clones" if job.clones > 1 else ""
            yield notes(
                f"{case.who([job])} makes {format_count(commits)} commits of {format_size(job.max_block_bytes)}{each}: "
                "on an SSD, that takes only seconds, and on a shared disk, the test may happen to run at a quiet "
                "moment",
                weight=30,
                fix=_fix(job, size),
            )


def _fix(job: LoadPart, size_bytes: int) -> str:
    """Return the fix for a job whose size is already that of the general advice, or whose writes are synchronous."""
    if size_bytes < 220 * 2**20 and not job.writes_are_synchronous:
        return _FIX
    latency = "" if job.writes_are_synchronous else "; use the p99 of the sync, not of clat"
    runtime = "" if (job.runtime_s or 0) >= 60 else " with runtime=60"
    return f"set time_based=1{runtime}, and run it three times{latency}"


RULE = Rule(
    title="A commit test of a few seconds",
    wrong="etcd's published test writes 22 MiB in 10,030 commits. On an SSD, the test takes only a few seconds, and "
    "its data fits in any cache.",
    shows="In a job: a sync after each write of at most 128 KiB, without time_based, and fewer than 50,000 commits "
    "that together write less than 60 GB (30 s at 2 GB/s).",
    error="Latency may be too low: the test may end before a cache is full, or before other load appears.",
    fix=_FIX,
    sources=(
        fio_source("3.42", "backend.c", "keep_running (loops)"),
        "https://github.com/replicatedhq/troubleshoot/issues/323",
        "https://github.com/ahrtr/etcd-issues/issues/6",
    ),
    in_job=_in_job,
    options=("io_size", "size"),
    fixed_options=lambda _case, job: {"time_based": "1", "runtime": f"{max(60, job.runtime_s or 0):.0f}"},
    commands="fio --rw=write --ioengine=sync --fdatasync=1 --size=22m --bs=2300",
)
