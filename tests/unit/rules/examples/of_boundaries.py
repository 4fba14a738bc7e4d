"""Examples on both sides of boundaries that are set in the source code of fio, OpenZFS and the kernel."""

from collections.abc import Mapping
from dataclasses import replace

from poolproof.evidence.model import CpuUse, Evidence, HostUse
from poolproof.load.outcome import Latency, Outcome, PartOutcome
from poolproof.rules.model import Case
from tests.unit.rules.examples.building import (
    BTRFS,
    MERGERFS,
    ZFS,
    ZVOL,
    Example,
    latency,
    lint_of,
    named,
    on_zfs,
    read_of,
    uncounted,
    with_leaves,
)
from tests.unit.rules.making import EXT4, GIB, KIB, MIB, direction, jobs, leaf, said

_HDD = replace(EXT4, rotational=True, disks=1)
_NFS = replace(EXT4, file_system="nfs4")
_PMEM = replace(EXT4, persistent_memory=True)


def _reads_at(iops: float, options: str) -> Case:
    """Return the case of a hard disk with this number of reads per second."""
    return uncounted(options, _HDD, read=direction(iops * 4 * KIB * 10, 10.0))


def _synced(options: str, release: str, writes: int, syncs: int, p50_ns: float = 800.0, reads: int = 0) -> Case:
    """Return a result from a given release of fio, with these numbers of writes, reads and syncs."""
    part = PartOutcome(
        "job",
        read=direction(reads * 4 * KIB, 10.0) if reads else None,
        write=direction(writes * 4 * KIB, 10.0),
        sync=latency(syncs, p50_ns),
        syncs=syncs,
    )
    return Case(jobs(options), Outcome(f"fio-{release}", (part,)), target=EXT4)


def _flushed(options: str, release: str, flush_ios: int | None) -> Case:
    case = _synced(options, release, 317, 1020, 2_000_000.0, 707)
    return with_leaves(replace(case, target=replace(EXT4, write_through=False)), leaf(flush_ios=flush_ios))


def _lasted(options: str, moved: float, seconds: float) -> Case:
    return uncounted(options, read=direction(moved, seconds, bs=MIB))


def _wrote(options: str) -> Case:
    return uncounted(options, write=direction(64 * MIB, 2.0))


def _busy_processor(busy: float) -> Case:
    host = HostUse(0, 0, 0, 0, 0, (CpuUse("cpu3", busy, 0.0, 0.0),))
    case = uncounted("rw=write bs=1m size=4g end_fsync=1", write=direction(GIB, 10.0))
    part = replace(said(write=direction(GIB, 10.0)).parts[0], user_cpu_percent=5.0, system_cpu_percent=5.0)
    return replace(case, outcome=Outcome("fio-3.33", (part,)), evidence=Evidence(None, host=host))


def _used(options: str, user: float) -> Case:
    part = replace(said(read=direction(GIB, 10.0)).parts[0], user_cpu_percent=user, system_cpu_percent=5.0)
    return Case(jobs(options), Outcome("fio-3.33", (part,)), target=EXT4)


def _submitted(slat_ns: float, clat_ns: float, options: str = "") -> Case:
    """Return the case of direct writes with these mean latencies, whose percentiles begin after the submission."""
    done = replace(
        direction(GIB, 10.0, clat=Latency(mean_ns=clat_ns, percentiles_ns={50.0: clat_ns})),
        slat=Latency(mean_ns=slat_ns),
        lat=Latency(mean_ns=slat_ns + clat_ns),
    )
    return uncounted(f"rw=randwrite bs=4k size=1g direct=1 ioengine=libaio {options}", BTRFS, write=done)


def _waited(options: str, switches: int, ios: int = 60_000) -> Case:
    read = replace(direction(4096 * ios, 10.0), ios=ios)
    part = replace(said(read=read).parts[0], context_switches=switches)
    return Case(jobs(options), Outcome("fio-3.33", (part,)), target=EXT4)


def _after(options: str, *earlier: str) -> Case:
    """Return the case of a job that runs after other jobs in the same text."""
    return replace(lint_of(options), earlier=tuple(map(jobs, earlier)))


_DEEP = "rw=randread bs=4k size=32g ioengine=libaio iodepth=32"
_MIXED = "rw=randrw rwmixread=70 bs=4k size=1g fdatasync=1"
_COMMIT = "rw=write bs=4k size=1g fdatasync=1"
_RANDOM = "rw=randwrite bs=4k size=1g norandommap=1 end_fsync=1 filename=f"
_UNSYNCED = "rw=write size=1g end_fsync=1"
_BIG = "rw=randread bs=4k size=64g"

EXAMPLES: Mapping[str, tuple[Example, ...]] = {
    "async-engine-blocks": (
        Example(lint_of(f"{_DEEP} direct=1", ZFS), "suspects", lint_of(f"{_DEEP} direct=1 ioengine=io_uring", ZFS)),
        Example(lint_of(f"{_DEEP} direct=1", ZFS), "suspects", lint_of(f"{_DEEP} direct=1", ZVOL)),
        Example(lint_of(_DEEP, ZVOL), "suspects", lint_of(f"{_DEEP} direct=1", ZVOL)),
        Example(_submitted(5_960_000, 4_000), "suspects", _submitted(18_000, 238_000)),
        Example(
            _submitted(21_000, 20_000), "suspects", _submitted(21_000, 20_000, "clat_percentiles=0 lat_percentiles=1")
        ),
        Example(_submitted(51_000, 49_000), "suspects", _submitted(49_000, 51_000)),
    ),
    "btrfs-direct-writes": (
        Example(
            lint_of("rw=randwrite bs=4k size=1g direct=1", replace(BTRFS, kernel=(6, 15))),
            "notes",
            lint_of("rw=randwrite bs=4k size=1g direct=1", replace(BTRFS, kernel=(6, 14))),
        ),
        Example(
            lint_of("rw=randwrite bs=4k size=1g direct=1", replace(BTRFS, kernel=(6, 12))),  # 6.12.77 has the change
            "notes",
            lint_of("rw=randwrite bs=4k size=1g direct=1", replace(BTRFS, kernel=(6, 11))),
        ),
    ),
    "btrfs-nodatacow": (
        Example(
            lint_of("rw=randwrite bs=4k size=1g direct=1", replace(BTRFS, mount_options=("rw", "nodatacow"))),
            "notes",
            lint_of("rw=randwrite bs=4k size=1g direct=1", replace(BTRFS, mount_options=("rw", "datacow"))),
        ),
        Example(
            lint_of("rw=randread bs=4k size=1g direct=1", replace(BTRFS, mount_options=("rw", "nodatasum"))),
            "notes",
            lint_of("rw=randread bs=4k size=1g direct=1", replace(EXT4, mount_options=("rw", "nodatasum"))),
        ),
    ),
    "cpu-bound-fio": (
        Example(_used("rw=randread bs=4k direct=1 ioengine=io_uring", 90), "notes",
                _used("rw=randread bs=4k direct=1 ioengine=io_uring hipri=1", 90)),
        Example(_busy_processor(0.97), "notes", _busy_processor(0.9)),
    ),
    "default-buffer-compressible": (
        *(
            Example(
                lint_of(f"{_UNSYNCED} bs={found}", replace(ZFS, compression=compression)),
                "suspects",
                lint_of(f"{_UNSYNCED} bs={missed}", replace(ZFS, compression=compression)),
            )
            for compression, found, missed in (
                ("lz4", "32k", "64k"), ("on", "32k", "64k"), ("zstd-3", "64k", "128k"), ("gzip-6", "16k", "32k"),
            )
        ),
        Example(
            lint_of(f"{_UNSYNCED} bs=4k", replace(BTRFS, compression="zlib:3")),
            "suspects",
            lint_of(f"{_UNSYNCED} bs=4k", replace(BTRFS, compression="lzo")),
        ),
        Example(
            lint_of(f"{_UNSYNCED} bs=4k buffer_pattern=0xabcd", replace(ZFS, compression="lzjb")),
            "suspects",
            lint_of(f"{_UNSYNCED} bs=4k buffer_pattern=0xabcd", replace(ZFS, compression="zle")),
        ),
        Example(lint_of(f"{_UNSYNCED} bs=4k", BTRFS), "suspects", lint_of(f"{_UNSYNCED} bs=4k direct=1", BTRFS)),
        Example(lint_of(f"{_UNSYNCED} bs=4k", BTRFS), "suspects", lint_of(f"{_UNSYNCED} bs=4k fsync=1", BTRFS)),
        Example(
            lint_of(f"{_UNSYNCED} bs=64k direct=1 buffer_pattern=0xabcd", replace(BTRFS, kernel=(6, 15))),
            "suspects",
            lint_of(f"{_UNSYNCED} bs=64k direct=1 buffer_pattern=0xabcd", replace(BTRFS, kernel=(6, 14))),
        ),
        Example(
            lint_of("rw=write bs=1m size=1g end_fsync=1 verify=crc32c verify_pattern=0xdeadbeef", BTRFS),
            "suspects",
            lint_of("rw=write bs=1m size=1g end_fsync=1 verify=crc32c", BTRFS),
        ),
        Example(
            lint_of("rw=write bs=1m size=1g end_fsync=1 buffer_pattern=0xabcd refill_buffers=1", BTRFS),
            "suspects",
            lint_of("rw=write bs=1m size=1g end_fsync=1 buffer_pattern=0xabcd buffer_compress_percentage=50", BTRFS),
        ),
    ),
    "device-in-name": (
        Example(named("/dev/typo", "rw=read bs=1m"), "notes", named("dev", "rw=read bs=1m")),
        Example(named("/srv/f", "rw=read filename=f"), "notes", named("/srv/f", "rw=read filename=f directory=/srv")),
        Example(named("/srv/f", "rw=read filename=d/f"), "notes", named("/srv/f", "rw=read filename=/srv/d/f")),
    ),
    "few-samples": (
        Example(_synced(_COMMIT, "3.33", 317, 317), "notes", _synced(_MIXED, "3.33", 317, 900, reads=707)),
        Example(_synced(_MIXED, "3.38", 317, 317, reads=707), "notes",
                _synced(f"{_COMMIT} sync=1", "3.38", 317, 317)),
    ),
    "flushes-missing": (
        Example(_flushed(_COMMIT, "3.33", 100), "refutes", _flushed(_MIXED, "3.33", 317)),
        Example(_flushed(_MIXED, "3.38", 317), "suspects", _flushed(_MIXED, "3.38", None)),
        Example(_flushed(f"{_COMMIT} nrfiles=4", "3.33", 0), "refutes",
                _flushed(f"{_COMMIT} nrfiles=4", "3.33", 20)),
        Example(_flushed(_MIXED, "3.33", 100), "suspects", _flushed(_MIXED.replace("fdatasync", "sync"), "3.33", 0)),
    ),
    "gtod-reduce": (
        Example(lint_of(f"{_BIG} direct=1 disable_clat=1"), "notes",
                lint_of(f"{_BIG} direct=1 disable_clat=1 lat_percentiles=1")),
        Example(lint_of(f"{_BIG} direct=1 clat_percentiles=0"), "notes",
                lint_of(f"{_BIG} direct=1 clat_percentiles=0 lat_percentiles=1")),
    ),
    "invalidate-is-not-cold": (
        Example(lint_of(_BIG, on_zfs(version="2.4.2")), "suspects", lint_of(_BIG, BTRFS)),
        Example(lint_of("rw=read size=64g invalidate=0 filename=/dev/zvol/t/v", None), "suspects",
                lint_of("rw=read size=64g invalidate=0 filename=/dev/sdb", None)),
    ),
    "iodepth-with-sync-engine": (
        Example(lint_of("rw=write size=1g iodepth=8 ioengine=pvsync end_fsync=1"), "suspects",
                lint_of("rw=write size=1g iodepth=8 ioengine=vsync end_fsync=1")),
    ),
    "l2arc-cold": (
        Example(
            lint_of("rw=randread bs=16k size=8g runtime=300 time_based=1", on_zfs(version="2.2.6", has_cache=True)),
            "notes",
            lint_of("rw=randread bs=16k size=8g runtime=300 time_based=1", on_zfs(version="2.2.7", has_cache=True)),
        ),
        Example(
            lint_of("rw=randread bs=16k size=8g runtime=60 time_based=1", on_zfs(has_cache=True)),
            "notes",
            lint_of("rw=randread bs=16k size=8g runtime=60 time_based=1",
                    on_zfs(has_cache=True, l2arc_write_bytes_per_s=GIB)),
        ),
    ),
    "latency-floor": (
        Example(
            uncounted(f"{_BIG} rw=randread:1", read=direction(GIB, 10.0, p50_ns=900.0)),
            "refutes",
            uncounted("rw=randread:8 bs=4k size=64g", _PMEM, read=direction(GIB, 10.0, p50_ns=900.0)),
        ),
        Example(
            uncounted("rw=randread:8 bs=4k size=64g", read=direction(GIB, 10.0, p50_ns=900.0)),
            "notes",
            uncounted("rw=randread:8 bs=4k size=64g", read=direction(GIB, 10.0, p50_ns=90_000.0)),
        ),
        Example(
            uncounted(f"{_BIG} direct=1", read=direction(GIB, 10.0, p50_ns=4000.0)),
            "suspects",
            uncounted(f"{_BIG} direct=1", read=direction(GIB, 10.0, p50_ns=5000.0)),
        ),
        Example(
            uncounted(f"{_BIG} direct=1", read=direction(GIB, 10.0, p50_ns=2000.0)),
            "refutes",
            uncounted(f"{_BIG} direct=1 filename=/dev/pmem0", None, read=direction(GIB, 10.0, p50_ns=800.0)),
        ),
        Example(_synced(_COMMIT, "3.33", 4000, 4000), "refutes", _synced(_MIXED, "3.37", 317, 1020, reads=707)),
        Example(_synced(_MIXED, "3.38", 1000, 1000, reads=707), "refutes",
                _synced(f"{_COMMIT} sync=1", "3.38", 4000, 4000, 6000.0)),
        Example(_synced(_COMMIT, "3.33", 4000, 4000), "refutes",
                _synced(f"{_COMMIT} ioengine=io_uring iodepth=32", "3.33", 128, 1254)),
    ),
    "log-device-idle": (
        Example(
            lint_of("rw=write bs=128k size=1g sync=1 direct=1", on_zfs(has_log=True)),
            "notes",
            lint_of("rw=write bs=128k size=1g sync=1 direct=1", on_zfs(has_log=True, version="2.2.4")),
        ),
    ),
    "network-target": (
        Example(lint_of("rw=write bs=1m size=1g direct=1", replace(EXT4, file_system="nfs4")), "notes",
                lint_of("rw=write bs=1m size=1g direct=1")),
        Example(lint_of("rw=read bs=1m size=7g direct=1", _NFS), "suspects", lint_of("rw=read bs=1m size=7g direct=1")),
        Example(lint_of("rw=read bs=1m size=2g numjobs=4 direct=1", _NFS), "notes",
                lint_of("rw=read bs=1m size=2g numjobs=4 direct=1")),
        Example(lint_of("rw=read bs=1m size=16g", _NFS), "suspects", lint_of("rw=read bs=1m size=16g")),
    ),
    "physical-ceiling": (
        Example(_reads_at(1900, "rw=randread bs=4k"), "refutes", _reads_at(1900, "rw=randread:16 bs=4k")),
        Example(_reads_at(1900, "rw=randread bs=4k percentage_random=90"), "refutes",
                _reads_at(1900, "rw=randread bs=4k percentage_random=10")),
    ),
    "random-coverage": (
        Example(lint_of(_RANDOM), "notes", lint_of(f"{_RANDOM} random_generator=lfsr")),
        Example(lint_of(_RANDOM), "notes", _after(_RANDOM, "rw=write bs=1m size=1g filename=f end_fsync=1")),
        Example(_after(_RANDOM, "rw=write bs=1m size=512m filename=f"), "notes",
                lint_of(_RANDOM.replace("randwrite", "randrw"))),
        Example(lint_of(f"{_RANDOM} random_distribution=zipf:1.2"), "notes",
                lint_of(_RANDOM.replace("filename=f", "filename=/dev/nvme0n1"))),
    ),
    "recordsize-mismatch": (
        Example(
            lint_of("rw=randread bs=64k size=64g", replace(ZFS, record_bytes=None)),
            "notes",
            lint_of("rw=randread bs=128k size=64g", replace(ZFS, record_bytes=None)),
        ),
        Example(lint_of("rw=randread bs=8k size=64g", ZVOL), "notes", lint_of("rw=randread bs=16k size=64g", ZVOL)),
        Example(lint_of("rw=randread bs=512 size=64g"), "notes", lint_of("rw=randread bs=512 size=64g direct=1")),
        Example(lint_of("rw=randrw bs=2300 size=64g fsync=1"), "notes",
                lint_of("rw=randwrite bs=2300 size=64g fsync=1")),
        Example(lint_of("rw=randwrite bs=2300 size=64g end_fsync=1", MERGERFS), "notes",
                lint_of("rw=write bs=2300 size=64g end_fsync=1", MERGERFS)),
        Example(read_of("rw=randread bs=512 size=64g", 64 * MIB, 512 * MIB), "notes",
                read_of("rw=randread bs=4k size=64g", 64 * MIB, 512 * MIB)),
    ),
    "runtime-without-time-based": (
        Example(lint_of("rw=read bs=1m size=1g runtime=60"), "suspects",
                lint_of("rw=read bs=1m size=1g runtime=60 loops=200")),
        Example(lint_of("rw=read bs=1m size=1g runtime=60"), "suspects",
                lint_of("rw=read bs=1m size=1g runtime=60 rate=10m")),
        Example(lint_of("rw=write bs=4k size=1g runtime=60"), "suspects",
                lint_of("rw=write bs=4k size=5g runtime=60 fsync=1")),
        Example(lint_of("rw=read bs=1m size=40g runtime=60"), "notes",
                lint_of("rw=read bs=1m size=1g runtime=60 thinktime=100000")),
        # direct=1: less than 10 s on a slow disk too, at 100 MB/s and at 1,000 random IOPS
        Example(lint_of("rw=write bs=1m size=950m runtime=60 direct=1"), "suspects",
                lint_of("rw=write bs=1m size=128g runtime=60 direct=1")),
        Example(lint_of("rw=write bs=1m size=1g runtime=60 direct=1 iodepth=64 ioengine=libaio"), "notes",
                lint_of("rw=write bs=1m size=128g runtime=60 direct=1 iodepth=64 ioengine=libaio")),
        Example(lint_of("rw=randread bs=4k size=38m runtime=60 direct=1"), "suspects",
                lint_of("rw=randread bs=4k size=8g runtime=60 direct=1")),
        Example(lint_of("rw=randread bs=4k size=1g runtime=60 direct=1 iodepth=128 ioengine=libaio"), "notes",
                lint_of("rw=randread bs=4k size=128g runtime=60 direct=1 iodepth=128 ioengine=libaio")),
        Example(_lasted("rw=read bs=1m size=1g runtime=60", GIB, 5.0), "fails",
                _lasted("rw=read bs=1m size=1g runtime=60", 300 * MIB, 5.0)),
    ),
    "sequential-iops": (
        Example(lint_of("rw=write bs=4k size=8k"), "notes", lint_of("rw=write bs=4k size=4k")),
        Example(lint_of("rw=read bs=4k size=4g direct=1 ioengine=libaio iodepth=8"), "notes",
                lint_of("rw=read bs=4k size=4g direct=1 ioengine=libaio")),
    ),
    "shared-file-numjobs": (
        Example(
            lint_of("rw=read bs=1m size=64g numjobs=4 filename=X"),
            "suspects",
            lint_of("rw=randread bs=1m size=64g numjobs=4 filename=/dev/nvme0n1 direct=1", None),
        ),
        Example(
            lint_of("rw=read bs=1m size=64g numjobs=4 offset_increment=16g filename=X"),
            "notes",
            lint_of("rw=read bs=1m size=16g numjobs=4 offset_increment=16g filename=X"),
        ),
        Example(
            lint_of("rw=read bs=1m size=500g numjobs=16 filename=/dev/sdb direct=1", None),
            "notes",
            lint_of("rw=read bs=1m size=500g numjobs=16 filename=/dev/sdb direct=1 offset_increment=100g", None),
        ),
        Example(
            lint_of("rw=read bs=1m size=64g numjobs=16 filename=/mnt/a/f direct=1", None),
            "suspects",
            lint_of("rw=randread bs=1m size=64g numjobs=16 filename=/dev/mmcblk1p2 direct=1", None),
        ),
        Example(
            lint_of("rw=randwrite bs=4k size=2g numjobs=16 filename=X end_fsync=1"),
            "notes",
            lint_of("rw=randwrite bs=4k size=2g numjobs=16 filename=X fdatasync=1"),
        ),
    ),
    "short-run-burst": (
        Example(
            lint_of("rw=write bs=1m size=99g time_based=1 runtime=10 direct=1"),
            "notes",
            lint_of("rw=write bs=1m size=99g time_based=1 direct=1"),
        ),
        Example(
            lint_of("rw=write bs=1m size=99g time_based=1 runtime=29 direct=1"),
            "notes",
            lint_of("rw=write bs=1m size=99g time_based=1 runtime=30 direct=1"),
        ),
        Example(
            lint_of("rw=write bs=1m size=99g time_based=1 runtime=59 end_fsync=1"),
            "notes",
            lint_of("rw=write bs=1m size=99g time_based=1 runtime=60 end_fsync=1"),
        ),
        Example(
            lint_of("rw=write bs=1m size=1g end_fsync=1", replace(EXT4, dirty_limit_bytes=4 * GIB)),
            "notes",
            lint_of("rw=write bs=1m size=1g direct=1", replace(EXT4, dirty_limit_bytes=4 * GIB)),
        ),
    ),
    "size-below-cache": (
        Example(
            lint_of("rw=randread bs=4k size=4g", replace(EXT4, file_system="nfs4")),
            "suspects",
            lint_of("rw=randread bs=4k size=4g direct=1", replace(EXT4, file_system="nfs4")),
        ),
        Example(
            lint_of("rw=randread bs=4k size=4g direct=1", replace(EXT4, file_system="fuse.s3fs")),
            "suspects",
            lint_of("rw=randread bs=4k size=4g direct=1", MERGERFS),
        ),
    ),
    "sync-after-reads": (
        Example(_synced(_MIXED, "3.33", 317, 1020, reads=707), "suspects",
                _synced(_MIXED, "3.38", 317, 317, reads=707)),
        Example(_synced(f"{_COMMIT} sync=1", "3.38", 400, 400), "notes", _synced(_COMMIT, "3.38", 400, 400)),
        Example(_synced(_MIXED, "3.33", 9, 1020, reads=1011), "refutes", _synced(_MIXED, "3.33", 930, 1020, reads=90)),
        Example(_synced(f"{_COMMIT} ioengine=libaio iodepth=32", "3.33", 128, 254), "suspects",
                _synced(f"{_COMMIT} ioengine=libaio iodepth=32", "3.33", 128, 128)),
    ),
    "never-waited": (
        Example(
            _waited("rw=randread size=1g direct=1 ioengine=psync", 1300),
            "suspects",
            _waited("rw=randread size=1g direct=1 ioengine=psync", 60_100),
        ),
        Example(
            _waited("rw=read size=1g direct=1 ioengine=psync", 1300),
            "suspects",
            _waited("rw=read size=1g direct=0 ioengine=psync", 1300),  # readahead
        ),
        Example(
            _waited("rw=randread size=1g direct=1 ioengine=pvsync2", 1300),
            "suspects",
            _waited("rw=randread size=1g direct=1 ioengine=pvsync2 hipri=1", 1300),
        ),
        Example(
            _waited("rw=randread size=1g direct=1 ioengine=psync", 1),
            "suspects",
            _waited("rw=randread size=1g direct=1 ioengine=psync", 0),  # Windows
        ),
        Example(
            _waited("rw=randread size=1g direct=1 ioengine=psync", 20, 1000),
            "suspects",
            _waited("rw=randread size=1g direct=1 ioengine=psync", 20, 900),
        ),
    ),
    "sync-at-depth": (
        Example(
            lint_of("rw=randwrite bs=4k size=1g direct=1 ioengine=io_uring iodepth=8 fsync=32"),
            "notes",
            lint_of("rw=randwrite bs=4k size=1g direct=1 ioengine=psync iodepth=8 fsync=32"),
        ),
        Example(_synced(f"{_COMMIT} ioengine=libaio iodepth=32", "3.38", 400, 400), "suspects",
                _synced(f"{_COMMIT} ioengine=libaio iodepth=1", "3.38", 400, 400)),
    ),
    "unique-extents": (
        Example(
            uncounted("rw=randwrite size=1g time_based=1 fsync=100000", write=direction(4 * GIB, 60.0, 4096)),
            "suspects",
            uncounted("rw=randwrite size=1g time_based=1 fsync=16", write=direction(4 * GIB, 60.0, 4096)),
        ),
        Example(
            uncounted("rw=randwrite bs=16k size=128m time_based=1 fsync=1000", write=direction(GIB, 60.0, 16384)),
            "suspects",
            uncounted("rw=randwrite bs=16k size=128m time_based=1 fsync=100", write=direction(GIB, 60.0, 16384)),
        ),
        Example(
            uncounted(
                "rw=randwrite bs=16k size=128m time_based=1 fsync=100 random_distribution=zipf:1.2",
                write=direction(GIB, 60.0, 16384),
            ),
            "suspects",
            uncounted(
                "rw=randwrite bs=16k size=128m time_based=1 fsync=10 random_distribution=zipf:1.2",
                write=direction(GIB, 60.0, 16384),
            ),
        ),
        Example(
            uncounted("rw=write size=1g numjobs=4 filename=X fsync=16", write=direction(4 * GIB, 60.0, 4096)),
            "suspects",
            uncounted("rw=randwrite size=1g numjobs=4 filename=X fsync=16", write=direction(4 * GIB, 60.0, 4096)),
        ),
    ),
    "verify-cost": (
        Example(lint_of("rw=write bs=1m size=4g end_fsync=1 verify=crc32c do_verify=0"), "notes",
                lint_of("rw=read bs=1m size=4g verify=crc32c")),
        Example(_wrote("rw=randrw bs=4k size=64m verify=md5"), "suspects", _wrote("rw=randrw bs=4k size=64m")),
        Example(
            uncounted("rw=write bs=4k size=64m", read=direction(64 * MIB, 2.0), write=direction(64 * MIB, 2.0)),
            "suspects",
            uncounted("rw=rw bs=4k size=64m", read=direction(64 * MIB, 2.0), write=direction(64 * MIB, 2.0)),
        ),
        Example(_wrote("rw=write bs=4k size=64m verify=md5 verify_backlog=64"), "suspects",
                _wrote("rw=write bs=4k size=64m verify=none verify_backlog=64")),
    ),
    "write-without-sync": (
        Example(lint_of("rw=write bs=1m size=4g sync_file_range=write:8"), "suspects",
                lint_of("rw=write bs=1m size=4g fsync=8")),
        Example(
            lint_of("rw=write bs=1m size=4g", replace(EXT4, file_system="ceph")),
            "suspects",
            lint_of("rw=write bs=1m size=4g direct=1", replace(EXT4, file_system="ceph")),
        ),
    ),
    "zfs-direct-ignored": (
        Example(lint_of("rw=randread bs=512 size=4g direct=1", on_zfs(version="2.3.1")), "suspects",
                lint_of("rw=randread bs=4k size=4g direct=1", on_zfs(version="2.3.1"))),
        Example(lint_of("rw=randwrite bs=4k size=4g direct=1", on_zfs(version="2.4.0")), "notes",
                lint_of("rw=randwrite bs=128k size=4g direct=1", on_zfs(version="2.4.0"))),
    ),
}  # fmt: skip
