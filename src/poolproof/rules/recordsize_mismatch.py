"""Requests smaller than the unit that the file system works in."""

from collections.abc import Iterable

from poolproof.evidence.model import Account
from poolproof.load.model import LoadPart
from poolproof.rules.flow import account
from poolproof.rules.model import Case, Finding, Rule
from poolproof.rules.naming import who
from poolproof.rules.path import is_zfs
from poolproof.rules.reproduction import script
from poolproof.units import format_size

_PAGE = 4096
_READS_OF_WRITER = 0.05
_AMPLIFIED = 2.0
_FIX = "for the disk's speed set recordsize or volblocksize to bs; for an application's speed leave it and report it"


def _unit(case: Case) -> int:
    """The unit that a request should be whole in: the record on ZFS, a page elsewhere."""
    record = case.target.record_bytes if case.target and is_zfs(case.target) else None
    return record or _PAGE


def _is_partial(job: LoadPart, unit: int) -> bool:
    """Whether requests cover parts of units that the ones beside them don't soon complete in RAM."""
    return job.block_bytes % unit != 0 and (job.is_random or (job.writes and unit == _PAGE))


def _in_job(case: Case) -> Iterable[Finding]:
    for job in case.load.parts:
        unit = _unit(case)
        if not job.may_use_page_cache or not _is_partial(job, unit) or job.commits_each_write:
            continue
        yield Finding(
            rule="recordsize-mismatch",
            effect="notes",
            message=f"{who(case, [job])} uses blocks of {format_size(job.block_bytes)} where the file system works in "
            f"{format_size(unit)}: the disks move up to {max(unit / job.block_bytes, 2):.0f} × as much, and writes "
            "read first",
            fix=_FIX,
            weight=40,
        )


def _in_result(case: Case) -> Iterable[Finding]:
    found = account(case)
    if found is None:
        return
    ratio = found.read_ratio
    if ratio is not None and ratio > _AMPLIFIED and any(job.is_random for job in case.load.parts):
        message = (
            f"fio read {format_size(found.fio_read_bytes)} at random places; the disks read "
            f"{format_size(found.leaf_read_bytes)}, {ratio:.2g} times as much: each request fetched a whole record"
        )
    elif _read_to_change(case, found):
        message = (
            f"fio only wrote ({format_size(found.fio_write_bytes)}), and the disks also read "
            f"{format_size(found.leaf_read_bytes)}: records or pages were read to be changed"
        )
    else:
        return
    yield Finding("recordsize-mismatch", "notes", message, _FIX, 45)


def _read_to_change(case: Case, found: Account) -> bool:
    partial = any(_is_partial(job, _unit(case)) for job in case.load.parts if job.writes)
    extra = found.leaf_read_bytes - found.idle_read_bytes_per_s * found.window_s
    return partial and not found.fio_read_bytes and extra > _READS_OF_WRITER * found.fio_write_bytes > 0


RULE = Rule(
    id="recordsize-mismatch",
    title="Requests smaller than a record",
    wrong="A file system that works in records of 128 KiB reads all of one to give 4 KiB of it, and reads it again to "
    "change 4 KiB. The figure is what an application gets, not what the disks can do.",
    shows="In a job: random blocks smaller than, or no multiple of, the ZFS record; writes that are no whole pages. In "
    "evidence: reads of more than twice what fio read, or reads of more than 5 % in a job that only writes.",
    error="Low as a measure of the disks, up to record / bs (32 times for 4 KiB in 128 KiB). Measured: 11,436 reads "
    "for 16 MiB of unaligned writes.",
    fix=_FIX,
    sources=("https://github.com/openzfs/zfs/issues/6040", "https://github.com/openzfs/zfs/issues/10830"),
    pitfall_numbers="#16, A4",
    in_job=_in_job,
    options=("bs", "bsrange", "bssplit", "bs_unaligned"),
    in_result=_in_result,
    cleared_by_byte_count=False,
    reproduce=script(
        trap="fio --name=trap --filename=trap --rw=randwrite --bs=2300 --size=64m --io_size=16m --end_fsync=1",
        before="fio --name=fill --filename=trap --rw=write --bs=1m --size=64m --refill_buffers --end_fsync=1",
    ),
)
