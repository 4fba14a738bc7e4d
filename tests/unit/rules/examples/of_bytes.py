"""Examples for rules about where bytes went: caches, holes, overwrites and compression."""

from collections.abc import Mapping
from dataclasses import replace

from poolproof.evidence import model
from poolproof.evidence.backing_files import BackingFiles
from poolproof.evidence.target_facts import Target
from poolproof.load.fio.job import Job
from poolproof.load.fio.load import load_of
from poolproof.rules.model import Case
from poolproof.rules.quoted import Quoted
from tests.unit.rules.examples.building import (
    BTRFS,
    MERGERFS,
    ZFS,
    ZVOL,
    Example,
    half_stored,
    lint_of,
    loop,
    on_zfs,
    ramped,
    ramped_apart,
    read_of,
    uncounted,
    with_files,
    with_idle,
    with_leaves,
    with_requests,
    write_of,
)
from tests.unit.rules.making import EXT4, GIB, MB, MIB, counted, direction, leaf

_WRITE = "rw=write bs=1m size=4g end_fsync=1"
_COMMIT = "rw=write bs=2300 size=220m fdatasync=1"
_RAMPED = "rw=write bs=1m size=1g end_fsync=1 ramp_time=1 time_based=1 runtime=10"
_RANDOM_READ = "rw=randread bs=4k size=1g direct=1"
_HOLE = model.TestFile("trap", GIB, hole_bytes=0, unwritten_bytes=900 * MIB)
_FILLED = model.TestFile("trap", GIB, hole_bytes=0, unwritten_bytes=0)
_EIGHT_LOOP = "rw=write bs=1m size=64m filename=X end_fsync=1 time_based=1 runtime=2"
_VOLUME_READ = "rw=read bs=1m size=100g numjobs=8 filename=X iodepth=1"


def _buffered(flush_s: float, late: float = 0.0, options: str = "rw=write bs=1m size=1g direct=1") -> Case:
    """Return a write of 1 GiB with a final flush of the disk's buffer.

    `flush_s`: the time that the flush took.
    `late`: the number of bytes that the disk received only then.
    """
    disk = leaf("a", write_bytes=GIB - int(late), drained_write_bytes=GIB, drain_flush_s=flush_s)
    return with_leaves(write_of(options, GIB, GIB - late, GIB), disk)


def _on_device(options: str, dirty_limit_bytes: int | None = None) -> Case:
    """Return a write of 1 GiB to a block device. The disk has received all data when fio ends."""
    target = Target("block device", ram_bytes=8 * GIB, dirty_limit_bytes=dirty_limit_bytes)
    return write_of(f"{options} filename=/dev/sdb", GIB, GIB, GIB, target)


_STORED = Quoted(compressed="line 1: compsize shows that `f` uses 100 MiB of the disk for 4 GiB (2%)")

EXAMPLES: Mapping[str, tuple[Example, ...]] = {
    "write-buffer": (
        Example(_buffered(0.4), "suspects", _buffered(0.02)),
        Example(_buffered(0.4), "suspects", _buffered(0.4, late=GIB / 20)),
        Example(_buffered(0.4), "suspects", _buffered(0.4, options="rw=write bs=1m size=1g direct=1 end_fsync=1")),
    ),
    "amplification": (
        Example(
            write_of(_COMMIT, 10 * MIB, 24 * MIB, 24 * MIB), "notes", write_of(_COMMIT, 10 * MIB, 12 * MIB, 12 * MIB)
        ),
        Example(read_of(_RANDOM_READ, GIB, 1.5 * GIB), "notes", read_of(_RANDOM_READ, GIB, 1.05 * GIB)),
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
        Example(
            replace(lint_of(_WRITE), evidence=model.Evidence(None, busy_with=("a resync of md0 (12.6% done)",))),
            "suspects",
            replace(lint_of(_WRITE), evidence=model.Evidence(None)),
        ),
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
            half_stored(read_of("rw=read bs=1m size=256m", 256 * MIB, 130 * MIB, BTRFS)),
        ),
        Example(
            read_of("rw=read bs=1m size=256m", 256 * MIB, 16 * MIB, BTRFS),
            "refutes",
            half_stored(read_of("rw=read bs=1m size=256m", 256 * MIB, 16 * MIB, BTRFS)),
        ),
        Example(
            half_stored(read_of("rw=randrw bs=4k size=256m", 256 * MIB, 16 * MIB, BTRFS)),
            "refutes",
            half_stored(read_of("rw=randrw bs=4k size=256m refill_buffers=1", 256 * MIB, 16 * MIB, BTRFS)),
        ),
        Example(
            replace(uncounted("rw=read bs=1m size=4g", read=direction(4 * GIB, 9.0, MIB)), quoted=_STORED),
            "suspects",
            replace(uncounted("rw=write bs=1m size=4g", write=direction(4 * GIB, 9.0, MIB)), quoted=_STORED),
        ),
    ),
    "counters-off": (
        Example(
            replace(loop(0), target=replace(EXT4, backing=BackingFiles(not_counted=("vda",)))),
            "leaves-unproven",
            loop(0),
        ),
        Example(
            replace(loop(GIB), target=replace(EXT4, backing=BackingFiles(served_by_program=("loop0",)))),
            "leaves-unproven",
            loop(GIB),
        ),
        Example(lint_of(_RANDOM_READ, replace(EXT4, not_counted=("sda",))), "notes", lint_of(_RANDOM_READ)),
        Example(
            with_leaves(read_of(_RANDOM_READ, GIB, 0), leaf("nvme0n1", counted=False)),
            "leaves-unproven",
            with_leaves(read_of(_RANDOM_READ, GIB, 0), leaf("nvme0n1")),
        ),
    ),
    "missing-proof": (
        Example(
            with_requests(read_of("rw=randread bs=4k size=1g", GIB, GIB), 240_000),
            "leaves-unproven",
            with_requests(read_of("rw=randread bs=4k size=1g", GIB, GIB), 250_000),
        ),
        Example(
            with_requests(read_of("rw=read bs=4k size=1g", GIB, GIB), 4096),
            "leaves-unproven",
            with_requests(read_of("rw=read bs=4k size=1g direct=1", GIB, GIB), 4096, 258_048),
        ),
        Example(
            write_of("rw=randwrite bs=256 size=1g direct=1", GIB, GIB, GIB, bs=256),
            "leaves-unproven",
            write_of("rw=randwrite bs=512 size=1g direct=1", GIB, GIB, GIB, bs=512),
        ),
    ),
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
    "engine-without-data": (
        *(
            Example(
                write_of(f"rw=write bs=4k size=2m ioengine={engine}", 2 * MIB, 0, 284 * 1024, EXT4),
                "refutes",
                write_of("rw=write bs=4k size=2m ioengine=psync", 2 * MIB, 0, 284 * 1024, EXT4),
            )
            for engine in ("filecreate", "filedelete", "dircreate", "ftruncate", "falloc", "null", "cpuio")
        ),
    ),
    "drop-caches-without-sync": (
        Example(
            Case(load_of((Job("a", {"rw": "read", "exec_prerun": "echo 3 | tee drop_caches"}),))),
            "suspects",
            Case(load_of((Job("a", {"rw": "read", "exec_prerun": "sync; echo 3 | tee drop_caches"}),))),
        ),
    ),
    "invalidate-is-not-cold": (
        Example(lint_of("rw=read size=64g", MERGERFS), "suspects", lint_of("rw=read size=64g direct=1", MERGERFS)),
        Example(lint_of("rw=read size=64g invalidate=0"), "suspects", lint_of("rw=read size=64g")),
        Example(
            replace(lint_of("rw=read size=64g", ZFS), drops_each_time=True),
            "suspects",
            replace(lint_of("rw=read size=64g invalidate=0"), drops_each_time=True),
        ),
        Example(
            replace(lint_of("rw=read size=64g", ZFS), drops_each_time=True),
            "suspects",
            replace(lint_of("rw=read size=64g", ZFS), drops_each_time=True, empties_arc_each_time=True),
        ),
        Example(lint_of("rw=read size=64g pre_read=1"), "suspects", lint_of("rw=read size=64g pre_read=1", cold=False)),
    ),
    "loop-cache": (
        Example(
            lint_of(_RANDOM_READ, replace(EXT4, loop_without_direct=("loop0",))), "suspects", lint_of(_RANDOM_READ)
        ),
        Example(loop(0), "refutes", loop(GIB)),
        Example(loop(0), "refutes", replace(loop(0), target=replace(EXT4, backing=BackingFiles(not_counted=("vda",))))),
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
        Example(ramped_apart(32 * MIB, 1000, 2000), "leaves-unproven", ramped_apart(32 * MIB, 2000, 2000)),
        Example(
            write_of(_RAMPED, 169 * MIB, 887 * MIB, 887 * MIB),
            "suspects",
            write_of(_RAMPED, 169 * MIB, 180 * MIB, 180 * MIB),
        ),
        Example(
            write_of(_RAMPED, 169 * MIB, 887 * MIB, 887 * MIB),
            "suspects",
            write_of(f"{_RAMPED} direct=1", 169 * MIB, 887 * MIB, 887 * MIB),
        ),
        Example(
            write_of(_RAMPED, 169 * MIB, 887 * MIB, 887 * MIB),
            "suspects",
            write_of(f"{_RAMPED} fsync=8", 169 * MIB, 887 * MIB, 887 * MIB),
        ),
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
    "reads-without-requests": (
        Example(
            with_requests(read_of(f"{_RANDOM_READ} direct=0 ioengine=mmap", 64 * MIB, 64 * MIB), 94),
            "refutes",
            with_requests(read_of(f"{_RANDOM_READ} direct=0 ioengine=mmap", 64 * MIB, 64 * MIB), 10_000, 5_000),
        ),
        Example(
            with_requests(read_of(f"{_RANDOM_READ} direct=0", 64 * MIB, 64 * MIB), 8_995),
            "suspects",
            with_requests(read_of(f"{_RANDOM_READ} direct=0", 64 * MIB, 64 * MIB), 16_384),
        ),
        # records: as many bytes as fio read, in requests enough for raidz, but few records
        Example(
            with_requests(read_of("rw=randread bs=4k size=1g", 64 * MIB, 800 * MIB, ZFS), 26_000),
            "refutes",
            with_requests(read_of("rw=randread bs=4k size=1g", 64 * MIB, 2048 * MIB, ZFS), 66_000),
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
                write_of("rw=randwrite bs=2300 size=1g end_fsync=1", GIB, GIB, GIB),
                evidence=counted(read=(0, 0.5 * GIB), write=(GIB, GIB, GIB)),
            ),
            "notes",
            replace(
                write_of("rw=randwrite bs=4k size=1g end_fsync=1", GIB, GIB, GIB),
                evidence=counted(read=(0, 0.5 * GIB), write=(GIB, GIB, GIB)),
            ),
        ),
    ),
    "repeated-offsets": (
        Example(
            lint_of("rw=randread bs=4k size=4g invalidate=0"),
            "suspects",
            lint_of("rw=randread bs=4k size=4g invalidate=0 randrepeat=0"),
        ),
        Example(
            lint_of("rw=randread bs=4k size=4g invalidate=0 filename=/dev/zd0", None),
            "suspects",
            lint_of("rw=randread bs=4k size=4g invalidate=0 filename=/dev/sdb", None),
        ),
        Example(
            read_of("rw=randread bs=4k size=4g io_size=256m invalidate=0", 256 * MIB, 38 * 4096),
            "refutes",
            read_of("rw=randread bs=4k size=4g io_size=256m invalidate=0", 256 * MIB, 66113 * 4096),
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
            # Each of the 64 MiB was written 90 times in 2 s, as measured on an emulated hard disk with ext4.
            write_of(f"{_EIGHT_LOOP} numjobs=8", 5.63 * GIB, 300 * MIB, 325 * MIB),
            "refutes",
            write_of(_EIGHT_LOOP, 5.63 * GIB, 300 * MIB, 325 * MIB),
        ),
        Example(
            read_of("rw=read bs=1m size=1g numjobs=4 filename=X", 4295 * MB, 1074 * MB),
            "refutes",
            read_of("rw=read bs=1m size=1g numjobs=4 filename=X", 4295 * MB, 4295 * MB),
        ),
    ),
    "shared-extents": (
        Example(
            with_files(read_of(_RANDOM_READ, GIB, GIB), replace(_FILLED, shared_bytes=1020 * MIB)),
            "suspects",
            with_files(read_of(_RANDOM_READ, GIB, GIB), replace(_FILLED, shared_bytes=MIB)),
        ),
    ),
    "size-below-cache": (
        Example(lint_of("rw=read bs=1m size=1g"), "notes", lint_of("rw=read bs=1m size=16g")),
        Example(
            lint_of("rw=read bs=1m size=1g loops=2"), "suspects", lint_of("rw=read bs=1m size=1g loops=2 direct=1")
        ),
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
        Example(
            uncounted("rw=randwrite size=1g time_based=1 runtime=60 end_fsync=1", write=direction(4 * GIB, 60.0, 4096)),
            "suspects",
            uncounted("rw=randwrite size=1g time_based=1 runtime=60 fsync=1", write=direction(4 * GIB, 60.0, 4096)),
        ),
    ),
    "unwritten-read": (
        Example(
            with_files(
                replace(read_of(_RANDOM_READ, GIB, 0.91 * GIB), target=BTRFS), replace(_FILLED, hole_bytes=128 * MIB)
            ),
            "suspects",
            with_files(replace(read_of(_RANDOM_READ, GIB, 0.91 * GIB), target=BTRFS), replace(_FILLED, hole_bytes=MIB)),
        ),
        # holes of 12.5% are within the tolerance of the bytes
        Example(
            with_files(read_of(_RANDOM_READ, GIB, 0.876 * GIB), replace(_FILLED, hole_bytes=128 * MIB)),
            "suspects",
            with_files(read_of(_RANDOM_READ, GIB, 0.876 * GIB), replace(_FILLED, hole_bytes=MIB)),
        ),
        Example(with_files(lint_of(_RANDOM_READ), _HOLE), "suspects", with_files(lint_of(_RANDOM_READ), _FILLED)),
        Example(
            with_files(read_of(_RANDOM_READ, GIB, 20 * MIB), _HOLE),
            "refutes",
            with_files(read_of("rw=randread bs=4k size=1g", GIB, 20 * MIB), _FILLED),
        ),
        Example(read_of(_RANDOM_READ, GIB, 20 * MIB), "refutes", read_of("rw=randread bs=4k size=1g", GIB, 20 * MIB)),
    ),
    "write-latency": (
        Example(
            write_of("rw=randwrite bs=4k size=1g fdatasync=32", GIB, GIB, GIB),
            "refutes",
            write_of("rw=randwrite bs=4k size=1g direct=1 fdatasync=32", GIB, GIB, GIB),
        ),
        Example(
            write_of("rw=write bs=4k size=1g end_fsync=1", GIB, GIB, GIB),
            "refutes",
            write_of("rw=write bs=4k size=1g sync=dsync", GIB, GIB, GIB),
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
        Example(
            _on_device("rw=randwrite bs=64k size=1g"), "suspects", _on_device("rw=randwrite bs=64k size=1g end_fsync=1")
        ),
        Example(
            _on_device("rw=write bs=1m size=1g loops=2"), "suspects", _on_device("rw=write bs=1m size=1g direct=1")
        ),
        Example(
            _on_device("rw=write bs=1m size=1g"),
            "suspects",
            _on_device("rw=write bs=1m size=1g", dirty_limit_bytes=100 * MIB),
        ),
        Example(
            write_of("rw=write bs=1m size=1g filename=/dev/zvol/p/v", GIB, GIB, GIB, ZVOL),
            "suspects",
            write_of("rw=write bs=1m size=1g filename=/dev/zvol/p/v end_fsync=1", GIB, GIB, GIB, ZVOL),
        ),
    ),
    "zero-buffers": (
        Example(
            lint_of("rw=write bs=1m size=1g zero_buffers=1 end_fsync=1", BTRFS),
            "suspects",
            lint_of("rw=write bs=1m size=1g buffer_pattern=0xdeadbeef end_fsync=1", BTRFS),
        ),
        Example(
            lint_of("rw=read bs=1m size=1g zero_buffers=1 direct=1 filename=/d/f", EXT4),
            "notes",
            lint_of("rw=read bs=1m size=1g zero_buffers=1 direct=1 filename=/dev/sdb", EXT4),
        ),
        Example(
            lint_of("rw=read bs=1m size=1g zero_buffers=1 direct=1 filename=/d/f", BTRFS),
            "suspects",
            lint_of("rw=read bs=1m size=1g zero_buffers=0 direct=1 filename=/d/f", BTRFS),
        ),
        Example(
            write_of("rw=write bs=1m size=256m zero_buffers=1 end_fsync=1", 256 * MIB, 8 * MIB, 8 * MIB, BTRFS),
            "refutes",
            write_of("rw=write bs=1m size=256m zero_buffers=1 end_fsync=1", 256 * MIB, 256 * MIB, 256 * MIB),
        ),
    ),
}
