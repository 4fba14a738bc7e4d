"""I/Os that failed: fio counts them when it issues them, but no disk and no cache served them."""

import pytest

from poolproof.evidence.model import Evidence
from poolproof.load.outcome import Latency
from poolproof.rules.judge import judge
from poolproof.rules.model import Case
from tests.unit.rules.making import EXT4, account, direction, jobs, leaf, said

_SERVED_BY_RAM = {"reads-without-requests", "read-from-cache", "never-waited", "missing-proof"}


def _failed(issued: int, completed: int, requests: int, error: int = 22) -> Case:
    """Return a trial of direct random reads of 4 KiB, of which some failed, as fio 3.33 reports it."""
    moved = 4096 * completed
    latency = Latency(samples=completed, mean_ns=100_000, bins_ns={100_000: completed})
    read = direction(moved, 1.0, 4096, ios=issued, iops=float(issued), clat=latency, lat=latency)
    disk = leaf(read_bytes=4096 * requests, read_ios=requests, read_merges=0)
    evidence = Evidence(account(read=(moved, 4096 * requests)), (disk,))
    return Case(jobs("rw=randread bs=4k size=16m direct=1"), said(read=read, error=error), evidence, EXT4)


@pytest.mark.parametrize(
    ("issued", "completed"),
    [(1, 0), (20_000, 0), (20_000, 5_000)],
    ids=["the first read failed", "continue_on_error, and all failed", "continue_on_error, and most failed"],
)
def test_reads_that_failed_did_not_come_from_ram(issued: int, completed: int) -> None:
    found = judge(_failed(issued, completed, requests=completed), "iops")
    assert found.verdict == "failed"
    assert not _SERVED_BY_RAM & {finding.rule for finding in found.findings}


@pytest.mark.parametrize("error", [0, 5])
def test_reads_that_succeeded_without_requests_came_from_ram(error: int) -> None:
    found = judge(_failed(5_000, 5_000, requests=500, error=error), "iops")
    assert "reads-without-requests" in {finding.rule for finding in found.findings}
