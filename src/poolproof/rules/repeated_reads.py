"""Determines whether RAM may have served reads, although the counters show that the disks read enough data."""

import math

from poolproof.load.model import LoadPart, sharers_at_once
from poolproof.rules.different_blocks import zone_passes
from poolproof.rules.earlier import is_skewed
from poolproof.rules.fio_job import fio_job
from poolproof.rules.flow import account, has_parity
from poolproof.rules.model import Case
from poolproof.rules.path import is_fuse, is_zfs, may_end_in_ram
from poolproof.rules.repeated_area import gap_bytes
from poolproof.rules.reported import parts
from poolproof.rules.stored_share import compresses
from poolproof.rules.tolerances import READ

_PAGE = 4096
_MOST_AHEAD = 4 << 20  # the readahead window of btrfs; that of other file systems is usually 128 KiB


def hides_cached_reads(case: Case) -> bool:
    """True if RAM may have served reads, although the disks read as many bytes as the load.

    RAM serves data that is read again shortly afterwards: a zone that is read several times (zonesize above zonerange),
    blocks that overlap (`rw=read:-4k`), a file that is read several times without being dropped from RAM, and the bytes
    of a file that clones or jobs share. Normally, the disks then read fewer bytes than the load. This cannot be seen if
    they also read data that the load did not ask for (`_reads_more`). Random reads are counted one by one, but what
    other jobs cause (for example, prefetch) is part of the count.
    """
    if not case.cold:
        return False
    if _repeats(case) and any(_reads_more(case, job) for job in case.jobs):
        return True
    return any(
        _repeats_random(case, job) and any(_reads_more(case, other) for other in case.jobs if other is not job)
        for job in case.jobs
    )


def _repeats_random(case: Case, job: LoadPart) -> bool:
    """True if the job reads the same random blocks several times through RAM, which keeps them."""
    if not (job.reads and job.is_random and may_end_in_ram(job, case.target)):
        return False
    return is_skewed(job) or _keeps_passes(case, job)


def was_read_before(case: Case) -> bool:
    """True if fio read a job's files just before the job (pre_read), and RAM may have served any of the jobs' reads.

    fio's result does not include these reads, but they may be in the counters, which start before fio. They hide the
    reads of other jobs from RAM too, and with direct=1, they bypass RAM, so the disks always do them.
    """
    reads_before = any(fio_job(job).flag("pre_read") for job in case.jobs)
    return case.cold and reads_before and any(job.reads and may_end_in_ram(job, case.target) for job in case.jobs)


def are_read_ahead(case: Case) -> bool:
    """True if readahead may have loaded the data of sequential reads before fio asked for it.

    The disks then do all the work, but a read may take only as long as a copy from RAM, for example if a job pauses
    between its reads (thinktime, rate).
    """
    return case.cold and any(
        job.reads and (not job.is_random or job.random_share < 1) and may_end_in_ram(job, case.target)
        for job in case.jobs
    )


def are_read_around(case: Case) -> bool:
    """True if the kernel read more data around random reads, so later reads may have found their data in RAM.

    More than one request for each read then proves nothing, because the data that was read around a random read is
    split into several requests (for example, at stripes).
    """
    found = account(case)
    jobs = [job for job in case.jobs if job.reads and job.is_random and may_end_in_ram(job, case.target)]
    if found is None or not case.cold or is_zfs(case.target) or not any(_reads_around(case, job) for job in jobs):
        return False
    reading = [part.figures for part in parts(case.outcome) if part.kind == "read"]
    asked = sum(max(each.io_bytes or 0, _PAGE * (each.ios or 0)) for each in reading)
    return asked < READ * found.leaf_read_bytes


def _repeats(case: Case) -> bool:
    again = any(
        zone_passes(job) * READ > 1 or gap_bytes(job) < 0 or _keeps_passes(case, job)
        for job in case.jobs
        if _reads_in_order_through_ram(case, job)
    )
    return again or any(_share_bytes(case, number) for number in range(len(case.load.phases)))


def _share_bytes(case: Case, number: int) -> bool:
    """True if a job of this phase reads sequentially what another job or clone brings into RAM."""
    phases = case.load.phases
    readers = [job for job in phases[number] if _reads_in_order_through_ram(case, job)]
    keeps = any(_keeps_ram(case, job) for job in readers)
    earlier = [job for phase in phases[:number] if keeps for job in phase]
    others = [job for job in (*earlier, *phases[number]) if may_end_in_ram(job, case.target)]
    return bool(readers) and sharers_at_once(others) > 1


def _keeps_passes(case: Case, job: LoadPart) -> bool:
    """True if the job read its file several times, and RAM kept the file in between.

    Before each pass of a time_based job, fio drops the file from the page cache (loop_cache_invalidate() in fio's
    io_u.c). This does not reach the ARC or the file systems below FUSE. Other passes drop it only with invalidate=1.
    """
    moved = _moved_by(case, job)
    is_kept = (not job.time_based and _keeps_ram(case, job)) or is_zfs(case.target) or is_fuse(case.target)
    return is_kept and moved * READ > (job.size_bytes or math.inf) * job.clones


def _moved_by(case: Case, job: LoadPart) -> int:
    """Return the number of bytes that the job and its clones read."""
    return sum(
        part.figures.io_bytes or 0 for part in parts(case.outcome) if part.kind == "read" and part.job.name == job.name
    )


def _keeps_ram(case: Case, job: LoadPart) -> bool:
    """True if what is in RAM of the job's files stays there when fio opens them."""
    return not job.invalidates_cache or is_zfs(case.target) or is_fuse(case.target)


def _reads_in_order_through_ram(case: Case, job: LoadPart) -> bool:
    return job.reads and not job.is_random and may_end_in_ram(job, case.target)


def _reads_more(case: Case, job: LoadPart) -> bool:
    """True if the disks may read data for this job that it did not ask for.

    This is the rest of a page, record, compressed extent or stripe, or data that was read ahead and not used.
    """
    is_random_read, through_ram = job.reads and job.is_random, may_end_in_ram(job, case.target)
    if job.writes and _has_parity_or_copies(case):
        return True
    unit = _PAGE if through_ram else 1
    if case.target is not None and (is_zfs(case.target) or compresses(case)):
        unit = case.target.record_bytes or unit
    in_part = job.block_bytes % unit != 0 or job.max_block_bytes % unit != 0
    if in_part and (job.writes or is_random_read):
        return True
    return through_ram and job.reads and (_reads_around(case, job) if job.is_random else _reads_beyond(case, job))


def _has_parity_or_copies(case: Case) -> bool:
    """True if a write to a part of a stripe may have to read the rest of it.

    In older runs, parity and copies cannot be told apart: raid6 over four disks writes each byte twice, as a mirror
    does.
    """
    found = account(case)
    if case.target is not None and case.target.has_parity is not None:
        return has_parity(case)
    return found is None or found.write_factor > 1


def _reads_around(case: Case, job: LoadPart) -> bool:
    """True if the kernel may read more around random reads, because fio does not announce them as random.

    With ioengine=mmap, each page fault then reads up to read_ahead_kb. FUSE does not pass the announcement on.
    """
    return fio_job(job).options.get("fadvise_hint", "1") not in ("1", "random") or is_fuse(case.target)


def _reads_beyond(case: Case, job: LoadPart) -> bool:
    """True if readahead may read much data of a sequential job that the job does not use.

    It goes on where a job skips data, and beyond the place in each file where the job stops.
    """
    if gap_bytes(job) or fio_job(job).number("zonesize"):
        return True
    unread = max(0.0, (job.size_bytes or math.inf) * job.clones - _moved_by(case, job))
    most = min(unread, job.files * job.clones * _MOST_AHEAD)
    return most > (1 - READ) * sum(_moved_by(case, each) for each in case.jobs)
