"""Reads of compressed blocks that the load itself rewrites: how few bytes the disks must have read."""

from dataclasses import replace

import pytest

from poolproof.evidence.model import Evidence
from poolproof.evidence.target_facts import Target
from poolproof.metrics import MetricId
from poolproof.rules.judge import judge
from poolproof.rules.model import Case
from poolproof.verdicts import Verdict
from tests.unit.rules.making import GIB, KIB, MIB, account, direction, jobs, leaf, said

_BTRFS = Target("btrfs", ram_bytes=8 * GIB, compression="zstd:3", record_bytes=128 * KIB, kernel=(6, 18))
_MIXED = "rw=randrw bs=16k size=64m direct=1 buffer_compress_percentage=75 refill_buffers=1"
_SEQUENTIAL = _MIXED.replace("randrw", "rw").replace("bs=16k", "bs=1m")
_LARGE = _MIXED.replace("bs=16k", "bs=128k")


def _case(options: str, read_mib: int, requests: int, wrote_mib: int = 64) -> Case:
    """Return the case of a load that read 64 MiB of a file that was filled with incompressible data.

    `read_mib`: what the disk read.
    `wrote_mib`: what fio wrote. It compresses to a quarter.
    """
    bs = {"bs=16k": 16 * KIB, "bs=128k": 128 * KIB, "bs=1m": MIB}[options.split()[1]]
    stored = wrote_mib * MIB // 4
    disk = leaf(
        read_bytes=read_mib * MIB, read_ios=requests, read_merges=0, write_bytes=stored, drained_write_bytes=stored,
        write_ios=wrote_mib * MIB // bs, write_merges=0,
    )  # fmt: skip
    read, write = direction(64 * MIB, 10.0, bs), direction(wrote_mib * MIB, 10.0, bs)
    found = account((64 * MIB, read_mib * MIB), (wrote_mib * MIB, stored, stored), stored_share=1.0)
    return Case(jobs(options), said(read=read, write=write), Evidence(found, (disk,)), _BTRFS)


def _verdict(case: Case, metric: MetricId) -> Verdict:
    judgement = judge(case)
    return judgement.verdicts.get(metric, judgement.verdict)


@pytest.mark.parametrize(
    ("read_mib", "requests", "wrote_mib", "verdict"),
    [
        (40, 4096, 64, "sound"),
        (16, 4096, 64, "sound"),
        (16, 3000, 64, "suspect"),
        (16, 1000, 64, "refuted"),
        (12, 4096, 64, "suspect"),
        (40, 4096, 6, "suspect"),
        (60, 4096, 6, "sound"),
    ],
    ids=["some reads first", "all writes first", "cached", "mostly cached", "too few bytes", "few writes", "as filled"],
)
def test_requests_decide_about_random_reads_of_rewritten_blocks(
    read_mib: int, requests: int, wrote_mib: int, verdict: Verdict
) -> None:
    assert _verdict(_case(_MIXED, read_mib, requests, wrote_mib), "read_bandwidth") == verdict


@pytest.mark.parametrize("options", [_SEQUENTIAL, _LARGE])
def test_without_a_request_for_each_read_they_are_unproven(options: str) -> None:
    case = _case(options, 40, 4096)
    assert [_verdict(case, metric) for metric in ("read_bandwidth", "read_iops")] == ["unproven", "unproven"]
    (found,) = (each for each in judge(case).findings if each.rule == "missing-proof" and "read_iops" in each.metrics)
    assert "compresses better" in found.message
    assert _verdict(_case(options, 64, 4096), "read_bandwidth") == "sound"


def test_blocks_of_other_files_are_read_as_they_were_filled() -> None:
    reader, writer = (f"{_MIXED.replace('randrw', rw)} filename=/d/{rw}" for rw in ("randread", "randwrite"))
    mixed = _case(_MIXED, 40, 4096)
    result = said(read=direction(64 * MIB, 10.0, 16 * KIB), name="a").parts
    wrote = said(write=direction(64 * MIB, 10.0, 16 * KIB), name="b").parts
    assert mixed.outcome is not None
    outcome = replace(mixed.outcome, parts=(*result, *wrote))
    apart = replace(mixed, load=jobs(reader, writer), outcome=outcome)
    assert _verdict(apart, "read_bandwidth") == "suspect"
    shared = jobs(reader, writer.replace("/d/randwrite", "/d/randread"))
    assert _verdict(replace(apart, load=shared), "read_bandwidth") == "sound"
