"""Reads that a disk's own buffer or mapping table serves, although all counters are in order."""

from dataclasses import replace

import pytest

from poolproof.evidence.model import Evidence, Target
from poolproof.load.outcome import Latency, Outcome, PartOutcome
from poolproof.rules.judge import judge
from poolproof.rules.model import Case
from poolproof.verdicts import Verdict

from .making import EXT4, GIB, KIB, MIB, account, direction, jobs, leaf, said

_ON_HARD_DISK = replace(EXT4, rotational=True, disks=1)


def _on_hard_disk(options: str, fast: int, slow: int) -> Case:
    """Return a case with random reads, some of which took 0.2 ms, and the others 8 ms."""
    ios = fast + slow
    clat = Latency(samples=ios, mean_ns=4e6, bins_ns={200_000: fast, 8_000_000: slow})
    disk = leaf(read_bytes=ios * 4 * KIB, read_ios=ios, read_merges=0)
    evidence = Evidence(account(read=(ios * 4 * KIB, ios * 4 * KIB)), (disk,))
    load = jobs(f"rw=randread bs=4k size=64g direct=1 time_based=1 runtime=2 {options}")
    return Case(load, said(read=direction(ios * 4 * KIB, 2.0, 4 * KIB, clat=clat)), evidence, _ON_HARD_DISK)


@pytest.mark.parametrize(
    ("options", "fast", "slow", "verdict"),
    [
        ("random_distribution=zoned:90/1:10/99", 250, 182, "suspect"),
        ("rw=randread:8 rw_sequencer=identical", 210, 203, "suspect"),
        ("rw=randread:8", 390, 26, "sound"),
        ("rw=randread:2", 390, 26, "suspect"),
        ("", 30, 250, "sound"),
        ("", 30, 10, "sound"),
    ],
    ids=["a small zone", "the same offset", "runs of eight", "runs of two", "few fast reads", "few reads"],
)
def test_many_fast_reads_of_a_hard_disk_come_from_its_buffer(
    options: str, fast: int, slow: int, verdict: Verdict
) -> None:
    """On an emulated hard disk, 90% of the reads went to 2.5 MiB, and half of them took 0.21 ms."""
    assert judge(_on_hard_disk(options, fast, slow), "p50").verdict == verdict
    for other in (replace(EXT4, rotational=False, disks=1), replace(EXT4, rotational=True, disks=None)):
        assert judge(replace(_on_hard_disk(options, fast, slow), target=other), "p50").verdict == "sound"


@pytest.mark.parametrize(
    ("first", "second", "verdict"),
    [
        ("rw=randtrim", "rw=randread", "suspect"),
        ("rw=trim", "rw=randread stonewall=1", "suspect"),
        ("rw=trim offset=128m", "rw=randread", "sound"),
        ("rw=trim ioengine=falloc", "rw=read ioengine=falloc stonewall=1", "sound"),  # its reads move no data
        ("rw=randtrimwrite", "rw=randread", "sound"),
        ("rw=randwrite ioengine=mmap direct=0 fsync=1", "rw=randread stonewall=1", "suspect"),
        ("rw=randwrite fsync=1", "rw=randread stonewall=1", "sound"),
    ],
)
def test_reads_of_blocks_that_the_load_trims_are_suspect(first: str, second: str, verdict: Verdict) -> None:
    """On a loop device, reads after a trim took 2.8 µs, and the counters of the device included all of them."""
    common = "bs=4k size=64m direct=1 filename=/dev/loop0"
    load = jobs(f"{common} {first}", f"{common} time_based=1 runtime=2 {second}")
    moved = 4 * MIB
    read = direction(moved, 2.0, 4 * KIB)
    disk = leaf(
        read_bytes=2 * moved,
        read_ios=2_048,
        write_bytes=moved,
        write_ios=2_048,
        drained_write_bytes=moved,
        flush_ios=1_024,
    )
    parts = [PartOutcome("b", read=read)]
    if "write" in first:
        parts.insert(0, PartOutcome("a", write=direction(moved, 2.0, 4 * KIB)))
    evidence = Evidence(account(read=(moved, 2 * moved), write=(moved, moved, moved)), (disk,))
    target = Target("", ram_bytes=8 * GIB, rotational=False, disks=1)
    case = Case(load, Outcome("fio-3.33", tuple(parts)), evidence, target)
    causes = {finding.rule for finding in judge(case, "read_iops").findings if finding.is_about("read_iops")}
    assert ("trimmed-ssd" in causes) is (verdict == "suspect")
