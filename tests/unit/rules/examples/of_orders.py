"""Examples for rules about what ran before, and about the state of disks and pools."""

from collections.abc import Mapping
from dataclasses import replace

from poolproof.evidence.target_facts import Target
from poolproof.rules.model import Case
from tests.unit.rules.examples.building import BTRFS, ZFS, Example, lint_of, on_zfs, write_of
from tests.unit.rules.making import EXT4, KIB, MIB, jobs

_READ = "rw=read bs=1m size=1g filename=f"
_AGAIN = "rw=randwrite bs=4k filename=f norandommap=1 time_based=1"
_WRITE = "rw=write bs=1m size=1g filename=f"
_DEEP = "rw=write bs=4k size=1g direct=1 ioengine=libaio iodepth=32 filename=f"


def after(options: str, *earlier: str, target: Target | None = EXT4, drops_caches: bool = False) -> Case:
    """Return the case of a job that runs after other jobs in the same text."""
    return replace(lint_of(options, target), earlier=tuple(map(jobs, earlier)), drops_caches=drops_caches)


def _zvol(record_kib: int, parity: int) -> Target:
    return replace(on_zfs(is_zvol=True, raidz_parity=parity), record_bytes=record_kib * KIB, alignment_bytes=4 * KIB)


_SMALL_WRITES = "rw=randwrite bs=4k size=1g end_fsync=1"
_PASSES = "rw=write bs=1m size=256m time_based=1 runtime=60 end_fsync=1"

EXAMPLES: Mapping[str, tuple[Example, ...]] = {
    "compressed-direct-reads": (
        Example(
            after(f"{_READ} direct=1", "rw=write bs=4k size=1g filename=f end_fsync=1", target=BTRFS),
            "suspects",
            after(f"{_READ} direct=1", f"{_WRITE} refill_buffers=1 end_fsync=1", target=BTRFS),
        ),
    ),
    "deduplicated": (
        Example(lint_of(_SMALL_WRITES, on_zfs(dedup="on")), "notes", lint_of(_SMALL_WRITES, on_zfs(dedup="off"))),
        Example(lint_of(f"{_SMALL_WRITES} dedupe_percentage=50", on_zfs(dedup="sha256,verify")), "suspects",
                lint_of("rw=randread bs=4k size=64g", on_zfs(dedup="on"))),
    ),
    "degraded": (
        Example(lint_of(_READ, replace(EXT4, degraded=("md0 is missing a disk",))), "suspects", lint_of(_READ)),
    ),
    "extending-writes": (
        Example(lint_of(f"{_DEEP} fallocate=none"), "notes", lint_of(_DEEP)),
        Example(lint_of(f"{_DEEP} file_append=1"), "notes", lint_of(f"{_DEEP} file_append=1 iodepth=1")),
        Example(lint_of(f"{_DEEP} fallocate=none", None), "notes",
                lint_of(f"{_DEEP} fallocate=none filename=/dev/sdb", None)),
        Example(lint_of(f"{_DEEP} fallocate=none", replace(EXT4, file_system="xfs")), "notes",
                lint_of(f"{_DEEP} fallocate=none", replace(EXT4, file_system="btrfs"))),
        Example(lint_of(f"{_DEEP} fallocate=none", replace(EXT4, file_system="fuse.mergerfs")), "notes",
                lint_of(f"{_DEEP} fallocate=none", replace(EXT4, file_system="nfs4"))),
    ),
    "full-pool": (
        Example(lint_of(_WRITE, on_zfs(capacity_percent=85)), "notes", lint_of(_WRITE, on_zfs(capacity_percent=84))),
        Example(lint_of(_WRITE, on_zfs(fragmentation_percent=50)), "notes",
                lint_of(_READ, on_zfs(fragmentation_percent=50))),
    ),
    "narrow-link": (
        Example(lint_of(_READ, replace(EXT4, narrow_links=("the link of nvme0n1 runs at 8 GT/s x2",))), "notes",
                lint_of(_READ)),
    ),
    "power-saving": (
        Example(lint_of("rw=randread bs=4k direct=1", replace(EXT4, governor="powersave")), "notes",
                lint_of("rw=randread bs=4k direct=1", replace(EXT4, governor="performance"))),
        Example(lint_of("rw=randread bs=4k direct=1", replace(EXT4, governor="schedutil")), "notes",
                lint_of("rw=randread bs=4k direct=1 ioengine=io_uring iodepth=2", replace(EXT4, governor="schedutil"))),
    ),
    "raidz-small-blocks": (
        Example(lint_of("rw=randwrite bs=8k", _zvol(8, 1)), "notes", lint_of("rw=randwrite bs=8k", _zvol(16, 1))),
        Example(lint_of("rw=randwrite bs=16k", _zvol(16, 2)), "notes", lint_of("rw=randread bs=16k", _zvol(16, 2))),
    ),
    "read-after-overwrite": (
        Example(after(_READ, _WRITE, "rw=randwrite bs=4k size=1g filename=f", target=ZFS), "notes",
                after(_READ, "rw=randwrite bs=4k size=1g filename=f", _WRITE, target=ZFS)),
        Example(after(_READ, "rw=randwrite bs=4k size=1g filename=f", target=BTRFS), "notes",
                after(_READ, "rw=randwrite bs=4k size=1g filename=f", target=EXT4)),
    ),
    "read-after-write": (
        Example(after(_READ, _WRITE), "suspects", after(_READ, f"{_WRITE} end_fsync=1")),
        Example(after(f"{_READ} invalidate=0", f"{_WRITE} end_fsync=1"), "suspects",
                after(f"{_READ} invalidate=0", f"{_WRITE} end_fsync=1", drops_caches=True)),
        Example(after(_READ, _WRITE), "suspects", after(f"{_READ} direct=1", _WRITE)),
        Example(after(_READ, _WRITE), "suspects", after(_READ, _WRITE.replace("filename=f", "filename=other"))),
        Example(after(f"{_READ} filename=/dev/zvol/t/v", f"{_WRITE} filename=/dev/zvol/t/v", target=None), "suspects",
                after(f"{_READ} filename=/dev/sdb", f"{_WRITE} filename=/dev/sdb", target=None)),
        Example(after(_READ, _WRITE), "suspects", after(_READ, f"{_WRITE} create_only=1")),
        Example(Case(jobs(_WRITE, f"{_READ} stonewall=1"), target=EXT4), "suspects",
                Case(jobs(f"{_WRITE} direct=1", f"{_READ} stonewall=1"), target=EXT4)),
    ),
    "removed-file": (
        Example(lint_of(f"{_READ} create_on_open=1"), "suspects", lint_of(f"{_WRITE} create_on_open=1")),
        Example(after(_READ, f"{_WRITE} unlink=1 end_fsync=1"), "notes", after(_READ, f"{_WRITE} end_fsync=1")),
    ),
    "rewritten-before-sync": (
        Example(lint_of(_PASSES), "notes", lint_of("rw=write bs=1m size=256m end_fsync=1")),
        Example(lint_of(_PASSES), "notes", lint_of(f"{_PASSES} nrfiles=2")),
        Example(lint_of(_PASSES), "notes", lint_of("rw=write bs=1m size=256m loops=4 end_fsync=1")),
        Example(lint_of("rw=randwrite bs=4k size=256m io_size=2g norandommap=1 end_fsync=1"), "notes",
                lint_of("rw=randwrite bs=4k size=256m io_size=2g end_fsync=1")),
        Example(lint_of("rw=randwrite bs=4k size=256m io_size=2g random_distribution=zipf:1.2 end_fsync=1"), "notes",
                lint_of("rw=randwrite bs=4k size=256m io_size=2g random_distribution=zipf:1.2 fdatasync=1")),
        Example(lint_of("rw=randwrite bs=4k size=256m io_size=512m norandommap=1 end_fsync=1"), "notes",
                lint_of("rw=randwrite bs=4k size=256m io_size=511m norandommap=1 end_fsync=1")),
        Example(write_of("rw=write bs=4k size=8k fsync=4 time_based=1", 4 * MIB, 20 * MIB, 20 * MIB), "suspects",
                write_of("rw=write bs=4k size=1g fsync=4 time_based=1", 4 * MIB, 20 * MIB, 20 * MIB)),
    ),
    "snapshot-volume": (
        Example(lint_of(f"{_READ} direct=1 filename=/dev/sdb",
                        replace(EXT4, cloud_volume="Amazon Elastic Block Store")), "notes",
                after(f"{_READ} direct=1 filename=/dev/sdb", f"{_WRITE} direct=1 filename=/dev/sdb",
                      target=replace(EXT4, cloud_volume="Amazon Elastic Block Store"))),
    ),
    "unwritten-read": (
        Example(after(f"{_READ} direct=1", "rw=randwrite bs=4k size=1g filename=f norandommap=1"), "suspects",
                after(f"{_READ} direct=1", "rw=randwrite bs=4k size=1g filename=f")),
        Example(after(f"{_READ} direct=1 size=100g", f"{_WRITE} size=100g runtime=60"), "suspects",
                after(f"{_READ} direct=1 size=20g", f"{_WRITE} size=20g runtime=60")),
        Example(after(f"{_READ} direct=1", "rw=randwrite bs=4k size=1g filename=f norandommap=1"), "suspects",
                after(f"{_READ} direct=1", _WRITE, "rw=randwrite bs=4k size=1g filename=f norandommap=1")),
        Example(after(f"{_READ} direct=1", f"{_WRITE} create_only=1"), "suspects",
                after(f"{_READ} direct=1", f"{_WRITE} create_only=1 overwrite=1")),
        Example(after(f"{_READ} direct=1", f"{_WRITE} create_only=1"), "suspects",
                after(f"{_READ} direct=1", f"{_READ} create_only=1")),
        Example(after(f"{_READ} direct=1", f"{_WRITE} create_only=1"), "suspects",
                after(f"{_READ} direct=1", f"{_WRITE} create_only=1", _WRITE)),
        # random writes without a map that start over: three passes at 500 MB/s leave out 5%
        Example(after(f"{_READ} direct=1 size=12g", f"{_AGAIN} size=12g runtime=60"), "suspects",
                after(f"{_READ} direct=1 size=9g", f"{_AGAIN} size=9g runtime=60")),
    ),
}  # fmt: skip
