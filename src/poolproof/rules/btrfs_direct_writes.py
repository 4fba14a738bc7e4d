"""Writes with direct=1 on btrfs with checksums."""

from poolproof.rules.fio_job import fio_job
from poolproof.rules.model import Case, Findings, Rule, linux_source, notes

_SINCE = (6, 15)
_WITH_BACKPORT = (6, 12)  # 6.12.77; the target shows only the first two numbers
_WITHOUT_CHECKSUMS = {"nodatasum", "nodatacow"}


def _in_job(case: Case) -> Findings:
    target, jobs = case.target, [job for job in case.jobs if job.direct and job.writes]
    if target is None or target.file_system != "btrfs" or _WITHOUT_CHECKSUMS & set(target.mount_options):
        return
    uring = bool(jobs) and fio_job(jobs[0]).engine == "io_uring"
    if jobs and (target.kernel is None or target.kernel >= _SINCE or target.kernel == _WITH_BACKPORT):
        yield notes(
            f"{case.who(jobs)} writes with direct=1, but since Linux 6.15 (and 6.12.77), btrfs buffers such writes to "
            "files with checksums (chattr +C turns checksums off): "
            + ("io_uring hands them to worker threads" if uring else "submission blocks until the write is done")
            + ", and the pages are dropped from RAM afterwards",
            weight=35,
        )


RULE = Rule(
    title="direct=1 writes on btrfs are buffered",
    wrong=(
        "Since Linux 6.15 (and 6.12.77), direct writes on btrfs with checksums go through the page cache, because a "
        "program could change its buffer while btrfs computes the checksum. The data still reaches the disk before the "
        "write returns, and the pages are dropped afterwards. However, iodepth has no effect with libaio, and io_uring "
        "passes the writes to worker threads."
    ),
    shows="In a job: direct=1 writes to btrfs with checksums, on Linux 6.12, on 6.15 or later, or on an unknown "
    "kernel.",
    error="Too low for writes with iodepth above 1.",
    fix=(
        "for parallel writes, raise numjobs, with one file per job; nodatacow or chattr +C allows direct writes "
        "to a data profile without copies or parity (single, RAID0), but also turns off checksums, so it is a "
        "different configuration"
    ),
    sources=(
        linux_source("6.15", "fs/btrfs/direct-io.c", "btrfs_direct_write (commit 968f19c5b1b7)"),
        linux_source("6.15", "io_uring/rw.c", "io_write"),
    ),
    in_job=_in_job,
    options=("direct", "buffered"),
    cleared_by_byte_count=False,
    needs="Run on btrfs.",
    commands="for d in 1 32; do fio --rw=randwrite --bs=4k --size=32m --direct=1 --ioengine=libaio --iodepth=$d; done",
)
