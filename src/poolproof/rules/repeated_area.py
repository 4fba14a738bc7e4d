"""Computes the size of the area that a job reads or writes repeatedly, so that a disk's own buffer may serve it."""

from poolproof.load.model import LoadPart
from poolproof.rules.different_blocks import different_share, zone_passes
from poolproof.rules.fio_job import fio_job
from poolproof.rules.model import Case
from poolproof.rules.reported import ReportedDirection
from poolproof.rules.tolerances import WRITTEN

_FEWEST_BLOCKS = 2


def repeated_bytes(case: Case, part: ReportedDirection) -> float | None:
    """Return the size in bytes of the area that a part repeats, or None if it repeats few of its blocks."""
    job, ios = case.job_named(part.job.name), part.figures.ios or 0
    if job is None or not ios:
        return None
    each = ios / part.job.clones
    different = each * different_share(job, each) * _advance(job)
    if different >= WRITTEN * each:
        return None
    span = fio_job(job).number("zonerange") if zone_passes(job) > 1 else None
    return (span or max(1.0, different) * job.block_bytes) * job.clones


def keeps_order(job: LoadPart) -> bool:
    """True if a random job does its I/O in the order of its files or zones, each of which has at most two blocks.

    Such files are usually stored one after the other. The offsets leave no choice, so a disk needs no seeks. A
    time_based job with file_service_type=sequential never leaves its first file (measured with fio 3.33).
    """
    fio, most = fio_job(job), _FEWEST_BLOCKS * job.block_bytes
    order = (fio.text("file_service_type") or "roundrobin").partition(":")[0].strip()
    in_files = job.files > 1 and 0 < max((job.size_bytes or 0) / job.files, job.file_bytes) <= most
    is_strided = (fio.text("zonemode") or "strided").strip() == "strided" and bool(fio.number("zonesize"))
    in_zones = is_strided and 0 < (fio.number("zonerange") or 0) <= most and zone_passes(job) <= 1
    moves_on = order == "roundrobin" or (order == "sequential" and not job.time_based)
    return job.is_random and (in_zones or (in_files and moves_on))


def step_bytes(job: LoadPart) -> int:
    """Return the distance between the starts of two sequential I/Os: negative with `rw=read:-8k` and bs=4k."""
    return job.block_bytes + gap_bytes(job)


def gap_bytes(job: LoadPart) -> int:
    """Return the number of bytes that a sequential job skips after each I/O, which is negative if it goes back."""
    text = (fio_job(job).text("rw") or "").partition(":")[2].strip()
    size = fio_job(job).bytes_in("bs", text.removeprefix("-")) or 0
    return 0 if job.is_random else -size if text.startswith("-") else size


def _advance(job: LoadPart) -> float:
    """Return the fraction of each sequential block that the previous one did not cover."""
    return 1.0 if job.is_random else min(1.0, abs(step_bytes(job)) / job.block_bytes)
