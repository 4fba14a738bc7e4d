"""Reads that may come from a warm cache."""

from poolproof.load.model import LoadPart
from poolproof.rules.fio_job import fio_job, is_fio_job
from poolproof.rules.memory_values import waited_for_disks
from poolproof.rules.model import Case, Findings, Rule, fill, fio_source, linux_source, suspects, zfs_issue, zfs_source
from poolproof.rules.path import (
    is_fuse,
    is_network,
    is_uncached_when_closed,
    is_zfs,
    may_end_in_ram,
    release_of,
)

_EVICTS = (2, 4, 2)
_EMPTY = (
    "empty the caches of every layer (ZFS: export and import the pool; FUSE: run sync and drop_caches, which also "
    "empties the caches of the branches; other file systems: remount; in a virtual machine: also drop the host's "
    "caches)"
)


def _in_job(case: Case) -> Findings:
    for job in case.jobs if case.cold and not waited_for_disks(case) else ():
        if reason := warm_start(case, job):
            yield suspects(f"{case.who([job])} may read from RAM: {reason}", fix=_fix(case, job))


def _fix(case: Case, job: LoadPart) -> str:
    """Return the suggested fix for the file system and the options of the job, or the rule's fix if it is unknown."""
    if not is_fio_job(job):
        return f"{_EMPTY} before the test"
    fio = fio_job(job)
    removed = "remove pre_read" if fio.flag("pre_read") else "" if job.invalidates_cache else "remove invalidate=0"
    if is_zfs(case.target):
        emptied = "export and import the pool before the job"
    elif is_fuse(case.target):
        emptied = "run sync and write 3 to drop_caches before the job, which also empties the caches below FUSE"
    elif is_network(case.target):
        emptied = "empty the server's cache before the job, or use much more data than fits into its RAM"
    else:
        return f"{removed}: fio then drops the file's pages before the job" if removed else ""
    return f"{removed}, and {emptied}" if removed else emptied


def warm_start(case: Case, job: LoadPart) -> str | None:
    """Return an explanation of why the file may still be in RAM when the job starts, or None if nothing suggests it."""
    if not job.reads or not may_end_in_ram(job, case.target):
        return None
    if not is_fio_job(job):
        return _reason_of_program(case)
    if fio_job(job).flag("pre_read"):
        return "pre_read=1 reads the whole file into RAM first"
    is_emptied = case.empties_arc_each_time if is_zfs(case.target) else case.drops_each_time
    if (is_emptied and not is_network(case.target)) or is_uncached_when_closed(job, case.target):
        return None
    if not job.invalidates_cache:
        return "invalidate=0 leaves the data of earlier reads and writes in RAM"
    if is_zfs(case.target):
        release = release_of(case.zfs)
        kept = "ZFS keeps its ARC despite invalidate=1"
        return (
            kept
            if release is None or release < _EVICTS
            else f"{kept}; even OpenZFS 2.4.2 and later empty only the dbuf cache"
        )
    if is_fuse(case.target):
        return "invalidate=1 does not reach the page cache of the file system below FUSE"
    return "invalidate=1 does not reach the server's cache" if is_network(case.target) else None


def _reason_of_program(case: Case) -> str | None:
    """Return the explanation for a program other than fio. None on a file system without a cache of its own."""
    if is_zfs(case.target):
        return "dropping the page cache does not empty ZFS's ARC"
    if is_fuse(case.target):
        return "the file system below FUSE has a page cache of its own"
    return "the server has a cache of its own" if is_network(case.target) else None


RULE = Rule(
    title="The cache is not cold",
    wrong="invalidate=1 drops the cached pages of a file on ext4, xfs and btrfs, but does not empty the caches of ZFS, "
    "FUSE and network file systems.",
    shows=(
        "In a job: buffered reads with pre_read=1 or invalidate=0, or buffered reads on ZFS, FUSE or a network file "
        "system. With invalidate=0, block devices are not reported: the kernel drops their pages when they are closed. "
        "A script that drops the caches before each run is reported only on network file systems and, unless it "
        "exports the pool, on ZFS. A result is not reported if 90% of its random reads took longer than a copy from "
        "RAM (1 ms and 250 MB/s)."
    ),
    error="Too high for reads. Measured on mergerfs with cache.files=off: no read reached the disk.",
    fix=f"{_EMPTY}, then use invalidate=1 without pre_read",
    sources=(
        fio_source("3.42", "filesetup.c", "__file_invalidate_cache"),
        fio_source("3.42", "init.c", "fixup_options (pre_read turns invalidate off)"),
        zfs_source("2.4.2", "module/os/linux/zfs/zpl_file.c", "zpl_fadvise (calls dmu_evict_range since this release)"),
        linux_source("6.12", "mm/fadvise.c", "generic_fadvise"),
        linux_source("6.12", "block/bdev.c", "blkdev_put_whole (blkdev_flush_mapping)"),
        zfs_issue(18684),
    ),
    in_job=_in_job,
    options=("pre_read", "invalidate", "filename", "directory", "rw"),
    fixed_options={"pre_read": None, "invalidate": None},
    needs="Run this on mergerfs or ZFS. Change `disk=` to the stat file of the branch's disk.",
    prepare=fill("256m"),
    commands="fio --rw=read --bs=1m --size=256m",
)
