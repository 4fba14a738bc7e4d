"""Compares the number of requests in fio's disk statistics with the number of I/Os that fio issued."""

from collections.abc import Iterable
from dataclasses import dataclass

from poolproof.load.outcome import DiskUtilization, Outcome
from poolproof.rules.reported import Kind, lasted_s, parts
from poolproof.rules.tolerances import REQUESTS

_SHORTEST_S = 2.0
_UPDATE_S = 0.5  # fio reads the statistics four times per second, so they may lack the end of a run


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
    reached = max(top, below) + int(total * _UPDATE_S / seconds)
    return Requests(total, reached, ", ".join(disk.name for disk in outcome.disks if not disk.is_component))


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
