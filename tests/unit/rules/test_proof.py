"""Which metrics the counters of a trial prove: bytes prove a bandwidth, and requests prove IOPS and latencies."""

from dataclasses import replace

import pytest

from poolproof.evidence.model import Evidence, ZfsUse
from poolproof.evidence.target_facts import Target, ZfsFacts
from poolproof.load.outcome import Latency, Outcome, PartOutcome
from poolproof.rules.judge import judge
from poolproof.rules.model import Case
from poolproof.rules.path import is_direct_on_zfs
from poolproof.verdicts import Verdict
from tests.golden import Message
from tests.unit.rules.examples.building import ramped_apart
from tests.unit.rules.making import EXT4, GIB, KIB, MIB, account, direction, job, jobs, leaf, said

READS = ("read_p50", "read_p99", "read_p999")
_JOURNALED = replace(EXT4, journals_in_ram=True)
_ZFS = Target("zfs", ram_bytes=8 * GIB, record_bytes=128 * KIB, zfs=ZfsFacts(version="2.1.11", arc_max_bytes=GIB))


def _read(options: str, ios: int, bs: int, requests: int, leaf_bytes: int, target: Target = EXT4) -> Case:
    disk = leaf(read_bytes=leaf_bytes, read_ios=requests, read_merges=0)
    evidence = Evidence(account(read=(ios * bs, leaf_bytes)), (disk,))
    return Case(jobs(f"{options} time_based=1 runtime=2"), said(read=direction(ios * bs, 2.0, bs)), evidence, target)


def _verdicts(case: Case, *metrics: str) -> tuple[Verdict, ...]:
    return tuple(judge(case, metric).verdict for metric in metrics)


@pytest.mark.parametrize(
    ("options", "ios", "bs", "requests", "leaf_bytes"),
    [
        ("rw=randread bs=4k size=64m ioengine=mmap fadvise_hint=0", 16_384, 4096, 94, 64 * MIB),
        ("rw=randread bs=4k size=64m ioengine=psync fadvise_hint=0", 16_384, 4096, 8_000, 64 * MIB),
        ("rw=randread bs=512 size=64m ioengine=mmap", 131_072, 512, 16_387, 64 * MIB),
        ("rw=randread bs=512 size=32m ioengine=psync", 189_023, 512, 24_575, 96 * MIB),
    ],
    ids=["mmap", "readahead", "512 bytes by mmap", "512 bytes"],
)
def test_reads_that_requests_do_not_cover_are_refuted(
    options: str, ios: int, bs: int, requests: int, leaf_bytes: int
) -> None:
    case = _read(options, ios, bs, requests, leaf_bytes)
    assert _verdicts(case, "iops", "read_iops", "p99") == ("refuted",) * 3
    covered = _read(options, ios, bs, ios, max(leaf_bytes, 4096 * ios))
    assert _verdicts(covered, "iops", "read_iops", "p99") == ("sound",) * 3


@pytest.mark.parametrize(
    ("options", "bs", "counted_share", "verdicts"),
    [
        ("ioengine=mmap bs=32k", 32 * KIB, 0.88, ("unproven", "unproven", "sound")),
        ("ioengine=mmap bs=32k", 32 * KIB, 0.97, ("sound", "sound", "sound")),
        ("ioengine=psync direct=0 bs=32k", 32 * KIB, 0.88, ("unproven", "unproven", "sound")),
        ("ioengine=psync direct=1 bs=32k", 32 * KIB, 0.88, ("sound", "sound", "sound")),
    ],
)
def test_requests_for_pages_do_not_prove_reads_of_several_pages(
    options: str, bs: int, counted_share: float, verdicts: tuple[Verdict, ...]
) -> None:
    """With mmap, each page of 4 KiB is a request, so a read of 32 KiB has eight."""
    ios, counted = 8_000, int(counted_share * 8_000 * bs)
    case = _read(f"rw=randread size=4g {options}", ios, bs, counted // 4096, counted)
    assert _verdicts(case, "read_iops", "read_p99", "read_bandwidth") == verdicts


def _two_readers(
    first: tuple[str, int, int], second: tuple[str, int, int], requests: int, second_ns: int = 100_000
) -> Case:
    """Return a case with two jobs that read. `first` and `second`: the options, the number of I/Os and their size."""
    parts = tuple(
        PartOutcome(
            name,
            read=direction(
                ios * bs, 2.0, bs, clat=Latency(samples=ios, mean_ns=time_ns, bins_ns={time_ns: ios})
            ),
        )
        for name, (_, ios, bs), time_ns in (("a", first, 100_000), ("b", second, second_ns))
    )  # fmt: skip
    moved = first[1] * first[2] + second[1] * second[2]
    disk = leaf(read_bytes=moved, read_ios=requests, read_merges=0)
    load = jobs(*(f"{options} time_based=1 runtime=2" for options, _, _ in (first, second)))
    return Case(load, Outcome("fio-3.33", parts), Evidence(account(read=(moved, moved)), (disk,)), EXT4)


@pytest.mark.parametrize(
    ("time_ns", "share", "verdicts"),
    [
        (1_500, 0.97, ("refuted", "refuted", "sound")),
        (1_500, 0.4, ("suspect", "suspect", "sound")),
        (1_500, 0.12, ("unproven", "unproven", "sound")),
        (1_500, 0.04, ("sound", "sound", "sound")),
        (4_500, 0.97, ("sound", "sound", "sound")),
    ],
)
def test_requests_for_large_reads_do_not_prove_small_reads_that_ram_served(
    time_ns: int, share: float, verdicts: tuple[Verdict, ...]
) -> None:
    """Each read of 1 MiB needs two requests. They made up for small reads in another job, most of which took 1.5 µs."""
    big = ("rw=randread bs=1m size=512m direct=1", 300, MIB)
    case = _two_readers(big, ("rw=randread bs=4k size=64k direct=1", 3_000, 4 * KIB), 3_500)
    assert case.outcome is not None
    first, small = case.outcome.parts
    bins = {time_ns: int(3_000 * share), 100_000: 3_000 - int(3_000 * share)}
    assert small.read is not None
    fast = replace(small, read=replace(small.read, clat=Latency(samples=3_000, mean_ns=9e4, bins_ns=bins)))
    found = replace(case, outcome=Outcome("fio-3.33", (first, fast)))
    assert _verdicts(found, "iops", "read_p50", "bandwidth") == verdicts


@pytest.mark.parametrize(
    ("first", "small", "requests", "verdict"),
    [
        (("rw=randread bs=1m size=512m direct=1", 300, MIB), "direct=0", 1_600, "unproven"),
        (("rw=randread bs=1m size=512m direct=1", 300, MIB), "direct=0", 6_200, "sound"),
        (("rw=randread bs=1m size=512m direct=1", 300, MIB), "direct=1", 1_600, "sound"),
        (("rw=randread bs=4k size=512m direct=1", 300, 4 * KIB), "direct=0", 1_300, "sound"),
    ],
    ids=["large reads are split", "enough are left", "direct", "small reads are not split"],
)
def test_only_requests_that_are_left_prove_reads_through_the_page_cache(
    first: tuple[str, int, int], small: str, requests: int, verdict: Verdict
) -> None:
    case = _two_readers(first, (f"rw=randread bs=4k size=64m {small}", 1_000, 4 * KIB), requests)
    assert _verdicts(case, "iops", "read_p99") == (verdict, verdict)


@pytest.mark.parametrize(
    ("big", "small", "requests", "verdict"),
    [
        (MIB, "direct=0", 1_600, "unproven"), (MIB, "direct=0", 6_200, "sound"), (MIB, "direct=1", 1_600, "sound"),
        (4 * KIB, "direct=0", 1_300, "sound"), (4 * KIB, "direct=0", 1_200, "unproven"),
    ],
)  # fmt: skip
def test_requests_for_large_direct_writes_do_not_prove_writes_through_the_page_cache(
    big: int, small: str, requests: int, verdict: Verdict
) -> None:
    moved = 300 * big + 1_000 * 4 * KIB
    parts = (
        PartOutcome("a", write=direction(300 * big, 2.0, big)),
        PartOutcome("b", write=direction(1_000 * 4 * KIB, 2.0, 4 * KIB)),
    )
    disk = leaf(write_bytes=moved, drained_write_bytes=moved, write_ios=requests, write_merges=0)
    load = jobs(
        f"rw=write bs={big} size=512m direct=1 time_based=1 runtime=2",
        f"rw=write bs=4k size=64m {small} fsync=4 time_based=1 runtime=2",
    )
    found = Case(load, Outcome("fio-3.33", parts), Evidence(account(write=(moved, moved, moved)), (disk,)), EXT4)
    assert _verdicts(found, "iops", "write_iops") == (verdict, verdict)


@pytest.mark.parametrize(
    ("big", "requests", "verdict"),
    [
        ("rw=read bs=4m size=512m direct=0", 1_300, "unproven"),
        ("rw=randread bs=4m size=512m direct=0", 1_300, "unproven"),
        ("rw=read bs=4m size=512m direct=0", 24_000, "sound"),
        ("rw=randread bs=4k size=512m direct=0", 1_300, "sound"),
    ],
)
def test_requests_for_large_reads_through_the_page_cache_do_not_prove_small_ones(
    big: str, requests: int, verdict: Verdict
) -> None:
    """On an ext4 file system, 569 reads of 60k came from RAM, and 362 reads of 4 MiB caused 1,251 requests."""
    size = 4 * KIB if "bs=4k" in big else 4 * MIB
    case = _two_readers((big, 300, size), ("rw=randread bs=60k size=600k direct=0", 1_000, 60 * KIB), requests)
    assert _verdicts(case, "iops", "read_iops") == (verdict, verdict)


def _two_writers(first: tuple[str, int, int], second: tuple[str, int, int], requests: int, merged: int = 0) -> Case:
    """Return a case with two jobs that write. `first` and `second`: the options, the number of I/Os and their size."""
    moved = first[1] * first[2] + second[1] * second[2]
    parts = tuple(
        PartOutcome(name, write=direction(ios * bs, 2.0, bs))
        for name, (_, ios, bs) in (("a", first), ("b", second))
    )  # fmt: skip
    disk = leaf(write_bytes=moved, drained_write_bytes=moved, write_ios=requests, write_merges=merged)
    load = jobs(*(f"{options} time_based=1 runtime=2" for options, _, _ in (first, second)))
    return Case(load, Outcome("fio-3.33", parts), Evidence(account(write=(moved, moved, moved)), (disk,)), EXT4)


@pytest.mark.parametrize(
    ("options", "ios", "bs", "requests", "verdict"),
    [
        ("rw=write bs=4m size=512m direct=0 end_fsync=1", 128, 4 * MIB, 1_128, "unproven"),
        ("rw=write bs=4m size=512m direct=0 end_fsync=1", 128, 4 * MIB, 9_000, "sound"),
        ("rw=write bs=4k size=512m direct=0 fdatasync=1", 600, 4 * KIB, 2_400, "unproven"),
        ("rw=write bs=4k size=512m direct=0 fdatasync=1", 600, 4 * KIB, 6_000, "sound"),
        ("rw=randwrite bs=4k size=512m direct=0 end_fsync=1", 600, 4 * KIB, 1_112, "sound"),
    ],
)
def test_requests_for_other_writes_do_not_prove_writes_that_ram_combined(
    options: str, ios: int, bs: int, requests: int, verdict: Verdict
) -> None:
    """On btrfs, 512 random writes that were combined in RAM had IOPS that large sequential writes seemed to prove."""
    small = ("rw=randwrite bs=4k size=2m direct=0 end_fsync=1", 512, 4 * KIB)
    assert _verdicts(_two_writers((options, ios, bs), small, requests), "iops", "write_iops") == (verdict, verdict)


@pytest.mark.parametrize(
    ("options", "verdict"),
    [
        ("rw=randwrite direct=0 end_fsync=1", "unproven"), ("rw=randwrite direct=0 fdatasync=1", "sound"),
        ("rw=randwrite direct=1", "sound"), ("rw=write direct=0 end_fsync=1", "unproven"),
        ("rw=write direct=0 fdatasync=1", "sound"), ("rw=write direct=1", "sound"),
    ],
)  # fmt: skip
def test_requests_that_were_merged_after_writes_were_combined_in_ram_are_no_writes(
    options: str, verdict: Verdict
) -> None:
    """On a device without a file system, 83,240 buffered writes of 4k became 1,795 requests."""
    moved = 83_240 * 4 * KIB
    disk = leaf(write_bytes=moved, drained_write_bytes=moved, write_ios=1_795, write_merges=81_446)
    load = jobs(f"{options} bs=4k size=512m time_based=1 runtime=2")
    found = Evidence(account(write=(moved, moved, moved)), (disk,))
    case = Case(load, said(write=direction(moved, 2.0)), found, Target("", ram_bytes=8 * GIB))
    assert _verdicts(case, "iops", "bandwidth") == (verdict, "sound")


@pytest.mark.parametrize(
    ("options", "requests", "merges", "target", "verdicts"),
    [
        ("direct=0", 410, 3_017, Target("btrfs"), ("unproven", "unproven", "sound")),
        ("direct=0", 3_427, 0, Target("btrfs"), ("sound", "unproven", "sound")),
        ("direct=1 ioengine=libaio iodepth=32", 410, 3_017, Target("btrfs"), ("sound", "sound", "sound")),
        ("direct=1 ioengine=libaio iodepth=32", 410, 3_017, EXT4, ("sound", "sound", "sound")),
        (
            "direct=1",
            410,
            3_017,
            replace(EXT4, mount_options=("data=journal",)),
            ("unproven", "unproven", "sound"),
        ),
        ("bs=128k", 410, 3_017, _ZFS, ("sound", "unproven", "sound")),
    ],
    ids=["stripes", "a request for each read", "queue", "queue on ext4", "data=journal", "zfs reads each record"],
)
def test_merged_stripes_are_no_sequential_reads(
    options: str, requests: int, merges: int, target: Target, verdicts: tuple[Verdict, ...]
) -> None:
    """On btrfs raid0, writes of 64 KiB through the page cache became 410 requests and 3,017 merges for 3,200 writes."""
    bs = 128 * KIB if "128k" in options else 64 * KIB
    moved = 3_200 * bs
    disk = leaf(read_bytes=moved, read_ios=requests, read_merges=merges)
    load = jobs(f"rw=read bs=64k size=64g time_based=1 runtime=2 {options}")
    case = Case(load, said(read=direction(moved, 2.0, bs)), Evidence(account(read=(moved, moved)), (disk,)), target)
    assert _verdicts(case, "read_iops", "read_p99", "read_bandwidth") == verdicts


@pytest.mark.parametrize(
    ("bs", "direct", "requests", "verdict"),
    [
        ("4k,2k", 0, 1_000, "unproven"), ("4k,2k", 0, 1_990, "sound"), ("4k,4k", 0, 1_000, "sound"),
        ("4k,2k", 1, 1_000, "sound"), ("4k,6k", 0, 1_990, "unproven"),
        ("4k,2k percentage_random=0,100", 0, 1_000, "unproven"),
    ],
)  # fmt: skip
def test_reads_that_writes_cause_do_not_prove_other_reads(
    bs: str, direct: int, requests: int, verdict: Verdict
) -> None:
    """A buffered write of half a page first reads the page."""
    written = 1_000 * int(bs[3]) * KIB
    disk = leaf(read_bytes=1_000 * 4 * KIB, read_ios=requests, read_merges=0, write_ios=1_000, write_merges=0,
                write_bytes=written, drained_write_bytes=written)  # fmt: skip
    evidence = Evidence(account(read=(4_096_000, 4_096_000), write=(written, written, written)), (disk,))
    did = said(read=direction(4_096_000, 2.0), write=direction(written, 2.0, int(bs[3]) * KIB))
    load = jobs(f"rw=randrw direct={direct} fdatasync=1 size=64m time_based=1 runtime=2 bs={bs}")
    assert _verdicts(Case(load, did, evidence, EXT4), "read_iops", "read_p99") == (verdict, verdict)


@pytest.mark.parametrize(
    ("runtime_s", "ramp", "words"),
    [(1, "ramp_time=500ms", "the ramp"), (10, "ramp_time=500ms", "94%"), (1, "", "94%")],
)
def test_a_short_run_after_a_ramp_may_lack_requests_because_of_the_ramp(runtime_s: int, ramp: str, words: str) -> None:
    """In runs of 1 s after a ramp of 0.5 s, the counters showed 93 to 97% of the direct reads."""
    disk = leaf(read_bytes=2_771 * 4096, read_ios=2_771, read_merges=0)
    evidence = Evidence(account(read=(2_943 * 4096, 2_771 * 4096), window_s=runtime_s), (disk,))
    load = jobs(f"rw=randread bs=4k size=128m direct=1 time_based=1 runtime={runtime_s} {ramp}")
    case = Case(load, said(read=direction(2_943 * 4096, runtime_s)), evidence, EXT4)
    found = judge(case, "iops").findings
    assert any(words in each.message for each in found if each.rule == "missing-proof")
    assert ("read-from-cache" in {each.rule for each in found}) is (words == "94%")


def test_a_record_of_zfs_serves_many_small_reads_from_ram() -> None:
    """OpenZFS 2.1 with recordsize=128k.

    For 10,270 reads of 4 KiB, 769 records came from the disk, which is 2.4 times the bytes.
    """
    case = _read("rw=randread bs=4k size=96m ioengine=psync", 10_270, 4096, 769, 769 * 128 * KIB, _ZFS)
    found = judge(case, "iops")
    assert found.verdict == "refuted"
    assert {"reads-without-requests", "size-below-cache", "invalidate-is-not-cold"} <= {
        finding.rule for finding in found.findings
    }, "a byte count that amplification can reach clears no suspicion"
    honest = _read("rw=randread bs=4k size=96m ioengine=psync", 1_239, 4096, 1_239, 1_239 * 128 * KIB, _ZFS)
    assert judge(honest, "iops").verdict == "sound"


@pytest.mark.parametrize(
    ("misses", "verdict"), [(9_000, "sound"), (5_400, "unproven"), (4_000, "suspect"), (300, "refuted")]
)
def test_misses_of_the_arc_show_what_other_requests_hide(misses: int, verdict: Verdict) -> None:
    """The four disks of a raidz read each record in four requests.

    Their number alone would therefore hide that some reads were served from the ARC.
    """
    case = _read("rw=randread bs=128k size=8g", 6_000, 128 * KIB, 24_000, 6_000 * 128 * KIB, _ZFS)
    evidence = replace(case.evidence or Evidence(None), zfs=ZfsUse(data_misses=misses))
    found = judge(replace(case, evidence=evidence), "iops")
    assert found.verdict == verdict
    messages = [finding.message for finding in found.findings if finding.rule == "reads-without-requests"]
    assert all(f" {misses} blocks" in message and "ARC" in message for message in messages)


@pytest.mark.parametrize(
    ("ios", "requests", "mib", "verdict"),
    [(197, 283, 169, "unproven"), (190, 287, 152, "suspect"), (72, 140, 72, "sound")],
)
def test_requests_of_split_reads_do_not_hide_reads_from_ram(
    ios: int, requests: int, mib: int, verdict: Verdict
) -> None:
    """1 MiB random reads through the page cache with norandommap.

    Each read that is not cached causes two or more requests.
    """
    case = _read("rw=randread bs=1m size=512m norandommap=1 ioengine=psync", ios, MIB, requests, mib * MIB)
    assert judge(case, "iops").verdict == verdict
    compressed = replace(EXT4, file_system="btrfs", compression="zstd", record_bytes=128 * KIB)
    evidence = case.evidence or Evidence(None)
    small = replace(evidence, account=account((ios * MIB, mib * MIB), stored_share=0.5))
    assert judge(replace(case, target=compressed, evidence=small), "iops").verdict == "sound"


def test_buffered_sequential_reads_prove_a_bandwidth_only() -> None:
    case = _read("rw=read bs=4k size=256m", 65_536, 4096, 1_090, 256 * MIB)
    assert _verdicts(case, "bandwidth", "iops", "p99") == ("sound", "unproven", "unproven")
    assert judge(case).verdicts == dict.fromkeys(("iops", "read_iops", *READS, "p50", "p99", "p999"), "unproven")


_ZONES = "rw=read bs=16k size=256m zonesize=128k zoneskip=192k"
_SHARED = "rw=read bs=16k size=256m numjobs=2"
_TIMED = "time_based=1 runtime=2"


_AGAIN = "rw=randwrite bs=4k size=24m filename=f ioengine=psync"


@pytest.mark.parametrize(
    ("first", "second", "verdict"),
    [
        (_AGAIN, f"{_AGAIN} end_fsync=1", "unproven"),
        (_AGAIN, f"{_AGAIN} end_fsync=1 offset=24m", "sound"),
        (_AGAIN, f"{_AGAIN} end_fsync=1 filename=g", "sound"),
        (_AGAIN, f"{_AGAIN} end_fsync=1 stonewall=1 invalidate=0", "unproven"),
        (_AGAIN, f"{_AGAIN} end_fsync=1 stonewall=1", "sound"),  # fio drops the file, so the kernel writes it
        (f"{_AGAIN} end_fsync=1", f"{_AGAIN} end_fsync=1 stonewall=1 invalidate=0", "sound"),
        (f"{_AGAIN} direct=1", f"{_AGAIN} end_fsync=1", "sound"),
    ],
)
def test_blocks_that_several_jobs_write_may_be_overwritten_in_ram(first: str, second: str, verdict: Verdict) -> None:
    """btrfs wrote 96 MiB for 48 MiB because of its trees. With nodatacow, 39 of 48 MiB reached the disk."""
    moved = 24 * MIB
    parts = [PartOutcome(name, write=direction(moved, 2.0, 4 * KIB)) for name in "ab"]
    disk = leaf(write_bytes=4 * moved, drained_write_bytes=4 * moved, write_ios=20_000, write_merges=0)
    evidence = Evidence(account(write=(2 * moved, 4 * moved, 4 * moved)), (disk,))
    target = Target("btrfs", ram_bytes=8 * GIB, tree_block_bytes=16 * KIB)
    case = Case(jobs(first, second), Outcome("fio-3.33", tuple(parts)), evidence, target)
    assert judge(case, "bandwidth").verdict == verdict


@pytest.mark.parametrize(
    ("options", "verdict"),
    [
        ("filename=/dev/loop0", "suspect"),
        ("filename=/dev/loop0 end_fsync=1", "sound"),
        ("filename=/dev/loop0 fdatasync=64", "sound"),
        ("filename=/dev/loop0 direct=1", "sound"),
        ("filename=/mnt/x", "sound"),  # a file is not written when fio closes it
    ],
)
def test_writes_when_fio_closes_a_device_prove_no_rate(options: str, verdict: Verdict) -> None:
    """605 MiB/s to a disk that writes 200 MB/s: it had everything when fio ended, but not when its clock stopped."""
    moved = 200 * MIB
    disk = leaf(write_bytes=moved, drained_write_bytes=moved, write_ios=3_200, write_merges=0, flush_ios=60)
    load = jobs(f"rw=randwrite bs=64k size=200m ioengine=psync {options}")
    result = said(write=direction(moved, 2.0, 64 * KIB), syncs=50 if "fdatasync" in options else None)
    case = Case(load, result, Evidence(account(write=(moved,) * 3), (disk,)), replace(EXT4, file_system="block device"))
    assert _verdicts(case, "bandwidth", "write_bandwidth") == (verdict,) * 2


def test_a_job_that_syncs_at_its_end_may_run_with_one_that_needs_no_sync() -> None:
    """When fio closes the device, nothing is left in RAM: one job wrote directly, and the other one synced."""
    moved, device = 100 * MIB, "bs=64k size=200m filename=/dev/loop0"
    disk = leaf(write_bytes=2 * moved, drained_write_bytes=2 * moved, write_ios=3_200, write_merges=0)
    parts = tuple(PartOutcome(name, write=direction(moved, 2.0, 64 * KIB)) for name in "ab")
    for second, verdict in {"end_fsync=1 offset=1g": "sound", "offset=1g": "suspect"}.items():
        load = jobs(f"rw=randwrite direct=1 {device}", f"rw=randwrite {device} {second}")
        evidence = Evidence(account(write=(2 * moved,) * 3), (disk,))
        case = Case(load, Outcome("fio-3.33", parts), evidence, replace(EXT4, file_system="block device"))
        assert _verdicts(case, "bandwidth", "write_bandwidth") == (verdict,) * 2


@pytest.mark.parametrize(
    ("options", "leaf_mib", "verdict"),
    [
        ("fadvise_hint=0", 460, "unproven"),
        ("fadvise_hint=0", 36, "sound"),
        ("fadvise_hint=1", 460, "sound"),
        ("fadvise_hint=0 ioengine=psync direct=1", 460, "sound"),
        ("fadvise_hint=0 direct=1", 460, "unproven"),  # mmap cannot bypass RAM
    ],
)
def test_requests_for_data_around_random_reads_prove_no_iops(options: str, leaf_mib: int, verdict: Verdict) -> None:
    """btrfs raid0: each page fault read 1 MiB, which was split into stripes, so 720 reads had 7,500 requests."""
    case = _read(f"rw=randread bs=32k size=480m ioengine=mmap {options}", 1_000, 32 * KIB, 7_500, leaf_mib * MIB)
    assert _verdicts(case, "iops", "read_p50", "p99") == (verdict,) * 3
    assert _verdicts(case, "bandwidth", "read_bandwidth") == ("sound", "sound")
    assert ("around the random reads" in str(judge(case).findings)) is (verdict == "unproven")


@pytest.mark.parametrize(
    ("options", "verdict"),
    [
        (f"{_ZONES} zonerange=64k", "unproven"),
        (f"{_ZONES} zonerange=128k", "sound"),
        (f"{_ZONES} zonerange=64k direct=1", "sound"),
        (f"{_ZONES} zonerange=64k zonemode=none", "sound"),
        (f"{_SHARED} zonesize=64k zoneskip=448k filename=x", "unproven"),
        (f"{_SHARED} zonesize=64k zoneskip=448k", "sound"),  # each clone has a file of its own
        (f"{_SHARED} filename=x", "sound"),  # without skipped data, the bytes would show reads from RAM
        ("rw=read:48k bs=16k size=256m", "sound"),
        ("rw=read:48k bs=16k size=256m numjobs=2 filename=x", "unproven"),
        ("rw=read:-8k bs=16k size=256m", "unproven"),
    ],
)
def test_readahead_does_not_prove_sequential_reads_that_repeat_data(options: str, verdict: Verdict) -> None:
    """ext4: fio read each half of a zone twice, and readahead read data beyond the zone, so 64 MB/s were `sound`."""
    case = _read(options, 3_890, 16 * KIB, 4_000, int(79.8 * MIB))
    assert _verdicts(case, "bandwidth", "read_bandwidth", "iops") == (verdict,) * 3
    if verdict == "unproven":
        assert "they repeat data" in " ".join(finding.message for finding in judge(case).findings)


@pytest.mark.parametrize(
    ("options", "verdict"),
    [
        ("rw=read thinktime=20ms", "unproven"), ("rw=read", "unproven"), ("rw=randread:8", "unproven"),
        ("rw=randread percentage_random=50", "unproven"), ("rw=randread", "sound"), ("rw=read direct=1", "sound"),
        ("rw=read direct=1 ioengine=mmap", "unproven"), ("rw=randread direct=1 ioengine=mmap", "sound"),
    ],
)  # fmt: skip
def test_the_latency_of_reads_after_readahead_is_unproven(options: str, verdict: Verdict) -> None:
    """On an emulated hard disk, half of the reads of 2 MiB took 452 µs: the data was already in RAM."""
    case = _read(f"bs=2m size=4g {options}", 2_048, 2 * MIB, 4_301, 4096 * MIB)
    assert _verdicts(case, "p50", "read_p99") == (verdict, verdict)
    assert ("the kernel reads ahead" in str(judge(case, "p50").findings)) is (verdict == "unproven")
    assert judge(case, "read_iops").verdict == ("suspect" if "thinktime" in options else "sound")


@pytest.mark.parametrize(
    ("options", "verdict"),
    [
        ("rw=read pre_read=1", "unproven"),
        ("rw=randread pre_read=1", "unproven"),
        ("rw=read pre_read=1 direct=1", "sound"),
        ("rw=read pre_read=0", "sound"),
    ],
)
def test_reads_before_the_job_do_not_prove_those_of_the_job(options: str, verdict: Verdict) -> None:
    """With pre_read=1, 4 GiB came from RAM, and the disk had read as much before the job."""
    case = _read(f"bs=2m size=4g {options}", 2_048, 2 * MIB, 3_301, 4096 * MIB)
    assert _verdicts(case, "bandwidth", "read_bandwidth", "iops") == (verdict,) * 3
    assert ("pre_read=1 reads the files" in str(judge(case).findings)) is (verdict == "unproven")


@pytest.mark.parametrize("direct", [0, 1])
@pytest.mark.parametrize(("pre_read", "verdict"), [(1, "unproven"), (0, "sound")])
def test_reads_before_a_job_do_not_prove_those_of_another_job(direct: int, pre_read: int, verdict: Verdict) -> None:
    """On btrfs, 116 of 120 MiB came from RAM. fio had read the 128 MiB of the other job's file before the job."""
    other = f"rw=randwrite bs=4k size=128m direct={direct} pre_read={pre_read} {_TIMED}"
    load = jobs("rw=read bs=1m size=4m io_size=120m invalidate=0", other)
    read, write = direction(120 * MIB, 1.2, MIB), direction(4 * MIB, 2.0, 4 * KIB)
    found = Outcome("fio-3.33", (PartOutcome("a", read=read), PartOutcome("b", write=write)))
    disk = leaf(
        read_bytes=132 * MIB, read_ios=500, write_bytes=4 * MIB, write_ios=1024, drained_write_bytes=4 * MIB
    )  # fmt: skip
    evidence = Evidence(account(read=(120 * MIB, 132 * MIB), write=(4 * MIB, 4 * MIB, 4 * MIB)), (disk,))
    case = Case(load, found, evidence, EXT4)
    assert _verdicts(case, "bandwidth", "read_bandwidth", "read_iops") == (verdict,) * 3


@pytest.mark.parametrize(
    ("other", "verdict"),
    [
        ("rw=randread bs=4k ioengine=mmap fadvise_hint=0", "unproven"),
        ("rw=randread bs=4k ioengine=psync fadvise_hint=sequential", "unproven"),
        ("rw=randread bs=4k ioengine=psync fadvise_hint=random", "sound"),
        ("rw=randread bs=4k ioengine=mmap", "sound"),
        ("rw=randread bs=4k direct=1 fadvise_hint=0", "sound"),
        ("rw=read bs=4k size=400m nrfiles=400", "unproven"),  # readahead goes on where it stops in each file
        ("rw=read bs=4k size=400m", "sound"),  # one file
    ],
)
def test_reads_around_those_of_a_job_do_not_prove_reads_that_repeat_data(other: str, verdict: Verdict) -> None:
    """With mmap and without fadvise_hint, each page fault read 1 MiB on btrfs. 116 of 121 MiB came from RAM."""
    load = jobs("rw=read bs=1m size=4m io_size=120m invalidate=0", f"size=4m {_TIMED} {other}")
    read, small = direction(120 * MIB, 1.2, MIB), direction(MIB, 2.0, 4 * KIB)
    found = Outcome("fio-3.33", (PartOutcome("a", read=read), PartOutcome("b", read=small)))
    disk = leaf(read_bytes=500 * MIB, read_ios=1_500, read_merges=0)
    case = Case(load, found, Evidence(account(read=(121 * MIB, 500 * MIB)), (disk,)), EXT4)
    assert _verdicts(case, "bandwidth", "read_bandwidth") == (verdict, verdict)


@pytest.mark.parametrize(("factor", "verdict"), [(1.0, "sound"), (1.5, "unproven"), (2.0, "unproven")])
@pytest.mark.parametrize("direct", [0, 1])
def test_reads_for_the_parity_of_writes_do_not_prove_reads_that_repeat_data(
    factor: float, direct: int, verdict: Verdict
) -> None:
    """raid6 over four disks writes each byte twice."""
    other = f"rw=randwrite bs=4k size=400m direct={direct} end_fsync=1 {_TIMED}"
    load = jobs("rw=read bs=1m size=4m io_size=120m invalidate=0", other)
    read, write = direction(120 * MIB, 1.2, MIB), direction(40 * MIB, 2.0, 4 * KIB)
    found = Outcome("fio-3.33", (PartOutcome("a", read=read), PartOutcome("b", write=write)))
    wrote = 40 * MIB * factor
    disk = leaf(
        read_bytes=124 * MIB, read_ios=31_000, write_bytes=wrote, write_ios=20_480, drained_write_bytes=wrote
    )  # fmt: skip
    evidence = Evidence(account(read=(120 * MIB, 124 * MIB), write=(40 * MIB, wrote, wrote), factor=factor), (disk,))
    case = Case(load, found, evidence, EXT4)
    assert judge(case, "read_bandwidth").verdict == verdict
    known = [replace(EXT4, has_parity=has_parity) for has_parity in (True, False)]
    verdicts = [judge(replace(case, target=target), "read_bandwidth").verdict for target in known]
    assert factor == 1.5 or verdicts == ["unproven", "sound"]  # a factor of 1.5 shows parity


@pytest.mark.parametrize(
    ("first", "second", "verdict"),
    [
        ("filename=x", "filename=x", "unproven"),
        ("filename=x", "filename=y", "sound"),
        ("filename=x", "filename=x stonewall=1 invalidate=0", "unproven"),
        ("filename=x", "filename=x stonewall=1", "sound"),  # fio drops the file when the second job opens it
    ],
)
def test_data_that_another_job_has_brought_into_ram_is_repeated(first: str, second: str, verdict: Verdict) -> None:
    load = jobs(
        f"rw=randread bs=4k size=64m ioengine=mmap fadvise_hint=0 {_TIMED} {first}",
        f"rw=read bs=1m size=64m {second}",
    )
    read, small = direction(64 * MIB, 2.0, MIB), direction(4 * MIB, 2.0, 4 * KIB)
    found = Outcome("fio-3.33", (PartOutcome("a", read=small), PartOutcome("b", read=read)))
    disk = leaf(read_bytes=80 * MIB, read_ios=1_500, read_merges=0)
    case = Case(load, found, Evidence(account(read=(68 * MIB, 80 * MIB)), (disk,)), EXT4)
    assert _verdicts(case, "bandwidth", "read_bandwidth") == (verdict, verdict)


@pytest.mark.parametrize(
    ("other", "verdict"),
    [("bs=512", "unproven"), ("bs=4k", "sound"), ("bs=512 direct=1", "sound"), ("bs=512 stonewall=1", "unproven")],
)
def test_reads_of_whole_pages_do_not_prove_reads_that_repeat_data(other: str, verdict: Verdict) -> None:
    """Random reads of 512 bytes read whole pages, which can hide that clones read the same bytes from RAM."""
    load = jobs(f"rw=read bs=64k size=256m numjobs=2 filename=x {_TIMED}", f"rw=randread size=256m {_TIMED} {other}")
    read = direction(100 * MIB, 2.0, 64 * KIB)
    small = direction(1000 * 4 * KIB, 2.0, 4 * KIB)
    found = Outcome("fio-3.33", (PartOutcome("a", read=read, clones=2), PartOutcome("b", read=small)))
    disk = leaf(read_bytes=110 * MIB, read_ios=5_000, read_merges=0)
    moved = 100 * MIB + 1000 * 4 * KIB
    case = Case(load, found, Evidence(account(read=(moved, 110 * MIB)), (disk,)), EXT4)
    assert judge(case, "bandwidth").verdict == verdict


@pytest.mark.parametrize(
    ("passes", "file_system", "verdict"),
    [
        ("io_size=40m invalidate=0", "ext4", "unproven"),
        ("io_size=40m", "ext4", "sound"),
        ("time_based=1 runtime=2 invalidate=0", "ext4", "sound"),
        ("time_based=1 runtime=2", "fuse.mergerfs", "unproven"),
        ("io_size=40m invalidate=0 direct=1", "ext4", "sound"),
    ],
)
def test_reads_of_whole_pages_do_not_prove_that_each_pass_came_from_the_disk(
    passes: str, file_system: str, verdict: Verdict
) -> None:
    """On ext4, 36 of 40 MiB came from RAM, but random reads of 512 bytes had read whole pages in the same time."""
    load = jobs(f"rw=read bs=1m size=4m {passes}", f"rw=randread bs=512 size=400m {_TIMED}")
    read, small = direction(40 * MIB, 2.0, MIB), direction(9_395 * 512, 2.0, 512)
    found = Outcome("fio-3.33", (PartOutcome("a", read=read), PartOutcome("b", read=small)))
    disk = leaf(read_bytes=40 * MIB, read_ios=9_500, read_merges=0)
    evidence = Evidence(account(read=(40 * MIB + 9_395 * 512, 40 * MIB)), (disk,))
    case = Case(load, found, evidence, replace(EXT4, file_system=file_system))
    assert _verdicts(case, "bandwidth", "read_bandwidth") == (verdict, verdict)


def test_merged_requests_cover_direct_sequential_reads() -> None:
    case = _read("rw=read bs=4k size=256m direct=1 ioengine=libaio iodepth=32", 65_536, 4096, 4_096, 256 * MIB)
    merged = replace(case.leaves[0], read_merges=61_440)
    case = replace(case, evidence=replace(case.evidence or Evidence(None), leaves=(merged,)))
    assert _verdicts(case, "bandwidth", "iops", "p99") == ("sound",) * 3


def test_without_counted_requests_only_direct_reads_are_proven_by_bytes() -> None:
    for options, verdict in {"direct=1": "sound", "direct=0": "unproven"}.items():
        case = _read(f"rw=randread bs=4k size=64g {options}", 65_536, 4096, 0, 256 * MIB)
        assert judge(case, "iops").verdict == verdict


@pytest.mark.parametrize("why", ["switched off", "never counted"])
def test_disks_that_are_not_counted_leave_a_result_unproven(why: str) -> None:
    case = _read("rw=randread bs=4k size=64g direct=1", 65_536, 4096, 0, 0)
    assert judge(case).verdict == "refuted"
    if why == "switched off":
        case = replace(case, target=replace(EXT4, not_counted=("vda",)))
    else:
        case = replace(case, evidence=replace(case.evidence or Evidence(None), leaves=(leaf(counted=False),)))
    assert judge(case).verdict == "unproven"
    assert "counters-off" in {finding.rule for finding in judge(case).findings}


def test_reads_from_ram_say_nothing_about_the_writes() -> None:
    """A job that verifies what it has written reads it from RAM."""
    disk = leaf(write_bytes=64 * MIB, write_ios=1024, drained_write_bytes=64 * MIB)
    evidence = Evidence(account(read=(64 * MIB, 0), write=(64 * MIB, 64 * MIB, 64 * MIB)), (disk,))
    outcome = said(read=direction(64 * MIB, 2.0, 64 * KIB), write=direction(64 * MIB, 2.0, 64 * KIB))
    case = Case(jobs("rw=rw bs=64k size=128m direct=1 time_based=1 runtime=2"), outcome, evidence, EXT4)
    assert _verdicts(case, "bandwidth", "read_bandwidth", "write_bandwidth") == ("refuted", "refuted", "sound")


def _write(options: str, ios: int, bs: int, at_end: int, drained: int, target: Target = EXT4) -> Case:
    disk = leaf(write_bytes=at_end, write_ios=at_end // 4096, write_merges=0, drained_write_bytes=drained)
    found = account(write=(ios * bs, at_end, drained))
    outcome = said(write=direction(ios * bs, 2.0, bs))
    return Case(jobs(f"{options} time_based=1 runtime=2"), outcome, Evidence(found, (disk,)), target)


def test_late_writes_cannot_hide_behind_amplification() -> None:
    """OpenZFS, buffered 4k writes to records of 128k.

    fio wrote 1 GiB. The disks had written 2 GiB when fio ended, and 9 GiB after the drain.
    """
    late = _write("rw=randwrite bs=4k size=64g", GIB // 4096, 4096, 2 * GIB, 9 * GIB, _ZFS)
    found = judge(late, "bandwidth")
    assert (found.verdict, found.findings[0].rule) == ("refuted", "write-without-sync")
    assert "(22% of the 9 GiB " in found.findings[0].message
    in_time = _write("rw=randwrite bs=4k size=64g", GIB // 4096, 4096, 8 * GIB, 9 * GIB, _ZFS)
    assert judge(in_time, "bandwidth").verdict == "sound"
    others = _write("rw=randwrite bs=4k size=64g end_fsync=1", GIB // 4096, 4096, 2 * GIB, 9 * GIB, _ZFS)
    quiet = replace(account(write=(GIB, 2 * GIB, 9 * GIB)), idle_write_bytes_per_s=70e9, idle_s=3.0)
    busy = replace(others, evidence=replace(others.evidence or Evidence(None), account=quiet))
    assert "write-not-on-disk" not in {finding.rule for finding in judge(busy).findings}


def test_a_job_that_syncs_is_not_told_to_sync() -> None:
    """A ZFS mirror under mergerfs.

    The intent log makes 96 MiB durable, and their transaction group is written later.
    """
    late = _write("rw=write bs=1m size=96m end_fsync=1 ioengine=psync", 96, MIB, 196 * MIB, 271 * MIB, _ZFS)
    (found,) = (finding for finding in judge(late, "bandwidth").findings if finding.rule == "write-not-on-disk")
    assert found.effect == "suspects"
    assert "end_fsync" not in found.fix and "size" in found.fix


@pytest.mark.parametrize(
    ("factor", "requests_per_write", "verdict"),
    [
        (2.0, 1.0, "unproven"),  # a mirror whose writes were joined two by two in RAM
        (2.0, 2.0, "sound"),
        (3.0, 2.0, "unproven"),  # three copies
        (3.0, 3.0, "sound"),
        (4 / 3, 1.0, "unproven"),  # raid5 on four disks: full stripes of joined writes
        (4 / 3, 2.0, "sound"),  # one block and its parity
        (1.0, 0.5, "unproven"),
        (1.0, 1.0, "sound"),  # raid0, or a single disk
    ],
)
@pytest.mark.parametrize("options", ["end_fsync=1", "fdatasync=1", "direct=1"])
def test_each_copy_of_a_random_write_needs_a_request(
    factor: float, requests_per_write: float, verdict: Verdict, options: str
) -> None:
    """btrfs raid1 on loop devices with 4k random writes and end_fsync. Adjacent pages are merged into one request."""
    ios, moved = 16_384, 64 * MIB
    disk = leaf(write_bytes=moved * factor, write_ios=round(ios * requests_per_write), write_merges=0)
    disk = replace(disk, drained_write_bytes=disk.write_bytes)
    evidence = Evidence(account(write=(moved, moved * factor, moved * factor), factor=factor), (disk,))
    load = jobs(f"rw=randwrite bs=4k size=64g {options} time_based=1 runtime=2")
    case = Case(load, said(write=direction(moved, 2.0)), evidence, EXT4)
    assert _verdicts(case, "iops", "write_iops", "bandwidth") == (verdict, verdict, "sound")


@pytest.mark.parametrize(
    ("options", "ios", "requests", "merged", "at_end", "factor", "verdict"),
    [
        ("direct=0 end_fsync=1", 8192, 15_052, 3_070, 114.7, 2.0, "unproven"),  # raid1: 3,245 are tree blocks
        ("direct=0 end_fsync=1", 8192, 7_551, 1_977, 63.6, 1.0, "unproven"),  # raid0: 2,022
        ("direct=0 end_fsync=1", 12_288, 22_029, 0, 202.6, 1.0, "sound"),  # one disk, one request per block
        ("direct=0 fdatasync=1", 347, 2_818, 1_468, 39.9, 2.0, "sound"),  # a commit waits for its block
        ("direct=1", 1_888, 3_776, 0, 14.8, 2.0, "sound"),
    ],
)
def test_tree_blocks_of_btrfs_are_no_requests_of_data(
    options: str, ios: int, requests: int, merged: int, at_end: float, factor: float, verdict: Verdict
) -> None:
    """Counters of 4k random writes on loop devices with Linux 6.18. Up to half of the bytes are metadata."""
    written = at_end * MIB
    disk = leaf(write_bytes=written, write_ios=requests, write_merges=merged, drained_write_bytes=written)
    evidence = Evidence(account(write=(ios * 4096, written, written), factor=factor), (disk,))
    load = jobs(f"rw=randwrite bs=4k size=48m {options} time_based=1 runtime=2")
    old = Case(load, said(write=direction(ios * 4096, 2.0)), evidence, Target("btrfs", ram_bytes=8 * GIB))
    assert _verdicts(old, "iops", "bandwidth") == (verdict, "sound")
    assert old.target is not None
    apart = replace(evidence, leaves=(replace(disk, write_ios=requests + merged, write_merges=0),))
    larger = replace(old.target, file_system="fuse.mergerfs", tree_block_bytes=64 * KIB)
    large = replace(old, target=larger, evidence=apart)
    assert judge(large, "iops").verdict == "sound", "fewer tree blocks, if they are larger"
    said_of = [each.message for each in judge(old, "iops").findings if each.rule == "missing-proof"]
    assert any("tree blocks" in message for message in said_of) == (verdict == "unproven")


def test_a_commit_needs_a_request_for_each_copy_of_the_log() -> None:
    """Records of 128k on a mirror with one log device.

    Until the transaction group closes, each commit is one request to the log device.
    """
    moved = 64 * MIB
    log = leaf("log", write_bytes=2 * moved, write_ios=16_384, drained_write_bytes=2 * moved)
    pool = leaf("vda", drained_write_bytes=2 * moved)
    found = account(write=(moved, 2 * moved, 4 * moved), factor=2.0, commit_factor=1.0)
    zfs = replace(_ZFS, zfs=ZfsFacts(has_log=True, log_devices=("log",)))
    load = jobs("rw=randwrite bs=4k size=64g fdatasync=1 time_based=1 runtime=2")
    case = Case(load, said(write=direction(moved, 2.0)), Evidence(found, (pool, log)), zfs)
    assert _verdicts(case, "iops") == ("sound",)


def test_metadata_after_a_final_sync_is_not_late() -> None:
    """btrfs, randrw with 99% reads.

    fio wrote 208 KiB. The disks had written 276 KiB when fio ended, and 732 KiB after the trees were written.
    """
    btrfs = Target("btrfs", ram_bytes=8 * GIB, record_bytes=128 * KIB)
    for options, is_late in {"end_fsync=1": False, "": True}.items():
        case = _write(f"rw=randwrite bs=4k size=48m {options}", 52, 4096, 276 * KIB, 732 * KIB, btrfs)
        rules = {finding.rule for finding in judge(case, "bandwidth").findings if finding.effect != "notes"}
        assert bool(rules & {"write-not-on-disk", "write-without-sync"}) == is_late


@pytest.mark.parametrize(
    ("options", "ios", "mib", "verdict"),
    [
        ("rw=write size=8k fsync=4", 960, 19.7, "suspect"),  # btrfs: half of the writes
        ("rw=write size=8k fsync=4", 5_356, 21.1, "suspect"),  # xfs
        ("rw=write size=4k fsync=4", 960, 19.7, "refuted"),
        ("rw=randwrite size=32k fsync=8 norandommap=1", 1_448, 15.7, "suspect"),  # btrfs: 66%
        ("rw=randwrite size=4m fdatasync=32 random_distribution=zipf:1.2", 4_000, 30.4, "suspect"),  # btrfs: 62%
        (
            "rw=randwrite size=4m fdatasync=32 random_distribution=zipf:1.2 random_generator=lfsr",
            4_000,
            30.4,
            "suspect",
        ),
        ("rw=randwrite size=32k fsync=8 norandommap=1 random_generator=lfsr", 2_760, 13.4, "sound"),
        ("rw=randwrite size=64k fsync=4 norandommap=1", 1_116, 5.3, "sound"),  # ext4: 91%
        ("rw=randwrite size=32k fsync=8", 2_760, 13.4, "sound"),  # ext4: a map of the written blocks
        ("rw=randwrite size=64g fdatasync=32 random_distribution=zipf:0.6", 4_000, 30.4, "sound"),
        ("rw=randwrite size=4m fsync=8 random_distribution=zoned:95/1:5/99", 2_480, 41.2, "suspect"),  # btrfs: 74%
        ("rw=randwrite size=4m fsync=8 random_distribution=zoned_abs:95/40k:5/4m", 2_480, 41.2, "suspect"),
        ("rw=randwrite size=4m fsync=8 random_distribution=zoned:50/50:50/50", 2_480, 41.2, "sound"),
        ("rw=randwrite size=4m fsync=8 random_distribution=pareto:0.1", 840, 8.8, "refuted"),  # btrfs: 39%
        ("rw=randwrite size=4m fsync=8 random_distribution=pareto:0.5", 840, 8.8, "sound"),
        ("rw=randwrite size=16k fsync=8 numjobs=4 filename=x", 1_304, 11.0, "suspect"),  # btrfs: 4 blocks, 8 writes
        ("rw=randwrite size=64k fsync=8 numjobs=4 filename=x", 1_304, 11.0, "sound"),
        ("rw=randwrite size=32k fsync=8 direct=1 norandommap=1", 1_448, 15.7, "sound"),
        ("rw=write size=8k fsync=4 sync=1", 960, 19.7, "sound"),
        ("rw=randwrite size=256m fsync=16 zonesize=64k zonerange=32k zoneskip=992k", 2_384, 10.9, "suspect"),  # btrfs
        ("rw=randwrite size=256m fsync=8 zonesize=64k zonerange=32k zoneskip=992k", 2_384, 10.9, "sound"),
        ("rw=randwrite size=256m fsync=16 zonesize=64k zonerange=64k zoneskip=992k", 2_384, 10.9, "sound"),
        ("rw=write size=256m fsync=32 zonesize=64k zonerange=16k zoneskip=992k", 2_384, 10.9, "refuted"),
        ("rw=randwrite size=256m fsync=12 zonesize=64k zonerange=32k", 2_384, 10.9, "sound"),  # parts of two zones
    ],
)
def test_writes_that_the_next_ones_replace_before_a_sync_do_not_reach_the_disks(
    options: str, ios: int, mib: float, verdict: Verdict
) -> None:
    """4k writes on loop devices. The bytes of the journal and of trees hide that data was overwritten in RAM."""
    case = _write(f"bs=4k ioengine=psync {options}", ios, 4096, int(mib * MIB), int(mib * MIB))
    assert judge(case, "bandwidth").verdict == verdict
    on_zfs = replace(case, target=replace(_ZFS, record_bytes=4 * KIB))
    assert "rewritten-before-sync" not in {finding.rule for finding in judge(on_zfs).findings}


@pytest.mark.parametrize(
    ("options", "target", "verdicts"),
    [
        ("bs=512 size=16m random_distribution=zipf:1.2", EXT4, ("unproven", "unproven")),
        ("bs=512 size=16m norandommap=1", EXT4, ("unproven", "unproven")),  # 63% in a pass
        ("bs=512 size=16m", EXT4, ("sound", "sound")),
        ("bs=512 size=16m rw=randwrite:4 rw_sequencer=identical", EXT4, ("unproven", "unproven")),
        ("bs=512 size=16m rw=randwrite:4", EXT4, ("sound", "sound")),
        ("bs=512 size=16m random_distribution=zipf:1.2 direct=1", EXT4, ("sound", "sound")),
        ("bs=4k size=64m random_distribution=zipf:1.2", EXT4, ("sound", "sound")),  # missing bytes would show it
        ("bs=4k size=64m random_distribution=zipf:1.2", replace(EXT4, file_system="btrfs"), ("unproven", "unproven")),
        ("bs=4k size=64m", replace(EXT4, file_system="btrfs"), ("sound", "sound")),
        ("bs=4k size=64m zonesize=128k zonerange=64k", replace(EXT4, file_system="btrfs"), ("unproven", "unproven")),
        ("bs=4k size=64m zonesize=64k zonerange=64k", replace(EXT4, file_system="btrfs"), ("sound", "sound")),
        ("bs=4k size=64m zonesize=64k zonerange=128k", replace(EXT4, file_system="btrfs"), ("sound", "sound")),
        (
            "bs=4k size=64m zonemode=none zonesize=128k zonerange=64k",
            replace(EXT4, file_system="btrfs"),
            ("sound", "sound"),
        ),
        ("bs=4k size=4k numjobs=8 filename=x fsync=1", EXT4, ("unproven", "sound")),  # each commit is an I/O
        ("bs=4k size=64m numjobs=8 filename=x fsync=1", EXT4, ("sound", "sound")),
    ],
)
def test_bytes_cannot_prove_writes_that_repeat_blocks_if_the_disks_also_write_other_data(
    options: str, target: Target, verdicts: tuple[Verdict, Verdict]
) -> None:
    """On ext4, 9,981 writes of 512 bytes changed only 1,566 pages, which are more bytes than fio had written."""
    case = _write(f"rw=randwrite ioengine=psync end_fsync=1 {options}", 10_000, 4096, 45 * MIB, 45 * MIB)
    assert case.evidence is not None
    covered = replace(case.evidence, leaves=(replace(case.leaves[0], write_ios=90_000),))
    found = replace(case, evidence=covered, target=target)
    assert _verdicts(found, "bandwidth", "iops") == verdicts


@pytest.mark.parametrize(
    ("options", "verdict"),
    [
        ("rw=randwrite bs=512 size=64m direct=0 end_fsync=1", "unproven"),
        ("rw=write bs=4k size=64m direct=0 fdatasync=1", "unproven"),
        ("rw=write bs=4k size=64m direct=0 fsync=2", "unproven"),
        ("rw=randwrite bs=512 size=64m direct=1", "sound"),
        ("rw=randwrite bs=4k size=64m direct=0 end_fsync=1", "sound"),
    ],
)
def test_other_jobs_may_write_the_bytes_that_one_job_lacks(options: str, verdict: Verdict) -> None:
    """On ext4, one job wrote 16 MiB to 1 MiB of a file, and another wrote whole pages for 4 MiB of small blocks."""
    over = ("rw=randwrite bs=4k size=1m io_size=16m norandommap=1 direct=0 end_fsync=1", 4_096, 4 * KIB)
    case = _two_writers(over, (options, 8_192, 512), 20_000)
    assert _verdicts(case, "bandwidth", "write_bandwidth") == (verdict, verdict)


@pytest.mark.parametrize(
    ("files", "fsync", "runtime_s", "is_found"),
    [
        ("filename_format=f$jobnum", 100, 20.0, True),  # each clone syncs every 4 s
        ("filename_format=f$jobnum", 1000, 20.0, False),  # every 40 s: the kernel writes the blocks before
        ("filename=f", 100, 20.0, True),  # there are 100 writes between the syncs of all clones
        ("filename=f", 1000, 20.0, True),  # every 10 s
        ("filename=f", 2, 20.0, False),
    ],
)
def test_clones_wait_for_the_syncs_of_their_file(files: str, fsync: int, runtime_s: float, is_found: bool) -> None:
    """Four clones write 4k blocks to 32 KiB each, at 25 writes per second and clone."""
    case = _write(f"rw=randwrite bs=4k size=32k norandommap=1 numjobs=4 {files} fsync={fsync}", 2000, 4096, MIB, MIB)
    written = direction(2000 * 4096, runtime_s, 4096)
    found = {finding.rule for finding in judge(replace(case, outcome=said(write=written, clones=4))).findings}
    assert ("rewritten-before-sync" in found) is is_found


@pytest.mark.parametrize(
    ("direct_kib", "options", "verdicts"),
    [
        (544, "direct=1", ("sound", "sound", "sound")),
        (544, "direct=0", ("sound", "sound", "sound")),  # direct=always
        (0, "direct=1", ("refuted", "refuted", "refuted")),
        (None, "direct=1", ("refuted", "refuted", "refuted")),  # OpenZFS 2.2
    ],
)
def test_writes_that_zfs_counts_as_direct_wait_for_the_disks(
    direct_kib: int | None, options: str, verdicts: tuple[Verdict, ...]
) -> None:
    """OpenZFS 2.3 with dedup=on and 34 writes of whole 16k records.

    The disks had written 544 KiB when fio ended, and 1.16 MiB including the deduplication tables.
    """
    disk = leaf(write_bytes=544 * KIB, write_ios=34, drained_write_bytes=1_160 * KIB)
    found = account(write=(544 * KIB, 544 * KIB, 1_160 * KIB))
    direct = None if direct_kib is None else direct_kib * KIB
    evidence = Evidence(found, (disk,), zfs=ZfsUse(direct_write_bytes=direct))
    target = Target("zfs", ram_bytes=8 * GIB, record_bytes=16 * KIB, zfs=ZfsFacts(version="2.3.1", dedup="on"))
    load = jobs(f"rw=randwrite bs=16k size=16m time_based=1 runtime=2 {options}")
    case = Case(load, said(write=direction(544 * KIB, 2.0, 16 * KIB)), evidence, target)
    assert _verdicts(case, "iops", "bandwidth", "p99") == verdicts
    assert is_direct_on_zfs(job("rw=randwrite bs=16k direct=1"), target)


@pytest.mark.parametrize(
    ("file_system", "record_kib", "sector", "options", "least"),
    [
        ("zfs", 4, 4096, "", 1.0),  # nothing can be saved
        ("zfs", 16, 4096, "", 0.25),
        ("zfs", 16, 512, "", 2 * KIB / (16 * KIB)),
        ("zfs", 128, 4096, "", 16 * KIB / (128 * KIB)),
        ("btrfs", 128, 4096, "", 16 * KIB / (128 * KIB)),  # neighbouring pages are compressed together
        ("btrfs", 128, 4096, "fdatasync=1", 1.0),
        ("btrfs", 128, 4096, "direct=1", 1.0),
    ],
)
def test_compression_leaves_whole_sectors(
    file_system: str, record_kib: int, sector: int, options: str, least: float
) -> None:
    """With buffer_compress_percentage=90, a small record would compress to only a tenth of its bytes."""
    zfs = ZfsFacts(version="2.1.11") if file_system == "zfs" else None
    target = Target(file_system, 8 * GIB, compression="lz4", record_bytes=record_kib * KIB, zfs=zfs)
    target = replace(target, alignment_bytes=sector if zfs else None)
    load = f"rw=randwrite bs=4k size=64m end_fsync=1 buffer_compress_percentage=90 {options}"
    for share, is_stored in ((least, True), (0.85 * least, False)):
        case = _write(load, 65_536, 4096, int(share * 256 * MIB), int(share * 256 * MIB), target)
        assert ("write-vanished" not in {each.rule for each in judge(case).findings}) == is_stored


@pytest.mark.parametrize("option", ["data=ordered", "data=journal"])
def test_ext4_with_a_journal_of_data_does_no_direct_writes(option: str) -> None:
    """ext4 on a loop device with Linux 6.18 and fsync=64.

    Each of 7,872 writes was stored both in the journal and at its final location.
    """
    moved, written = 7_872 * 4096, 62.9 * MIB
    disk = leaf(write_bytes=written, write_ios=7_572, write_merges=7_987, flush_ios=373, drained_write_bytes=written)
    evidence = Evidence(account(write=(moved, written, written), factor=2.0), (disk,))
    target = replace(EXT4, mount_options=("rw", "relatime", option), write_through=False)
    load = jobs("rw=randwrite bs=4k size=8m direct=1 fsync=64 ioengine=psync time_based=1 runtime=2")
    case = Case(load, said(write=direction(moved, 2.0)), evidence, target)
    iops, latency = ("unproven", "refuted") if option == "data=journal" else ("sound", "sound")
    assert _verdicts(case, "iops", "bandwidth", "p99", "write_p50") == (iops, "sound", latency, latency)


def test_metadata_after_direct_writes_is_not_late() -> None:
    case = _write("rw=randwrite bs=4k size=64g direct=1", 16_384, 4096, 64 * MIB, 160 * MIB, replace(EXT4))
    assert _verdicts(case, "iops", "bandwidth", "p99") == ("sound",) * 3


@pytest.mark.parametrize("factor", [2.0, 3.0])
def test_commits_to_a_log_device_are_durable_there(factor: float) -> None:
    """128k writes with fdatasync on a mirror of two or three disks with a log device.

    The pool itself is written when the transaction group closes.
    """
    moved = 453 * 64 * KIB
    facts = ZfsFacts(version="2.1.11", has_log=True, log_devices=("log",))
    target = replace(_ZFS, zfs=facts, write_through=False)
    log = leaf("log", write_bytes=moved, write_ios=906, flush_ios=453, drained_write_bytes=moved)
    sides = [leaf(f"d{at}", drained_write_bytes=moved) for at in range(int(factor))]
    found = account(write=(moved, moved, int((1 + factor) * moved)), factor=factor, commit_factor=1.0)
    outcome = said(write=direction(moved, 2.0, 64 * KIB), syncs=453)
    options = jobs("rw=write bs=64k size=64g fdatasync=1 time_based=1 runtime=2")
    honest = Case(options, outcome, Evidence(found, (log, *sides)), target)
    assert _verdicts(honest, "bandwidth", "write_iops", "sync_p99") == ("sound",) * 3


@pytest.mark.parametrize(
    ("pool_mib", "log_mib", "verdict"),
    [(64, 32, "sound"), (64, 12, "refuted"), (900, 32, "suspect"), (20, 32, "refuted")],
    ids=["all in the log", "half of it in RAM", "most work comes later", "overwritten in RAM"],
)
@pytest.mark.parametrize("factor", [1.0, 2.0])
def test_a_final_sync_to_a_log_device_is_durable(pool_mib: int, log_mib: int, verdict: Verdict, factor: float) -> None:
    """end_fsync=1 on a mirror with a log device.

    The log device gets all data at once, and the mirror gets it with the transaction group.
    """
    log_bytes, moved = int(log_mib * factor * MIB), 32 * MIB
    facts = ZfsFacts(version="2.1.11", has_log=True, log_devices=("log",))
    log = leaf("log", write_bytes=log_bytes, drained_write_bytes=log_bytes)
    pool = leaf("a", write_bytes=MIB, drained_write_bytes=pool_mib * MIB)
    found = account(write=(moved, log_bytes + MIB, log_bytes + pool_mib * MIB), factor=2.0, commit_factor=factor)
    outcome = said(write=direction(moved, 2.0, 128 * KIB), syncs=1)
    case = Case(jobs("rw=write bs=128k size=32m end_fsync=1"), outcome, Evidence(found, (log, pool)), _ZFS)
    assert judge(replace(case, target=replace(_ZFS, zfs=facts)), "bandwidth").verdict == verdict


@pytest.mark.parametrize(("sync_every", "verdict"), [(4, "sound"), (64, "suspect")])
def test_syncs_every_few_writes_to_a_log_device_are_durable(sync_every: int, verdict: Verdict) -> None:
    """OpenZFS 2.3, a mirror with a log device, randrw of 16k with fdatasync=4.

    139 writes led to 2.3 MiB on the log device, and to 6.9 MiB in total after the drain.
    """
    facts = ZfsFacts(version="2.3.1", has_log=True, log_devices=("s",))
    moved, logged = 139 * 16 * KIB, 2316 * KIB
    log = leaf("s", write_bytes=logged, write_ios=70, flush_ios=35, drained_write_bytes=logged)
    sides = [leaf(name, drained_write_bytes=2382 * KIB) for name in "ab"]
    found = account(write=(moved, logged, logged + 2 * 2382 * KIB), factor=2.0, commit_factor=1.0)
    target = Target("zfs", ram_bytes=8 * GIB, record_bytes=16 * KIB, zfs=facts)
    load = jobs(f"rw=randwrite bs=16k size=16m fdatasync={sync_every} time_based=1 runtime=2")
    case = Case(load, said(write=direction(moved, 2.0, 16 * KIB)), Evidence(found, (log, *sides)), target)
    assert judge(case, "bandwidth").verdict == verdict


@pytest.mark.parametrize(("pool_mib", "verdict"), [(64, "sound"), (30, "refuted")])
def test_copies_on_a_cache_device_are_no_data_of_the_pool(pool_mib: int, verdict: Verdict) -> None:
    """The cache device writes after fio has ended. Its bytes count neither for nor against the pool's."""
    facts = ZfsFacts(version="2.1.11", has_cache=True, cache_devices=("cache",))
    cache = leaf("cache", write_bytes=2 * MIB, drained_write_bytes=80 * MIB)
    pool = leaf("a", write_bytes=pool_mib * MIB, drained_write_bytes=pool_mib * MIB)
    found = account(write=(32 * MIB, (pool_mib + 2) * MIB, (pool_mib + 80) * MIB), factor=2.0)
    outcome = said(write=direction(32 * MIB, 2.0, 128 * KIB), syncs=1)
    case = Case(jobs("rw=write bs=128k size=32m end_fsync=1"), outcome, Evidence(found, (cache, pool)), _ZFS)
    assert judge(replace(case, target=replace(_ZFS, zfs=facts)), "bandwidth").verdict == verdict


@pytest.mark.parametrize(("fast_kib", "verdict"), [(8131, "suspect"), (13_066, "sound")])
def test_what_a_write_back_cache_moves_to_the_slow_disk_counts_once(fast_kib: int, verdict: Verdict) -> None:
    """LVM cache in a lab: fio wrote 12.76 MiB, the fast disk 7.94 MiB, and 7.81 MiB of it went on to the slow disk."""
    moved = 7997 * KIB
    slow = leaf("a", write_bytes=moved, drained_write_bytes=moved)
    fast = leaf("b", read_bytes=moved, write_bytes=fast_kib * KIB, drained_write_bytes=fast_kib * KIB)
    found = account(read=(0, moved), write=(13_066 * KIB, moved + fast_kib * KIB, moved + fast_kib * KIB))
    load = jobs("rw=randwrite bs=4k size=64m norandommap=1 end_fsync=1 time_based=1 runtime=2")
    outcome = said(write=direction(13_066 * KIB, 2.0, 4 * KIB), syncs=1)
    case = Case(load, outcome, Evidence(found, (slow, fast)), replace(EXT4, cache_devices=("b",)))
    assert judge(case, "bandwidth").verdict == verdict


@pytest.mark.parametrize(("drained_read_mib", "rule"), [(55.4, "write-vanished"), (None, "write-not-on-disk")])
def test_what_an_earlier_load_left_in_a_write_back_cache_is_not_late(drained_read_mib: float | None, rule: str) -> None:
    """LVM cache in a lab: fio wrote 12 MiB, 7.6 MiB reached a disk, and the final flush moved what the fill had left.

    Older runs lack the reads of the final flush.
    """
    wrote, moved = int(7.6 * MIB), int(55.4 * MIB)
    read = None if drained_read_mib is None else moved
    slow = leaf("a", write_bytes=0, drained_write_bytes=moved)
    fast = leaf("b", write_bytes=wrote, drained_write_bytes=wrote, drained_read_bytes=read)
    found = account(write=(12 * MIB, wrote, wrote + moved))
    load = jobs("rw=randwrite bs=4k size=12m norandommap=1 end_fsync=1 time_based=1 runtime=2")
    outcome = said(write=direction(12 * MIB, 2.0, 4 * KIB), syncs=1)
    case = Case(load, outcome, Evidence(found, (slow, fast)), replace(EXT4, cache_devices=("b",)))
    doubted = {each.rule for each in judge(case, "bandwidth").findings if each.effect != "notes"}
    assert rule in doubted and not {"write-vanished", "write-not-on-disk"} - {rule} & doubted


@pytest.mark.parametrize(("drained_kib", "is_said"), [(45_097, False), (65_000, True)])
def test_a_bandwidth_that_was_deduplicated_is_not_called_valid(drained_kib: int, is_said: bool) -> None:
    """OpenZFS 2.1 in a lab, dedup=on, 70% of the blocks equal: 32 MiB in the intent log, 11.6 MiB in the pool."""
    logged, at_end = 33_985_168, 34_959_524
    disk = leaf("a", write_bytes=at_end, drained_write_bytes=drained_kib * KIB, write_ios=382, write_merges=0)
    found = account(write=(32 * MIB, at_end, drained_kib * KIB))
    use = ZfsUse(zil_commits=1, zil_normal_bytes=logged)
    facts = ZfsFacts(version="2.1.11", dedup="on", arc_max_bytes=64 * MIB)
    options = jobs("rw=write bs=16k size=32m ioengine=psync end_fsync=1")
    outcome = said(write=direction(32 * MIB, 3.4, 16 * KIB), syncs=1)
    case = Case(options, outcome, Evidence(found, (disk,), zfs=use), replace(_ZFS, record_bytes=16 * KIB, zfs=facts))
    messages = [finding.message for finding in judge(case, "bandwidth").findings]
    assert any("The bandwidth is valid" in message for message in messages) == is_said


def test_a_warm_cache_device_of_zfs_is_not_called_cold(message: Message) -> None:
    """OpenZFS 2.1 in a lab: filling 96 MiB filled the cache device, which then served 97% of the reads."""
    facts = ZfsFacts(version="2.1.11", has_cache=True, cache_devices=("b",), arc_max_bytes=64 * MIB)
    data = leaf("a", read_bytes=429_917, read_ios=25, read_merges=0)
    cache = leaf("b", read_bytes=14_512_640, read_ios=879, read_merges=0)
    found = account(read=(897 * 16 * KIB, 14_942_557))
    evidence = Evidence(found, (data, cache), zfs=ZfsUse(data_misses=897, l2_read_bytes=14_512_640))
    options = jobs("rw=randread bs=16k size=96m ioengine=psync time_based=1 runtime=3")
    target = replace(_ZFS, record_bytes=16 * KIB, zfs=facts)
    case = Case(options, said(read=direction(897 * 16 * KIB, 3.0, 16 * KIB)), evidence, target)
    found_rules = {finding.rule: finding.message for finding in judge(case, "iops").findings}
    assert "l2arc-cold" not in found_rules
    assert "(97%)" in message(found_rules["block-cache"])
    assert "cache device b" in found_rules["block-cache"]
    more = replace(case, target=replace(target, zfs=replace(facts, cache_devices=("b", "c"))))
    more = replace(more, evidence=replace(evidence, leaves=(data, cache, replace(cache, device="c"))))
    assert any("cache devices b and c" in message(each.message) for each in judge(more, "iops").findings)


@pytest.mark.parametrize(("rw", "bandwidth"), [("read", "sound"), ("randread", "unproven")])
def test_the_bandwidth_is_suggested_only_if_it_is_proven(rw: str, bandwidth: Verdict, message: Message) -> None:
    """The disks' bytes are known, but their requests were not counted."""
    case = _read(f"rw={rw} bs=4k size=64g", 10_000, 4096, 0, 10_000 * 4096)
    assert _verdicts(case, "iops", "bandwidth") == ("unproven", bandwidth)
    (fix,) = (each.fix for each in judge(case, "iops").findings if each.rule == "missing-proof")
    assert ("bandwidth" in message(fix)) == (bandwidth == "sound") and "direct=1" in fix


def _written_through(fio_mib: float, slow_mib: float, fast_mib: float, options: str) -> Case:
    """A write through an LVM cache: `slow_mib` on the slow disk, `fast_mib` on the cache device."""
    disks = [
        leaf(
            name, write_bytes=int(mib * MIB), drained_write_bytes=int(mib * MIB), write_ios=int(mib * MIB) // (8 * KIB)
        )
        for name, mib in (("hdd", slow_mib), ("nvme", fast_mib))
    ]
    both = int((slow_mib + fast_mib) * MIB)
    target = replace(EXT4, cache_devices=("nvme",), copy_devices=("nvme",))
    outcome = said(write=direction(int(fio_mib * MIB), 10.0, 4 * KIB), syncs=1)
    found = account(write=(int(fio_mib * MIB), both, both))
    return Case(jobs(options), outcome, Evidence(found, tuple(disks)), target)


def test_a_cache_that_writes_through_does_not_hide_what_was_overwritten_in_ram() -> None:
    """Both disks get each write, so their sum covers data that never left RAM (in a lab: 158, 69.0 and 69.1 MiB)."""
    options = "rw=randwrite bs=4k size=64m norandommap=1 end_fsync=1 time_based=1 runtime=2 time_based=1 runtime=10"
    lost = _written_through(158, 69.0, 69.1, options)
    messages = [each.message for each in judge(lost, "bandwidth").findings if each.rule == "write-vanished"]
    assert messages
    assert all("69 MiB (44% of 158 MiB)" in message for message in messages)
    assert _verdicts(_written_through(83, 55, 55, options), "bandwidth", "iops") == ("suspect", "suspect")
    assert judge(_written_through(83, 83, 83, options), "bandwidth").verdict == "sound"


def test_blocks_that_a_cache_copies_are_no_writes_of_the_job() -> None:
    """lvm cache in a lab: 601 direct writes, 602 requests on the slow disk, and 268 for copies of whole chunks."""
    slow = leaf("hdd", write_bytes=602 * 4 * KIB, drained_write_bytes=602 * 4 * KIB, write_ios=602)
    fast = leaf("nvme", write_bytes=11 * MIB, drained_write_bytes=11 * MIB, write_ios=268)
    target = replace(EXT4, cache_devices=("nvme",), copy_devices=("nvme",))
    total = 602 * 4 * KIB + 11 * MIB
    found = account(write=(601 * 4 * KIB, total, total))
    options = jobs("rw=randwrite bs=4k size=16m direct=1 time_based=1 runtime=2")
    case = Case(options, said(write=direction(601 * 4 * KIB, 2.0, 4 * KIB)), Evidence(found, (slow, fast)), target)
    assert _verdicts(case, "iops", "bandwidth", "write_p99") == ("sound",) * 3
    fewer = replace(case, evidence=Evidence(found, (replace(slow, write_ios=400), fast)))
    assert judge(fewer, "iops").verdict != "sound"


def test_log_bytes_do_not_stand_for_the_pool(message: Message) -> None:
    """64k synchronous writes of 2 MiB by 4 jobs. The pool stores 16% of them, and the log device all of them."""
    moved = 400 * MIB
    facts = ZfsFacts(version="2.1.11", has_log=True, log_devices=("log",))
    log = leaf("log", write_bytes=moved, write_ios=6400, flush_ios=1600, drained_write_bytes=moved)
    pool = leaf("a", write_bytes=40 * MIB, drained_write_bytes=64 * MIB)
    found = account(write=(moved, 440 * MIB, 464 * MIB), commit_factor=1.0)
    options = jobs("rw=randwrite bs=64k size=2m sync=1 numjobs=4 directory=X time_based=1 runtime=2")
    outcome = said(write=direction(moved, 2.0, 64 * KIB))
    case = Case(options, outcome, Evidence(found, (log, pool)), replace(_ZFS, zfs=facts))
    assert _verdicts(case, "bandwidth", "write_bandwidth", "iops", "p99") == ("refuted", "refuted", "sound", "sound")
    assert "throughput" in message(judge(case, "bandwidth").findings[0].message)


def test_a_write_option_of_a_job_that_reads_is_not_believed() -> None:
    """btrfs with zstd. According to the job, the data is 99% compressible, but the fill stored nearly all of it."""
    target = Target("btrfs", ram_bytes=8 * GIB, compression="zstd:3", record_bytes=128 * KIB)
    options = "rw=randread bs=4k size=64m invalidate=0 buffer_compress_percentage=99"
    cached = _read(options, 65_536, 4096, 100, 4 * MIB, target)
    assert judge(cached).verdict == "refuted"
    small = replace(cached.evidence or Evidence(None), account=account((256 * MIB, 4 * MIB), stored_share=0.01))
    assert judge(replace(cached, evidence=small), "iops").verdict == "refuted", "100 requests for 65,536 reads"
    disk = leaf(read_bytes=5 * MIB, read_ios=65_536)
    stored = replace(small, leaves=(disk,))
    assert judge(replace(cached, evidence=stored), "iops").verdict == "sound"


def _committed(syncs: int, flushes: int | None, target: Target, options: str = "rw=write fdatasync=1") -> Case:
    moved = 6_810 * 4096
    disk = leaf(write_bytes=2 * moved, write_ios=14_000, flush_ios=flushes, drained_write_bytes=2 * moved)
    outcome = said(write=direction(moved, 2.0), syncs=syncs)
    evidence = Evidence(account(write=(moved, 2 * moved, 2 * moved)), (disk,))
    return Case(jobs(f"{options} bs=4k size=64g time_based=1 runtime=2"), outcome, evidence, target)


@pytest.mark.parametrize(
    ("flushes", "write_through", "verdict"),
    [
        (6_800, False, "sound"),
        (0, False, "refuted"),
        (2_000, False, "suspect"),
        (None, False, "unproven"),
        (0, True, "sound"),
        (0, None, "unproven"),
    ],
)
def test_flushes_prove_the_latency_of_syncs(flushes: int | None, write_through: bool | None, verdict: Verdict) -> None:
    case = _committed(6_810, flushes, replace(EXT4, write_through=write_through))
    assert judge(case, "sync_p99").verdict == verdict
    assert judge(case, "p50").verdict == "refuted", "the write itself returns from RAM"


def test_syncs_without_data_are_not_reported_as_too_few_flushes() -> None:
    """Each write is synchronous, so the syncs after the writes have nothing left to write."""
    case = _committed(6_810, 13_620, replace(EXT4, write_through=False), "rw=write sync=1 fdatasync=1")
    messages = [each.message for each in judge(case, "sync_p99").findings if each.rule == "missing-proof"]
    assert any(each.startswith("each write is already durable") for each in messages)


@pytest.mark.parametrize(
    ("files", "verdicts"), [("nrfiles=1", ("sound", "sound")), ("nrfiles=16", ("unproven", "sound"))]
)
def test_syncs_of_other_files_prove_no_latency(files: str, verdicts: tuple[Verdict, Verdict]) -> None:
    """fio syncs the file that is next in turn. On btrfs, 46% of the syncs took less than 6 µs."""
    target = replace(EXT4, write_through=False)
    case = _committed(1_610, 1_744, target, f"rw=randwrite direct=0 fdatasync=1 size=64m {files}")
    assert _verdicts(case, "sync_p99", "bandwidth") == verdicts


def test_a_log_device_without_a_write_cache_needs_no_flushes() -> None:
    target = replace(EXT4, write_through=False, without_write_cache=("vda",))
    assert judge(_committed(6_810, 0, target), "sync_p99").verdict == "sound"


def test_rare_syncs_without_flushes_leave_the_rates_alone() -> None:
    case = _committed(212, 0, replace(EXT4, write_through=False), "rw=write direct=1 fdatasync=32")
    assert _verdicts(case, "sync_p99", "write_bandwidth", "p99") == ("refuted", "sound", "sound")


def test_one_p99_over_reads_of_a_disk_and_writes_to_ram_is_suspect() -> None:
    disk = leaf(read_bytes=64 * MIB, read_ios=16_384, write_bytes=64 * MIB, write_ios=16_384,
                drained_write_bytes=64 * MIB)  # fmt: skip
    evidence = Evidence(account((64 * MIB, 64 * MIB), (64 * MIB, 64 * MIB, 64 * MIB)), (disk,))
    outcome = said(read=direction(64 * MIB, 2.0), write=direction(64 * MIB, 2.0))
    options = jobs("rw=randrw bs=4k size=64g end_fsync=1 time_based=1 runtime=2")
    assert _verdicts(Case(options, outcome, evidence, EXT4), "p99", "read_iops") == ("suspect", "sound")


@pytest.mark.parametrize(("options", "verdict"), [("direct=1 sync=1", "sound"), ("direct=0 fdatasync=1", "unproven")])
def test_the_flush_of_a_synchronous_direct_write_is_no_request_of_its_own(options: str, verdict: Verdict) -> None:
    disk = leaf(write_bytes=576 * 16 * KIB, write_ios=576, drained_write_bytes=576 * 16 * KIB, flush_ios=576)
    moved = 576 * 16 * KIB
    evidence = Evidence(account(write=(moved, moved, moved)), (disk,))
    outcome = said(write=direction(moved, 4.0, 16 * KIB))
    job = jobs(f"rw=randwrite bs=16k size=64m time_based=1 runtime=4 {options}")
    assert judge(Case(job, outcome, evidence, replace(EXT4, write_through=False)), "iops").verdict == verdict


@pytest.mark.parametrize(
    ("options", "requests", "verdict"),
    [("fsync=1", 432, "sound"), ("fsync=1", 300, "unproven"), ("fsync=2", 432, "unproven")],
)
def test_the_two_flushes_of_a_journal_record_are_no_requests(options: str, requests: int, verdict: Verdict) -> None:
    """xfs on a loop device with Linux 6.18.

    Each fsync wrote a log record with FUA, which takes one request and two flushes.
    """
    disk = leaf(write_bytes=1910 * KIB, write_ios=requests, drained_write_bytes=1910 * KIB, flush_ios=398)
    evidence = Evidence(account(write=(1728 * KIB, 1910 * KIB, 1910 * KIB)), (disk,))
    outcome = said(write=direction(1728 * KIB, 2.0, 8 * KIB), syncs=216)
    job = jobs(f"rw=randwrite bs=8k size=48m direct=1 ioengine=psync time_based=1 runtime=2 {options}")
    assert _verdicts(Case(job, outcome, evidence, EXT4), "iops", "p99") == (verdict,) * 2


@pytest.mark.parametrize(
    ("options", "mounted", "verdict"),
    [
        ("sync=dsync", "barrier", "sound"),
        ("sync=dsync", "nobarrier", "refuted"),
        ("direct=1 sync=1", "nobarrier", "suspect"),
        ("direct=1", "nobarrier", "sound"),
        ("direct=0", "nobarrier,sync", "refuted"),
        ("direct=0", "barrier,sync", "sound"),
    ],
)
def test_synchronous_writes_without_barriers_are_not_durable(options: str, mounted: str, verdict: Verdict) -> None:
    target = replace(EXT4, write_through=False, mount_options=("rw", *mounted.split(",")))
    case = _committed(0, 0, target, f"rw=randwrite {options}")
    assert _verdicts(case, "iops", "write_p99") == (verdict,) * 2


@pytest.mark.parametrize(
    ("mounted", "verdicts"), [("sync", ("sound", "sound", "unproven")), ("async", ("refuted", "sound", "sound"))]
)
def test_the_mount_option_sync_makes_writes_wait_for_disks(mounted: str, verdicts: tuple[Verdict, ...]) -> None:
    """The writes are then durable before the job syncs them, so the syncs have nothing to write.

    On btrfs with this option (Linux 6.18, an emulated hard disk), the p99 of fsync was 80 µs, and half of the writes
    took at least 49 ms.
    """
    target = replace(EXT4, write_through=False, mount_options=("rw", mounted))
    case = _committed(6_810, 6_800, target)
    assert _verdicts(case, "write_p99", "iops", "sync_p99") == verdicts
    notes = [each.message for each in judge(case, "sync_p99").findings if each.rule == "sync-after-reads"]
    assert bool(notes) is (mounted == "sync")
    messages = [finding.message for finding in judge(case, "sync_p99").findings]
    assert any("already durable" in message for message in messages) == (mounted == "sync")


@pytest.mark.parametrize("direct", [0, 1])
def test_reads_and_writes_of_a_mixed_job_have_percentiles_and_verdicts_of_their_own(direct: int) -> None:
    """Reads wait for the disk, but buffered writes return from RAM.

    A percentile of both together is therefore not that of the disks.
    """
    ios, total = 4096, 16 * MIB
    disk = leaf(
        read_bytes=total, read_ios=ios, read_merges=0, write_bytes=total, write_ios=ios, drained_write_bytes=total
    )
    evidence = Evidence(account(read=(total, total), write=(total, total, total)), (disk,))
    common = "bs=4k size=64g ioengine=psync time_based=1 runtime=2"
    load = jobs(f"rw=randread direct=1 {common}", f"rw=randwrite direct={direct} {common}")
    reads, writes = direction(total, 2.0, 4096), direction(total, 2.0, 4096)
    outcome = Outcome("fio-3.33", (PartOutcome("a", read=reads), PartOutcome("b", write=writes)))
    found = _verdicts(Case(load, outcome, evidence, EXT4), "read_p99", "p99", "write_p99")
    assert found == ("sound", *(("sound", "sound") if direct else ("suspect", "refuted")))


@pytest.mark.parametrize(
    ("options", "requests", "metric", "missing"),
    [
        ("rw=randread bs=4k size=64m", 15_000, "iops", "15000 requests, which is 92%"),
        ("rw=read bs=4k size=64m", 512, "p99", " 512 requests"),
        ("rw=read bs=4k size=64m", 512, "bandwidth", ""),
    ],
)
def test_an_unproven_metric_says_what_is_missing(options: str, requests: int, metric: str, missing: str) -> None:
    judgement = judge(_read(options, 16_384, 4096, requests, 64 * MIB), metric)
    found = [finding for finding in judgement.findings if finding.is_about(metric) and finding.rule == "missing-proof"]
    assert [missing in finding.message and bool(finding.fix) for finding in found] == [True] * bool(missing)
    assert judgement.verdict == ("unproven" if missing else "sound")


def test_the_reason_is_about_bytes_or_latencies_where_requests_are_enough(message: Message) -> None:
    short = _write("rw=randwrite bs=4k size=1g end_fsync=1", GIB // 4096, 4096, int(0.88 * GIB), int(0.92 * GIB))
    disk = replace(short.leaves[0], write_ios=GIB // 4096)
    judgement = judge(replace(short, evidence=replace(short.evidence or Evidence(None), leaves=(disk,))), "bandwidth")
    (found,) = [each for each in judgement.findings if each.rule == "missing-proof" and each.is_about("bandwidth")]
    message(found.message)
    assert (judgement.verdict, "data" in found.message) == ("unproven", True)
    records = _write("rw=randwrite bs=128k size=8g direct=1", 8192, 128 * KIB, GIB, GIB, _ZFS)
    judgement = judge(records, "p99")
    reasons = [each.message for each in judgement.findings if each.rule == "missing-proof" and each.is_about("p99")]
    assert judgement.verdict == "unproven" and "RAM" in message(reasons[0])


@pytest.mark.parametrize(
    ("options", "syncs", "verdict"),
    [
        ("rw=write sync_file_range=write:8", 800, "unproven"),
        ("rw=write fdatasync=8", 800, "sound"),
        ("rw=write end_fsync=1", 0, None),
    ],
)
def test_syncs_that_were_timed_have_a_verdict(options: str, syncs: int, verdict: Verdict | None) -> None:
    """fio also times sync_file_range, which makes nothing durable. It does not time the sync at the end of the job."""
    found = judge(_committed(syncs, syncs, replace(EXT4, write_through=False), options), "bandwidth")
    assert (found.verdict, found.verdicts.get("sync_p99", found.verdict if verdict else None)) == ("sound", verdict)


@pytest.mark.parametrize(
    ("options", "verdicts"),
    [
        ("rw=randrw", ("sound", "sound", "sound")),
        ("rw=randrw verify=md5", ("suspect", "suspect", "sound")),
        ("rw=randrw verify=md5 verify_backlog=64", ("suspect", "suspect", "suspect")),
        ("rw=randrw verify=md5 do_verify=0", ("sound", "sound", "sound")),
        ("rw=randrw verify=md5 time_based=1 runtime=2", ("sound", "sound", "sound")),
        ("rw=randrw verify=md5 time_based=1 runtime=2 verify_backlog=64", ("suspect", "suspect", "suspect")),
    ],
)
def test_reads_that_verify_are_not_the_reads_of_a_mixed_job(options: str, verdicts: tuple[Verdict, ...]) -> None:
    """A time_based job does not verify: with fio 3.33 and rwmixread=1, it read 156 times and wrote 13,064 times."""
    disk = leaf(read_bytes=64 * MIB, read_ios=16_384, write_bytes=32 * MIB, write_ios=8_192,
                drained_write_bytes=32 * MIB)  # fmt: skip
    evidence = Evidence(account((64 * MIB, 64 * MIB), (32 * MIB, 32 * MIB, 32 * MIB)), (disk,))
    outcome = said(read=direction(64 * MIB, 2.0), write=direction(32 * MIB, 2.0))
    case = Case(jobs(f"{options} bs=4k size=64m direct=1"), outcome, evidence, EXT4)
    assert _verdicts(case, "iops", "read_p99", "write_iops") == verdicts


@pytest.mark.parametrize(
    ("ramps_ms", "counted_mib", "verdict"),
    [
        ((1000, 1000), 32, "sound"),
        ((1000, 2000), 40, "sound"),
        ((1000, 2000), 32, "unproven"),
        ((1000, 2000), 16, "suspect"),
    ],
)
def test_a_ramp_of_another_section_is_no_proof(ramps_ms: tuple[int, int], counted_mib: int, verdict: Verdict) -> None:
    """Each section reads 16 MiB in 2 s.

    The window starts when the first ramp ends, so it includes the rest of the longer ramp.
    """
    found = judge(ramped_apart(counted_mib * MIB, *ramps_ms), "iops")
    assert found.verdict == verdict
    within = [finding.message for finding in found.findings if "within bounds even without the ramp" in finding.message]
    assert len(within) == (counted_mib == 40)


@pytest.mark.parametrize(
    ("options", "leaf_mib", "requests", "verdicts"),
    [
        ("direct=1", 40, 10_240, ("sound", "sound", "sound", "unproven")),
        ("direct=1", 40, 5_000, ("sound", "unproven", "unproven", "unproven")),
        ("direct=1", 20, 10_240, ("unproven", "unproven", "unproven", "unproven")),
        ("direct=0", 40, 10_240, ("suspect", "suspect", "suspect", "suspect")),
        ("direct=0 sync=dsync size=64g", 40, 10_240, ("unproven", "unproven", "unproven", "unproven")),
        ("direct=1 ioengine=mmap", 40, 10_240, ("suspect", "suspect", "suspect", "suspect")),
    ],
)
def test_merged_reads_and_writes_are_proven_by_their_sums(
    options: str, leaf_mib: int, requests: int, verdicts: tuple[Verdict, ...]
) -> None:
    """With unified_rw_reporting=mixed, fio does not report how many of its I/Os were reads."""
    mixed = direction(40 * MIB, 2.0)
    each = leaf_mib * MIB // 2
    disk = leaf(
        read_bytes=each, read_ios=requests // 2, read_merges=0, write_bytes=each, drained_write_bytes=each,
        write_ios=requests // 2, write_merges=0,
    )  # fmt: skip
    evidence = Evidence(account(read=(0, each), write=(0, each, each)), (disk,))
    outcome = Outcome("fio-3.33", (PartOutcome("job", mixed=mixed),))
    load = jobs(f"rw=randrw bs=4k size=64m unified_rw_reporting=mixed {_TIMED} {options}")
    case = Case(load, outcome, evidence, EXT4)
    assert _verdicts(case, "bandwidth", "iops", "p50", "read_iops") == verdicts


@pytest.mark.parametrize(
    ("factor", "has_parity", "wrote_mib", "verdict"),
    [
        (4 / 3, None, 11.8, "unproven"),
        (2.0, True, 17.7, "unproven"),  # raid6 over four disks: 5.9 MiB of data and twice as much parity
        (2.0, False, 16.0, "sound"),
        (2.0, None, 16.0, "sound"),  # an older run: it may be a mirror
        (1.0, False, 5.9, "suspect"),
    ],
)
def test_parity_of_small_writes_hides_blocks_that_were_overwritten_in_ram(
    factor: float, has_parity: bool | None, wrote_mib: float, verdict: Verdict
) -> None:
    """On raid5 over four disks, 5.9 of 8 MiB arrived, but with parity, the disks wrote 11.8 MiB."""
    moved = 8 * MIB
    wrote = wrote_mib * MIB
    disk = leaf(write_bytes=wrote, drained_write_bytes=wrote, read_bytes=11 * MIB, write_ios=3_000, write_merges=0)
    evidence = Evidence(account(read=(0, 11 * MIB), write=(moved, wrote, wrote), factor=factor), (disk,))
    load = jobs("rw=randwrite bs=4k size=200m io_size=8m end_fsync=1 random_distribution=zipf:0.8")
    case = Case(load, said(write=direction(moved, 2.0)), evidence, replace(EXT4, has_parity=has_parity))
    assert judge(case, "bandwidth").verdict == verdict


@pytest.mark.parametrize(
    ("options", "verdicts"),
    [
        ("", ("sound", "sound", "refuted")),
        ("sync=dsync", ("sound", "sound", "sound")),
    ],
)
def test_the_journal_of_dm_integrity_completes_direct_writes_in_ram(
    options: str, verdicts: tuple[Verdict, ...]
) -> None:
    """LUKS with integrity: half of the writes took 5.2 ms, as did those of a run that wrote nothing to the disk."""
    at_end, drained = int(36.7 * MIB), int(38.7 * MIB)
    case = _write(f"rw=randwrite bs=64k size=64m direct=1 {options}", 288, 64 * KIB, at_end, drained, _JOURNALED)
    assert _verdicts(case, "write_bandwidth", "write_iops", "write_p50") == verdicts
    assert not options or "dm-integrity's journal" not in str(judge(case).findings)


@pytest.mark.parametrize(
    ("options", "at_end", "verdict"),
    [
        ("end_fsync=1 direct=1", 2.3, "sound"),  # only in the journal so far, which is written back later
        ("direct=1", 0.2, "refuted"),  # only in RAM
        ("end_fsync=1 random_distribution=zipf:0.8", 2.3, "unproven"),  # the journal hides what was overwritten
    ],
)
def test_data_in_the_journal_of_dm_integrity_is_durable(options: str, at_end: float, verdict: Verdict) -> None:
    """2 MiB in 64 KiB writes: after the final flush, the disk had written 2.3 MiB."""
    load = f"rw=randwrite bs=64k size=64m io_size=2m {options}"
    case = _write(load, 32, 64 * KIB, int(at_end * MIB), int(2.3 * MIB), _JOURNALED)
    assert judge(case, "bandwidth").verdict == verdict


@pytest.mark.parametrize(
    ("options", "ios", "runtime_s", "verdict"),
    [
        ("io_size=14m", 3_584, 1.5, "unproven"),
        ("io_size=14m fdatasync=512", 3_584, 1.5, "unproven"),
        ("io_size=14m", 3_584, 15.0, "sound"),  # each pass takes longer than a transaction group
        ("io_size=8m", 2_048, 1.5, "sound"),
    ],
)
@pytest.mark.parametrize("rw", ["randwrite", "write"])
def test_several_passes_in_one_transaction_group_are_stored_once(
    rw: str, options: str, ios: int, runtime_s: float, verdict: Verdict
) -> None:
    """On raidz2 over five disks, 8 of 14 MiB were stored. With parity, the pool wrote 26 MiB, and 23 were expected."""
    moved, at_end, drained = ios * 4096, int(27.5 * MIB), int(50.6 * MIB)
    disk = leaf(write_bytes=at_end, drained_write_bytes=drained, write_ios=7_000, write_merges=0)
    found = account(write=(moved, at_end, drained), factor=5 / 3)
    evidence = Evidence(found, (disk,), zfs=ZfsUse(zil_normal_bytes=15_390_456))
    load = jobs(f"rw={rw} bs=4k size=8m end_fsync=1 ioengine=psync {options}")
    case = Case(load, said(write=direction(moved, runtime_s)), evidence, replace(_ZFS, record_bytes=4096))
    assert judge(case, "bandwidth").verdict == verdict


@pytest.mark.parametrize(
    ("options", "syncs", "verdicts"),
    [
        ("direct=0 fdatasync=1", 159, ("sound", "sound", "unproven")),  # the sync finds nothing to write
        ("direct=0 sync=dsync", 0, ("sound", "sound", "unproven")),
        ("direct=1", 0, ("sound", "sound", "unproven")),
    ],
)
@pytest.mark.parametrize("log", [True, False])
def test_with_sync_always_each_write_is_a_commit(
    options: str, syncs: int, verdicts: tuple[Verdict, ...], log: bool
) -> None:
    """OpenZFS 2.1, a mirror with sync=always.

    A write took 12 ms, and the fdatasync after it 0.1 ms: there were 160 flushes for 160 writes and 159 syncs.
    """
    moved, logged = 160 * 16 * KIB, int(3.1 * MIB)
    facts = ZfsFacts(version="2.1.11", sync="always", has_log=log, log_devices=("log",) if log else ())
    sides = [
        leaf(name, write_bytes=MIB if log else logged, drained_write_bytes=3 * MIB + (0 if log else logged),
             write_ios=25 if log else 345, flush_ios=0 if log else 160)
        for name in "ab"
    ]  # fmt: skip
    device = leaf("log", write_bytes=logged, drained_write_bytes=logged, write_ios=320, flush_ios=160)
    disks = (device, *sides) if log else tuple(sides)
    at_end, drained = sum(each.write_bytes for each in disks), sum(each.drained_write_bytes for each in disks)
    found = replace(account(write=(moved, at_end, drained), factor=2.0), commit_factor=1.0 if log else None)
    used = ZfsUse(zil_slog_bytes=2_681_600 if log else 0, zil_normal_bytes=0 if log else 2_681_600)
    written = direction(moved, 2.0, 16 * KIB, p50_ns=7_176_000, mean_ns=12_000_000)
    target = replace(_ZFS, zfs=facts, record_bytes=16 * KIB, write_through=False)
    load = jobs(f"rw=randwrite bs=16k size=48m ioengine=psync time_based=1 runtime=2 {options}")
    case = Case(load, said(write=written, syncs=syncs), Evidence(found, disks, zfs=used), target)
    assert _verdicts(case, "write_bandwidth", "write_p50", "sync_p99") == verdicts


@pytest.mark.parametrize(("commit_factor", "verdict"), [(1.0, "sound"), (None, "suspect")])
@pytest.mark.parametrize("option", ["sync=dsync", "end_fsync=1"])
def test_copies_does_not_apply_to_the_intent_log(option: str, commit_factor: float | None, verdict: Verdict) -> None:
    """OpenZFS 2.1, one disk, copies=2: 58 synchronous writes of 16 KiB and 60 flushes."""
    moved, at_end, drained = 58 * 16 * KIB, int(1.19 * MIB), int(3.5 * MIB)
    disk = leaf(write_bytes=at_end, drained_write_bytes=drained, write_ios=140, flush_ios=60)
    found = replace(account(write=(moved, at_end, drained), factor=2.0), commit_factor=commit_factor)
    written = direction(moved, 2.0, 16 * KIB, p50_ns=31_850_000, mean_ns=34_000_000)
    target = replace(_ZFS, record_bytes=16 * KIB, write_through=False)
    load = jobs(f"rw=randwrite bs=16k size=48m io_size=928k ioengine=psync {option}")
    case = Case(load, said(write=written), Evidence(found, (disk,), zfs=ZfsUse(zil_normal_bytes=972_080)), target)
    assert judge(case, "bandwidth").verdict == verdict


@pytest.mark.parametrize(
    ("random", "sequential", "verdict"),
    [
        ("size=2m io_size=4m", "size=14m io_size=256k", "unproven"),
        ("size=8m io_size=4m random_distribution=zipf:0.8", "size=14m io_size=256k", "unproven"),
        ("size=8m io_size=4m", "size=14m io_size=256k", "sound"),  # no block is read again
        ("size=2m io_size=4m", "size=256k", "sound"),  # nothing is left to prefetch
    ],
)
def test_prefetch_for_one_job_hides_what_the_arc_served_to_another(
    random: str, sequential: str, verdict: Verdict
) -> None:
    """OpenZFS 2.1: 2 of 5 MiB came from the ARC, and the disk read 7.2 MiB, of which 4 MiB were never used."""
    parts = (
        PartOutcome("a", read=direction(4 * MIB, 2.0, 16 * KIB)),
        PartOutcome("b", read=direction(MIB, 2.0, 16 * KIB)),
    )
    counted = int(7.2 * MIB)
    disk = leaf(read_bytes=counted, read_ios=248, read_merges=0)
    evidence = Evidence(account(read=(5 * MIB, counted)), (disk,), zfs=ZfsUse(data_hits=142, data_misses=448))
    common = "bs=16k direct=0 ioengine=psync"
    load = jobs(f"rw=randread {common} {random}", f"rw=read numjobs=4 {common} {sequential}")
    case = Case(load, Outcome("fio-3.33", parts), evidence, replace(_ZFS, record_bytes=16 * KIB))
    assert judge(case, "read_bandwidth").verdict == verdict
