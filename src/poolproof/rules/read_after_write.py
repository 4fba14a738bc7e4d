"""Buffered reads of data that an earlier job in the same input has just written."""

import math

from poolproof.load.model import LoadPart
from poolproof.rules.earlier import writers_of
from poolproof.rules.model import Case, Findings, Rule, fio_source, linux_source, suspects
from poolproof.rules.path import is_uncached_when_closed, may_end_in_ram, may_leave_dirty

_LARGE = 16 << 30


def _in_job(case: Case) -> Findings:
    for job in case.jobs if case.cold and not (case.drops_caches or case.drops_only_clean) else ():
        if not job.reads or job.writes or not may_end_in_ram(job, case.target):
            continue
        if is_uncached_when_closed(job, case.target):
            continue
        writers = list(writers_of(case, job))
        if writers and _remains(case, writers[-1], job):
            why = (
                "and invalidate=1 does not drop its dirty pages"
                if job.invalidates_cache
                else "and invalidate=0 keeps it"
            )
            yield suspects(
                f"{case.who([job])} reads what job `{writers[-1].name}` has just written, {why}: the data is still in "
                "RAM",
                weight=60,
            )


def _remains(case: Case, writer: LoadPart, reader: LoadPart) -> bool:
    """True if the written data is still in the page cache when the second job reads it.

    The data must be smaller than twice the RAM. In addition, it must be dirty, or the second job must keep the cached
    pages (invalidate=0).
    """
    ram, size = case.target.ram_bytes if case.target else None, case.load.unique_bytes
    if ram and size and size >= 2 * ram:
        return False
    if not reader.invalidates_cache and may_end_in_ram(writer, case.target):
        return True
    return may_leave_dirty(writer, case.target) and not _was_written_back(case, writer, reader)


def _was_written_back(case: Case, writer: LoadPart, reader: LoadPart) -> bool:
    """True if the writer went on for more than the dirty limit behind the part of the file that the reader reads."""
    limit = (case.target.dirty_limit_bytes if case.target else None) or _LARGE
    if writer.is_random or any(each.scale != "bytes" for each in (*writer.extents, *reader.extents)):
        return False
    ends = {each.file: each.end for each in writer.extents}
    behind = [ends[each.file] - each.end for each in reader.extents if each.file in ends]
    return bool(behind) and all(limit <= each < math.inf for each in behind)


RULE = Rule(
    title="Reading data that was just written",
    wrong="A buffered write leaves its data in RAM, and a read that follows finds it there. fio's invalidate=1 drops "
    "only clean pages. Without a sync, the pages of the write are still dirty, so they stay in RAM.",
    shows="In a job file or script: a buffered read of a file that an earlier job or fio command wrote through the "
    "page cache, with no command in between that drops the caches. If the reading job does not set invalidate=0, this "
    "applies only to writes without a sync, and not if the write continued behind the part that is read for more than "
    "the dirty limit (or 16 GiB if that is unknown). Files at least twice the size of the RAM are not reported, and "
    "neither are block devices, because the kernel drops their pages when the writer closes them.",
    error="Too high for the reads, by a factor of 2 to more than 100.",
    fix="end the write with end_fsync=1, and drop the caches (sync; echo 3 > /proc/sys/vm/drop_caches) before the "
    "read, or read with direct=1",
    sources=(
        linux_source("6.12", "mm/truncate.c", "mapping_try_invalidate (skips dirty folios)"),
        linux_source("6.12", "block/bdev.c", "blkdev_put_whole (blkdev_flush_mapping)"),
        fio_source("3.42", "filesetup.c", "__file_invalidate_cache"),
    ),
    in_job=_in_job,
    options=("filename", "directory", "rw"),
    explains_lost={"read": "still in RAM: an earlier command had just written it"},
    prepare="fio --name=w --filename=trap --rw=write --bs=1m --size=256m",
    commands="fio --rw=read --bs=1m --size=256m",
)
