"""Determines whether a count of bytes can hide that data was overwritten in RAM."""

from poolproof.load.model import LoadPart
from poolproof.rules.different_blocks import different_share
from poolproof.rules.model import Case
from poolproof.rules.path import is_zfs, may_end_in_ram
from poolproof.rules.reported import ReportedDirection, parts
from poolproof.rules.stored_share import compresses
from poolproof.rules.tolerances import WRITTEN

_PAGE = 4096


def hidden_share(case: Case, *, of_commits: bool = False) -> float | None:
    """Return the fraction of the writes that go to different blocks, or None if the bytes prove that they left RAM.

    A block that is written again while it is in RAM reaches the disks once. Normally, the disks then write fewer bytes
    than the load. This cannot be seen if the disks also write other data: whole pages for parts of a page, the trees of
    a copy-on-write file system, the journal for each sync, or data that is compressed less than expected. Returns None
    if few writes repeat blocks, or if the bytes would show it. Jobs that sync after a number of writes are left out,
    because `rewritten-before-sync` reports them.

    `of_commits`: leave out writes that are committed one by one, because each of them is an I/O of its own.
    """
    shares = [
        share
        for part in parts(case.outcome)
        if part.kind == "write" and (job := case.job_named(part.job.name)) is not None
        if (share := _share(case, job, part, of_commits=of_commits)) < WRITTEN
    ]
    return min(shares, default=None)


def _share(case: Case, job: LoadPart, part: ReportedDirection, *, of_commits: bool) -> float:
    if not may_end_in_ram(job, case.target) or not job.size_bytes or not _adds_bytes(case):
        return 1.0
    sharers = job.clones if job.shares_one_file else 1
    if job.commits_each_write:
        return 1.0 if of_commits else different_share(job, sharers)
    if job.sync_every:
        return 1.0
    # after a pass of random offsets, fio drops the file from the page cache, which writes it
    each = min((part.figures.ios or 0) / part.job.clones, job.size_bytes / job.block_bytes)
    return different_share(job, max(1.0, each * sharers))


def _adds_bytes(case: Case) -> bool:
    """True if the disks may write more bytes for the load than the layout's write amplification accounts for.

    The bytes that one job adds can hide the missing bytes of another, because the disks count them together.
    """
    target = case.target
    if target is None:
        return False
    copies = is_zfs(target) or target.file_system == "btrfs" or target.tree_block_bytes is not None
    if copies or compresses(case) or "data=journal" in target.mount_options:
        return True
    return any(
        _writes_in_parts(case, job) or job.commits_each_write or job.sync_every for job in case.jobs if job.writes
    )


def _writes_in_parts(case: Case, job: LoadPart) -> bool:
    """True if the job writes parts of pages through RAM, which writes whole pages."""
    in_parts = job.block_bytes % _PAGE != 0 or job.max_block_bytes % _PAGE != 0
    return in_parts and may_end_in_ram(job, case.target)
