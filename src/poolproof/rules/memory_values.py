"""Values that are typical of memory, although a fast drive can reach them too, and values that are not."""

from poolproof.rules.model import Case
from poolproof.rules.path import is_network
from poolproof.rules.reported import ReportedDirection, parts
from poolproof.rules.service_time import interval_ns, typical_ns

_MEMORY_NS = 100_000.0
_MEMORY_RATE = 1e9
_LEAST_WAIT_NS = 1e6
_SLOWEST_COPY = 250e6  # bytes/s, including decompression
_FEW_PERCENT = 10


def reads_like_memory(case: Case) -> bool:
    """True if reads are like those of memory. A result that may consist of reads counts as one."""
    both = (part.mixed for part in case.outcome.parts if part.mixed) if case.outcome else ()
    return any((figures.bandwidth_bytes or 0.0) >= _MEMORY_RATE for figures in both) or any(
        part.kind == "read" and is_like_memory(case, part) for part in parts(case.outcome)
    )


def is_like_memory(case: Case, part: ReportedDirection) -> bool:
    """True if the rate is at least 1 GB/s, or an I/O takes less than 100 µs."""
    job = case.job_named(part.job.name)
    typical = typical_ns(part)
    if typical is None and (job is None or job.queue <= job.clones):
        typical = interval_ns(part, job)
    rate = part.figures.bandwidth_bytes or 0.0
    return rate >= _MEMORY_RATE or (typical is not None and typical < _MEMORY_NS)


def waited_for_disks(case: Case) -> bool:
    """True if at least 90% of the random reads took longer than a copy from this machine's RAM.

    The limit is 1 ms plus the time of a copy at 250 MB/s. Only loads without writes are judged, in which each clone has
    one read in flight: other reads wait for each other, and a server's RAM may be that slow.
    """
    read = [part for part in parts(case.outcome) if part.kind == "read"]
    jobs = [case.job_named(part.job.name) for part in read]
    if not read or is_network(case.target) or any(job.writes for job in case.jobs):
        return False
    for part, job in zip(read, jobs, strict=True):
        if job is None or not job.is_random or not job.is_synchronous or job.queue_each != 1:
            return False
        limit_ns = _LEAST_WAIT_NS + 1e9 * job.max_block_bytes / _SLOWEST_COPY
        found = part.completion.percentiles_ns if part.completion else {}
        if not any(percent <= _FEW_PERCENT and value >= limit_ns for percent, value in found.items()):
            return False
    return True
