"""Examples for rules about the storage under the files: file systems, disks and machines."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from poolproof.evidence.backing_files import BackingFiles
from poolproof.evidence.model import CpuUse, DeviceLimit, HostUse, OtherWork, TestFile, Throttling
from poolproof.evidence.target_facts import Target
from poolproof.load.outcome import Latency
from poolproof.rules.model import Case
from tests.unit.rules.examples.building import (
    BTRFS,
    MERGERFS,
    NFS,
    TMPFS,
    ZFS,
    Example,
    lint_of,
    on_zfs,
    pair,
    read_of,
    uncounted,
    unlike_mirror,
    with_files,
    with_leaves,
    with_syncs,
    with_zfs_use,
    write_of,
)
from tests.unit.rules.making import EXT4, GIB, MIB, counted, direction, leaf

_WRITE = "rw=write bs=1m size=4g end_fsync=1"
_COMMIT = "rw=write bs=2300 size=220m fdatasync=1"
_IN_ORDER = "rw=write bs=128k size=64m direct=1"
_RANDOM_READ = "rw=randread bs=4k size=1g direct=1"
_VOLUME_READ = "rw=read bs=1m size=100g numjobs=8 filename=X iodepth=1"


def _on_branches(flushes_a: int, flushes_b: int, write_ios: int = 4096, **more: Any) -> Case:
    """Return the case of 8,192 synced writes to two branches of mergerfs, of which `b` received `write_ios`."""
    target = replace(MERGERFS, write_through=False, **more)
    case = with_syncs(write_of(_COMMIT, 10 * MIB, 20 * MIB, 20 * MIB, target), 8192, 0)
    return with_leaves(case, leaf("a", flush_ios=flushes_a, write_ios=4096),
                       leaf("b", flush_ios=flushes_b, write_ios=write_ios))  # fmt: skip


def _read_in_guest(submission_ns: float) -> Case:
    """Return a result whose reads were mostly done during submission."""
    slat = Latency(mean_ns=submission_ns)
    return read_of(_RANDOM_READ, GIB, GIB, replace(EXT4, in_guest=True), p50_ns=900.0, slat=slat)


def _cached(options: str, shares: Mapping[str, int]) -> Case:
    """Return a result for an LVM cache with the fast device `nvme`.

    `shares`: the share of 1 GiB that each disk transferred.
    """
    bytes_of = {name: GIB * share // sum(shares.values()) for name, share in shares.items()}
    target = replace(EXT4, cache_devices=("nvme",))
    if "randread" in options:
        leaves = [leaf(name, read_bytes=size, read_ios=size // 4096) for name, size in bytes_of.items()]
        return with_leaves(read_of(options, GIB, GIB, target), *leaves)
    leaves = [leaf(name, write_bytes=size, drained_write_bytes=size) for name, size in bytes_of.items()]
    return with_leaves(write_of(options, GIB, GIB, GIB, target), *leaves)


def _read_first(options: str, read: int) -> Case:
    """Return a result on ZFS in which 12 MiB were written to a file of 64 MiB, while the disks read `read` bytes."""
    case = write_of(options, 12 * MIB, 12 * MIB, 12 * MIB, on_zfs())
    moved = counted(read=(0, read), write=(12 * MIB, 12 * MIB, 12 * MIB))
    return replace(case, evidence=replace(moved, files=(TestFile("file", 64 * MIB),)))


def _waited(options: str, moved: int, read_mib: int, size_mib: int = 48) -> Case:
    """Return the case of sequential reads from OpenZFS 2.3, with the bytes that fio and the disks read."""
    case = read_of(f"rw=read bs=128k size={size_mib}m {options}", moved, read_mib * MIB, on_zfs(version="2.3.1"))
    return with_files(case, TestFile("f", size_mib * MIB))


def _amid(case: Case, **found: Any) -> Case:
    """Return the case with additional evidence about the machine."""
    assert case.evidence is not None
    return replace(case, evidence=replace(case.evidence, **found))


def _busy(
    share: float, waiting: float | None, moved: float = 0.0, steal: float = 0.0, delayed: float | None = None
) -> Case:
    """Return a sound read of two seconds on two processors, of whose time other programs used the given share."""
    cpus = tuple(CpuUse(name, 0.5, 0.0, steal) for name in ("cpu0", "cpu1"))
    others = OtherWork(2.0, 4.0 * share, int(moved), 0, waiting and 2.0 * waiting, delayed)
    return _amid(read_of(_RANDOM_READ, GIB, GIB), others=others, host=HostUse(0, 0, 0, 0, 0, cpus))


def _limited(most: int, kind: str = "riops") -> Case:
    """Return a result with a limit on sda: in 10 s, fio and the disk read 1 GiB in 262,144 reads."""
    case = read_of(_RANDOM_READ, GIB, GIB)
    assert case.evidence is not None and case.evidence.account is not None
    return _amid(
        case,
        account=replace(case.evidence.account, window_s=10.0),
        leaves=tuple(replace(each, read_ios=GIB // 4096) for each in case.leaves),
        throttling=Throttling((DeviceLimit("sda", kind, most),)),
    )


def _quota(stopped_s: float) -> Case:
    case = _busy(0.0, 0.0)
    return _amid(case, throttling=Throttling(processors=0.2, cpu_periods=9, cpu_s=stopped_s))


def _small_writes(size: str = "64k", rate: int = 4223, options: str = "", *, write_through: bool = False) -> Case:
    """Return direct random writes to a single hard disk, at the given rate in IOPS."""
    target = replace(EXT4, rotational=True, disks=1, write_through=write_through)
    asked = f"rw=randwrite bs=4k size={size} filename=f direct=1 {options}"
    return uncounted(asked, target, write=direction(rate * 4096 * 10, 10.0))


def _on_files(option: str = "rw", unflushed: tuple[str, ...] = ()) -> Case:
    """Return commits to a loop device whose file is on a file system with the given mount option."""
    backing = BackingFiles(mount_options=("rw", option), unflushed=unflushed)
    target = replace(EXT4, write_through=False, backing=backing)
    return with_syncs(write_of(_COMMIT, MIB, 2 * MIB, 2 * MIB, target), 256, 256)


EXAMPLES: Mapping[str, tuple[Example, ...]] = {
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
    "disk-buffer": (
        Example(
            lint_of("rw=randread bs=4k size=8m direct=1", replace(EXT4, rotational=True, disks=1)),
            "suspects",
            lint_of("rw=randread bs=4k size=8m direct=1", replace(EXT4, rotational=True, disks=None)),
        ),
        Example(
            lint_of("rw=randread bs=4k size=128m direct=1 time_based=1", replace(EXT4, rotational=True, disks=1)),
            "notes",
            lint_of("rw=randread bs=4k size=1g direct=1 time_based=1", replace(EXT4, rotational=True, disks=1)),
        ),
        Example(
            uncounted(
                "rw=randread bs=4k size=8m direct=1",
                replace(EXT4, rotational=True, disks=1),
                read=direction(350 * 4096 * 10, 10.0),
            ),
            "suspects",
            uncounted(
                "rw=randread bs=4k size=8m direct=1",
                replace(EXT4, rotational=False, disks=1),
                read=direction(350 * 4096 * 10, 10.0),
            ),
        ),
        Example(_small_writes(), "suspects", _small_writes(options="fdatasync=8")),
        Example(_small_writes(), "suspects", _small_writes(rate=290)),
        Example(_small_writes("128m", rate=460), "suspects", _small_writes("128m", rate=440)),
        Example(_small_writes("256m", rate=460), "suspects", _small_writes("257m", rate=460)),
        Example(_small_writes(), "suspects", _small_writes(write_through=True)),
        Example(
            lint_of("rw=randwrite bs=4k size=16m direct=1", replace(EXT4, rotational=True, disks=1)),
            "suspects",
            lint_of("rw=randwrite bs=4k size=16m direct=0", replace(EXT4, rotational=True, disks=1)),
        ),
    ),
    "other-work": (
        Example(_busy(0.5, 0.9), "suspects", _busy(0.05, 0.9)),
        Example(_busy(0.5, None), "suspects", _busy(0.5, 0.05)),
        Example(_busy(0.5, None, delayed=0.2), "suspects", _busy(0.5, None, delayed=0.01)),
        # a busy loop on the processor to which fio is bound; fio's own jobs wait for each other
        Example(_busy(0.05, 0.05, delayed=0.2), "suspects", _busy(0.01, 0.05, delayed=0.4)),
        Example(_busy(0.0, 0.0, moved=GIB / 4), "suspects", _busy(0.0, 0.0, moved=GIB / 20)),
        Example(_busy(0.0, 0.0, steal=0.2), "suspects", _busy(0.0, 0.0, steal=0.01)),
        Example(
            _busy(0.0, 0.0, moved=GIB / 4),
            "suspects",
            replace(_busy(0.0, 0.0, moved=GIB / 4), target=replace(EXT4, emulated=("a",))),
        ),
    ),
    "throttled": (
        Example(_limited(26_214), "suspects", _limited(26_214, "wiops")),
        Example(_limited(10_000_000), "notes", _limited(10_000_000, "wbps")),
        Example(_limited(107_000_000, "rbps"), "suspects", _limited(107_000_000, "wbps")),
        Example(_limited(72_000_000, "rbps"), "suspects", _limited(72_000_000, "wbps")),
        Example(_limited(71_000_000, "rbps"), "notes", _limited(71_000_000, "wbps")),
        Example(_quota(0.6), "suspects", _quota(0.01)),
        Example(
            _amid(_busy(0.0, 0.0), throttling=Throttling(heat_events=3)),
            "notes",
            _amid(_busy(0.0, 0.0), throttling=Throttling()),
        ),
    ),
    "mirror-of-files": (
        Example(unlike_mirror(is_file=True), "notes", unlike_mirror(is_file=False)),
        Example(unlike_mirror(is_file=True), "notes", unlike_mirror(is_file=True, turns=(True, True))),
    ),
    "mirror-of-unlike-disks": (
        Example(unlike_mirror(is_file=False), "notes", unlike_mirror(is_file=True)),
        Example(unlike_mirror(is_file=False), "notes", unlike_mirror(is_file=False, turns=(False, False))),
        Example(unlike_mirror(is_file=False), "notes", unlike_mirror(is_file=False, turns=(True, None))),
    ),
    "flushes-missing": (
        Example(
            with_syncs(write_of(_COMMIT, 10 * MIB, 20 * MIB, 20 * MIB, replace(EXT4, write_through=False)), 4096, 12),
            "refutes",
            with_syncs(write_of(_COMMIT, 10 * MIB, 20 * MIB, 20 * MIB, replace(EXT4, write_through=False)), 4096, 4095),
        ),
        Example(
            with_syncs(write_of(_COMMIT, 10 * MIB, 20 * MIB, 20 * MIB, replace(EXT4, write_through=False)), 4096, 12),
            "refutes",
            with_syncs(write_of(_COMMIT, 10 * MIB, 20 * MIB, 20 * MIB, replace(EXT4, write_through=True)), 4096, 0),
        ),
        Example(_on_files("barrier=0"), "suspects", _on_files("barrier=1")),
        Example(_on_files(unflushed=("vda",)), "suspects", _on_files()),
        Example(_on_branches(4096, 0), "suspects", _on_branches(4096, 2048)),
        Example(_on_branches(4096, 0), "suspects", _on_branches(4096, 0, write_ios=300)),
        Example(_on_branches(4096, 0), "suspects", _on_branches(4096, 0, without_write_cache=("b",))),
    ),
    "guest-cache": (
        Example(lint_of(_RANDOM_READ, replace(EXT4, in_guest=True)), "notes", lint_of(_RANDOM_READ)),
        Example(
            read_of(_RANDOM_READ, GIB, GIB, replace(EXT4, in_guest=True), p50_ns=18_000.0),
            "notes",
            read_of(_RANDOM_READ, GIB, GIB, replace(EXT4, in_guest=True), p50_ns=95_000.0),
        ),
        Example(
            _read_in_guest(submission_ns=15_000.0),
            "notes",
            _read_in_guest(submission_ns=55_000.0),
        ),
    ),
    "fadvise-prefetch": (
        Example(_read_first(_IN_ORDER, 64 * MIB), "suspects", _read_first(f"{_IN_ORDER} fadvise_hint=0", 64 * MIB)),
        Example(_read_first(_IN_ORDER, 32 * MIB), "suspects", _read_first(_IN_ORDER, 31 * MIB)),
        Example(_waited("", MIB // 8, 48), "suspects", _waited("fadvise_hint=0", MIB // 8, 48)),
        Example(_waited("", 13 * MIB, 48), "suspects", _waited("", 40 * MIB, 48)),
        Example(_waited("", MIB, 128, 1024), "suspects", _waited("", MIB, 16, 1024)),
        Example(_waited("", MIB, 48), "suspects", _waited("rw=randread", MIB, 48)),
    ),
    "block-cache": (
        Example(_cached(_RANDOM_READ, {"hdd": 1, "nvme": 15}), "notes", _cached(_RANDOM_READ, {"hdd": 1, "ssd": 15})),
        Example(_cached(_COMMIT, {"hdd": 1, "nvme": 0}), "notes", _cached(_COMMIT, {"hdd": 1})),
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
    "md-bitmap": (
        Example(
            lint_of("rw=randwrite bs=4k size=1g end_fsync=1", replace(EXT4, md_bitmap=True)),
            "notes",
            lint_of("rw=write bs=1m size=1g end_fsync=1", replace(EXT4, md_bitmap=True)),
        ),
    ),
    "misaligned-sectors": (
        Example(
            lint_of(_WRITE, replace(ZFS, alignment_bytes=512, physical_block_bytes=4096)),
            "notes",
            lint_of(_WRITE, replace(ZFS, alignment_bytes=4096, physical_block_bytes=4096)),
        ),
    ),
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
    "volatile-target": (
        Example(lint_of(_RANDOM_READ, TMPFS), "suspects", lint_of(_RANDOM_READ, EXT4)),
        Example(
            uncounted(_COMMIT, TMPFS, write=direction(MIB, 1.0)),
            "refutes",
            uncounted(_COMMIT, EXT4, write=direction(MIB, 1.0)),
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
        Example(
            write_of("rw=write bs=4k size=1g fdatasync=1", GIB, GIB, GIB, on_zfs(sync="disabled")),
            "refutes",
            write_of("rw=write bs=4k size=1g fdatasync=1", GIB, GIB, GIB, on_zfs(sync="standard")),
        ),
    ),
}
