"""Determines whether RAM may have served sequential reads, although the counters show that the disks read the data."""

import math
from collections.abc import Iterator

from poolproof.load.model import Load, LoadPart
from poolproof.rules.different_blocks import zone_passes
from poolproof.rules.fio_job import fio_job
from poolproof.rules.model import Case
from poolproof.rules.path import is_fuse, is_zfs, may_end_in_ram
from poolproof.rules.reported import parts
from poolproof.rules.tolerances import READ

_PAGE = 4096


def hides_cached_reads(case: Case) -> bool:
    """True if RAM may have served sequential reads, although the disks read as many bytes as the load.

    RAM serves data that is read again shortly afterwards: a zone that is read several times (zonesize above zonerange),
    blocks that overlap (`rw=read:-4k`), a file that is read several times without being dropped from RAM, and the bytes
    of a file that clones share. Normally, the disks then read fewer
    bytes than the load. This cannot be seen if they also read data that the load did not ask for: readahead goes on
    where a job skips data, and blocks that are not whole pages or records cause reads of whole ones. Random reads are
    left out, because they are counted one by one.
    """
    through_ram = [job for job in case.jobs if may_end_in_ram(job, case.target)]
    return case.cold and _repeats(case) and any(_reads_more(case, job) for job in through_ram)


def was_read_before(case: Case) -> bool:
    """True if fio read a job's files into RAM just before the job (pre_read).

    fio's result does not include these reads, but they may be in the counters, which start before fio.
    """
    return case.cold and any(
        job.reads and fio_job(job).flag("pre_read") and may_end_in_ram(job, case.target) for job in case.jobs
    )


def are_read_ahead(case: Case) -> bool:
    """True if readahead may have loaded the data of sequential reads before fio asked for it.

    The disks then do all the work, but a read may take only as long as a copy from RAM, for example if a job pauses
    between its reads (thinktime, rate).
    """
    return case.cold and any(
        job.reads and (not job.is_random or job.random_share < 1) and may_end_in_ram(job, case.target)
        for job in case.jobs
    )


def _repeats(case: Case) -> bool:
    phases = [tuple(_sequential_readers(case, phase)) for phase in case.load.phases]
    again = any(
        zone_passes(job) * READ > 1 or _gap(job).startswith("-") or _keeps_passes(case, job)
        for phase in phases
        for job in phase
    )
    return again or any(Load(phase).sharers > 1 for phase in phases)


def _keeps_passes(case: Case, job: LoadPart) -> bool:
    """True if the job read its file several times, and RAM kept the file in between.

    Before each pass of a time_based job, fio drops the file from the page cache (loop_cache_invalidate() in fio's
    io_u.c). This does not reach the ARC or the file systems below FUSE. Other passes drop it only with invalidate=1.
    """
    moved = sum(
        part.figures.io_bytes or 0 for part in parts(case.outcome) if part.kind == "read" and part.job.name == job.name
    )
    is_dropped = job.time_based or job.invalidates_cache
    is_kept = not is_dropped or is_zfs(case.target) or is_fuse(case.target)
    return is_kept and moved * READ > (job.size_bytes or math.inf) * job.clones


def _sequential_readers(case: Case, phase: tuple[LoadPart, ...]) -> Iterator[LoadPart]:
    yield from (job for job in phase if job.reads and not job.is_random and may_end_in_ram(job, case.target))


def _reads_more(case: Case, job: LoadPart) -> bool:
    """True if the disks may read data for this job that it did not ask for."""
    if job.reads and not job.is_random and (_gap(job) or fio_job(job).number("zonesize")):
        return True
    unit = (case.target.record_bytes if case.target and is_zfs(case.target) else None) or _PAGE
    in_part = job.block_bytes % unit != 0 or job.max_block_bytes % unit != 0
    return in_part and (job.writes or (job.reads and job.is_random))


def _gap(job: LoadPart) -> str:
    """Return the distance between two sequential I/Os as written, e.g. `4k` for `rw=read:4k`, or an empty string."""
    gap = (fio_job(job).text("rw") or "").partition(":")[2].strip()
    return "" if job.is_random or gap.strip("-0") == "" else gap
