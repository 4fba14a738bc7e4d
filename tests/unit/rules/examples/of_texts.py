"""Examples for rules about other people's results, based on the text around a result."""

from collections.abc import Mapping
from dataclasses import replace

from poolproof.load.model import Load
from poolproof.load.outcome import DiskUtilization, Latency
from poolproof.rules.model import Case
from poolproof.rules.quoted import Quoted
from tests.unit.rules.examples.building import Example, uncounted
from tests.unit.rules.making import GIB, MIB, direction, said

_RANDOM = "rw=randread bs=4k size=1g direct=1 ioengine=libaio iodepth=4"
_BUFFERED = "rw=randread bs=4k size=1g"
_WRITES = "rw=randwrite bs=4k size=1g ioengine=libaio iodepth=16"


def _with_disk(reads: int, merges: int, seconds: float = 10.0) -> Case:
    """Return a run of 262,144 direct reads for which the disk counted the given requests and merges."""
    case = uncounted(_RANDOM, read=direction(GIB, seconds))
    assert case.outcome is not None
    disk = DiskUtilization("sda", reads, 0, 50.0, read_merges=merges, write_merges=0)
    return replace(case, outcome=replace(case.outcome, disks=(disk,)))


def _in_order(merges: int) -> Case:
    """Return a run of 262,144 sequential direct reads with as many requests, and with merges of other I/O."""
    case = uncounted("rw=read bs=4k size=1g direct=1 ioengine=libaio iodepth=4", read=direction(GIB, 10.0))
    assert case.outcome is not None
    disk = DiskUtilization("sda", 262_200, 0, 50.0, read_merges=merges, write_merges=0)
    return replace(case, outcome=replace(case.outcome, disks=(disk,)))


def _depth_32(engine: str, options: str = "") -> Case:
    """Return 26,214 random reads per second at depth 32.

    If only one is in flight at a time, each of them takes 38 µs.
    """
    job = f"rw=randread bs=4k size=1g iodepth=32 ioengine={engine} {options}"
    return uncounted(job, read=direction(GIB, 10.0, p50_ns=1_200_000.0))


def _quoted(case: Case, quoted: Quoted) -> Case:
    return replace(case, quoted=quoted)


def _percentiles(fast_ns: float, slow_ns: float, options: str = "direct=1") -> Case:
    """Return random reads, of which 70% took `fast_ns` and the others `slow_ns`."""
    values = {10.0: fast_ns, 50.0: fast_ns, 70.0: fast_ns, 80.0: slow_ns, 99.0: slow_ns}
    job = f"rw=randread bs=4k size=64g {options}"
    return uncounted(job, read=direction(GIB, 10.0, clat=Latency(percentiles_ns=values)))


def _submitted(slat_ns: float, clat_ns: float, job: str = _WRITES, p50_ns: float | None = None) -> Case:
    percentiles = {} if p50_ns is None else {50.0: p50_ns}
    slat, clat = Latency(mean_ns=slat_ns), Latency(mean_ns=clat_ns, percentiles_ns=percentiles)
    return uncounted(job, write=direction(256 * MIB, 10.0, slat=slat, clat=clat))


def _submitted_writes(slat_ns: float) -> Case:
    """Return sequential writes of 64 KiB from a source that does not show whether they are direct."""
    case = _submitted(slat_ns, 700.0, "rw=write bs=64k size=1g ioengine=io_uring iodepth=16 direct=1 end_fsync=1")
    return _quoted(case, Quoted(assumed=frozenset({"direct", "end_fsync"})))


def _one_by_one(p50_ns: float, block: int = 256 * 1024, options: str = "") -> Case:
    """Return writes, half of which took `p50_ns`, from a source that does not show whether they were synced."""
    job = f"rw=write bs={block} ioengine=sync {options or 'end_fsync=1'}"
    case = uncounted(job, None, write=direction(2 * GIB, 3.0, block, p50_ns=p50_ns))
    return _quoted(case, Quoted(assumed=frozenset() if "end_fsync" in options else frozenset({"end_fsync"})))


def _copied(rate: float, options: str) -> Case:
    """Return reads of 1 MiB at a rate in GB/s from a file of 200 GB."""
    return uncounted(f"rw=read bs=1m size=200g {options}", None, read=direction(rate * 30e9, 30.0, MIB))


def _submitted_reads(slat_ns: float, clat_ns: float, job: str = "rw=read", clones: int = 1) -> Case:
    """Return reads of 128 KiB at 6 GB/s from a source that does not show whether they are direct."""
    slat, clat = Latency(mean_ns=slat_ns), Latency(mean_ns=clat_ns)
    options = f"{job} bs=128k size=200g ioengine=libaio iodepth=8 direct=1 numjobs={clones}"
    case = uncounted(options, None, read=direction(180e9, 30.0, 128 * 1024, slat=slat, clat=clat, lat=None))
    return _quoted(case, Quoted(assumed=frozenset({"direct"})))


def _utilized(percent: float, seconds: float = 1.3) -> Case:
    """Return a write of 1 GiB by an unknown job while the disk was busy for this share of the time."""
    outcome = said(write=direction(GIB, seconds, MIB, ios=None, iops=None), name="")
    return Case(Load(()), replace(outcome, disks=(DiskUtilization("sda", 0, 3020, percent),)))


def _only_mean(mean_ns: float) -> Case:
    """Return a run of direct random reads that shows only the mean of their latency."""
    return uncounted("rw=randread bs=4k size=1g direct=1", read=direction(GIB, 10.0, mean_ns=mean_ns))


def _ignoring_direct(options: str) -> Case:
    """Return writes with direct=1 on a file system that ignores it."""
    case = uncounted(f"{_WRITES} direct=1 {options}", write=direction(GIB, 1.0))
    return replace(case, target=None, quoted=Quoted(ignores_direct="line 2 shows ZFS 0.8"))


EXAMPLES: Mapping[str, tuple[Example, ...]] = {
    "disk-statistics": (
        Example(_with_disk(90_000, 0), "refutes", _with_disk(30_000, 232_144)),
        Example(_with_disk(180_000, 0), "suspects", _with_disk(215_000, 0)),
        Example(_with_disk(90_000, 0), "refutes", _with_disk(90_000, 0, seconds=1.5)),
    ),
    "memory-latency": (
        Example(_percentiles(7_000.0, 25_000.0), "suspects", _percentiles(16_000.0, 25_000.0)),
        Example(_percentiles(14_000.0, 25_000.0), "suspects", _percentiles(16_000.0, 25_000.0)),
        Example(
            _percentiles(7_000.0, 25_000.0),
            "suspects",
            _quoted(_percentiles(7_000.0, 25_000.0), Quoted(has_fast_media=True)),
        ),
        Example(
            _percentiles(900.0, 2_000.0), "suspects", _percentiles(900.0, 2_000.0, "filename=/mnt/pmem0/f direct=1")
        ),
        Example(
            _percentiles(900.0, 2_000.0),
            "suspects",
            _quoted(_percentiles(900.0, 2_000.0), Quoted(has_persistent_memory=True)),
        ),
        Example(_submitted_reads(14_000.0, 700.0), "suspects", _submitted_reads(60_000.0, 700.0)),
        Example(_submitted_reads(14_000.0, 700.0), "suspects", _submitted_reads(14_000.0, 7_000.0)),
        Example(_submitted_reads(14_000.0, 700.0), "suspects", _submitted_reads(14_000.0, 700.0, clones=4)),
        Example(_only_mean(14_000.0), "suspects", _only_mean(16_000.0)),
        Example(_only_mean(14_000.0), "suspects", _quoted(_only_mean(14_000.0), Quoted(has_fast_media=True))),
        Example(
            _quoted(_only_mean(60_000.0), Quoted(same_file_read=(14_000.0, "line 9 says so"))),
            "suspects",
            _quoted(_only_mean(60_000.0), Quoted(same_file_read=(16_000.0, "line 9 says so"))),
        ),
        Example(_percentiles(900.0, 4e6, "direct=0"), "suspects", _percentiles(900.0, 4e6, "rw=randread:4")),
        Example(_percentiles(900.0, 4e6, "rw=randread:2"), "suspects", _percentiles(900.0, 4e6, "rw=randread:4")),
    ),
    "copy-speed": (
        Example(_copied(20.0, "filename=/dev/zvol/tank/v direct=1"), "suspects", _copied(20.0, "direct=1")),
        Example(_copied(20.0, ""), "suspects", _copied(12.0, "")),
        Example(_copied(20.0, ""), "suspects", _copied(20.0, "numjobs=2")),
        Example(_copied(20.0, ""), "suspects", _copied(20.0, "ioengine=mmap")),
        Example(
            _quoted(_copied(47.0, "direct=1"), Quoted(assumed=frozenset({"direct"}))),
            "suspects",
            _quoted(_copied(20.0, "direct=1"), Quoted(assumed=frozenset({"direct"}))),
        ),
    ),
    "copied-writes": (
        Example(_submitted(150_000.0, 2_000.0), "suspects", _submitted(150_000.0, 40_000.0)),
        Example(_submitted(150_000.0, 2_000.0), "suspects", _submitted(150_000.0, 2_000.0, f"{_WRITES} direct=1")),
        Example(_submitted(150_000.0, 2_000.0), "suspects", _submitted(150_000.0, 2_000.0, f"{_WRITES} fsync=64")),
        Example(
            _submitted(2_500_000.0, 4_000.0, f"{_WRITES} bs=1m"),
            "suspects",
            _submitted(4_000_000.0, 4_000.0, f"{_WRITES} bs=1m"),
        ),
        Example(
            _submitted(21_000.0, 6_000.0, p50_ns=2_000.0), "suspects", _submitted(21_000.0, 6_000.0, p50_ns=5_000.0)
        ),
        Example(_submitted_writes(9_000.0), "suspects", _submitted_writes(15_000.0)),
        Example(_one_by_one(60_000.0, options="numjobs=4"), "suspects", _one_by_one(80_000.0, options="numjobs=4")),
        Example(_one_by_one(24_000.0), "suspects", _one_by_one(30_000.0)),
        Example(_one_by_one(4_000.0, 4096), "suspects", _one_by_one(6_000.0, 4096)),
        Example(_one_by_one(24_000.0), "suspects", _one_by_one(24_000.0, options="end_fsync=1")),
        Example(_one_by_one(24_000.0), "suspects", _one_by_one(24_000.0, options="filename=/mnt/pmem0/f")),
        Example(_utilized(31.0), "suspects", _utilized(60.0)),
        Example(_utilized(31.0), "suspects", _utilized(31.0, seconds=4.0)),
    ),
    "sequential-iops": (
        Example(_in_order(merges=600), "notes", _in_order(merges=0)),
        Example(
            uncounted("rw=read bs=4k size=1g", read=direction(GIB, 10.0)),
            "notes",
            uncounted("rw=read bs=4k size=1g", read=direction(GIB, 10.0, ios=None, iops=None)),
        ),
    ),
    "small-file": (
        Example(_depth_32("libaio"), "suspects", _depth_32("io_uring")),
        Example(_depth_32("libaio"), "suspects", _depth_32("libaio", "direct=1")),
        Example(
            uncounted(_BUFFERED, read=direction(GIB, 6.0, p50_ns=27_000.0)),
            "suspects",
            uncounted(_BUFFERED, read=direction(GIB, 30.0, p50_ns=110_000.0)),
        ),
        Example(
            uncounted("rw=read bs=1m size=2g io_size=10g direct=1 iodepth=32", read=direction(10 * GIB, 0.34, MIB)),
            "suspects",
            uncounted("rw=read bs=1m size=2g io_size=10g direct=1 iodepth=32", read=direction(10 * GIB, 0.9, MIB)),
        ),
        Example(
            uncounted("rw=read bs=1m size=100m numjobs=10", read=direction(1000 * MIB, 0.18, MIB)),
            "suspects",
            uncounted("rw=read bs=1m size=100m numjobs=10", read=direction(1000 * MIB, 0.4, MIB)),
        ),
        Example(
            replace(_depth_32("libaio", "direct=1"), target=None, quoted=Quoted(ignores_direct="line 2 shows ZFS 0.8")),
            "suspects",
            replace(_depth_32("libaio", "direct=1"), target=None, quoted=Quoted()),
        ),
    ),
    "named-memory": (
        Example(
            _quoted(
                uncounted(_RANDOM, read=direction(GIB, 10.0, p50_ns=40_000.0)), Quoted(memory="line 1 says “tmpfs”")
            ),
            "suspects",
            _quoted(uncounted(_RANDOM, read=direction(GIB, 90.0, p50_ns=2e6)), Quoted(memory="line 1 says “tmpfs”")),
        ),
        Example(
            _quoted(_copied(6.0, ""), Quoted(buffered="line 1 says “buffered I/O on XFS”")),
            "suspects",
            _quoted(_copied(3.0, ""), Quoted(buffered="line 1 says “buffered I/O on XFS”")),
        ),
        Example(
            _quoted(_copied(6.0, ""), Quoted(buffered="line 1 says “buffered I/O on XFS”")),
            "suspects",
            _quoted(_copied(6.0, "direct=1"), Quoted(buffered="line 1 says “buffered I/O on XFS”")),
        ),
        Example(
            _quoted(
                uncounted(_RANDOM, read=direction(GIB, 90.0)), Quoted(memory_target="line 1 says “uses a ramdisk”")
            ),
            "suspects",
            _quoted(
                uncounted(f"{_RANDOM} filename=/data/f", read=direction(GIB, 90.0)),
                Quoted(memory_target="line 1 says “uses a ramdisk”"),
            ),
        ),
    ),
    "write-without-sync": (
        Example(_ignoring_direct(""), "suspects", replace(_ignoring_direct(""), quoted=Quoted())),
        Example(_ignoring_direct(""), "suspects", _ignoring_direct("end_fsync=1")),
    ),
    "measures-memory": (
        Example(
            _quoted(uncounted("rw=read bs=2m", read=direction(GIB, 2.0)), Quoted(measures_memory="hdparm -T")),
            "refutes",
            uncounted("rw=read bs=2m", read=direction(GIB, 2.0)),
        ),
    ),
    "zfs-sync-disabled": (
        Example(
            _quoted(uncounted(_WRITES, write=direction(GIB, 10.0)), Quoted(served_without_sync="line 1 says so")),
            "suspects",
            _quoted(uncounted(_RANDOM, read=direction(GIB, 10.0)), Quoted(served_without_sync="line 1 says so")),
        ),
    ),
    "named-disk": (
        Example(
            _quoted(uncounted(_RANDOM, read=direction(GIB, 10.0)), Quoted(hard_disks="line 1 names hard disks")),
            "suspects",
            _quoted(uncounted(_RANDOM, read=direction(GIB, 2000.0)), Quoted(hard_disks="line 1 names hard disks")),
        ),
        Example(
            _quoted(uncounted(_RANDOM, read=direction(GIB, 10.0)), Quoted(hard_disks="line 1 names hard disks")),
            "suspects",
            _quoted(
                uncounted(_RANDOM, read=direction(GIB, 10.0)),
                Quoted(hard_disks="line 1 names hard disks", hard_disk_count=24),
            ),
        ),
        Example(
            _quoted(
                uncounted(_RANDOM, read=direction(GIB, 10.0)),
                Quoted(hard_disks="line 1 names hard disks", has_log_device=True),
            ),
            "suspects",
            _quoted(
                uncounted(_WRITES, write=direction(GIB, 10.0)),
                Quoted(hard_disks="line 1 names hard disks", has_log_device=True),
            ),
        ),
        Example(
            _quoted(uncounted(_RANDOM, read=direction(GIB, 1.7)), Quoted(sata_drive="line 1 says “run on a SATA SSD”")),
            "suspects",
            _quoted(uncounted(_RANDOM, read=direction(GIB, 1.9)), Quoted(sata_drive="line 1 says “run on a SATA SSD”")),
        ),
    ),
    "earlier-job": (
        Example(
            _quoted(uncounted(_RANDOM, read=direction(GIB, 10.0)), Quoted(unfilled="an earlier job wrote 40%")),
            "suspects",
            _quoted(_with_disk(262_000, 0), Quoted(unfilled="an earlier job wrote 40%")),
        ),
        Example(
            _quoted(
                uncounted(_BUFFERED, read=direction(GIB, 10.0, p50_ns=90_000.0)), Quoted(just_written="just written")
            ),
            "suspects",
            _quoted(uncounted(_BUFFERED, read=direction(GIB, 900.0, p50_ns=6e6)), Quoted(just_written="just written")),
        ),
    ),
}
