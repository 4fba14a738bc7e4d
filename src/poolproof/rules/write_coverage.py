"""Request accounting for writes: whether the disks did separate work for each copy of each write.

A write needs one request per copy. The requests are counted as `coverage.py` describes.
"""

from poolproof.load.model import LoadPart
from poolproof.rules.coverage import (
    Coverage,
    counted_requests,
    most_pieces,
    parts_of,
    past_or_large,
    record_bytes,
)
from poolproof.rules.flow import account, bytes_prove, copy_devices
from poolproof.rules.model import Case
from poolproof.rules.path import (
    commits_writes,
    goes_past_ram,
    is_zfs,
    may_end_in_ram,
    writes_are_synchronous,
    writes_go_past_ram,
)
from poolproof.rules.reported import ReportedDirection
from poolproof.rules.tolerances import REQUESTS_OF_EACH
from poolproof.units import format_number_of

_PAGE = 4096
_TREE_BLOCK = 16 * 1024  # the default of mkfs.btrfs(8)
_MOST_OF_COMMIT = 8  # ext4's journal: a descriptor, a few metadata blocks and a commit record


def writes_reach_disks(case: Case) -> bool:
    """True if the disks did separate work for each copy of each write before fio ended.

    Two kinds of writes need fewer requests. Clones that commit at the same time may share a request, because a file
    system's journal and ZFS's intent log combine their data. Whole ZFS records need no separate requests, because each
    record is stored at a new location.
    """
    if not list(parts_of(case, "write")):
        return True
    if not bytes_prove(case, "write", of_commits=True):
        return False
    requests, needed = data_write_requests(case), write_requests_needed(case)
    if requests is None:
        return all(job is not None and writes_go_past_ram(case, job) is True for _, job in parts_of(case, "write"))
    if needed is None or requests < REQUESTS_OF_EACH * needed:
        return False
    left = left_for_cached_writes(case)
    return left is None or left.is_proof


def left_for_cached_writes(case: Case) -> Coverage | None:
    """Compare the writes that RAM could have combined with the requests that other writes cannot have caused.

    Other writes bypass RAM, are large, which means that they are split into several requests, or are committed, which
    means that they also write a journal. Returns None if there are not both kinds of writes, or if the requests were
    not counted.
    """
    written = list(parts_of(case, "write"))
    past_ram = [job is not None and writes_go_past_ram(case, job) is True for _, job in written]
    others = past_or_large(written, past_ram)
    has_uncommitted = any(
        not is_other and job is not None and not job.sync_every and not writes_are_synchronous(case, job)
        for (_, job), is_other in zip(written, others, strict=True)
    )
    ios, needed, past = 0, 0.0, 0.0
    for (part, job), is_other in zip(written, others, strict=True):
        journal = _most_journal_requests(case, part, job) if has_uncommitted else 0
        if is_other or journal:
            past += (most_pieces(part) + journal) * _copies(case, of_commits=False)
        else:
            ios += part.figures.ios or 0
            needed += _requests_needed(case, part, job) or 0.0
    requests = data_write_requests(case)
    if requests is None or not needed or not past:
        return None
    left = max(0.0, requests - past)
    return Coverage(ios, needed, left, format_number_of(int(left), "request"))


def _most_journal_requests(case: Case, part: ReportedDirection, job: LoadPart | None) -> int:
    """Return the largest usual number of requests, in addition to the data, with which a part commits its writes."""
    if job is None or not (job.sync_every or writes_are_synchronous(case, job)):
        return 0
    return _MOST_OF_COMMIT * ((part.figures.ios or 0) // (job.sync_every or 1))


def data_write_requests(case: Case) -> int | None:
    """Return the number of write requests that show separate writes, or None if requests were not counted.

    Two kinds of requests do not: those for btrfs's metadata, and those that the block layer merged after writes had
    been combined in RAM.
    """
    requests = counted_requests(case, "write")
    if requests is None:
        return None
    return max(0, requests - tree_blocks(case) - merged_in_ram(case))


def tree_blocks(case: Case) -> int:
    """Return a lower bound on the number of requests for the metadata of btrfs.

    btrfs writes each changed tree block to a new location (write_one_eb() in fs/btrfs/extent_io.c, Linux 6.12). Random
    writes change many tree blocks, and the requests for these would conceal that data was combined or overwritten in
    RAM. The number is computed from the bytes written in addition to the data. It is 0 if the writes leave RAM one by
    one.
    """
    found, block, written = account(case), _tree_block_bytes(case), list(parts_of(case, "write"))
    if found is None or block is None:
        return 0
    if all(job is not None and (commits_writes(case, job) or goes_past_ram(job, case.target)) for _, job in written):
        return 0
    data = sum(max(part.figures.io_bytes or 0, _PAGE * (part.figures.ios or 0)) for part, _ in written)
    beyond = found.leaf_write_bytes - data * found.write_factor
    return min(max(0, int(beyond / block)), counted_requests(case, "write") or 0)


def merged_in_ram(case: Case) -> int:
    """Return the number of merged write requests if the page cache combined writes, and 0 otherwise.

    Random writes have no neighbours to be merged with, unless they wait in RAM and are written in the order of their
    offsets. Sequential writes are combined in RAM too. Merges then only show that a layer split the data again: btrfs
    and md at their stripes, and block devices and ext4's data=journal into pages (block_write_full_folio() in
    fs/buffer.c, Linux 6.12). ZFS writes each record on its own, so merges of its sequential writes count.
    """
    is_combined = any(
        job is not None
        and (job.is_random or not is_zfs(case.target))
        and not commits_writes(case, job)
        and may_end_in_ram(job, case.target)
        and writes_go_past_ram(case, job) is not True
        for _, job in parts_of(case, "write")
    )
    copies = copy_devices(case)
    return sum(leaf.write_merges or 0 for leaf in case.leaves if leaf.device not in copies) if is_combined else 0


def _tree_block_bytes(case: Case) -> int | None:
    """Return the size of btrfs's metadata blocks in bytes, or None on other file systems.

    The default is 16 KiB, in case the run did not record the size.
    """
    target = case.target
    return (target.tree_block_bytes or (_TREE_BLOCK if target.file_system == "btrfs" else None)) if target else None


def write_requests_needed(case: Case) -> float | None:
    """Return the number of requests that the writes need on all disks together, or None if a job is unknown."""
    needed = [_requests_needed(case, part, job) for part, job in parts_of(case, "write")]
    known = [each for each in needed if each is not None]
    return sum(known) if len(known) == len(needed) else None


def _requests_needed(case: Case, part: ReportedDirection, job: LoadPart | None) -> float | None:
    record = record_bytes(case)
    if job is None:
        return None
    if record and job.block_bytes % record == 0 and job.max_block_bytes % record == 0:
        return 0.0
    commits_together = commits_writes(case, job) and goes_past_ram(job, case.target) is not True
    ios = (part.figures.ios or 0) / (case.load.clones if commits_together else 1)
    return ios * _copies(case, of_commits=commits_together)


def _copies(case: Case, *, of_commits: bool) -> float:
    """Return the write amplification: the minimum number of requests that one write needs on all disks together.

    A mirror sends one request per copy. Without this factor, two writes that were combined in RAM would look like two
    separate ones. With parity, a write needs at least its share of a full stripe, because neighbouring writes can
    update the parity of their stripe together. Striping without parity stores each block once.
    """
    found = account(case)
    if found is None:
        return 1.0
    return min(found.write_factor, found.commit_factor or found.write_factor) if of_commits else found.write_factor


def writes_wait_for_disks(case: Case) -> bool:
    """True if each write returned only after its data had left RAM, so that its latency includes that of the disks."""
    jobs = [job for _, job in parts_of(case, "write")]
    return all(
        job is not None and (writes_are_synchronous(case, job) or writes_go_past_ram(case, job) is True) for job in jobs
    )
