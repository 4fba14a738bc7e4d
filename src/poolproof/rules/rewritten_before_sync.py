"""A small file with blocks that are overwritten in RAM before they are synced."""

from dataclasses import replace

from poolproof.load.model import LoadPart
from poolproof.metrics import rates_of
from poolproof.rules.different_blocks import different_share
from poolproof.rules.earlier import has_no_map, is_skewed
from poolproof.rules.fio_job import fio_job
from poolproof.rules.model import Case, Findings, Rule, finding, fio_source, linux_source, notes
from poolproof.rules.path import is_zfs, may_end_in_ram, writes_are_synchronous
from poolproof.rules.reported import ReportedDirection, parts
from poolproof.rules.tolerances import REFUTED, WRITTEN, percent
from poolproof.units import format_size

_LARGE = 16 << 30
_PASSES = 2
_WRITTEN_BACK_S = 25.0  # the kernel writes dirty pages after 30 s (vm.dirty_expire_centisecs)
_FIX = "write each byte once (a larger size without time_based), or use fdatasync=1"


def _in_job(case: Case) -> Findings:
    for job in case.jobs:
        limit = (case.target.dirty_limit_bytes if case.target else None) or _LARGE
        size = (job.size_bytes or 0) * (1 if job.shares_one_file else job.clones)
        if not size or size >= limit or not _rewrites(case, job):
            continue
        yield notes(
            f"{case.who([job])} repeatedly overwrites {format_size(size)} and syncs only at the end: fio's rate "
            "includes every write, but data that is overwritten in RAM before it is flushed never reaches a disk",
            weight=55,
            fix=f"{_FIX} or direct=1" if _may_honour_direct(case, job) else _FIX,
        )


def _may_honour_direct(case: Case, job: LoadPart) -> bool:
    return not job.direct and not may_end_in_ram(replace(job, direct=True), case.target)


def _rewrites(case: Case, job: LoadPart) -> bool:
    if not job.writes or not may_end_in_ram(job, case.target) or not job.syncs_at_end:
        return False
    if case.target is not None and case.target.volatile:
        return False
    if job.sync_every or writes_are_synchronous(case, job) or fio_job(job).text("sync_file_range"):
        return False
    if is_skewed(job) or has_no_map(job):
        return job.time_based or (job.io_size_bytes or 0) >= _PASSES * (job.size_bytes or 0)
    return job.time_based and job.files == 1


def _in_result(case: Case) -> Findings:
    """Yield a finding if many of the writes between two syncs hit the same blocks.

    Only the last write to each block reaches the disk. The byte counts may not show this, because the disk also writes
    a journal and metadata, which can make up for the missing bytes.
    """
    for part in parts(case.outcome):
        job = case.job_named(part.job.name)
        if part.kind != "write" or job is None or not _waits_for_syncs(case, job, part):
            continue
        share = different_share(job, job.sync_every or 1)
        if share < WRITTEN:
            yield finding(
                "refutes" if share < REFUTED else "suspects",
                f"{case.who([job])} writes to {format_size(job.size_bytes or 0)} and syncs after every "
                f"{job.sync_every} writes: at most {100 * share:.0f}% of these writes can reach a disk, because the "
                "others are overwritten in RAM before the sync. Anything else that the disks wrote was journal and "
                "metadata",
                weight=60,
                metrics=rates_of("all", "write"),
            )


def _waits_for_syncs(case: Case, job: LoadPart, part: ReportedDirection) -> bool:
    """True if dirty pages stay in the page cache until the next sync. False on ZFS, which logs each write."""
    if case.target is None or case.target.file_system in ("", "unknown") or is_zfs(case.target):
        return False
    if not may_end_in_ram(job, case.target):
        return False
    if not job.sync_every or writes_are_synchronous(case, job) or not job.size_bytes:
        return False
    # A sync by one clone also stores what the others wrote, so there are as many writes between two syncs on average.
    syncs = (part.figures.ios or 0) / (1 if job.shares_one_file else part.job.clones) / job.sync_every
    return syncs >= 1 and (part.figures.runtime_ms or 0) / 1000 / syncs < _WRITTEN_BACK_S


RULE = Rule(
    title="Overwritten before it was synced",
    wrong="The kernel writes a page to the disk once it has been dirty for 30 s, or earlier if too many pages are "
    "dirty. If a page is overwritten before then, the disk writes it only once, no matter how often fio wrote it. "
    "end_fsync=1 writes only the last version.",
    shows="In a job: buffered writes that cover the file several times and are synced only at the end, if the file is "
    "smaller than the dirty limit (or 16 GiB if that is unknown). These are writes to a single file with time_based, "
    "and random writes without a random map (norandommap or an uneven random_distribution) with time_based or io_size. "
    "Other jobs are not reported, because fio syncs after each pass over the files, or because sync_file_range starts "
    "the write-back of every few writes. In a result: buffered writes with "
    "a sync every few writes, at least every 25 s, on a file system other than ZFS, if less than "
    f"{percent(WRITTEN)} of the writes between two syncs can go to different blocks. Below {percent(REFUTED)}, the "
    "result is refuted.",
    error="Too high. The factor is at most the number of passes over the file before the kernel writes the pages. "
    "After each pass, fio asks the kernel to drop the file from the page cache, unless invalidate=0 is set. The kernel "
    "then starts to write the dirty pages, but not those of which an older version is still being written. Measured on "
    "ext4 with a file of 64 MiB and time_based: the disk wrote 28% of the bytes, and 2% with invalidate=0. With loops "
    "or io_size instead of time_based, it wrote all of them.",
    fix=f"{_FIX} or direct=1",
    sources=(
        linux_source("6.12", "mm/page-writeback.c", "wb_over_bg_thresh, dirty_expire_interval"),
        linux_source("6.12", "mm/fadvise.c", "generic_fadvise (POSIX_FADV_DONTNEED)"),
        fio_source("3.42", "io_u.c", "get_next_seq_offset (starts over for time_based)"),
        fio_source("3.42", "io_u.c", "loop_cache_invalidate"),
        fio_source("3.42", "backend.c", "do_io (one fsync at the end), thread_main (one do_io for each loop)"),
    ),
    in_job=_in_job,
    in_result=_in_result,
    options=("time_based", "io_size", "size"),
    explains_lost={"write": "overwritten in RAM before it was synced"},
    commands="fio --rw=write --bs=1m --size=256m --time_based --runtime=10 --end_fsync=1 --invalidate=0",
)
