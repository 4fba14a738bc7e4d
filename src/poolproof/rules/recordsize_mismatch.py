"""I/Os smaller than the file system's record."""

from poolproof.evidence.model import Account
from poolproof.load.model import LoadPart
from poolproof.rules.flow import account
from poolproof.rules.model import Case, Findings, Rule, fill, notes, zfs_issue
from poolproof.rules.path import is_zfs
from poolproof.units import format_size

_PAGE = 4096


def _unit(case: Case) -> int:
    """Return the bytes that the file system reads and writes as a unit: a record on ZFS, a page elsewhere."""
    return (case.target.record_bytes if case.target and is_zfs(case.target) else None) or _PAGE


def _is_partial(job: LoadPart, unit: int) -> bool:
    """True if each I/O leaves some unit incomplete, and no neighbouring I/O soon completes that unit in RAM."""
    return job.block_bytes % unit != 0 and (job.is_random or (job.writes and unit == _PAGE))


def _in_job(case: Case) -> Findings:
    unit = _unit(case)
    for job in case.jobs:
        if job.may_use_page_cache and _is_partial(job, unit) and not job.commits_each_write:
            yield notes(
                f"{case.who([job])} uses blocks of {format_size(job.block_bytes)}, but the file system works in units "
                f"of {format_size(unit)}: the disks move up to {max(unit / job.block_bytes, 2):.0f} times as much, and "
                "writes have to read first",
                weight=40,
            )


def _in_result(case: Case) -> Findings:
    found = account(case)
    if found is None:
        return
    ratio, read = found.read_ratio, format_size(found.leaf_read_bytes)
    if ratio is not None and ratio > 2 and any(job.is_random for job in case.jobs):
        yield notes(
            f"fio read {format_size(found.fio_read_bytes)} at random offsets; the disks read {read}, {ratio:.2g} times "
            "as much: each I/O read a whole record",
            weight=45,
        )
    elif _reads_to_change(case, found):
        yield notes(
            f"fio only wrote ({format_size(found.fio_write_bytes)}), but the disks also read {read}: to change a part "
            "of a record or page, the file system had to read it first",
            weight=45,
        )


def _reads_to_change(case: Case, found: Account) -> bool:
    is_partial = any(_is_partial(job, _unit(case)) for job in case.jobs if job.writes)
    extra = found.leaf_read_bytes - found.idle_read_bytes_per_s * found.window_s
    return is_partial and not found.fio_read_bytes and extra > 0.05 * found.fio_write_bytes > 0


RULE = Rule(
    title="I/Os smaller than a record",
    wrong="A file system with 128 KiB records reads a whole record to return 4 KiB of it, and also to change 4 KiB of "
    "it. The result is what an application gets, not what the disks can do.",
    shows="In a job: random blocks that are not multiples of the ZFS record, or writes that are not multiples of a "
    "page. In the counters: the disks read more than twice what fio read, or a write-only job causes reads of more "
    "than 5 % of its bytes.",
    error="Too low for the disks, by a factor of up to record / bs (128 KiB / 4 KiB = 32). Measured: 11,436 reads for "
    "16 MiB written.",
    fix="set recordsize or volblocksize to bs if you want to measure the disks; otherwise keep the record size and "
    "report it",
    sources=(zfs_issue(6040), zfs_issue(10830)),
    in_job=_in_job,
    options=("bs", "bsrange", "bssplit", "bs_unaligned"),
    in_result=_in_result,
    cleared_by_byte_count=False,
    prepare=fill("64m"),
    commands="fio --rw=randwrite --bs=2300 --size=64m --io_size=16m --end_fsync=1",
)
