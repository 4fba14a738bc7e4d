"""For each rule: a case that triggers it, with the effect it must have, and a near miss that it must be silent "
"about."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from poolproof.evidence import model
from poolproof.evidence.model import Evidence, Target, Zfs, ZfsUse
from poolproof.fio.figures import FioResult, JobResult, Latency
from poolproof.fio.job import Job, JobFile
from poolproof.rules.model import Case, Effect
from tests.unit.rules.making import (
    EXT4,
    GIB,
    KIB,
    MB,
    MIB,
    counted,
    direction,
    job,
    jobs,
    leaf,
    said,
)

BTRFS = Target("btrfs", ram_bytes=8 * GIB, compression="zstd:3", record_bytes=128 * KIB)
ZFS = Target("zfs", ram_bytes=8 * GIB, record_bytes=128 * KIB, zfs=Zfs(version="2.2.4-1"))
MERGERFS = Target("fuse.mergerfs", ram_bytes=8 * GIB)
NFS = Target("nfs4", ram_bytes=8 * GIB)
TMPFS = Target("tmpfs", ram_bytes=8 * GIB, volatile=True)


@dataclass(frozen=True)
class Example:
    """`case` makes the rule speak with `effect`; `near_miss` differs in the one thing that matters."""

    case: Case
    effect: Effect
    near_miss: Case


def lint_of(options: str, target: Target | None = EXT4, cold: bool = True) -> Case:
    """A job before its run."""
    return Case(jobs(options), target=target, cold=cold)


def read_of(
    options: str,
    fio: float,
    disk: float,
    target: Target = EXT4,
    *,
    seconds: float = 10.0,
    cold: bool = True,
    **more: object,
) -> Case:
    """A run that read, with its account."""
    result = said(read=direction(fio, seconds, **more))  # type: ignore[arg-type]
    return Case(jobs(options), result, counted(read=(fio, disk)), target, cold)


def write_of(
    options: str,
    fio: float,
    at_end: float,
    drained: float,
    target: Target = EXT4,
    *,
    seconds: float = 10.0,
    **more: object,
) -> Case:
    """A run that wrote, with its account."""
    result = said(write=direction(fio, seconds, **more))  # type: ignore[arg-type]
    return Case(jobs(options), result, counted(write=(fio, at_end, drained)), target)


def uncounted(options: str, target: Target | None = EXT4, **directions: object) -> Case:
    """A result without counters."""
    return Case(jobs(options), said(**directions), target=target)  # type: ignore[arg-type]


def with_files(case: Case, *files: model.TestFile) -> Case:
    return replace(case, evidence=replace(case.evidence or Evidence(None), files=files))


def with_leaves(case: Case, *leaves: model.LeafUse) -> Case:
    return replace(case, evidence=replace(case.evidence or Evidence(None), leaves=leaves))


def on_zfs(**properties: object) -> Target:
    return replace(ZFS, zfs=Zfs(**{"version": "2.3.1", **properties}))  # type: ignore[arg-type]


def with_zfs_use(case: Case, **moved: int) -> Case:
    return replace(case, evidence=replace(case.evidence or Evidence(None), zfs=ZfsUse(**moved)))


def with_syncs(case: Case, syncs: int, flushes: int) -> Case:
    result = case.result or said()
    timed = tuple(replace(each, syncs=syncs) for each in result.jobs)
    return with_leaves(replace(case, result=replace(result, jobs=timed)), leaf(flush_ios=flushes))


def with_idle(case: Case, write_bytes_per_s: float, idle_s: float = 3.0) -> Case:
    evidence = case.evidence or Evidence(None)
    assert evidence.account is not None
    found = replace(evidence.account, idle_s=idle_s, idle_write_bytes_per_s=write_bytes_per_s, window_s=10.0)
    return replace(case, evidence=replace(evidence, account=found))


def loop(below_read_bytes: int) -> Case:
    disk = leaf("loop0", read_bytes=GIB, below_device="vda", below_read_bytes=below_read_bytes,
                below_drained_write_bytes=0)  # fmt: skip
    return with_leaves(read_of("rw=randread bs=4k size=1g direct=1", GIB, GIB), disk)


def latency(samples: int, p50_ns: float, mean_ns: float | None = None) -> Latency:
    return Latency(samples=samples, mean_ns=mean_ns, percentiles_ns={50.0: p50_ns})


def pair(busy: float, peer_busy: float, peer_bytes: int = GIB) -> Case:
    """Two disks of a mirror, and how busy they were."""
    first = leaf("hdd1", read_bytes=GIB, read_ios=9000, utilisation=busy, latency_s=0.012)
    second = leaf("hdd2", read_bytes=peer_bytes, read_ios=9000, utilisation=peer_busy, latency_s=0.008)
    return with_leaves(read_of("rw=randread bs=4k size=4g direct=1", 2 * GIB, 2 * GIB), first, second)


def with_cpu(percent: float) -> Case:
    case = read_of("rw=read bs=1m size=4g direct=1", 4 * GIB, 4 * GIB)
    result = case.result or said()
    jobs_of = tuple(replace(each, user_cpu_percent=10.0, system_cpu_percent=percent - 10) for each in result.jobs)
    return replace(case, result=replace(result, jobs=jobs_of))


def ramped(disk_bytes: float, window_s: float) -> Case:
    case = read_of(
        "rw=randread bs=4k size=1g direct=1 runtime=2 ramp_time=2 time_based=1", 16 * MIB, disk_bytes, seconds=2
    )
    evidence = case.evidence or Evidence(None)
    assert evidence.account is not None
    return replace(case, evidence=replace(evidence, account=replace(evidence.account, window_s=window_s)))


def failed_with(error: int) -> Case:
    parts = JobResult("job", error=error, read=direction(GIB, 10.0))
    return Case(jobs("rw=read bs=1m size=1g"), FioResult("fio-3.33", (parts,)), None, EXT4)


def named(name: str, options: str) -> Case:
    return Case(JobFile((job(options, name),)), target=EXT4)


def compressible(case: Case) -> Case:
    """The same case with each job's data half compressible by intent."""
    options = (Job(each.name, {**each.options, "buffer_compress_percentage": "50"}) for each in case.job.jobs)
    return replace(case, job=JobFile(tuple(options)))


_WRITE = "rw=write bs=1m size=4g end_fsync=1"
_COMMIT = "rw=write bs=2300 size=220m fdatasync=1"
_RANDOM_READ = "rw=randread bs=4k size=1g direct=1"
_HOLE = model.TestFile("trap", GIB, hole_bytes=0, unwritten_bytes=900 * MIB)
_FILLED = model.TestFile("trap", GIB, hole_bytes=0, unwritten_bytes=0)
_VOLUME_READ = "rw=read bs=1m size=100g numjobs=8 filename=X iodepth=1"
_BURST = "rw=write bs=1m size=4g time_based=1 runtime=10 end_fsync=1"

EXAMPLES: Mapping[str, tuple[Example, ...]] = {
    "amplification": (
        Example(
            write_of(_COMMIT, 10 * MIB, 24 * MIB, 24 * MIB), "notes", write_of(_COMMIT, 10 * MIB, 12 * MIB, 12 * MIB)
        ),
        Example(read_of(_RANDOM_READ, GIB, 1.5 * GIB), "notes", read_of(_RANDOM_READ, GIB, 1.05 * GIB)),
    ),
    "async-engine-blocks": (
        Example(
            lint_of("rw=randread bs=4k size=32g ioengine=libaio iodepth=32"),
            "suspects",
            lint_of("rw=randread bs=4k size=32g ioengine=libaio iodepth=32 direct=1"),
        ),
        Example(
            uncounted(
                "rw=randread bs=4k ioengine=libaio iodepth=32 direct=1",
                read=direction(GIB, 10.0, lat=Latency(mean_ns=892_800), slat=Latency(mean_ns=27_300)),
            ),
            "notes",
            uncounted(
                "rw=randread bs=4k ioengine=libaio iodepth=32 direct=1",
                read=direction(GIB, 10.0, lat=Latency(mean_ns=118_400), slat=Latency(mean_ns=1_900)),
            ),
        ),
    ),
    "background-io": (
        Example(
            with_idle(write_of(_WRITE, GIB, GIB, GIB), 30e6),
            "suspects",
            with_idle(write_of(_WRITE, GIB, GIB, GIB), 1e6),
        ),
        Example(
            with_idle(write_of(_WRITE, GIB, 1.2 * GIB, 1.2 * GIB), 20e6),
            "notes",
            with_idle(write_of(_WRITE, GIB, 1.2 * GIB, 1.2 * GIB), 2e6),
        ),
        Example(
            replace(
                write_of(_WRITE, GIB, GIB, GIB),
                evidence=replace(counted(write=(GIB, GIB, GIB)), busy_with=("a scrub",)),
            ),
            "suspects",
            write_of(_WRITE, GIB, GIB, GIB),
        ),
    ),
    "branch-placement": (
        Example(
            lint_of("rw=write bs=1m size=4g numjobs=4 directory=/pool end_fsync=1", MERGERFS),
            "notes",
            lint_of("rw=write bs=1m size=4g directory=/pool end_fsync=1", MERGERFS),
        ),
        Example(
            with_leaves(write_of(_WRITE, GIB, GIB, GIB, MERGERFS), leaf("a", drained_write_bytes=GIB), leaf("b")),
            "notes",
            with_leaves(
                write_of(_WRITE, GIB, GIB, GIB, MERGERFS),
                leaf("a", drained_write_bytes=GIB // 2),
                leaf("b", drained_write_bytes=GIB // 2),
            ),
        ),
    ),
    "broken-clock": (
        Example(
            uncounted(_RANDOM_READ, read=direction(GIB, 10.0, mean_ns=0.0)),
            "suspects",
            uncounted(_RANDOM_READ, read=direction(GIB, 10.0, mean_ns=90_000.0)),
        ),
    ),
    "btrfs-direct-writes": (
        Example(
            lint_of(f"{_WRITE} direct=1", replace(BTRFS, kernel=(6, 18))),
            "notes",
            lint_of(f"{_WRITE} direct=1", replace(BTRFS, kernel=(6, 18), mount_options=("rw", "nodatasum"))),
        ),
        Example(
            lint_of(f"{_WRITE} direct=1", BTRFS), "notes", lint_of(f"{_WRITE} direct=1", replace(BTRFS, kernel=(6, 1)))
        ),
    ),
    "colon-in-filename": (
        Example(lint_of("rw=read size=1g filename=a:b"), "notes", lint_of("rw=read size=1g filename=a\\:b")),
    ),
    "compressed-reads": (
        Example(
            read_of("rw=read bs=1m size=256m", 256 * MIB, 16 * MIB, BTRFS),
            "refutes",
            read_of("rw=read bs=1m size=256m", 256 * MIB, 250 * MIB, BTRFS),
        ),
        Example(
            read_of("rw=read bs=1m size=256m", 256 * MIB, 130 * MIB, BTRFS),
            "suspects",
            compressible(read_of("rw=read bs=1m size=256m", 256 * MIB, 130 * MIB, BTRFS)),
        ),
    ),
    "cpu-bound-fio": (Example(with_cpu(98.0), "notes", with_cpu(60.0)),),
    "default-buffer-compressible": (
        Example(
            lint_of("rw=write bs=4k size=256m end_fsync=1", BTRFS),
            "suspects",
            lint_of("rw=write bs=4k size=256m end_fsync=1 refill_buffers=1", BTRFS),
        ),
        Example(
            lint_of("rw=write bs=16k size=256m end_fsync=1 ioengine=libaio iodepth=4", BTRFS),
            "suspects",
            lint_of("rw=write bs=16k size=256m end_fsync=1 ioengine=libaio iodepth=16", BTRFS),
        ),
        Example(
            write_of("rw=write bs=4k size=256m end_fsync=1", 256 * MIB, 17 * MIB, 17 * MIB, BTRFS),
            "refutes",
            write_of("rw=write bs=4k size=256m end_fsync=1", 256 * MIB, 256 * MIB, 256 * MIB, BTRFS),
        ),
        Example(
            lint_of("rw=write bs=4k size=256m end_fsync=1", BTRFS),
            "suspects",
            lint_of("rw=write bs=4k size=256m end_fsync=1", replace(BTRFS, compression="off")),
        ),
    ),
    "device-in-name": (
        Example(named("/dev/sdb", "rw=read bs=1m"), "suspects", named("/dev/sdb", "rw=read bs=1m filename=/dev/sdb")),
    ),
    "drop-caches-without-sync": (
        Example(
            Case(JobFile((Job("a", {"rw": "read", "exec_prerun": "echo 3 > drop_caches"}),))),
            "suspects",
            Case(JobFile((Job("a", {"rw": "read", "exec_prerun": "sync; echo 3 > drop_caches"}),))),
        ),
    ),
    "few-samples": (
        Example(
            uncounted("rw=read bs=1m size=64m direct=1", read=direction(64 * MIB, 10.0, MIB, p50_ns=900_000.0)),
            "notes",
            uncounted("rw=read bs=1m size=4g direct=1", read=direction(4 * GIB, 10.0, MIB, p50_ns=900_000.0)),
        ),
    ),
    "flushes-missing": (
        Example(
            with_syncs(write_of(_COMMIT, 10 * MIB, 20 * MIB, 20 * MIB, replace(EXT4, write_through=False)), 4096, 12),
            "notes",
            with_syncs(write_of(_COMMIT, 10 * MIB, 20 * MIB, 20 * MIB, replace(EXT4, write_through=False)), 4096, 4095),
        ),
        Example(
            with_syncs(write_of(_COMMIT, 10 * MIB, 20 * MIB, 20 * MIB, replace(EXT4, write_through=False)), 4096, 12),
            "notes",
            with_syncs(write_of(_COMMIT, 10 * MIB, 20 * MIB, 20 * MIB, replace(EXT4, write_through=True)), 4096, 0),
        ),
    ),
    "gtod-reduce": (Example(lint_of("rw=randread direct=1 gtod_reduce=1"), "notes", lint_of("rw=randread direct=1")),),
    "guest-cache": (
        Example(lint_of(_RANDOM_READ, replace(EXT4, in_guest=True)), "notes", lint_of(_RANDOM_READ)),
        Example(
            read_of(_RANDOM_READ, GIB, GIB, replace(EXT4, in_guest=True), p50_ns=18_000.0),
            "notes",
            read_of(_RANDOM_READ, GIB, GIB, replace(EXT4, in_guest=True), p50_ns=95_000.0),
        ),
    ),
    "invalidate-is-not-cold": (
        Example(lint_of("rw=read size=64g", MERGERFS), "suspects", lint_of("rw=read size=64g direct=1", MERGERFS)),
        Example(lint_of("rw=read size=64g invalidate=0"), "suspects", lint_of("rw=read size=64g")),
        Example(lint_of("rw=read size=64g pre_read=1"), "suspects", lint_of("rw=read size=64g pre_read=1", cold=False)),
    ),
    "iodepth-with-sync-engine": (
        Example(
            lint_of("rw=randread direct=1 iodepth=32 ioengine=psync"),
            "suspects",
            lint_of("rw=randread direct=1 iodepth=32 ioengine=io_uring"),
        ),
        Example(
            read_of("rw=randread direct=1 iodepth=32 bs=4k size=1g", GIB, GIB),
            "notes",
            read_of("rw=randread direct=1 iodepth=1 bs=4k size=1g", GIB, GIB),
        ),
    ),
    "kib-means-1000": (
        Example(lint_of("rw=read bs=4KiB size=1g"), "suspects", lint_of("rw=read bs=4k size=1g")),
        Example(lint_of("rw=read bs=4k size=1GiB"), "notes", lint_of("kb_base=1000 rw=read bs=4k size=1GiB")),
    ),
    "l2arc-cold": (
        Example(
            lint_of("rw=randread size=100g runtime=60 time_based=1", on_zfs(has_cache=True)),
            "notes",
            lint_of("rw=randread size=1g runtime=60 time_based=1", on_zfs(has_cache=True)),
        ),
        Example(
            with_zfs_use(read_of("rw=randread bs=16k size=8g", 8 * GIB, 8 * GIB, ZFS), l2_write_bytes=GIB),
            "notes",
            with_zfs_use(read_of("rw=randread bs=16k size=8g", 8 * GIB, 8 * GIB, ZFS), l2_write_bytes=MIB),
        ),
    ),
    "latency-floor": (
        Example(
            uncounted(_RANDOM_READ, read=direction(GIB, 10.0, p50_ns=1800.0)),
            "refutes",
            uncounted(_RANDOM_READ, read=direction(GIB, 10.0, p50_ns=82_000.0)),
        ),
        Example(
            uncounted("rw=randread bs=4k size=1g", read=direction(GIB, 10.0, p50_ns=1100.0)),
            "refutes",
            uncounted("rw=randread bs=4k size=1g", read=direction(GIB, 10.0, p50_ns=70_000.0)),
        ),
        Example(
            read_of("rw=read bs=4k size=1g", GIB, GIB, p50_ns=1000.0),
            "notes",
            read_of("rw=read bs=4k size=1g", GIB, GIB, p50_ns=1000.0, cold=False),
        ),
        Example(
            uncounted("rw=write bs=4k size=1g fdatasync=1", write=direction(GIB, 10.0), sync=latency(10_000, 266.0)),
            "refutes",
            uncounted(
                "rw=write bs=4k size=1g fdatasync=1 direct=1", write=direction(GIB, 10.0), sync=latency(10_000, 266.0)
            ),
        ),
    ),
    "littles-law": (
        Example(
            uncounted(
                "rw=randread bs=4k direct=1 iodepth=4 ioengine=libaio",
                read=direction(40_000 * 4096, 10.0, mean_ns=2_500_000.0),
            ),
            "refutes",
            uncounted(
                "rw=randread bs=4k direct=1 iodepth=16 ioengine=libaio",
                read=direction(40_000 * 4096, 10.0, mean_ns=2_500_000.0),
            ),
        ),
        Example(
            uncounted(
                "rw=randread bs=4k direct=1 iodepth=32 ioengine=libaio",
                read=direction(40_000 * 4096, 10.0, mean_ns=1_000_000.0),
            ),
            "notes",
            uncounted(
                "rw=randread bs=4k direct=1 iodepth=32 ioengine=libaio rate_iops=4000",
                read=direction(40_000 * 4096, 10.0, mean_ns=1_000_000.0),
            ),
        ),
    ),
    "log-device-idle": (
        Example(
            lint_of(_WRITE, on_zfs(has_log=True)),
            "notes",
            lint_of("rw=write bs=4k size=1g fdatasync=1", on_zfs(has_log=True)),
        ),
        Example(
            with_zfs_use(write_of(_COMMIT, GIB, GIB, GIB, on_zfs(has_log=True)), zil_slog_bytes=0),
            "notes",
            with_zfs_use(write_of(_COMMIT, GIB, GIB, GIB, on_zfs(has_log=True)), zil_slog_bytes=GIB),
        ),
    ),
    "loop-cache": (
        Example(
            lint_of(_RANDOM_READ, replace(EXT4, loop_without_direct=("loop0",))), "suspects", lint_of(_RANDOM_READ)
        ),
        Example(loop(0), "refutes", loop(GIB)),
    ),
    "md-bitmap": (
        Example(
            lint_of("rw=randwrite bs=4k size=1g end_fsync=1", replace(EXT4, md_bitmap=True)),
            "notes",
            lint_of("rw=write bs=1m size=1g end_fsync=1", replace(EXT4, md_bitmap=True)),
        ),
    ),
    "merged-percentiles": (
        Example(
            Case(jobs("rw=randread bs=4k group_reporting=1", "rw=randread bs=1m group_reporting=1")),
            "notes",
            Case(jobs("rw=randread bs=4k group_reporting=1", "rw=randread bs=4k group_reporting=1")),
        ),
        Example(
            lint_of("rw=randrw bs=4k unified_rw_reporting=1"),
            "notes",
            lint_of("rw=randread bs=4k unified_rw_reporting=1"),
        ),
    ),
    "misaligned-sectors": (
        Example(
            lint_of(_WRITE, replace(ZFS, alignment_bytes=512, physical_block_bytes=4096)),
            "notes",
            lint_of(_WRITE, replace(ZFS, alignment_bytes=4096, physical_block_bytes=4096)),
        ),
    ),
    "mixed-sum": (Example(lint_of("rw=randrw bs=4k"), "notes", lint_of("rw=randrw bs=4k rwmixread=100")),),
    "network-target": (Example(lint_of(_RANDOM_READ, NFS), "suspects", lint_of(_RANDOM_READ, EXT4)),),
    "physical-ceiling": (
        Example(
            uncounted(
                _VOLUME_READ, Target("zvol", ceiling_read_bytes_per_s=9.6e9), read=direction(800 * GIB, 33.516, MIB)
            ),
            "refutes",
            uncounted(
                _VOLUME_READ, Target("zvol", ceiling_read_bytes_per_s=9.6e9), read=direction(80 * GIB, 19.622, MIB)
            ),
        ),
        Example(
            uncounted(_RANDOM_READ, replace(EXT4, rotational=True, disks=2), read=direction(14_000 * 4096 * 10, 10.0)),
            "refutes",
            uncounted(_RANDOM_READ, replace(EXT4, rotational=True, disks=2), read=direction(700 * 4096 * 10, 10.0)),
        ),
    ),
    "prior-file-reuse": (
        Example(
            with_files(lint_of("rw=read size=1g filename=trap"), _FILLED),
            "notes",
            with_files(lint_of("rw=write size=1g filename=trap end_fsync=1"), _FILLED),
        ),
    ),
    "ramp-in-window": (
        Example(ramped(8829 * 4096, 4.0), "notes", ramped(4005 * 4096, 2.0)),
        Example(ramped(4005 * 4096, 4.0), "suspects", ramped(4005 * 4096, 2.1)),
    ),
    "random-coverage": (
        Example(
            lint_of("rw=randwrite bs=4k size=1g direct=1 norandommap=1"),
            "notes",
            lint_of("rw=randwrite bs=4k size=1g direct=1"),
        ),
    ),
    "rare-sync": (
        Example(
            lint_of("rw=write bs=4k size=256m fsync=60000"),
            "suspects",
            lint_of("rw=write bs=4k size=256m fsync=60000 end_fsync=1"),
        ),
    ),
    "rate-not-reached": (
        Example(
            uncounted("rw=randread bs=4k rate_iops=8000 direct=1", read=direction(40_000 * 4096, 10.0)),
            "notes",
            uncounted("rw=randread bs=4k rate_iops=4000 direct=1", read=direction(40_000 * 4096, 10.0)),
        ),
        Example(
            lint_of("rw=randread bs=4k rate_iops=8000 rate_process=poisson"),
            "notes",
            lint_of("rw=randread bs=4k rate_iops=8000"),
        ),
    ),
    "read-from-cache": (
        Example(
            read_of("rw=read bs=1m size=1g", GIB, 100 * MIB),
            "refutes",
            read_of("rw=read bs=1m size=1g", GIB, 100 * MIB, cold=False),
        ),
        Example(
            read_of("rw=read bs=1m size=1g", GIB, 0.7 * GIB),
            "suspects",
            read_of("rw=read bs=1m size=1g", GIB, 0.98 * GIB),
        ),
        Example(
            read_of("rw=read bs=1m size=1g", GIB, 0.885 * GIB), "notes", read_of("rw=read bs=1m size=1g", GIB, GIB)
        ),
    ),
    "recordsize-mismatch": (
        Example(
            lint_of("rw=randwrite bs=4k size=1g end_fsync=1", ZFS),
            "notes",
            lint_of("rw=randwrite bs=128k size=1g end_fsync=1", ZFS),
        ),
        Example(
            read_of("rw=randread bs=4k size=1g", 64 * MIB, 1700 * MIB, ZFS),
            "notes",
            read_of("rw=randread bs=128k size=1g", 64 * MIB, 66 * MIB, ZFS),
        ),
        Example(
            replace(
                write_of("rw=randwrite bs=4k size=1g end_fsync=1", GIB, GIB, GIB),
                evidence=counted(read=(0, 0.5 * GIB), write=(GIB, GIB, GIB)),
            ),
            "notes",
            write_of("rw=randwrite bs=4k size=1g end_fsync=1", GIB, GIB, GIB),
        ),
    ),
    "repeated-offsets": (
        Example(
            lint_of("rw=randread bs=4k size=4g invalidate=0"),
            "suspects",
            lint_of("rw=randread bs=4k size=4g invalidate=0 randrepeat=0"),
        ),
        Example(
            read_of("rw=randread bs=4k size=4g io_size=256m invalidate=0", 256 * MIB, 38 * 4096),
            "refutes",
            read_of("rw=randread bs=4k size=4g io_size=256m invalidate=0", 256 * MIB, 66113 * 4096),
        ),
    ),
    "runtime-without-time-based": (
        Example(
            lint_of("rw=read bs=1m size=64m runtime=30"),
            "suspects",
            lint_of("rw=read bs=1m size=64m runtime=30 time_based=1"),
        ),
        Example(
            lint_of("rw=read bs=1m size=64m runtime=30"), "suspects", lint_of("rw=read bs=1m size=128g runtime=60")
        ),
        Example(
            read_of("rw=read bs=1m size=64m runtime=30", 64 * MIB, 67 * MB, seconds=0.024),
            "fails",
            read_of("rw=read bs=1m size=64g runtime=30", 30 * GIB, 30 * GIB, seconds=30.01),
        ),
        Example(
            read_of("rw=read bs=1m size=10g runtime=60", 10 * GIB, 10 * GIB, seconds=50.0),
            "notes",
            read_of("rw=read bs=1m size=10g runtime=60", 10 * GIB, 10 * GIB, seconds=59.5),
        ),
    ),
    "sequential-iops": (
        Example(lint_of("rw=read size=4g direct=1"), "notes", lint_of("rw=read bs=1m size=4g direct=1")),
        Example(
            with_leaves(read_of("rw=read bs=4k size=256m", 256 * MIB, 256 * MIB), leaf(read_ios=74)),
            "notes",
            with_leaves(read_of("rw=read bs=1m size=256m", 256 * MIB, 256 * MIB), leaf(read_ios=512)),
        ),
    ),
    "shared-file-numjobs": (
        Example(
            lint_of("rw=write bs=1m size=256m numjobs=8 filename=X end_fsync=1"),
            "suspects",
            lint_of("rw=write bs=1m size=32m offset_increment=32m numjobs=8 filename=X end_fsync=1"),
        ),
        Example(
            lint_of("rw=write bs=1m size=256m numjobs=8 filename=X direct=1", None),
            "suspects",
            lint_of("rw=write bs=1m size=256m numjobs=8 filename=X direct=1", EXT4),
        ),
        Example(
            lint_of("rw=write bs=1m size=256m numjobs=8 filename=X end_fsync=1"),
            "suspects",
            lint_of("rw=write bs=1m size=256m numjobs=8 directory=/data end_fsync=1"),
        ),
        Example(
            lint_of("rw=randread bs=4k size=1g numjobs=4 filename=X"),
            "notes",
            lint_of("rw=randread bs=4k size=1g filename=X"),
        ),
        Example(
            write_of("rw=write bs=1m size=256m numjobs=8 filename=X end_fsync=1", 2147 * MB, 362 * MB, 362 * MB),
            "refutes",
            write_of(
                "rw=write bs=1m size=256m numjobs=8 filename=X end_fsync=1 direct=1", 2147 * MB, 2147 * MB, 2147 * MB
            ),
        ),
        Example(
            read_of("rw=read bs=1m size=1g numjobs=4 filename=X", 4295 * MB, 1074 * MB),
            "refutes",
            read_of("rw=read bs=1m size=1g numjobs=4 filename=X", 4295 * MB, 4295 * MB),
        ),
    ),
    "short-commit-test": (
        Example(
            lint_of("rw=write bs=2300 size=22m fdatasync=1"), "notes", lint_of("rw=write bs=2300 size=220m fdatasync=1")
        ),
    ),
    "short-run-burst": (
        Example(
            lint_of(_BURST), "notes", lint_of("rw=write bs=1m size=4g time_based=1 runtime=60 ramp_time=15 end_fsync=1")
        ),
        Example(
            lint_of("rw=write bs=1m size=1g end_fsync=1", replace(EXT4, dirty_limit_bytes=GIB)),
            "notes",
            lint_of("rw=write bs=1m size=4g end_fsync=1", replace(EXT4, dirty_limit_bytes=GIB)),
        ),
    ),
    "size-below-cache": (
        Example(lint_of("rw=read bs=1m size=1g"), "suspects", lint_of("rw=read bs=1m size=16g")),
        Example(lint_of("rw=read bs=1m size=1g"), "suspects", lint_of("rw=read bs=1m size=1g direct=1")),
        Example(
            lint_of("rw=read bs=1m size=1g direct=1", ZFS),
            "suspects",
            lint_of("rw=write bs=1m size=1g end_fsync=1", ZFS),
        ),
        Example(
            lint_of("rw=read size=4g", on_zfs(arc_max_bytes=4 * GIB)),
            "suspects",
            lint_of("rw=read size=4g", on_zfs(arc_max_bytes=GIB)),
        ),
    ),
    "slow-leaf": (
        Example(pair(0.97, 0.12), "notes", pair(0.97, 0.91)),
        Example(pair(0.97, 0.12), "notes", pair(0.97, 0.02, peer_bytes=8 * MIB)),
    ),
    "smr": (
        Example(
            lint_of("rw=randwrite bs=4k size=64g end_fsync=1", replace(EXT4, zoned=True)),
            "notes",
            lint_of("rw=write bs=1m size=64g end_fsync=1", replace(EXT4, zoned=True)),
        ),
    ),
    "sync-at-depth": (
        Example(
            lint_of("rw=randwrite bs=4k direct=1 ioengine=libaio iodepth=32 fdatasync=1"),
            "notes",
            lint_of("rw=randwrite bs=4k direct=1 ioengine=libaio iodepth=1 fdatasync=1"),
        ),
    ),
    "sync-on-reads": (Example(lint_of("rw=randread bs=4k sync=1"), "notes", lint_of("rw=randwrite bs=4k sync=1")),),
    "thermal-throttle": (
        Example(
            replace(lint_of(_RANDOM_READ), evidence=Evidence(None, throttled_s=12.0)),
            "notes",
            replace(lint_of(_RANDOM_READ), evidence=Evidence(None, throttled_s=0.0)),
        ),
    ),
    "trimmed-ssd": (
        Example(
            lint_of(_RANDOM_READ, replace(EXT4, discarded=True)),
            "notes",
            lint_of(_RANDOM_READ, replace(EXT4, discarded=False)),
        ),
        Example(
            read_of(_RANDOM_READ, GIB, GIB, replace(EXT4, discarded=True)),
            "suspects",
            read_of(_RANDOM_READ, GIB, GIB, replace(EXT4, discarded=True, rotational=True)),
        ),
    ),
    "unaligned-direct": (
        Example(lint_of("rw=write bs=2300 direct=1"), "suspects", lint_of("rw=write bs=2300 fdatasync=1")),
    ),
    "unique-extents": (
        Example(
            uncounted(_VOLUME_READ, read=direction(800 * GIB, 33.5, MIB)),
            "suspects",
            read_of(_VOLUME_READ, 800 * GIB, 800 * GIB, seconds=33.5),
        ),
        Example(
            uncounted("rw=read bs=1m size=1g time_based=1 runtime=10", read=direction(16 * GIB, 10.0, MIB)),
            "suspects",
            uncounted("rw=read bs=1m size=1g time_based=1 runtime=10 direct=1", read=direction(16 * GIB, 10.0, MIB)),
        ),
    ),
    "unstable": (
        Example(
            uncounted(
                _WRITE,
                write=direction(GIB, 10.0, MIB, bandwidth_mean_bytes=1e8, bandwidth_stddev_bytes=1.5e8, samples=40),
            ),
            "suspects",
            uncounted(
                _WRITE,
                write=direction(GIB, 10.0, MIB, bandwidth_mean_bytes=1e8, bandwidth_stddev_bytes=1.5e8, samples=4),
            ),
        ),
        Example(
            uncounted(
                _WRITE,
                write=direction(GIB, 10.0, MIB, bandwidth_mean_bytes=1e8, bandwidth_stddev_bytes=4e7, samples=40),
            ),
            "notes",
            uncounted(
                _WRITE,
                write=direction(GIB, 10.0, MIB, bandwidth_mean_bytes=1e8, bandwidth_stddev_bytes=1e7, samples=40),
            ),
        ),
    ),
    "unwritten-read": (
        Example(with_files(lint_of(_RANDOM_READ), _HOLE), "suspects", with_files(lint_of(_RANDOM_READ), _FILLED)),
        Example(
            with_files(read_of(_RANDOM_READ, GIB, 20 * MIB), _HOLE),
            "refutes",
            with_files(read_of("rw=randread bs=4k size=1g", GIB, 20 * MIB), _FILLED),
        ),
        Example(read_of(_RANDOM_READ, GIB, 20 * MIB), "refutes", read_of("rw=randread bs=4k size=1g", GIB, 20 * MIB)),
    ),
    "verify-cost": (Example(lint_of(f"{_WRITE} verify=crc32c"), "notes", lint_of(f"{_WRITE} verify=0")),),
    "volatile-target": (
        Example(lint_of(_RANDOM_READ, TMPFS), "suspects", lint_of(_RANDOM_READ, EXT4)),
        Example(
            uncounted(_COMMIT, TMPFS, write=direction(MIB, 1.0)),
            "refutes",
            uncounted(_COMMIT, EXT4, write=direction(MIB, 1.0)),
        ),
    ),
    "work-done": (
        Example(failed_with(5), "fails", failed_with(0)),
        Example(
            uncounted("rw=read bs=1m size=1g"),
            "fails",
            uncounted("rw=read bs=1m size=1g", read=direction(GIB, 10.0, MIB)),
        ),
        Example(
            uncounted("rw=read bs=1m size=1g runtime=10 time_based=1", read=direction(GIB, 6.0, MIB)),
            "fails",
            uncounted("rw=read bs=1m size=1g runtime=10 time_based=1", read=direction(GIB, 10.0, MIB)),
        ),
        Example(
            uncounted("rw=read bs=1m size=2g", read=direction(GIB, 10.0, MIB)),
            "suspects",
            uncounted("rw=read bs=1m size=2g io_size=1g", read=direction(GIB, 10.0, MIB)),
        ),
    ),
    "write-not-on-disk": (
        Example(write_of(_WRITE, GIB, 0.1 * GIB, GIB), "refutes", write_of(_WRITE, GIB, 0.95 * GIB, GIB)),
        Example(write_of(_WRITE, GIB, 0.7 * GIB, GIB), "suspects", write_of(_WRITE, GIB, 0.92 * GIB, GIB)),
    ),
    "write-vanished": (
        Example(write_of(_WRITE, GIB, 0.1 * GIB, 0.1 * GIB), "refutes", write_of(_WRITE, GIB, GIB, GIB)),
        Example(
            replace(write_of(_WRITE, GIB, GIB, GIB), evidence=counted(write=(GIB, 1.2 * GIB, 1.2 * GIB), factor=2.0)),
            "suspects",
            replace(write_of(_WRITE, GIB, GIB, GIB), evidence=counted(write=(GIB, 2 * GIB, 2 * GIB), factor=2.0)),
        ),
    ),
    "write-without-sync": (
        Example(lint_of("rw=write bs=1m size=1g"), "suspects", lint_of("rw=write bs=1m size=1g end_fsync=1")),
        Example(
            lint_of("rw=write bs=1m size=1g direct=1", ZFS),
            "suspects",
            lint_of("rw=write bs=1m size=1g direct=1", None),
        ),
        Example(
            write_of("rw=write bs=1m size=1g", 1074 * MB, 0, 1074 * MB),
            "refutes",
            write_of("rw=write bs=1m size=1g", 1074 * MB, 1074 * MB, 1074 * MB),
        ),
    ),
    "zero-buffers": (
        Example(
            lint_of("rw=write bs=1m size=1g zero_buffers=1 end_fsync=1", BTRFS),
            "suspects",
            lint_of("rw=write bs=1m size=1g buffer_pattern=0xdeadbeef end_fsync=1", BTRFS),
        ),
        Example(
            write_of("rw=write bs=1m size=256m zero_buffers=1 end_fsync=1", 256 * MIB, 8 * MIB, 8 * MIB, BTRFS),
            "refutes",
            write_of("rw=write bs=1m size=256m zero_buffers=1 end_fsync=1", 256 * MIB, 256 * MIB, 256 * MIB),
        ),
    ),
    "zfs-direct-ignored": (
        Example(
            lint_of("rw=randread bs=4k size=1g direct=1", ZFS),
            "suspects",
            lint_of("rw=randread bs=4k size=1g direct=1", on_zfs(direct="standard")),
        ),
        Example(
            lint_of("rw=randwrite bs=4k size=1g direct=1 end_fsync=1", on_zfs()),
            "suspects",
            lint_of("rw=randwrite bs=128k size=1g direct=1 end_fsync=1", on_zfs()),
        ),
        Example(
            lint_of("rw=randread bs=4k size=1g direct=1", on_zfs(is_zvol=True)),
            "suspects",
            lint_of("rw=randread bs=4k size=1g", on_zfs(is_zvol=True)),
        ),
        Example(
            with_zfs_use(
                uncounted(_RANDOM_READ, on_zfs(), read=direction(GIB, 10.0)), direct_read_bytes=0, arc_read_bytes=GIB
            ),
            "suspects",
            with_zfs_use(
                uncounted(_RANDOM_READ, on_zfs(), read=direction(GIB, 10.0)), direct_read_bytes=GIB, arc_read_bytes=0
            ),
        ),
    ),
    "zfs-sync-disabled": (
        Example(
            lint_of("rw=write bs=4k size=1g fdatasync=1", on_zfs(sync="disabled")),
            "suspects",
            lint_of("rw=write bs=4k size=1g fdatasync=1", on_zfs(sync="standard")),
        ),
    ),
}
