"""Compares fio's disk statistics with fio's result: requests with I/Os, and bytes with bytes."""

from collections.abc import Iterable
from dataclasses import dataclass

from poolproof.load.outcome import DiskUtilization, Outcome
from poolproof.rules.model import Case
from poolproof.rules.quoted import UNQUOTED
from poolproof.rules.reported import Kind, lasted_s, moved_bytes, parts, remembered
from poolproof.rules.tolerances import READ, REQUESTS, WRITTEN

_SHORTEST_S = 2.0
_PAGE = 4096
UPDATE_S = 0.5
"""The part of a run, in seconds, that fio's disk statistics may lack: fio reads them four times per second."""


@dataclass(frozen=True)
class Requests:
    """The number of reads or writes that fio issued, and the maximum number of them that can have reached the disks.

    `reached` is an upper bound, because it includes merged requests, file layout, the ramp, and the I/Os of all job
    groups.
    """

    issued: int
    reached: int
    disks: str

    @property
    def ratio(self) -> float:
        return self.reached / self.issued

    @property
    def in_order(self) -> bool:
        return self.ratio >= REQUESTS


@remembered
def disk_requests(outcome: Outcome | None, kind: Kind) -> Requests | None:
    """Compare the number of reads or writes with the number of requests that they caused.

    Returns None if either number is unknown or unreliable. The number of requests is unreliable if fio ran for less
    than 2 s, or if every statistic is 0, because the counters of some devices do not work.
    """
    seconds = lasted_s(outcome)
    if outcome is None or not outcome.disks or seconds is None or seconds < _SHORTEST_S:
        return None
    issued = [part.figures.ios for part in parts(outcome) if part.kind == kind]
    known = [count for count in issued if count is not None]
    if not known or len(known) != len(issued) or not sum(known) or not _has_counted(outcome.disks):
        return None
    top = _sum((disk for disk in outcome.disks if not disk.is_component), kind)
    below = _sum((disk for disk in outcome.disks if disk.is_component), kind)
    if top is None or below is None:
        return None
    total = sum(known)
    reached = max(top, below) + int(total * UPDATE_S / seconds)
    return Requests(total, reached, ", ".join(disk.name for disk in outcome.disks if not disk.is_component))


def statistics_prove(case: Case) -> bool:
    """True if fio's disk statistics show that the disks moved all bytes, and served the random reads one by one."""
    moved = {part.kind for part in parts(case.outcome)}
    return bool(moved) and all(
        statistics_cover(case, kind) and (kind == "write" or not _reads_at_random(case) or _has_each_read(case))
        for kind in moved
    )


@remembered
def statistics_cover(case: Case, kind: Kind) -> bool:
    """True if fio's disk statistics show at least as many bytes as fio read or wrote.

    The page cache reads and writes whole pages, so smaller I/Os count as whole pages unless they are sequential. False
    if the statistics are unreliable, or if they include I/O that is not part of the result: a ramp, the layout of files
    that are read, or other job groups.
    """
    outcome, seconds, quoted = case.outcome, lasted_s(case.outcome), case.quoted or UNQUOTED
    if outcome is None or seconds is None or seconds < _SHORTEST_S or not _has_counted(outcome.disks):
        return False
    if case.load.ramp_s or quoted.shares_statistics:
        return False
    disks = [disk for disk in outcome.disks if not disk.is_component]
    counted = [disk.read_bytes if kind == "read" else disk.write_bytes for disk in disks]
    known, needed = [size for size in counted if size is not None], _needed_bytes(case, kind)
    if not needed or not known or len(known) != len(counted):
        return False
    laid_out = (quoted.laid_out_bytes or 0) if kind == "write" and moved_bytes(outcome, "read") else 0
    least = READ if kind == "read" else WRITTEN
    return sum(known) - laid_out + needed * UPDATE_S / seconds >= least * needed


def _needed_bytes(case: Case, kind: Kind) -> int | None:
    """Return the number of bytes that the disks must have moved for fio's reads or writes, or None if unknown."""
    needed = 0
    for part in parts(case.outcome):
        job, moved = case.job_named(part.job.name), part.figures.io_bytes
        if part.kind != kind:
            continue
        if not moved:
            return None
        in_pages = 0 if job is not None and not job.is_random else _PAGE * (part.figures.ios or 0)
        needed += max(moved, in_pages)
    return needed


def _reads_at_random(case: Case) -> bool:
    jobs = [case.job_named(part.job.name) for part in parts(case.outcome) if part.kind == "read"]
    return any(job is None or job.is_random for job in jobs)


def _has_each_read(case: Case) -> bool:
    requests = disk_requests(case.outcome, "read")
    return requests is not None and requests.in_order


def _has_counted(disks: Iterable[DiskUtilization]) -> bool:
    return any(disk.read_requests or disk.write_requests for disk in disks)


def _sum(disks: Iterable[DiskUtilization], kind: Kind) -> int | None:
    total = 0
    for disk in disks:
        requests = disk.read_requests if kind == "read" else disk.write_requests
        merges = disk.read_merges if kind == "read" else disk.write_merges
        if requests is None or merges is None:
            return None
        total += requests + merges
    return total
