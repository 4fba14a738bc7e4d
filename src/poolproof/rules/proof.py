"""Defines which counters prove each metric: bytes for bandwidth, requests for IOPS and latencies, flushes for syncs."""

import math
from collections.abc import Callable, Mapping

from poolproof.metrics import BYTES_PER_S, IOS_PER_S, METRICS, MetricId, Of, Unit, metric_of, rates_of
from poolproof.rules.commits import commits
from poolproof.rules.coverage import (
    compressed_reads_in_order,
    random_reads_in_order,
    reads_reach_disks,
)
from poolproof.rules.earlier import different_blocks, has_no_map, is_skewed
from poolproof.rules.flow import account, bytes_prove
from poolproof.rules.merged_directions import is_merged, merged_bytes_prove, merged_requests_prove
from poolproof.rules.model import Case
from poolproof.rules.overwritten import hidden_share
from poolproof.rules.repeated_reads import are_read_ahead, are_read_around, hides_cached_reads, was_read_before
from poolproof.rules.reported import ReportedDirection, parts, remembered
from poolproof.rules.tolerances import FLUSHED, STORED_BY_SYNCS
from poolproof.rules.write_coverage import writes_reach_disks, writes_wait_for_disks

LATENCIES: tuple[MetricId, ...] = tuple(metric.id for metric in METRICS if metric.is_of_ios)
"""The latency percentiles of reads, of writes, and of reads and writes combined."""

LATENCIES_OF_BOTH: tuple[MetricId, ...] = tuple(metric.id for metric in METRICS if metric.of == "ios")
"""The latency percentiles of reads and writes combined."""

READ_LATENCIES: tuple[MetricId, ...] = tuple(
    metric.id for metric in METRICS if metric.is_of_ios and metric.of == "read"
)
"""The latency percentiles of reads alone."""

WRITE_LATENCIES: tuple[MetricId, ...] = tuple(
    metric.id for metric in METRICS if metric.is_of_ios and metric.of == "write"
)
"""The latency percentiles of writes alone."""

LATENCIES_WITH_READS: tuple[MetricId, ...] = (*LATENCIES_OF_BOTH, *READ_LATENCIES)
"""The latency percentiles of reads, and of reads and writes combined."""

LATENCIES_WITH_WRITES: tuple[MetricId, ...] = (*LATENCIES_OF_BOTH, *WRITE_LATENCIES)
"""The latency percentiles of writes, and of reads and writes combined."""

SYNCS: tuple[MetricId, ...] = tuple(metric.id for metric in METRICS if metric.of == "syncs")
"""The latency percentiles of fsync and fdatasync calls."""

OF_COMMITS: tuple[MetricId, ...] = (*rates_of("all", "write"), *SYNCS)
"""The metrics that describe jobs that sync after each write."""

OF_READS: tuple[MetricId, ...] = (*rates_of("all", "read"), *LATENCIES_WITH_READS)
"""The metrics in which reads are counted."""

IOPS_AND_LATENCIES_OF_READS: tuple[MetricId, ...] = (
    *(rate for rate in rates_of("all", "read") if metric_of(rate).unit == IOS_PER_S),
    *LATENCIES_WITH_READS,
)
"""The metrics of `OF_READS` that readahead can raise although the disks read all bytes."""

OF_WRITES: tuple[MetricId, ...] = (*rates_of("all", "write"), *LATENCIES_WITH_WRITES)
"""The metrics in which writes are counted."""


def may_lack_copies(case: Case) -> bool:
    """True if the result includes writes, and its counters are quoted in a text.

    The layout's write amplification is then unknown, so the writes may not have reached every disk.
    """
    outcome = case.outcome
    return case.quoted is not None and outcome is not None and any(part.write is not None for part in outcome.parts)


def _read_bandwidth(case: Case) -> bool:
    return bytes_prove(case, "read") and _reads_in_order(case)


def _reads_in_order(case: Case) -> bool:
    """True if the bytes of the reads mean what they seem to: no other bytes hide reads that RAM served."""
    return random_reads_in_order(case) and compressed_reads_in_order(case) and not _may_be_cached(case)


def _write_bandwidth(case: Case) -> bool:
    return bytes_prove(case, "write") and not may_lack_copies(case) and hidden_share(case) is None


def _bandwidth(case: Case) -> bool:
    if is_merged(case):
        return merged_bytes_prove(case)
    in_order = bytes_prove(case) and _reads_in_order(case)
    return in_order and not may_lack_copies(case) and hidden_share(case) is None


def _iops(case: Case) -> bool:
    if is_merged(case):
        return merged_requests_prove(case)
    in_order = bytes_prove(case, of_commits=True) and _reads_reach_disks(case) and writes_reach_disks(case)
    return in_order and not may_lack_copies(case) and hidden_share(case, of_commits=True) is None


def _reads(case: Case) -> bool:
    return bytes_prove(case, "read") and _reads_reach_disks(case)


def _reads_reach_disks(case: Case) -> bool:
    return reads_reach_disks(case) and not _may_be_cached(case) and not are_read_around(case)


def _may_be_cached(case: Case) -> bool:
    return hides_cached_reads(case) or was_read_before(case)


def _writes(case: Case) -> bool:
    in_order = bytes_prove(case, "write", of_commits=True) and writes_reach_disks(case)
    return in_order and not may_lack_copies(case) and hidden_share(case, of_commits=True) is None


def _latency(case: Case) -> bool:
    return _iops(case) and writes_wait_for_disks(case) and not are_read_ahead(case)


def _read_latency(case: Case) -> bool:
    return _reads(case) and not are_read_ahead(case)


def _syncs(case: Case) -> bool:
    found = commits(case)
    durable = found is not None and found.ratio is not None and found.ratio >= FLUSHED
    if syncs_other_files(case):
        return False
    return durable and (bytes_prove(case, "write", of_commits=True) or _each_sync_is_stored(case))


def syncs_other_files(case: Case) -> bool:
    """True if a job with several files syncs during the run: a sync may be for a file without new data."""
    return any(job.sync_every and job.writes and job.files > 1 for job in case.jobs)


def _each_sync_is_stored(case: Case) -> bool:
    """True if the disks received at least the blocks that the syncs had to store, even if RAM absorbed other writes.

    For example, with fsync=4 on a file of a single block, three out of four writes never leave RAM, but each sync
    stores the block.
    """
    found = account(case)
    written = [part for part in parts(case.outcome) if part.kind == "write"]
    if found is None or not written or case.load.shares_one_file:
        return False
    needed = found.write_factor * sum(_stored_bytes(case, part) for part in written)
    return found.leaf_write_bytes >= STORED_BY_SYNCS * needed


def _stored_bytes(case: Case, part: ReportedDirection) -> float:
    """Return the number of bytes that a job's syncs had to store, or infinity if unknown.

    A sync has to store each block that was written since the previous sync, but only once.
    """
    job, ios, moved = case.job_named(part.job.name), part.figures.ios, part.figures.io_bytes
    if job is None or not job.sync_every or not ios or not moved or not job.size_bytes:
        return math.inf
    block = moved / ios
    blocks = max(1.0, job.size_bytes / block)
    distinct = min(job.sync_every, blocks)
    if is_skewed(job) or has_no_map(job):
        distinct = different_blocks(blocks, job.sync_every)
    return ios / job.sync_every * distinct * block


_PROOFS_OF_RATES: Mapping[tuple[Of, Unit], Callable[[Case], bool]] = {
    ("all", IOS_PER_S): _iops,
    ("read", IOS_PER_S): _reads,
    ("write", IOS_PER_S): _writes,
    ("all", BYTES_PER_S): _bandwidth,
    ("read", BYTES_PER_S): _read_bandwidth,
    ("write", BYTES_PER_S): _write_bandwidth,
}
_PROOFS: Mapping[MetricId, Callable[[Case], bool]] = {
    **{row.id: _PROOFS_OF_RATES.get((row.of, row.unit), lambda _case: False) for row in METRICS if row.is_rate},
    **dict.fromkeys(LATENCIES_OF_BOTH, _latency),
    **dict.fromkeys(READ_LATENCIES, _read_latency),
    **dict.fromkeys(WRITE_LATENCIES, lambda case: _writes(case) and writes_wait_for_disks(case)),
    **dict.fromkeys(SYNCS, _syncs),
}


@remembered
def proves_metric(case: Case, metric: MetricId) -> bool:
    """True if counters confirm the metric's value."""
    return _PROOFS[metric](case)


@remembered
def measured_metrics(case: Case) -> tuple[MetricId, ...]:
    """Return the metrics for which this load can produce values."""
    load = case.load
    reads = (*rates_of("read"), *READ_LATENCIES) if load.reads else ()
    writes = (*rates_of("write"), *WRITE_LATENCIES) if load.writes else ()
    trims = rates_of("trim") if any(job.trims for job in case.jobs) else ()
    syncs = SYNCS if _times_syncs(case) else ()
    return (*rates_of("all"), *reads, *writes, *trims, *LATENCIES_OF_BOTH, *syncs)


def _times_syncs(case: Case) -> bool:
    """True if the outcome contains sync times. Without an outcome, True if a job syncs its writes.

    The two can differ. The load generator may also time calls that are not syncs (sync_file_range), and it does not
    time a sync at the end of a job.
    """
    if case.outcome is None:
        return any(job.syncs and job.writes for job in case.jobs)
    return any(part.syncs or (part.sync and part.sync.samples) for part in case.outcome.parts)


def default_metric(case: Case) -> MetricId:
    """Return the metric usually quoted for this kind of load: IOPS if any job is random, otherwise bandwidth."""
    return "iops" if any(job.is_random for job in case.jobs) else "bandwidth"
