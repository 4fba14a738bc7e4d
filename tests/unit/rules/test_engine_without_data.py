"""Engines that move no data: no finding says that their bytes came from RAM, or were lost on the way to a disk."""

import pytest

from poolproof.evidence.model import Evidence
from poolproof.load.outcome import Outcome, PartOutcome
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


def _next_to_null(null: str, on_disk_mib: int) -> Case:
    """Return a trial in which a job with the null engine ran next to direct random writes of 16 MiB."""
    load = jobs(f"ioengine=null {null} bs=4k size=64m", "rw=randwrite bs=4k size=16m direct=1 ioengine=psync")
    names = [job.name for job in load.parts]
    fast, slow = direction(1024 * MIB, 2.0, 4096), direction(16 * MIB, 2.0, 4096, p50_ns=90_000.0)
    reads = "rw=read" in null
    first = PartOutcome(names[0], read=fast) if reads else PartOutcome(names[0], write=fast)
    wrote = on_disk_mib * MIB
    disk = leaf(write_ios=wrote // 4096, write_bytes=wrote, drained_write_bytes=wrote, write_merges=0)
    if reads:
        moved = account(read=(1024 * MIB, 0), write=(16 * MIB, wrote, wrote))
    else:
        moved = account(write=(1040 * MIB, wrote, wrote))
    outcome = Outcome("fio-3.33", (first, PartOutcome(names[1], write=slow)))
    return Case(load, outcome, Evidence(moved, (disk,)), EXT4)


@pytest.mark.parametrize(("on_disk_mib", "verdict"), [(16, "sound"), (2, "refuted")])
def test_jobs_with_a_direction_of_their_own_are_judged_without_the_null_job(on_disk_mib: int, verdict: str) -> None:
    case = _next_to_null("rw=read", on_disk_mib)
    assert [judge(case, metric).verdict for metric in ("write_iops", "write_bandwidth")] == [verdict] * 2
    assert [judge(case, metric).verdict for metric in ("read_iops", "iops", "bandwidth")] == ["refuted"] * 3
    assert judge(case, "iops").verdicts.get("write_iops", "refuted") == verdict


def test_jobs_in_the_same_direction_as_the_null_job_cannot_be_told_apart() -> None:
    judgement = judge(_next_to_null("rw=write", 16), "write_iops")
    assert judgement.verdict == "refuted"
    (finding,) = judgement.findings
    assert "the I/Os of the other jobs cannot be told apart from it" in finding.message
