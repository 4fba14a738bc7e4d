"""How much smaller the target stores the data of a load, as a fraction of its original size."""

import math

from poolproof.load.model import LoadPart
from poolproof.rules.earlier import is_skewed
from poolproof.rules.model import Case
from poolproof.rules.path import is_zfs, writes_go_past_ram
from poolproof.rules.reported import parts, remembered

_PAGE, _SECTOR = 4096, 512
_BUFFERS_DIRECT_WRITES = (6, 15)  # Linux, on btrfs


@remembered
def stored_share(case: Case) -> float:
    """Return the stored size of the data that fio read, as a fraction of its original size.

    Without compression, the fraction is 1. With compression, it is measured when the file is filled. If that
    measurement is missing, the fraction is estimated from the compressibility of the data that the jobs write
    (buffer_compress_percentage); if the jobs only read, it is 1.
    """
    if not compresses(case):
        return 1.0
    found = case.evidence.account if case.evidence else None
    return found.stored_share if found and found.stored_share else written_share(case)


@remembered
def least_stored_share(case: Case) -> float:
    """Return the same fraction as `stored_share`, but assume that all reads come after all writes of the load.

    It is lower if the load rewrites its files with data that compresses better.
    """
    filled, written = stored_share(case), written_share(case)
    return filled - max(0.0, filled - written) * _rewritten_share(case)


def _rewritten_share(case: Case) -> float:
    """Return an upper bound for the fraction of the blocks to be read that the load itself has written."""
    read = {extent.file for job in case.jobs if job.reads for extent in job.extents}
    shares = [0.0]
    for part in parts(case.outcome):
        job = case.job_named(part.job.name) if part.kind == "write" else None
        if job is None or not (job.is_mixed or read & {extent.file for extent in job.extents}):
            continue
        bytes_each = (part.figures.io_bytes or 0) / part.job.clones
        is_uneven = not job.size_bytes or job.shares_one_file or is_skewed(job)
        shares.append(1.0 if is_uneven else min(1.0, bytes_each / (job.size_bytes or 1)))
    return max(shares)


def written_share(case: Case) -> float:
    """Return the expected size of fio's writes after compression, as a fraction of their original size.

    The fraction is derived from buffer_compress_percentage. If several jobs write, the lowest percentage applies. The
    result is at least 0.01. A compressed unit occupies whole sectors, so a 4 KiB record cannot shrink on a disk with 4
    KiB sectors.
    """
    writers = [job for job in case.load.parts if job.writes]
    if not compresses(case) or not writers or case.target is None:
        return 1.0
    share = max(1 - min(job.compress_percentage or 0 for job in writers) / 100, 0.01)
    unit, sector = case.target.record_bytes, _PAGE
    if is_zfs(case.target):
        sector = case.target.alignment_bytes or case.target.physical_block_bytes or _SECTOR
    elif unit and all(job.commits_each_write or writes_go_past_ram(case, job) is True for job in writers):
        unit = min(unit, *(job.block_bytes for job in writers))  # btrfs compresses each of these writes on its own
    return share if not unit else min(1.0, math.ceil(unit * share / sector) * sector / unit)


def stays_uncompressed(case: Case, job: LoadPart) -> bool:
    """True if btrfs does not compress the job's direct writes.

    Before Linux 6.15, it compresses none (fs/btrfs/direct-io.c), and since then, none of a single sector
    (compress_file_range() in fs/btrfs/inode.c). If the release is unknown, the result is True.
    """
    target = case.target
    if target is None or target.file_system != "btrfs" or not job.direct:
        return False
    is_buffered = target.kernel is not None and target.kernel >= _BUFFERS_DIRECT_WRITES
    return not (is_buffered and job.max_block_bytes > _PAGE)


def compresses(case: Case) -> bool:
    """True if the target compresses the data that is written to it."""
    return case.target is not None and case.target.compression not in (None, "", "off", "none", "no")
