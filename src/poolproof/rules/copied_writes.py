"""Writes that the engine only copies into memory, so their latency says nothing about a disk."""

from dataclasses import replace

from poolproof.load.model import LoadPart
from poolproof.rules.disk_requests import disk_requests, statistics_cover
from poolproof.rules.flow import writes_at_end
from poolproof.rules.left_in_ram import why_little_is_left
from poolproof.rules.link_rates import PCIE5_X4
from poolproof.rules.model import Case, Finding, Rule, suspects
from poolproof.rules.path import is_persistent_memory
from poolproof.rules.proof import LATENCIES_WITH_WRITES
from poolproof.rules.quoted import UNQUOTED
from poolproof.rules.reported import ReportedDirection, each_part, parts
from poolproof.rules.service_time import typical_ns
from poolproof.units import format_duration, format_number_of, format_rate, format_size

_COMPLETION_NS = 20_000.0
_LARGE_BYTES = 64 * 1024
_SMALL_NS, _LARGE_NS = 5_000.0, 10_000.0  # small writes: Optane; large ones: flash, on PCIe 5.0 x4
_TIMES = 5
_FAST_BYTES_PER_S, _SHORTEST_MS, _IDLE_PERCENT = 500e6, 1000, 50.0
_STALLS = 10  # direct writes to an array of drives do not become that much slower
_CALL_NS, _COPY_NS_PER_BYTE = 500_000.0, 2.0  # a slow machine: 500 µs per call, and 500 MB/s


def _in_part(case: Case, part: ReportedDirection) -> Finding | None:
    job, assumed = case.job_named(part.job.name), (case.quoted or UNQUOTED).assumed
    if part.kind != "write" or part.job.sync is not None or part.job.syncs:
        return None
    is_direct = job is not None and job.direct and "direct" not in assumed
    is_synced = job is not None and job.syncs and "end_fsync" not in assumed
    flow, requests = writes_at_end(case), disk_requests(case.outcome, "write")
    reached = (requests and requests.in_order) or statistics_cover(case, "write")
    if is_direct or is_synced or flow or reached:
        return None
    found = (
        _one_by_one(case, job, part)
        or _in_bursts(case, job, part)
        or _in_submission(job, part, may_be_direct="direct" in assumed)
        or _while_idle(case, part)
    )
    return replace(found, metrics=LATENCIES_WITH_WRITES) if found and why_little_is_left(case) else found


def _one_by_one(case: Case, job: LoadPart | None, part: ReportedDirection) -> Finding | None:
    """Return a finding if half of the writes, done one at a time, were faster than any drive can receive them."""
    typical = typical_ns(part)
    if job is None or job.queue_each > 1 or not typical or part.median_ns is None or is_persistent_memory(case, job):
        return None
    size = job.block_bytes
    if job.max_block_bytes != size or typical >= _fastest_ns(size):
        return None
    return suspects(
        f"half of the writes of {format_size(size)} took at most {format_duration(typical / 1e9)}, which corresponds "
        f"to {format_rate(1e9 * size / typical)}: no drive receives a single write that fast, so the writes were "
        "copied into RAM, and nothing shows that they reached a disk",
        weight=68,
    )


def _in_bursts(case: Case, job: LoadPart | None, part: ReportedDirection) -> Finding | None:
    """Return a finding if the clones' writes came in bursts that are too fast for a drive, between long stalls."""
    typical, rate = typical_ns(part), part.figures.bandwidth_bytes
    if job is None or job.queue_each > 1 or not typical or part.median_ns is None or is_persistent_memory(case, job):
        return None
    burst = 1e9 * job.clones * job.block_bytes / typical
    if job.max_block_bytes != job.block_bytes or not rate or burst < max(PCIE5_X4, _STALLS * rate):
        return None
    return suspects(
        f"half of the writes took at most {format_duration(typical / 1e9)}. At this speed, "
        f"{format_number_of(job.clones, 'job')} would write {format_rate(burst)}, but the average rate was only "
        f"{format_rate(rate)}: the writes were copied into RAM and stalled when it was full, and nothing shows that "
        "they reached a disk",
        weight=68,
    )


def _fastest_ns(size: int) -> float:
    """Return a lower bound on the time in which a drive receives a single write of this size, in nanoseconds."""
    return _SMALL_NS if size < _LARGE_BYTES else _LARGE_NS + 1e9 * size / PCIE5_X4


def _in_submission(job: LoadPart | None, part: ReportedDirection, *, may_be_direct: bool) -> Finding | None:
    """Return a finding if the writes were copied into RAM while they were submitted."""
    slat, clat = part.figures.slat, part.figures.clat
    if not (slat and clat and slat.mean_ns and clat.mean_ns):
        return None
    if job and may_be_direct and not job.is_random and slat.mean_ns + clat.mean_ns >= _fastest_ns(job.block_bytes):
        return None  # direct writes that extend a file
    completion_ns = clat.mean_ns if part.median_ns is None else min(clat.mean_ns, part.median_ns)
    if clat.mean_ns > _COMPLETION_NS or slat.mean_ns < _TIMES * completion_ns:
        return None
    if job is not None and slat.mean_ns > _CALL_NS + job.max_block_bytes * _COPY_NS_PER_BYTE:
        return None  # too slow for a copy: the writes waited for the disk
    return suspects(
        f"on average, a write took {format_duration(slat.mean_ns / 1e9)} to submit and "
        f"{format_duration(completion_ns / 1e9)} to complete: the data was copied into RAM during submission, and "
        "nothing shows that it reached a disk",
        weight=68,
    )


def _while_idle(case: Case, part: ReportedDirection) -> Finding | None:
    """Return a finding if the disks were idle for most of the time in which the writes were fast."""
    disks = [disk for disk in case.outcome.disks if not disk.is_component] if case.outcome else []
    busy = [disk.utilisation_percent for disk in disks if disk.utilisation_percent]
    rate, ran_ms = part.figures.bandwidth_bytes or 0.0, part.figures.runtime_ms or 0
    is_alone = all(other.kind == "write" for other in parts(case.outcome))
    if not busy or len(busy) != len(disks) or rate < _FAST_BYTES_PER_S or ran_ms < _SHORTEST_MS or not is_alone:
        return None
    if max(busy) >= _IDLE_PERCENT:
        return None
    return suspects(
        f"fio wrote {format_rate(rate)}, but its disk statistics show a utilization of only {max(busy):.0f}% for "
        f"{' and '.join(disk.name for disk in disks)}: a disk that limits the rate is busy nearly all the time, so the "
        "writes were copied into RAM, and nothing shows that they reached the disk",
        weight=68,
    )


RULE = Rule(
    title="Writes copied into memory",
    wrong=(
        "A buffered write returns when its data is in the page cache. An asynchronous engine copies the data during "
        "submission, so completion takes only about 1 µs. At that time, the disk may not have received any of the "
        "data."
    ),
    shows=(
        "In a result without the disks' counters, any of four signs is reported. First, writes complete in 20 µs or "
        "less on average, and their submission takes at least 5 times as long as the completion or its median. Second, "
        "half of the writes, issued one at a time, take less than 5 µs (from 64 KiB on, less than 10 µs plus the time "
        "of their transfer over PCIe 5.0 x4). Third, half of such writes are so fast that all clones together would "
        "need more than the bandwidth of PCIe 5.0 x4, and more than 10 times the average rate. Fourth, fio's disk "
        "statistics show that the disks were busy for less than half of the time, at a rate of 500 MB/s or more. "
        "Results whose bytes or I/Os are covered by fio's disk statistics are not reported. Jobs with direct=1 or a "
        "sync are not reported either, because direct writes that extend a file also take long to submit. Submission "
        "times are not used if they are longer than 500 µs plus the time to copy the data at 500 MB/s. If the source "
        "does not show whether sequential writes are direct, submission and completion together must also be faster "
        "than in the second sign. If at most 15% of the written data can be dirty (see `write-without-sync`), only the "
        "latencies are suspect."
    ),
    error="Too high: the rate is that of the page cache until the dirty limit is reached.",
    fix="use direct=1, or end_fsync=1 and a size well above the dirty limit",
    fix_if_direct="use end_fsync=1 and a size well above the dirty limit",
    sources=("Linux 6.12 fs/aio.c, aio_write", "https://github.com/red-hat-storage/ocs-ci/pull/283"),
    in_result=each_part(_in_part),
    commands="fio --rw=randwrite --bs=4k --size=256m --ioengine=libaio --iodepth=16 --runtime=5 --time_based",
)
