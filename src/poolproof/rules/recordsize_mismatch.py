"""I/Os that do not consist of whole records or pages of the file system."""

from poolproof.evidence.model import Account
from poolproof.load.model import LoadPart
from poolproof.rules.flow import account
from poolproof.rules.model import Case, Findings, Rule, fill, linux_source, notes, zfs_issue, zfs_source
from poolproof.rules.path import is_zfs, is_zvol, may_end_in_ram
from poolproof.units import format_number, format_size

_PAGE = 4096
_DEFAULT_RECORD = 128 * 1024
_DEFAULT_VOLUME_BLOCK = 16 * 1024
_FIX = "set recordsize or volblocksize to the value of bs to measure the disks; otherwise, report the record size"
_FIX_OF_PAGES = "use a bs that is a multiple of 4k, or also report the bytes that the disks moved"


def _unit(case: Case) -> int:
    """Return the size in bytes of the unit that the file system reads and writes: a record on ZFS, otherwise a page.

    If the size of a record is unknown, it is the default of OpenZFS 2.2 and later.
    """
    if case.target is None or not is_zfs(case.target):
        return _PAGE
    return case.target.record_bytes or (_DEFAULT_VOLUME_BLOCK if is_zvol(case.target) else _DEFAULT_RECORD)


def _is_partial(job: LoadPart, unit: int) -> bool:
    """True if I/Os cover only part of a unit, and no neighbouring I/O soon follows to complete the unit in RAM."""
    return job.block_bytes % unit != 0 and job.is_random


def _uses_units(case: Case, job: LoadPart) -> bool:
    """True if the job's I/O makes the file system move whole records or pages.

    Direct I/O moves sectors instead, except on ZFS.
    """
    return job.may_use_page_cache and (is_zfs(case.target) or may_end_in_ram(job, case.target))


def _name(case: Case) -> str:
    return "record" if is_zfs(case.target) else "page"


def _fix(case: Case) -> str:
    return _FIX if is_zfs(case.target) else _FIX_OF_PAGES


def _in_job(case: Case) -> Findings:
    unit, name = _unit(case), _name(case)
    is_known = case.target is not None and case.target.file_system != "unknown"
    reads = "the file system reads and writes" if is_known else "most file systems read and write"
    for job in case.jobs:
        if _uses_units(case, job) and _is_partial(job, unit) and (job.reads or not job.commits_each_write):
            rest = ", and a write has to read the rest first" if job.writes else ""
            yield notes(
                f"{case.who([job])} uses random blocks of {format_size(job.block_bytes)}, but {reads} whole {name}s of "
                f"{format_size(unit)}: the disks move up to {max(unit / job.block_bytes, 2):.0f} times as much{rest}",
                weight=40,
                fix=_fix(case),
            )


def _in_result(case: Case) -> Findings:
    found = account(case)
    if found is None:
        return
    ratio, read = found.read_ratio, format_size(found.leaf_read_bytes)
    if ratio is not None and ratio > 2 and any(_is_partial(job, _unit(case)) and job.reads for job in case.jobs):
        yield notes(
            f"{case.generator} read {format_size(found.fio_read_bytes)} at random offsets; the disks read {read}, "
            f"{format_number(ratio)} times as much: each I/O read a whole {_name(case)}",
            weight=45,
            fix=_fix(case),
        )
    elif _reads_to_change(case, found):
        yield notes(
            f"{case.generator} only wrote ({format_size(found.fio_write_bytes)}), but the disks also read {read}: "
            f"before a part of a {_name(case)} is changed, the rest has to be read",
            weight=45,
            fix=_fix(case),
        )


def _reads_to_change(case: Case, found: Account) -> bool:
    unit = _unit(case)
    is_partial = any(
        _uses_units(case, job) and (_is_partial(job, unit) or (unit == _PAGE and job.block_bytes % unit != 0))
        for job in case.jobs
        if job.writes
    )
    extra = found.leaf_read_bytes - found.idle_read_bytes_per_s * found.window_s
    is_changed = is_partial and not case.load.makes_new_files  # a new file has no old data that must be read first
    return is_changed and not found.fio_read_bytes and extra > 0.05 * found.fio_write_bytes > 0


RULE = Rule(
    title="I/Os smaller than a record",
    wrong="ZFS with 128 KiB records reads a whole record to return 4 KiB of it, and also to change 4 KiB of it. Other "
    "file systems do the same with pages of 4 KiB. The result is what an application gets, not what the disks can do.",
    shows="In a job: random I/O with a block size that is not a multiple of the recordsize of ZFS (128 KiB if it is "
    "unknown) or, for buffered I/O on other file systems, of the page size. In the counters: with such a job, the "
    "disks read more than twice as many bytes as fio, or a job that only writes causes reads of more than 5% of its "
    "bytes.",
    error="Lower than the disks can deliver, by a factor of up to record / bs (128 KiB / 4 KiB = 32). Measured: a job "
    "that only wrote 16 MiB caused 11,436 reads.",
    fix=_FIX,
    sources=(
        zfs_source("2.3.0", "module/zfs/dbuf.c", "dmu_buf_will_dirty (reads the record before a partial write)"),
        linux_source("6.12", "fs/buffer.c", "__block_write_begin_int (reads the page before a partial write)"),
        zfs_source("2.2.0", "include/sys/fs/zfs.h", "SPA_OLD_MAXBLOCKSIZE, ZVOL_DEFAULT_BLOCKSIZE (the defaults)"),
        zfs_issue(6040),
        zfs_issue(10830),
    ),
    in_job=_in_job,
    options=("bs", "bsrange", "bssplit", "bs_unaligned"),
    in_result=_in_result,
    cleared_by_byte_count=False,
    prepare=fill("64m"),
    commands="fio --rw=randwrite --bs=2300 --size=64m --io_size=16m --end_fsync=1",
)
