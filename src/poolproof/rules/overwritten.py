"""Determines whether a count of bytes can hide that data was overwritten in RAM."""

from poolproof.load.model import LoadPart, sharers_at_once
from poolproof.rules.different_blocks import different_share
from poolproof.rules.flow import has_parity
from poolproof.rules.model import Case
from poolproof.rules.path import commits_writes, is_zfs, may_end_in_ram
from poolproof.rules.reported import ReportedDirection, parts
from poolproof.rules.stored_share import compresses
from poolproof.rules.tolerances import WRITTEN

_PAGE = 4096
_GROUP_S = 5.0  # the default of zfs_txg_timeout


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
    sharers, in_group = _sharers(case, job), is_zfs(case.target)
    if commits_writes(case, job) and of_commits:
        return 1.0
    if job.commits_each_write and not in_group:
        return different_share(job, sharers)
    if job.sync_every and not in_group:
        return 1.0
    blocks = max(1.0, job.size_bytes / job.block_bytes)
    each = _writes_in_group(part) if in_group else min((part.figures.ios or 0) / part.job.clones, blocks)
    if each <= 0:
        return 1.0
    by_others = (1 - pow(1 - min(1.0, each / blocks), sharers)) * blocks / (each * sharers)
    return min(different_share(job, max(1.0, each * sharers)), by_others if job.is_random else 1 / sharers)


def _writes_in_group(part: ReportedDirection) -> float:
    """Return how many writes of each clone ZFS may collect in one transaction group.

    A block that is written again in the same group is stored once, even if a sync has already written both versions to
    the intent log. On other file systems, a sync writes the blocks themselves, and fio drops the file from the page
    cache after a pass of random offsets, which writes them too.
    """
    ran_s = (part.figures.runtime_ms or 0) / 1000
    return (part.figures.ios or 0) / part.job.clones * (min(1.0, _GROUP_S / ran_s) if ran_s else 1.0)


def _sharers(case: Case, job: LoadPart) -> int:
    """Return the largest number of clones that write the same bytes as this job before these leave RAM.

    If fio does not drop the file when it opens it (invalidate=0), the job also finds what earlier jobs left in RAM.
    """
    phases = case.load.phases
    number = next(index for index, phase in enumerate(phases) if any(part is job for part in phase))
    earlier = [] if job.invalidates_cache else [part for phase in phases[:number] for part in phase]
    others = [
        part
        for part in (*(part for part in earlier if not part.syncs_at_end), *phases[number])
        if part is not job and part.writes and may_end_in_ram(part, case.target) and _overlap(job, part)
    ]
    return sharers_at_once((job, *others))


def _overlap(first: LoadPart, second: LoadPart) -> bool:
    return any(
        (one.file, one.scale) == (other.file, other.scale) and one.start < other.end and other.start < one.end
        for one in first.extents
        for other in second.extents
    )


def _adds_bytes(case: Case) -> bool:
    """True if the disks may write more bytes for the load than the layout's write amplification accounts for.

    The bytes that one job adds can hide the missing bytes of another, because the disks count them together.
    """
    target = case.target
    if target is None:
        return False
    copies = is_zfs(target) or target.file_system == "btrfs" or target.tree_block_bytes is not None
    if has_parity(case):
        return True  # with parity, a full stripe is assumed, and a write to a part of one writes more
    if target.journals_in_ram:
        return True  # each block is written to the journal and, later, to its place
    if copies or compresses(case) or "data=journal" in target.mount_options:
        return True
    return any(
        _writes_in_parts(case, job) or job.commits_each_write or job.sync_every for job in case.jobs if job.writes
    )


def _writes_in_parts(case: Case, job: LoadPart) -> bool:
    """True if the job writes parts of pages through RAM, which writes whole pages."""
    in_parts = job.block_bytes % _PAGE != 0 or job.max_block_bytes % _PAGE != 0
    return in_parts and may_end_in_ram(job, case.target)
