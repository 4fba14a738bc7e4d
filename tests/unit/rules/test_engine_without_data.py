"""Engines that move no data: no finding says that their bytes came from RAM, or were lost on the way to a disk."""

import pytest

from poolproof.evidence.model import Evidence
from poolproof.rules.judge import judge
from poolproof.rules.model import Case
from tests.unit.rules.making import EXT4, KIB, MIB, account, direction, jobs, leaf, said

_ABOUT_DATA = {
    "read-from-cache", "reads-without-requests", "write-not-on-disk", "write-vanished", "write-without-sync",
    "latency-floor", "memory-latency", "amplification", "missing-proof", "size-below-cache",
}  # fmt: skip


def _operations(engine: str, rw: str, requests: int) -> Case:
    """Return a trial in which fio counts 512 operations as 2 MiB."""
    figures = direction(2 * MIB, 2.0, 4096, p50_ns=1_580.0)
    disk = leaf(read_ios=requests, read_bytes=4096 * requests, drained_write_bytes=284 * KIB)
    flow = {"read": (2 * MIB, 4096 * requests)} if rw == "read" else {"write": (2 * MIB, 0, 284 * KIB)}
    load = jobs(f"ioengine={engine} rw={rw} bs=4k size=2m nrfiles=512 direct=0")
    outcome = said(read=figures) if rw == "read" else said(write=figures)
    return Case(load, outcome, Evidence(account(**flow), (disk,)), EXT4)


@pytest.mark.parametrize(
    ("engine", "rw"),
    [("filecreate", "write"), ("filedelete", "write"), ("filestat", "read"), ("dirstat", "read"), ("falloc", "write"),
     ("null", "read"), ("null", "write"), ("cpuio", "read")],
)  # fmt: skip
def test_operations_without_requests_are_refuted_as_operations(engine: str, rw: str) -> None:
    found = judge(_operations(engine, rw, requests=0), "iops")
    assert found.verdict == "refuted"
    assert {finding.rule for finding in found.findings if finding.effect == "refutes"} == {"engine-without-data"}
    assert not _ABOUT_DATA & {finding.rule for finding in found.findings}


@pytest.mark.parametrize(("requests", "verdict"), [(100, "refuted"), (600, "suspect")])
def test_operations_on_files_with_requests_are_suspect_except_their_bandwidth(requests: int, verdict: str) -> None:
    case = _operations("filestat", "read", requests)
    assert [judge(case, metric).verdict for metric in ("iops", "read_p50")] == [verdict, verdict]
    assert judge(case, "bandwidth").verdict == "refuted"


@pytest.mark.parametrize("engine", ["psync", "mmap", "splice"])
def test_reads_of_engines_that_move_data_are_compared_with_the_counters(engine: str) -> None:
    rules = {finding.rule for finding in judge(_operations(engine, "read", requests=0), "iops").findings}
    assert "read-from-cache" in rules
    assert "engine-without-data" not in rules
