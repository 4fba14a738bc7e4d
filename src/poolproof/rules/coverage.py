"""Request accounting for the rules: whether the disks did enough work for the I/Os that fio counted.

Byte counts can prove a bandwidth, but they cannot always prove IOPS and latency. A request may move more than fio asked
for, for example because of readahead, or because ZFS reads a whole record for a block of 512 bytes. A cache then serves
many of the following I/Os. Therefore, the disks must have done separate work for each I/O. This work is counted in up
to five ways, and the lowest count decides:

- Requests, including merged ones, which the kernel counts individually since Linux 5.10 (blk_account_io_merge_bio() and
  blk_account_io_merge_request() in block/blk-merge.c). Splitting at `max_sectors_kb`, journals and metadata can only
  add requests. ZFS and the page cache combine neighbouring blocks above
  the block layer, where no counter sees it (vdev_queue_aggregate() in OpenZFS 2.1). Sequential I/O with fewer requests
  than I/Os is therefore unproven. Random I/O has no neighbouring blocks to combine.
- The bytes of large I/Os. These are split into many requests at `max_sectors_kb`, so even a sufficient number of
  requests does not show that all I/Os reached the disks.
- The bytes of whole records, because ZFS reads a whole record to verify its checksum (arc_read() in OpenZFS 2.1).
- Misses in the ARC (demand_data_misses and prefetch_data_misses in arcstats, plus direct_read_count since 2.3).
- The reads themselves: those that took less time than the fastest disk needs came from RAM. The other counts can miss
  such reads if other I/O of the load causes many requests, such as large direct reads in another job.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from poolproof.evidence.model import Account
from poolproof.load.model import LoadPart
from poolproof.rules.fio_job import has_copied_clock
from poolproof.rules.flow import account, bytes_prove, cold_reads, copy_devices, has_parity, reads_as_filled
from poolproof.rules.model import Case, Effect
from poolproof.rules.path import (
    goes_past_ram,
    is_persistent_memory,
    is_zfs,
    may_end_in_ram,
)
from poolproof.rules.reported import Kind, ReportedDirection, parts
from poolproof.rules.service_time import submission_ns
from poolproof.rules.stored_share import least_stored_share
from poolproof.rules.tolerances import REFUTED, REQUESTS, REQUESTS_OF_EACH
from poolproof.units import format_count, format_duration, format_number_of, format_size

_PAGE = 4096
_MAY_BE_SPLIT = 64 * 1024  # the smallest usual max_sectors_kb and stripe; smaller I/Os are not split
_FASTEST_DISK_NS = 4000.0  # Optane, polled

PartOfLoad = tuple[ReportedDirection, LoadPart | None]
"""What a job read or wrote, and the job itself, or None if it is unknown."""


@dataclass(frozen=True)
class Coverage:
    """A comparison of fio's I/Os with the disks' work: the number of I/Os, the work they need, and the work counted.

    `counted_text`: the counted work as text for messages, e.g. "94 requests".
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
        """True if the disks did separate work for enough I/Os to prove the IOPS and latencies."""
        return self.ratio >= REQUESTS_OF_EACH

    @property
    def effect(self) -> Effect:
        """The effect of a finding that reports that the ratio is too low."""
        return "refutes" if self.ratio < REFUTED else "suspects"


def random_reads(case: Case, *, by_bytes: bool = False) -> Coverage | None:
    """Compare the disks' work with the random reads that caches should not have served.

    If the work was counted in several ways, the comparison with the lowest ratio is returned. Returns None if there are
    no such reads or the work was not counted.

    `by_bytes`: reads that were too fast for a disk count in proportion to their bytes, as they do in a bandwidth.
    """
    found = account(case)
    random = [part for part, job in parts_of(case, "read") if job is not None and job.is_random]
    ios = sum(part.figures.ios or 0 for part in random)
    if found is None or not case.cold or not ios:
        return None
    counts = (*_counts(case, found, random, ios), *_slow_enough(case, random, ios, by_bytes=by_bytes))
    return min(counts, key=lambda each: each.ratio, default=None)


def _counts(case: Case, found: Account, random: list[ReportedDirection], ios: int) -> Iterator[Coverage]:
    record, moved = record_bytes(case), sum(part.figures.io_bytes or 0 for part in random)
    requests = counted_requests(case, "read")
    if requests is not None:
        yield Coverage(ios, ios, requests, format_number_of(requests, "request"))
        if moved >= _MAY_BE_SPLIT * ios:
            text = f"{format_size(found.leaf_read_bytes)} of reads"
            yield Coverage(ios, moved * least_stored_share(case), found.leaf_read_bytes, text)
    if record is None or not moved:
        return
    if record * ios > moved:
        records = found.leaf_read_bytes / record
        text = f"{format_size(found.leaf_read_bytes)}, or {format_count(records)} records of {format_size(record)}"
        yield Coverage(ios, record * ios * least_stored_share(case), found.leaf_read_bytes, text)
    use = case.evidence.zfs if case.evidence else None
    if use is not None and use.data_misses is not None:
        blocks = max(ios, moved // record)
        yield Coverage(
            ios, blocks, use.data_misses, f"{format_number_of(use.data_misses, 'block')} that were not in the ARC"
        )


def _slow_enough(case: Case, random: list[ReportedDirection], ios: int, *, by_bytes: bool) -> Iterator[Coverage]:
    """Yield the number of reads that were slow enough to come from a disk, unless all of them were.

    Submission is part of a read's time. Only its mean is known, so it is added to each read.
    """
    if has_copied_clock(case.jobs):
        return
    fast, whole, missed = 0.0, 0.0, 0.0
    for part in random:
        job, bins = case.job_named(part.job.name), part.completion.bins_ns if part.completion else {}
        weight = (part.figures.io_bytes if by_bytes else part.figures.ios) or 0
        whole += weight
        if bins and job is not None and not is_persistent_memory(case, job):
            limit_ns = _FASTEST_DISK_NS - submission_ns(part)
            share = sum(count for time_ns, count in bins.items() if time_ns < limit_ns) / sum(bins.values())
            fast += share * (part.figures.ios or 0)
            missed += share * weight
    if missed:
        text = f"{format_count(ios - fast)} reads that took at least {format_duration(_FASTEST_DISK_NS / 1e9)}"
        yield Coverage(ios, whole, whole - missed, text)


def record_bytes(case: Case) -> int | None:
    """Return the number of bytes that ZFS reads at a time, or None on other file systems.

    This is the record size, or the size of the largest file if that is smaller.
    """
    if case.target is None or not is_zfs(case.target) or not case.target.record_bytes:
        return None
    largest = max((file.size_bytes for file in case.files), default=0)
    return min(case.target.record_bytes, largest) if largest else case.target.record_bytes


def parts_of(case: Case, kind: Kind) -> Iterator[PartOfLoad]:
    """Yield what each job read or wrote."""
    for part in parts(case.outcome):
        if part.kind == kind:
            yield part, case.job_named(part.job.name)


def counted_requests(case: Case, kind: Kind) -> int | None:
    """Return the number of read or write requests of all leaf devices, including merged requests but excluding flushes.

    Writes to devices that store only copies are not counted.

    Returns None if the requests were not counted. This is also assumed if the leaf devices moved bytes but show no
    requests.
    """
    found, reads = account(case), kind == "read"
    copies = frozenset[str]() if reads else copy_devices(case)
    leaves = [leaf for leaf in case.leaves if leaf.device not in copies]
    requests = sum(leaf.read_ios if reads else leaf.write_ios for leaf in leaves)
    if found is None:
        return None
    if not requests:
        return None if (found.leaf_read_bytes if reads else found.leaf_write_bytes) else 0
    merged = sum((leaf.read_merges if reads else leaf.write_merges) or 0 for leaf in leaves)
    most = 0 if reads or _commits_by_request(case) else _most_flushes(case)
    flushes = sum(int(min(leaf.flush_ios or 0, most)) for leaf in leaves)
    return max(requests + merged - flushes, 0)


def _most_flushes(case: Case) -> float:
    """Return the maximum number of a disk's flushes that may be separate requests without data.

    If every job commits each write, this is the number of writes or of syncs, whichever is larger; otherwise, it is
    infinite. An fsync either sends such a request or writes a journal record with FUA. The kernel counts that record as
    one request and, if the disk does not support FUA, as two flushes (blk_flush_policy() in Linux's block/blk-flush.c).
    """
    writing = list(parts_of(case, "write"))
    if all(job is not None and job.commits_each_write for _, job in writing):
        return sum(max(part.figures.ios or 0, part.job.syncs or 0) for part, _ in writing)
    return math.inf


def _commits_by_request(case: Case) -> bool:
    """True if no flush is a separate request, because all writes are direct and use O_SYNC or O_DSYNC, which sets FUA.

    The kernel counts such a write and its flush as a single request (blk_account_io_done() in Linux's
    block/blk-flush.c). An fsync, in contrast, sends a separate request without data.
    """
    writing = [job for _, job in parts_of(case, "write")]
    return all(
        job is not None and job.writes_are_synchronous and goes_past_ram(job, case.target) is True for job in writing
    )


def reads_reach_disks(case: Case) -> bool:
    """True if the disks did enough work for every read that caches should not have served.

    This proves the IOPS and latencies of the reads.
    """
    if not case.cold or not list(parts_of(case, "read")):
        return True
    if not bytes_prove(case, "read") or not compressed_reads_in_order(case):
        return False
    random, requests = random_reads(case), counted_requests(case, "read")
    if (random is not None and not random.is_proof) or not all_bytes_were_read(case):
        return False
    if requests is None:
        return all(job is not None and goes_past_ram(job, case.target) for _, job in parts_of(case, "read"))
    requests -= merged_after_readahead(case)
    if requests < REQUESTS_OF_EACH * sum(part.figures.ios or 0 for part, _ in parts_of(case, "read")):
        return False
    left = left_for_cached_reads(case)
    return left is None or left.is_proof


def all_bytes_were_read(case: Case) -> bool:
    """True if the disks read at least 95% of the bytes, or if the requests of random reads show enough without them.

    Random reads through RAM may be split into pages or stripes: with the engine mmap, each page of a block is a request
    of its own. As many requests as reads do not show that all of these reads reached the disks. ZFS is left out,
    because it reads whole records.
    """
    flow = cold_reads(case)
    is_split = any(
        job is not None and job.is_random and job.max_block_bytes > _PAGE and may_end_in_ram(job, case.target)
        for _, job in parts_of(case, "read")
    )
    return flow is None or not is_split or is_zfs(case.target) or flow.ratio >= REQUESTS_OF_EACH


def merged_after_readahead(case: Case) -> int:
    """Return the number of merged read requests if sequential reads go through the page cache, and 0 otherwise.

    Readahead combines such reads before a layer splits the result, for example at the stripes of btrfs or md. The block
    layer merges the pieces again, so merges do not show that each read had a request of its own. ZFS is an exception:
    it reads each record on its own.
    """
    is_combined = any(
        job is not None and (job.is_sequential or job.random_share < 1) and may_end_in_ram(job, case.target)
        for _, job in parts_of(case, "read")
    )
    return sum(leaf.read_merges or 0 for leaf in case.leaves) if is_combined and not is_zfs(case.target) else 0


def left_for_cached_reads(case: Case) -> Coverage | None:
    """Compare the reads that RAM could have served with the requests that other I/O of the load cannot have caused.

    Other I/O means three things: reads that bypass RAM, which are split if they are large, large reads of other jobs
    through RAM, whose bytes are counted, and writes that change only a part of a page, record or stripe, so that the
    rest has to be read first. Returns None if RAM could not have served any reads, if the load had no other I/O, or if
    the requests were not counted.
    """
    reading, requests = list(parts_of(case, "read")), counted_requests(case, "read")
    past = past_or_large(reading, [job is not None and goes_past_ram(job, case.target) is True for _, job in reading])
    ios = sum(part.figures.ios or 0 for (part, _), is_past in zip(reading, past, strict=True) if not is_past)
    others = float(sum(most_pieces(part) for (part, _), is_past in zip(reading, past, strict=True) if is_past))
    others += sum(_most_reads_first(case, part, job) for part, job in parts_of(case, "write"))
    if requests is None or not ios or not others:
        return None
    use = case.evidence.zfs if case.evidence else None
    counted = requests if use is None or use.data_misses is None else min(requests, use.data_misses)
    left = max(0.0, counted - others)
    return Coverage(ios, ios, left, format_number_of(int(left), "request"))


def past_or_large(parts: Sequence[PartOfLoad], past_ram: Sequence[bool]) -> list[bool]:
    """Return for each part whether its requests must be told apart from those of small I/Os through RAM.

    These parts bypass RAM, or their I/Os are large and share the page cache with the small I/Os of other parts. One
    large I/O causes several requests, which would hide that RAM served or combined small ones. `past_ram`: whether each
    part bypasses RAM.
    """
    large = [(part.figures.io_bytes or 0) > _MAY_BE_SPLIT * (part.figures.ios or 0) for part, _ in parts]
    has_small = any(not is_past and not is_large for is_past, is_large in zip(past_ram, large, strict=True))
    return [is_past or (has_small and is_large) for is_past, is_large in zip(past_ram, large, strict=True)]


def most_pieces(part: ReportedDirection) -> int:
    """Return the largest usual number of requests for the I/Os of a part that are not combined."""
    ios, moved = part.figures.ios or 0, part.figures.io_bytes or 0
    return ios if moved <= _MAY_BE_SPLIT * ios else ios + moved // _MAY_BE_SPLIT


def _most_reads_first(case: Case, part: ReportedDirection, job: LoadPart | None) -> float:
    """Return the largest usual number of reads that the writes caused, because they changed only a part of a block."""
    found, ios = account(case), part.figures.ios or 0
    if job is None or found is None:
        return math.inf
    if has_parity(case):
        return math.inf
    unit = record_bytes(case) or (_PAGE if may_end_in_ram(job, case.target) else 1)
    if job.block_bytes % unit == 0 and job.max_block_bytes % unit == 0:
        return 0
    if job.is_sequential:
        return (part.figures.io_bytes or 0) / unit + job.clones  # the next write finds the rest in RAM
    return ios if unit % job.max_block_bytes == 0 else 2 * ios  # a block that does not fit may begin and end in a page


def random_reads_in_order(case: Case) -> bool:
    """True if the disks did enough work for the random reads that caches should not have served.

    Also true without such reads. If the work was not counted, each of these reads must be known to bypass RAM.
    """
    found = random_reads(case, by_bytes=True)
    if found is not None:
        return found.in_order
    random = [job for _, job in parts_of(case, "read") if job is not None and job.is_random]
    return not case.cold or all(goes_past_ram(job, case.target) is True for job in random)


def proves(case: Case) -> bool:
    """True if the byte accounting and the requests for random reads prove that the data came from or reached the disks.

    Findings about caches that rest on the job alone are then dropped.
    """
    in_order = bytes_prove(case) and compressed_reads_in_order(case)
    return in_order and (cold_reads(case) is None or random_reads_in_order(case))


def compressed_reads_in_order(case: Case) -> bool:
    """True unless it is unknown how many bytes had to be read, because the load rewrote compressed data.

    The number of bytes is not needed if each read is a random one with a request of its own.
    """
    flow = reads_as_filled(case) if case.cold else None
    if flow is None or flow.in_order:
        return True
    reading, requests = list(parts_of(case, "read")), counted_requests(case, "read")
    is_small = all(job is not None and job.is_random and job.max_block_bytes < _MAY_BE_SPLIT for _, job in reading)
    ios = sum(part.figures.ios or 0 for part, _ in reading)
    left = left_for_cached_reads(case)
    return is_small and (requests or 0) >= REQUESTS_OF_EACH * ios and (left is None or left.is_proof)
