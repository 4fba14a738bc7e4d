"""Reads through a cache of files that are smaller than twice the RAM."""

from collections.abc import Sequence
from dataclasses import replace

from poolproof.load.model import LoadPart
from poolproof.rules.earlier import has_no_map, is_skewed, writers_of
from poolproof.rules.fio_job import fio_job, is_fio_job
from poolproof.rules.invalidate_is_not_cold import warm_start
from poolproof.rules.memory_values import waited_for_disks
from poolproof.rules.model import (
    Case,
    Changes,
    Findings,
    Rule,
    fill,
    finding,
    fio_issue,
    fio_source,
    linux_source,
    zfs_issue,
    zfs_source,
)
from poolproof.rules.path import goes_past_ram, is_zfs, may_end_in_ram, may_leave_dirty
from poolproof.units import canonical_size, format_size

_SECTOR = 512
_PAGE = 4096
_GIB = 1024**3


def _cache(case: Case) -> tuple[int, str]:
    """Return the size in bytes of the memory that may cache the file (0 if unknown), and what the memory is called."""
    if is_zfs(case.target) and case.zfs and case.zfs.arc_max_bytes:
        return case.zfs.arc_max_bytes, "the ARC's limit"
    return (case.target.ram_bytes if case.target else None) or 0, "RAM"


def _twice(cache_bytes: int) -> str:
    """Return twice the given number of bytes as text, rounded up to whole GiB for a cache of at least 1 GiB."""
    unit = _GIB if cache_bytes >= _GIB else _SECTOR
    return canonical_size(-(-2 * cache_bytes // unit) * unit)


def _in_job(case: Case) -> Findings:
    (cache_bytes, name), unique = _cache(case), case.load.unique_bytes
    readers = [job for job in case.jobs if job.reads and may_end_in_ram(job, case.target)]
    on_disks = case.target is not None and not case.target.volatile
    is_small = unique is not None and unique < 2 * cache_bytes
    if case.cold and on_disks and readers and unique is not None and is_small and not waited_for_disks(case):
        is_one_pass = all(_reads_once(case, job) for job in readers) and _is_cold(case, readers)
        yield finding(
            "notes" if is_one_pass else "suspects",
            f"{_reads(case, readers, unique, f'a cache that can grow to {format_size(cache_bytes)} ({name})')}: "
            + (
                f"{_why_cold(readers)} reads each block once, so these reads reach the disks; those of a second pass "
                "would not"
                if is_one_pass
                else "reads of cached data do not reach the disks"
            ),
            weight=60,
            fix=_fix(case, readers[0], cache_bytes, name),
        )


def _reads(case: Case, readers: Sequence[LoadPart], unique: int, cache: str) -> str:
    """Return a clause about the amount of data, which is known only for all jobs together."""
    if len(case.jobs) == 1:
        return f"{case.who(readers)} reads {format_size(unique)} through {cache}"
    return f"{case.who(readers)} reads through {cache}, and all jobs together access only {format_size(unique)}"


def _is_cold(case: Case, readers: Sequence[LoadPart]) -> bool:
    """True if nothing read the files into RAM just before the readers, as another program's own writes may have done.

    Output of other programs does not show this. fio's jobs show it.
    """
    return case.outcome is None or all(map(is_fio_job, readers))


def _why_cold(readers: Sequence[LoadPart]) -> str:
    is_fio = all(job.invalidates_cache for job in readers)
    return "fio first drops the files from it and then" if is_fio else "the files are not in it at the start, and fio"


def _reads_once(case: Case, job: LoadPart) -> bool:
    """True if no data of the job's files is in RAM when the job starts, and the job accesses each page only once."""
    fio = fio_job(job)
    starts_over = job.time_based or (job.io_size_bytes or 0) > (job.size_bytes or 0) or (fio.number("loops") or 1) > 1
    repeats = starts_over or case.load.shares_one_file or is_skewed(job) or has_no_map(job) or job.verifies
    is_written = not case.drops_caches and any(may_leave_dirty(part, case.target) for part in writers_of(case, job))
    part_of_page = job.is_random and job.block_bytes % _PAGE != 0
    is_cached = is_written or not fio.flag("create_fsync")
    return not (repeats or is_cached or part_of_page or warm_start(case, job))


def _fix(case: Case, job: LoadPart, cache_bytes: int, name: str) -> str:
    more = f"use at least size={_twice(cache_bytes)} in total (2 × {name})"
    if is_zfs(case.target):
        return f"{more}, or set zfs_arc_max to less than half the size"
    if not job.direct and goes_past_ram(replace(job, direct=True), case.target) is not False:
        return f"{more}, or direct=1 if the file system honours it"
    return more


def _fixed_options(case: Case, job: LoadPart) -> Changes:
    """Return changes that set direct=1 if the target honours it, or else a larger size.

    With that size, all clones together access twice as many bytes as the cache can hold. Returns no changes if the size
    of the cache is unknown.
    """
    takes_direct = fio_job(job).engine != "mmap" and job.block_bytes % _SECTOR == 0
    if takes_direct and goes_past_ram(replace(job, direct=True), case.target):
        return {"buffered": None, "direct": "1"}
    cache_bytes, _ = _cache(case)
    parts = 1 if fio_job(job).filename else job.clones
    return {"size": _twice(-(-cache_bytes // parts)), "filesize": None} if cache_bytes else {}


RULE = Rule(
    title="The test file fits in memory",
    wrong="The files are smaller than the memory that caches them, so a read may never reach a disk.",
    shows="In a job: all jobs together access less data than twice the RAM (on ZFS: twice zfs_arc_max), and the reads "
    "are buffered or on ZFS. The finding is only a note if fio drops the files from the page cache (invalidate=1) and "
    "then reads each block once. If 90% of the random reads took longer than a copy from RAM (1 ms and 250 MB/s), "
    "nothing is reported. In the counters, the rule `read-from-cache` recognizes the effect: the disks read "
    "less than fio did.",
    error="Too high for reads, by a factor of 2 to more than 100.",
    fix="make the files twice as large as the RAM, lower zfs_arc_max, or set direct=1 if it is honoured (do not set "
    "primarycache=metadata, which stops prefetch)",
    sources=(
        linux_source("6.12", "mm/filemap.c", "filemap_read"),
        fio_source("3.42", "filesetup.c", "__file_invalidate_cache, extend_file (create_fsync)"),
        zfs_source("2.3.0", "module/zfs/arc.c", "arc_read"),
        zfs_issue(6040),
        fio_issue(383),
        fio_issue(470),
        zfs_issue(9375),
    ),
    in_job=_in_job,
    options=("size", "filesize", "direct", "buffered"),
    fixed_options=_fixed_options,
    explains_lost={"read": "already in RAM: the file fits in it"},
    prepare=fill("256m"),
    commands="fio --rw=randread --bs=4k --size=256m --invalidate=0",
)
