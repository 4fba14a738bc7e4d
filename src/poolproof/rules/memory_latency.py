"""Reads that are faster than flash."""

from poolproof.rules.disk_requests import disk_requests, statistics_cover
from poolproof.rules.flow import cold_reads
from poolproof.rules.link_rates import PCIE3_X4, PCIE5_X4
from poolproof.rules.model import Case, Finding, Rule, suspects
from poolproof.rules.path import is_persistent_memory
from poolproof.rules.quoted import UNQUOTED
from poolproof.rules.reported import ReportedDirection, each_part
from poolproof.rules.service_time import faster_than, interval_ns, submission_ns, typical_ns
from poolproof.units import format_duration

_ANY_DISK_NS, _FLASH_NS, _MOST_FLASH_NS = 5_000.0, 10_000.0, 15_000.0
_AT_ONCE_NS = 1_000.0
_ANY_DISK_PERCENT, _FLASH_PERCENT, _MOST_FLASH_PERCENT = 10.0, 30.0, 50.0


def _in_part(case: Case, part: ReportedDirection) -> Finding | None:
    job, flow, quoted = case.job_named(part.job.name), cold_reads(case), case.quoted or UNQUOTED
    requests = disk_requests(case.outcome, "read")
    is_random = job.is_random if job is not None else "rand" in part.job.name.lower()
    if part.kind == "write" and case.cold:
        return _in_memory_too(case, part)
    if part.kind != "read" or not case.cold:
        return None
    if (flow and flow.in_order) or (requests and requests.in_order) or (job and is_persistent_memory(case, job)):
        return None
    same_ns, words = quoted.same_file_read
    if 0 < same_ns < _MOST_FLASH_NS and len(part.job.directions) == 1 and not quoted.has_fast_media:
        return suspects(f"{words}: no flash is that fast, so RAM served the reads of this file", weight=69)
    if not is_random:
        return _in_submission(case, part)
    # Buffered reads at the offsets that follow a random one come from readahead.
    read_ahead = 0.0 if job is None or job.direct else 100 * (1 - job.random_share)
    is_alone = len(part.job.directions) == 1
    is_one_at_a_time = job is not None and job.is_synchronous and job.queue_each <= 1 and part.completion is None
    interval = interval_ns(part, job) if is_one_at_a_time and part.figures.iops else None
    for limit_ns, percent, who in (
        (_ANY_DISK_NS, _ANY_DISK_PERCENT, "no disk"),
        (_FLASH_NS, _FLASH_PERCENT, "no flash"),
        (_MOST_FLASH_NS, _MOST_FLASH_PERCENT, "no flash"),
    ):
        by_interval = 0.0 if interval is None else 100 * (1 - interval / limit_ns)
        share = max(faster_than(part, limit_ns, is_alone=is_alone), by_interval) - read_ahead
        if share >= percent and not (who == "no flash" and quoted.has_fast_media):
            return suspects(
                f"{share:.3g}% of the random reads took less than {limit_ns / 1000:.0f} µs: {who} is that fast, so "
                "RAM served them",
                weight=70,
            )
    mean_ns = _mean_ns(part) if interval is None else interval
    if mean_ns and mean_ns < _MOST_FLASH_NS and not read_ahead and not quoted.has_fast_media:
        return suspects(
            f"a random read took {mean_ns / 1000:.3g} µs on average: no flash is that fast, so RAM served the reads",
            weight=70,
        )
    blocks = job is not None and job.depth > 1 and not job.is_synchronous and _blocks(part, job.depth)
    if blocks and submission_ns(part) < _FLASH_NS:
        return suspects(
            f"submission waits for each read, and a random read takes {submission_ns(part) / 1000:.2g} µs on average: "
            "no flash is that fast, so RAM served the reads",
            weight=70,
        )
    return None


def _in_memory_too(case: Case, part: ReportedDirection) -> Finding | None:
    """Return a finding for writes to a file whose random reads show that it is in RAM."""
    quoted = case.quoted or UNQUOTED
    same_ns, words = quoted.same_file_read
    if not 0 < same_ns < _FLASH_NS or len(part.job.directions) != 1 or quoted.has_fast_media:
        return None
    return suspects(
        f"{words}: no flash is that fast, so this file is in RAM, and the writes may not have reached a disk", weight=69
    )


def _mean_ns(part: ReportedDirection) -> float | None:
    """Return the mean latency in nanoseconds if the result shows only the mean, otherwise None."""
    is_only_mean = part.completion is not None and not part.completion.percentiles_ns and not part.job.latency_shares
    return typical_ns(part) if is_only_mean else None


def _in_submission(case: Case, part: ReportedDirection) -> Finding | None:
    """Return a finding if an asynchronous engine copied the data of the reads from RAM while it submitted them.

    Readahead makes sequential reads this fast as well, so these are reported only if a single clone reads faster than
    a drive on PCIe 3.0 x4.
    """
    job, figures = case.job_named(part.job.name), part.figures
    clat_ns = figures.clat.mean_ns if figures.clat else None
    is_direct = job is not None and job.direct and "direct" not in (case.quoted or UNQUOTED).assumed
    if is_direct or not clat_ns or clat_ns >= _AT_ONCE_NS or not submission_ns(part) or statistics_cover(case, "read"):
        return None
    size = job.block_bytes if job is not None else _block_bytes(part)
    each = (figures.bandwidth_bytes or 0.0) / max(part.job.clones, job.clones if job is not None else 1)
    is_readahead = job is not None and each <= PCIE3_X4
    if is_readahead or submission_ns(part) + clat_ns >= _FLASH_NS + 1e9 * size / PCIE5_X4:
        return None
    return suspects(
        f"on average, a read took {format_duration(submission_ns(part) / 1e9)} to submit and "
        f"{format_duration(clat_ns / 1e9)} to complete: the data was copied from RAM during submission",
        weight=66,
    )


def _block_bytes(part: ReportedDirection) -> float:
    moved, ios = part.figures.bandwidth_bytes, part.figures.iops
    return moved / ios if moved and ios else 0.0


def _blocks(part: ReportedDirection, depth: int) -> bool:
    """True if submitting `depth` I/Os takes about as long as the latency of a single I/O.

    This shows that each submission waits until its I/O has finished.
    """
    lat = part.figures.lat
    return lat is not None and lat.mean_ns is not None and submission_ns(part) >= 0.9 * lat.mean_ns / depth


RULE = Rule(
    title="Random reads faster than flash",
    wrong=(
        "A random read from flash takes 20 µs or more, because reading the flash page takes that long. Reads that are "
        "much faster came from memory, even if the median latency looks like that of a disk."
    ),
    shows=(
        "In a result without counters: at least 10% of the random reads took less than 5 µs, at least 30% took less "
        "than 10 µs, or at least 50% took less than 15 µs; or submission waits for each read and takes less than 10 "
        "µs. Reads that may be buffered are also reported if they complete within 1 µs on average and submission takes "
        "less than 10 µs plus the transfer over PCIe 5.0 x4, unless they are sequential and slower than 3.94 GB/s per "
        "clone. A mean latency is enough to detect this, because the share of reads that are slower than a limit is at "
        "most the mean divided by the limit. If only the mean is known, a mean below 15 µs is reported. In a summary "
        "of dbench or CrystalDiskMark, it makes the other tests suspect too, because they use the same file; for tests "
        "of writes, the limit is 10 µs. The limits of 10 and 15 µs do not apply if the text mentions Optane or Z-NAND. "
        "Persistent memory is excluded. Buffered reads are ignored to the extent that readahead can serve them (with "
        "`randread:8`, seven reads in eight)."
    ),
    error="Too high. Observed: 84,100 random reads/s at depth 1, of which 80% took 7 µs and 20% took 25 µs.",
    fix=(
        "use direct=1 and a file twice the size of the RAM, and run the job with poolproof, which reads the disks' "
        "counters"
    ),
    fix_if_direct="use a file twice the size of the RAM, and run the job with poolproof, which reads the disks' "
    "counters",
    sources=("data sheets: tR of 3D TLC 40 to 60 µs, of Z-NAND 3 µs plus the transfer and the controller",),
    in_result=each_part(_in_part),
    commands="fio --rw=randread --bs=4k --size=256m --ioengine=psync --invalidate=0",
)
