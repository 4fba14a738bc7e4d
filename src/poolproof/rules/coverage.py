"""Request accounting for the rules: whether the disks' requests cover the I/Os that fio counted.

Byte counts can prove a bandwidth, but not always IOPS and latency. A request may move more than an I/O asked for:
readahead does, and so does reading a whole ZFS record or page for a block of 512 bytes. The cache then serves many
later I/Os. So each I/O needs its own work at the disks. This work is counted in up to four ways, and the lowest count
decides:

- Requests, including merged ones. The kernel counts each merged request since Linux 5.10 (blk_account_io_merge_bio()
  and blk_account_io_merge_request() in block/blk-merge.c). Splitting at `max_sectors_kb`, journals and metadata only
  add requests. A write needs a request for each copy (`_copies`). ZFS and the page cache combine neighbouring blocks
  before the block layer sees them (vdev_queue_aggregate() in OpenZFS 2.1), and nothing counts that. Sequential I/O with
  fewer requests than I/Os is therefore unproven. Random I/O has no neighbouring blocks.
- The bytes of large I/Os. These are split at `max_sectors_kb` into many requests, so the number of requests does not
  show what is missing.
- The bytes of whole records, because ZFS verifies the checksum of a record as a whole (arc_read() in OpenZFS 2.1).
- Misses in the ARC (demand_data_misses and prefetch_data_misses in arcstats, and direct_read_count since 2.3).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from poolproof.evidence.model import Account
from poolproof.load.model import LoadPart
from poolproof.rules.flow import account, bytes_prove, cold_reads, stored_share
from poolproof.rules.model import Case, Effect
from poolproof.rules.path import goes_past_ram, is_zfs, writes_are_synchronous, writes_go_past_ram
from poolproof.rules.reported import Kind, ReportedDirection, parts
from poolproof.rules.tolerances import REFUTED, REQUESTS, REQUESTS_OF_EACH
from poolproof.units import format_count, format_number_of, format_size

_PAGE = 4096
_TREE_BLOCK = 16 * 1024  # the default of mkfs.btrfs(8)
_MAY_BE_SPLIT = 64 * 1024  # the smallest usual max_sectors_kb and stripe; smaller I/Os are not split


@dataclass(frozen=True)
class Coverage:
    """One way to count the disks' work: how many I/Os fio did, how much work they need, and how much was counted.

    `counted_text` describes the counted work in messages: "94 requests".
    """

    ios: int
    needed: float
    counted: float
    counted_text: str

    @property
    def ratio(self) -> float:
        return self.counted / self.needed

    @property
    def in_order(self) -> bool:
        return self.ratio >= REQUESTS

    @property
    def is_proof(self) -> bool:
        """True if enough I/Os caused their own work at the disks to prove IOPS and latencies."""
        return self.ratio >= REQUESTS_OF_EACH

    @property
    def effect(self) -> Effect:
        """The effect of a finding about a ratio that is too low."""
        return "refutes" if self.ratio < REFUTED else "suspects"


def random_reads(case: Case) -> Coverage | None:
    """Compare the random reads that should be cold with the disks' work.

    If the work was counted in several ways, return the comparison with the lowest ratio. Return None if there are no
    such reads, or if nothing was counted.
    """
    found = account(case)
    random = [part for part, job in _of(case, "read") if job is not None and job.is_random]
    ios = sum(part.figures.ios or 0 for part in random)
    if found is None or not case.cold or not ios:
        return None
    return min(_counts(case, found, random, ios), key=lambda each: each.ratio, default=None)


def _counts(case: Case, found: Account, random: list[ReportedDirection], ios: int) -> Iterator[Coverage]:
    record, moved = _record_bytes(case), sum(part.figures.io_bytes or 0 for part in random)
    requests = counted_requests(case, "read")
    if requests is not None:
        yield Coverage(ios, ios, requests, format_number_of(requests, "request"))
        if moved >= _MAY_BE_SPLIT * ios:
            text = f"{format_size(found.leaf_read_bytes)} of reads"
            yield Coverage(ios, moved * stored_share(case), found.leaf_read_bytes, text)
    if record is None or not moved:
        return
    if record * ios > moved:
        records = found.leaf_read_bytes / record
        text = f"{format_size(found.leaf_read_bytes)}, or {format_count(records)} records of {format_size(record)}"
        yield Coverage(ios, record * ios * stored_share(case), found.leaf_read_bytes, text)
    use = case.evidence.zfs if case.evidence else None
    if use is not None and use.data_misses is not None:
        blocks = max(ios, moved // record)
        yield Coverage(
            ios, blocks, use.data_misses, f"{format_number_of(use.data_misses, 'block')} that were not in the ARC"
        )


def _record_bytes(case: Case) -> int | None:
    """Return how many bytes ZFS reads at a time, or None on other file systems.

    A file that is smaller than a record is a single block.
    """
    if case.target is None or not is_zfs(case.target) or not case.target.record_bytes:
        return None
    largest = max((file.size_bytes for file in case.files), default=0)
    return min(case.target.record_bytes, largest) if largest else case.target.record_bytes


def _of(case: Case, kind: Kind) -> Iterator[tuple[ReportedDirection, LoadPart | None]]:
    for part in parts(case.outcome):
        if part.kind == kind:
            yield part, case.job_named(part.job.name)


def counted_requests(case: Case, kind: Kind) -> int | None:
    """Return the leaf devices' requests in one direction, including merged requests but not flushes.

    None if the counters show no request although the leaf devices moved bytes.
    """
    found, reads = account(case), kind == "read"
    requests = sum(leaf.read_ios if reads else leaf.write_ios for leaf in case.leaves)
    if found is None:
        return None
    if not requests:
        return None if (found.leaf_read_bytes if reads else found.leaf_write_bytes) else 0
    merged = sum((leaf.read_merges if reads else leaf.write_merges) or 0 for leaf in case.leaves)
    most = 0 if reads or _commits_by_request(case) else _most_flushes(case)
    flushes = sum(int(min(leaf.flush_ios or 0, most)) for leaf in case.leaves)
    return max(requests + merged - flushes, 0)


def _most_flushes(case: Case) -> float:
    """Return how many of a disk's flushes may be requests without data: all, or one for each write or sync.

    An fsync sends either such a request or a record of the journal. The record is a write with FUA: the kernel counts
    it as one request and, for a disk without FUA, as two flushes (blk_flush_policy() in Linux's block/blk-flush.c).
    """
    writing = list(_of(case, "write"))
    if all(job is not None and job.commits_each_write for _, job in writing):
        return sum(max(part.figures.ios or 0, part.job.syncs or 0) for part, _ in writing)
    return math.inf


def _commits_by_request(case: Case) -> bool:
    """True if every flush belongs to a write request, because direct writes with O_SYNC or O_DSYNC have FUA set.

    The kernel then counts the write and its flush as one request: blk_account_io_done() in Linux's block/blk-flush.c
    counts the request that contains the flush. An fsync, in contrast, sends a separate request without data.
    """
    writing = [job for _, job in _of(case, "write")]
    return all(
        job is not None and job.writes_are_synchronous and goes_past_ram(job, case.target) is True for job in writing
    )


def reads_reach_disks(case: Case) -> bool:
    """True if the disks' work covers every read that should be cold. This proves the reads' IOPS and latencies."""
    if not case.cold or not list(_of(case, "read")):
        return True
    if not bytes_prove(case, "read"):
        return False
    random, requests = random_reads(case), counted_requests(case, "read")
    if random is not None and not random.is_proof:
        return False
    if requests is None:
        return all(job is not None and goes_past_ram(job, case.target) for _, job in _of(case, "read"))
    return requests >= REQUESTS_OF_EACH * sum(part.figures.ios or 0 for part, _ in _of(case, "read"))


def writes_reach_disks(case: Case) -> bool:
    """True if, before fio ended, the disks did separate work for each copy of each write.

    Clones that commit at the same time may share a request, because a file system's journal and ZFS's intent log write
    their data together. Writes of whole ZFS records need no separate requests, because each record is stored in a
    separate place.
    """
    if not list(_of(case, "write")):
        return True
    if not bytes_prove(case, "write", of_commits=True):
        return False
    requests, needed = data_write_requests(case), write_requests_needed(case)
    if requests is None:
        return all(job is not None and writes_go_past_ram(case, job) is True for _, job in _of(case, "write"))
    return needed is not None and requests >= REQUESTS_OF_EACH * needed


def data_write_requests(case: Case) -> int | None:
    """Return the number of write requests, excluding btrfs's metadata, or None if they were not counted.

    btrfs writes each changed tree block to a new place (write_one_eb() in fs/btrfs/extent_io.c, Linux 6.12). Random
    writes change many tree blocks, and their requests would hide that data was combined or overwritten in RAM. The
    bytes written in addition to the data give a lower bound for the number of tree blocks. If writes leave RAM one by
    one, nothing is subtracted.
    """
    requests, found, block = counted_requests(case, "write"), account(case), _tree_block_bytes(case)
    if requests is None or found is None or block is None:
        return requests
    written = list(_of(case, "write"))
    if all(job is not None and (job.commits_each_write or goes_past_ram(job, case.target)) for _, job in written):
        return requests
    data = sum(max(part.figures.io_bytes or 0, _PAGE * (part.figures.ios or 0)) for part, _ in written)
    beyond = found.leaf_write_bytes - data * found.write_factor
    return max(0, requests - max(0, int(beyond / block)))


def _tree_block_bytes(case: Case) -> int | None:
    """Return the size of btrfs's metadata blocks, or None without btrfs.

    If the run did not record the size, it is assumed to be 16 KiB.
    """
    target = case.target
    return (target.tree_block_bytes or (_TREE_BLOCK if target.file_system == "btrfs" else None)) if target else None


def write_requests_needed(case: Case) -> float | None:
    """Return how many requests the writes need, on all disks together. None if a result's job is unknown."""
    needed, record = 0.0, _record_bytes(case)
    for part, job in _of(case, "write"):
        if job is None:
            return None
        if not (record and job.block_bytes % record == 0 and job.max_block_bytes % record == 0):
            commits_together = job.commits_each_write and goes_past_ram(job, case.target) is not True
            ios = (part.figures.ios or 0) / (case.load.clones if commits_together else 1)
            needed += ios * _copies(case, of_commits=commits_together)
    return needed


def _copies(case: Case, *, of_commits: bool) -> float:
    """Return the smallest number of requests that one write needs on all disks together: the write amplification.

    A mirror sends a request for each copy. Without this factor, two writes that were combined in RAM would look like
    two separate ones. With parity, a write needs at least its share of a full stripe, because neighbouring writes to a
    stripe update its parity together. Striping without parity stores each block once.
    """
    found = account(case)
    if found is None:
        return 1.0
    return min(found.write_factor, found.commit_factor or found.write_factor) if of_commits else found.write_factor


def writes_wait_for_disks(case: Case) -> bool:
    """True if each write returned only after its data had left RAM, so its latency is the disks' latency."""
    jobs = [job for _, job in _of(case, "write")]
    return all(
        job is not None and (writes_are_synchronous(case, job) or writes_go_past_ram(case, job) is True) for job in jobs
    )


def random_reads_in_order(case: Case) -> bool:
    """True if the disks' work covers the random reads that should be cold, or if there are none.

    If the work was not counted, this is true only if the reads bypass RAM, or if RAM is part of what is measured.
    """
    found = random_reads(case)
    if found is not None:
        return found.in_order
    random = [job for _, job in _of(case, "read") if job is not None and job.is_random]
    return not case.cold or all(goes_past_ram(job, case.target) is True for job in random)


def proves(case: Case) -> bool:
    """True if the byte accounting and the requests of random reads prove where the data went.

    If so, findings about caches that come from the job alone are dropped.
    """
    return bytes_prove(case) and (cold_reads(case) is None or random_reads_in_order(case))
