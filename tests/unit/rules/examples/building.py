"""Builders for a rule's examples: a case in which the rule applies, and a similar case in which it must not."""

from dataclasses import dataclass, replace
from errno import EINVAL

from poolproof.evidence import model
from poolproof.evidence.model import Evidence, ZfsUse
from poolproof.evidence.target_facts import MirrorSide, Target, ZfsFacts
from poolproof.load.model import Load
from poolproof.load.outcome import Latency, Outcome, PartOutcome
from poolproof.rules.model import Case, Effect
from tests.unit.rules.making import (
    EXT4,
    GIB,
    KIB,
    MIB,
    account,
    counted,
    direction,
    job,
    jobs,
    leaf,
    said,
)

BTRFS = Target("btrfs", ram_bytes=8 * GIB, compression="zstd:3", record_bytes=128 * KIB)
ZFS = Target("zfs", ram_bytes=8 * GIB, record_bytes=128 * KIB, zfs=ZfsFacts(version="2.2.4-1"))
ZVOL = Target("zvol", ram_bytes=8 * GIB, zfs=ZfsFacts(version="2.3.1", is_zvol=True))
MERGERFS = Target("fuse.mergerfs", ram_bytes=8 * GIB)
NFS = Target("nfs4", ram_bytes=8 * GIB)
TMPFS = Target("tmpfs", ram_bytes=8 * GIB, volatile=True)


@dataclass(frozen=True)
class Example:
    """A pair of cases for a rule.

    `case`: a case in which the rule has a finding with the effect `effect`.
    `near_miss`: a case without a finding, which differs only in what the rule checks.
    """

    case: Case
    effect: Effect
    near_miss: Case


def lint_of(options: str, target: Target | None = EXT4, cold: bool = True) -> Case:
    """Return the case of a job that has not run yet."""
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
    """Return the case of a run that read, with its byte accounting."""
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
    """Return the case of a run that wrote, with its byte accounting."""
    result = said(write=direction(fio, seconds, **more))  # type: ignore[arg-type]
    return Case(jobs(options), result, counted(write=(fio, at_end, drained)), target)


def uncounted(options: str, target: Target | None = EXT4, **directions: object) -> Case:
    """Return the case of a result without counters."""
    return Case(jobs(options), said(**directions), target=target)  # type: ignore[arg-type]


def with_files(case: Case, *files: model.TestFile) -> Case:
    return replace(case, evidence=replace(case.evidence or Evidence(None), files=files))


def with_leaves(case: Case, *leaves: model.LeafUse) -> Case:
    return replace(case, evidence=replace(case.evidence or Evidence(None), leaves=leaves))


def with_requests(case: Case, read_ios: int, merged: int = 0) -> Case:
    """Return the case with the given number of read requests on its disk."""
    return with_leaves(case, *(replace(each, read_ios=read_ios, read_merges=merged) for each in case.leaves))


def on_zfs(**properties: object) -> Target:
    return replace(ZFS, zfs=ZfsFacts(**{"version": "2.3.1", **properties}))  # type: ignore[arg-type]


def with_zfs_use(case: Case, **moved: int) -> Case:
    return replace(case, evidence=replace(case.evidence or Evidence(None), zfs=ZfsUse(**moved)))  # type: ignore[arg-type]


def with_syncs(case: Case, syncs: int, flushes: int) -> Case:
    result = case.outcome or said()
    timed = tuple(replace(each, syncs=syncs) for each in result.parts)
    return with_leaves(replace(case, outcome=replace(result, parts=timed)), leaf(flush_ios=flushes))


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
    """Return the case of a mirror of two disks with the given utilisations."""
    first = leaf("hdd1", read_bytes=GIB, read_ios=9000, utilisation=busy, latency_s=0.012)
    second = leaf("hdd2", read_bytes=peer_bytes, read_ios=9000, utilisation=peer_busy, latency_s=0.008)
    return with_leaves(read_of("rw=randread bs=4k size=4g direct=1", 2 * GIB, 2 * GIB), first, second)


def unlike_mirror(*, is_file: bool, turns: tuple[bool | None, bool | None] = (True, False)) -> Case:
    """Return the case of a mirror of a hard disk and an SSD with random reads, half of them from each disk."""
    sides = tuple(MirrorSide((name,), turning, is_file) for name, turning in zip(("rust", "ssd"), turns, strict=True))
    case = read_of("rw=randread bs=16k size=1g", GIB, GIB, on_zfs(mirrors=(sides,)))
    return with_leaves(case, leaf("rust", read_bytes=GIB // 2), leaf("ssd", read_bytes=GIB // 2))


def with_cpu(percent: float) -> Case:
    case = read_of("rw=read bs=1m size=4g direct=1", 4 * GIB, 4 * GIB)
    result = case.outcome or said()
    jobs_of = tuple(replace(each, user_cpu_percent=10.0, system_cpu_percent=percent - 10) for each in result.parts)
    return replace(case, outcome=replace(result, parts=jobs_of))


def ramped(disk_bytes: float, window_s: float) -> Case:
    case = read_of(
        "rw=randread bs=4k size=1g direct=1 runtime=2 ramp_time=2 time_based=1", 16 * MIB, disk_bytes, seconds=2
    )
    evidence = case.evidence or Evidence(None)
    assert evidence.account is not None
    return replace(case, evidence=replace(evidence, account=replace(evidence.account, window_s=window_s)))


def ramped_apart(disk_bytes: int, *ramps_ms: int) -> Case:
    """Return the case of sections that read 16 MiB each in 2 s, after ramps of different lengths."""
    options = "rw=randread bs=4k size=1g direct=1 runtime=2 time_based=1"
    sections = tuple(
        PartOutcome(name, read=direction(16 * MIB), job_runtime_ms=2000, delay_ms=ramp_ms)
        for name, ramp_ms in zip("ab", ramps_ms, strict=True)
    )
    disk = leaf(read_bytes=disk_bytes, read_ios=disk_bytes // 4096)
    window_s = 2 + (max(ramps_ms) - min(ramps_ms)) / 1000
    evidence = Evidence(account(read=(32 * MIB, disk_bytes), window_s=window_s), (disk,))
    load = jobs(*(f"{options} ramp_time={ramp_ms // 1000}" for ramp_ms in ramps_ms))
    return Case(load, Outcome("fio-3.33", sections), evidence, EXT4)


def failed_with(error: int, options: str = "rw=read bs=1m size=1g", target: Target = EXT4) -> Case:
    parts = PartOutcome("job", error=error, read=direction(GIB, 10.0))
    return Case(jobs(options), Outcome("fio-3.33", (parts,)), None, target)


def failed_early(options: str, target: Target = EXT4, version: str = "fio-3.33") -> Case:
    """Return a job that failed with EINVAL before its first I/O, as fio's JSON output shows it."""
    return Case(
        jobs(options), Outcome(version, (PartOutcome("job", error=EINVAL, user_cpu_percent=0.0),)), None, target
    )


def named(name: str, options: str) -> Case:
    return Case(Load((job(options, name),)), target=EXT4)


def half_stored(case: Case) -> Case:
    """Return the case with test files of which the disks stored only half the bytes during the fill."""
    evidence = case.evidence or Evidence(None)
    assert evidence.account is not None
    return replace(case, evidence=replace(evidence, account=replace(evidence.account, stored_share=0.5)))
