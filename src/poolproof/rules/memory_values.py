"""Values that are typical of memory, although a fast drive can reach them too."""

from poolproof.rules.model import Case
from poolproof.rules.reported import ReportedDirection, parts
from poolproof.rules.service_time import interval_ns, typical_ns

_MEMORY_NS = 100_000.0
_MEMORY_RATE = 1e9


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
