"""Proof of results in which fio merged reads and writes (`unified_rw_reporting=mixed`).

fio then adds the bytes, the I/Os and the latency histograms of both directions (stat.c, sum_thread_stats(), fio 3.33),
so it is unknown how many of them were reads. The sums can be compared with the sums of what the disks did. That is a
proof only if all I/O bypasses RAM: otherwise, the writes of a journal, for example, could make up for reads from RAM.
"""

from typing import Literal

from poolproof.rules.coverage import counted_requests
from poolproof.rules.flow import account
from poolproof.rules.model import Case
from poolproof.rules.path import goes_past_ram
from poolproof.rules.stored_share import compresses
from poolproof.rules.tolerances import REQUESTS_OF_EACH, WRITTEN


def is_merged(case: Case) -> bool:
    """True if the result shows reads and writes only as a sum."""
    parts = case.outcome.parts if case.outcome else ()
    return any(part.mixed is not None and part.read is part.write is None for part in parts)


def merged_bytes_prove(case: Case) -> bool:
    """True if the disks moved as many bytes as the load, reads and writes together."""
    found, moved = account(case), _sum(case, "io_bytes")
    if found is None or not moved or not _all_bypasses_ram(case):
        return False
    counted = found.leaf_read_bytes + found.leaf_write_bytes / found.write_factor
    return counted >= WRITTEN * moved


def merged_requests_prove(case: Case) -> bool:
    """True if the disks also completed a request for each I/O, reads and writes together."""
    found, ios = account(case), _sum(case, "ios")
    read, write = counted_requests(case, "read"), counted_requests(case, "write")
    if found is None or read is None or write is None or not merged_bytes_prove(case):
        return False
    return read + write / found.write_factor >= REQUESTS_OF_EACH * ios


def _sum(case: Case, name: Literal["io_bytes", "ios"]) -> int:
    found = [part.mixed for part in (case.outcome.parts if case.outcome else ())]
    return sum((getattr(each, name) or 0) for each in found if each is not None) if None not in found else 0


def _all_bypasses_ram(case: Case) -> bool:
    jobs = case.jobs
    is_direct = bool(jobs) and all(goes_past_ram(job, case.target) is True for job in jobs)
    return is_direct and not compresses(case) and not any(job.trims for job in jobs)
