"""Reads that a disk's own buffer or mapping table serves, although all counters are in order."""

from dataclasses import replace

import pytest

from poolproof.evidence.model import Evidence
from poolproof.evidence.target_facts import Target
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
    ("options", "verdict"),
    [
        ("rw=read:-8k", "suspect"),  # each read starts before the previous one
        ("rw=read:-4k", "suspect"),  # the same block again and again
        ("rw=read", "sound"),
        ("rw=read:4k", "sound"),
        ("rw=read size=400k", "suspect"),  # several passes
        ("rw=read size=400k time_based=0 loops=8", "suspect"),
        ("rw=read zonesize=128k zonerange=64k zoneskip=1m", "suspect"),
        ("rw=read zonesize=64k zonerange=64k zoneskip=1m", "sound"),
        ("rw=read numjobs=2 filename=x", "suspect"),
        ("rw=read numjobs=2 filename=x offset_increment=64g", "sound"),
        ("rw=read numjobs=2", "sound"),
    ],
)
def test_sequential_reads_that_a_disk_buffer_can_serve_have_one_finding(options: str, verdict: Verdict) -> None:
    """On an emulated hard disk, most reads took 44 µs, as sequential reads do. The disk reads ahead of these."""
    case = _on_hard_disk(options, 390, 26)
    judgement = judge(case, "p50")
    assert judgement.verdict == verdict
    causes = [finding.rule for finding in judgement.findings if finding.effect == "suspects"]
    assert causes == (["disk-buffer"] if verdict == "suspect" else [])


@pytest.mark.parametrize(
    ("options", "ios", "verdict"),
    [
        ("size=300m zonemode=strided zonesize=64m zonerange=1m zoneskip=40m", 3_000, "suspect"),
        ("size=300m zonemode=strided zonesize=1m zonerange=1m zoneskip=40m", 3_000, "sound"),
        ("size=300m random_distribution=zipf:3", 1_300, "suspect"),
        ("size=300m random_distribution=zipf:3", 550, "sound"),  # 275 per second, which seeks allow
        ("size=300m random_distribution=zipf:3 sync=dsync", 1_300, "sound"),
        ("size=300m", 1_300, "sound"),
    ],
)
def test_writes_that_a_disk_buffer_overwrites_need_no_seeks(options: str, ios: int, verdict: Verdict) -> None:
    """On an emulated hard disk, 1,504 random writes/s went to zones of 1 MiB. Without zones, it does about 160."""
    moved = ios * 4 * KIB
    disk = leaf(write_bytes=moved, drained_write_bytes=moved, write_ios=ios, write_merges=0, flush_ios=ios)
    load = jobs(f"rw=randwrite bs=4k direct=1 time_based=1 runtime=2 {options}")
    write = direction(moved, 2.0, 4 * KIB)
    case = Case(load, said(write=write), Evidence(account(write=(moved,) * 3), (disk,)), _ON_HARD_DISK)
    found = {each.rule for each in judge(case, "iops").findings if each.effect == "suspects"}
    assert ("disk-buffer" in found) is (verdict == "suspect")


@pytest.mark.parametrize(
    ("options", "verdict"),
    [
        ("size=40m nrfiles=10240 file_service_type=sequential", "refuted"),  # fio reads only the first file
        ("size=40m nrfiles=10240 file_service_type=sequential time_based=0", "sound"),
        ("size=40m nrfiles=10240", "sound"),
        ("size=40m nrfiles=10240 file_service_type=random", "refuted"),
        ("size=40m nrfiles=10240 filesize=1m", "refuted"),
        ("size=40m nrfiles=100 file_service_type=sequential", "refuted"),
        ("zonemode=strided zonesize=4k zonerange=4k zoneskip=0", "sound"),
        ("zonemode=strided zonesize=64k zonerange=4k zoneskip=0", "refuted"),
        ("zonemode=strided zonesize=64k zonerange=64k zoneskip=0", "refuted"),
    ],
)
def test_small_files_in_order_need_no_seeks(options: str, verdict: Verdict) -> None:
    """2,000 reads/s: each file or zone has one block, so that a random offset leaves no choice."""
    assert judge(_on_hard_disk(options, 3_800, 200), "bandwidth").verdict == verdict


def test_times_from_a_copied_clock_neither_prove_nor_refute() -> None:
    """fio reported 0 ns for most direct reads, although the disk had one request for each of them."""
    case = replace(_on_hard_disk("", 1, 299), target=EXT4)
    read = direction(300 * 4 * KIB, 2.0, 4 * KIB, clat=Latency(samples=300, mean_ns=4e6, bins_ns={1: 200, 9**8: 100}))
    for options, verdicts in {"gtod_cpu=0": ("sound", "suspect"), "": ("refuted", "refuted")}.items():
        load = jobs(f"rw=randread bs=4k size=64g direct=1 time_based=1 runtime=2 {options}")
        found = replace(case, load=load, outcome=said(read=read))
        assert tuple(judge(found, metric).verdict for metric in ("iops", "p99")) == verdicts


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


_UNLIKE = replace(EXT4, rotational=False, disks=2, rotational_devices=("hdd",))


def _on_unlike_disks(options: str, iops: int, on_hdd: int, on_ssd: int) -> Case:
    """Return a case with random reads for 2 s, of which the hard disk and the SSD served the given numbers."""
    ios, each = 2 * iops, 4 * KIB
    disks = [
        leaf(device=name, read_bytes=count * each, read_ios=count, read_merges=0)
        for name, count in (("hdd", on_hdd), ("ssd", on_ssd))
    ]
    evidence = Evidence(account(read=(ios * each, ios * each)), tuple(disks))
    clat = Latency(samples=ios, mean_ns=2e6, bins_ns={600_000: ios})
    load = jobs(f"rw=randread bs=4k size=2m direct=1 time_based=1 runtime=2 iodepth=8 {options}")
    return Case(load, said(read=direction(ios * each, 2.0, each, clat=clat)), evidence, _UNLIKE)


@pytest.mark.parametrize(
    ("iops", "on_hdd", "on_ssd", "verdict"),
    [
        (3_613, 7_226, 0, "refuted"),
        (3_259, 3_259, 3_259, "refuted"),
        (550, 1_100, 0, "suspect"),
        (150, 300, 0, "sound"),
        (20_000, 0, 40_000, "sound"),
        (20_000, 400, 39_600, "sound"),
    ],
    ids=["all on the hdd", "half on the hdd", "few", "as many as seeks allow", "all on the ssd", "most on the ssd"],
)
def test_the_hard_disk_of_unlike_disks_is_judged_by_the_reads_that_it_served(
    iops: int, on_hdd: int, on_ssd: int, verdict: Verdict
) -> None:
    """mergerfs over a hard disk and an SSD stored a file of 2 MiB on the hard disk, which read 3,613 blocks/s."""
    judgement = judge(_on_unlike_disks("", iops, on_hdd, on_ssd), "iops")
    assert judgement.verdict == verdict
    causes = {finding.rule for finding in judgement.findings if finding.effect != "notes"}
    assert causes <= {"disk-buffer", "physical-ceiling"}


@pytest.mark.parametrize(
    ("options", "iops", "verdict"),
    [
        ("rw=randread:8 size=200m", 1_000, "sound"),
        ("rw=randread:8 size=200m", 5_000, "suspect"),
        ("rw=randread percentage_random=20 size=200m", 500, "sound"),
        ("rw=randread size=200m", 500, "suspect"),
    ],
)
def test_reads_that_continue_the_previous_one_need_no_seeks(options: str, iops: int, verdict: Verdict) -> None:
    """On an emulated hard disk, 493 reads/s with `rw=randread:8` in 200 MiB were suspect. They need 62 seeks/s."""
    case = replace(_on_unlike_disks(options, iops, 2 * iops, 0), target=_ON_HARD_DISK)
    assert judge(case, "iops").verdict == verdict
