"""The evidence of one trial, as frozen values. Bytes are bytes, rates are per second, times are seconds."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class LeafUse:
    """What one leaf device did in the window of a trial. `*_ios` are requests at the device, not I/Os of the load.

    `write_bytes` were completed when the load ended, `drained_write_bytes` when everything it wrote had been flushed.
    `below_*` are the bytes of the disk that holds a loop file, None without one. `latency_s` is the mean time of a
    request at the device, None if there was none.
    """

    device: str
    read_bytes: int
    write_bytes: int
    drained_write_bytes: int
    read_ios: int
    write_ios: int
    flush_ios: int
    utilisation: float
    latency_s: float | None
    below_device: str | None = None
    below_read_bytes: int | None = None
    below_drained_write_bytes: int | None = None


@dataclass(frozen=True)
class Account:
    """The byte account: the bytes that fio moved, and the bytes that the leaf devices moved in the same window.

    `write_factor` is the expected write amplification: the bytes that the layout writes to its leaves for each byte of
    data. `idle_*` are the rates of the leaves while fio was not running. They are not subtracted from the other values.
    """

    fio_read_bytes: int
    fio_write_bytes: int
    leaf_read_bytes: int
    leaf_write_bytes: int
    leaf_drained_write_bytes: int
    write_factor: float
    window_s: float
    drain_s: float
    idle_s: float = 0.0
    idle_read_bytes_per_s: float = 0.0
    idle_write_bytes_per_s: float = 0.0

    @property
    def read_ratio(self) -> float | None:
        """The bytes read by the leaves for each byte that fio read; None if fio read nothing."""
        return self.leaf_read_bytes / self.fio_read_bytes if self.fio_read_bytes else None

    @property
    def write_ratio(self) -> float | None:
        """The drained bytes of the leaves for each byte that they were expected to write; None if fio wrote nothing."""
        expected = self.fio_write_bytes * self.write_factor
        return self.leaf_drained_write_bytes / expected if expected else None


@dataclass(frozen=True)
class TestFile:
    """One test file before the trial. `resident_bytes` are its pages in RAM after the caches were dropped.

    `unwritten_bytes` are allocated but were never written; `hole_bytes` are not allocated. Both read as zeros without
    any disk I/O. None if the host can't report it.
    """

    path: str
    size_bytes: int
    hole_bytes: int | None = None
    unwritten_bytes: int | None = None
    resident_bytes: int | None = None


@dataclass(frozen=True)
class MirrorSide:
    """One side of a ZFS mirror: the names of the disks below it. `turns` is True if one is rotational, None if unknown.

    `is_file` is True if the vdev is a file on a file system, not a block device.
    """

    devices: tuple[str, ...]
    turns: bool | None
    is_file: bool


@dataclass(frozen=True)
class ZfsFacts:
    """What ZFS reports about the dataset or zvol under the test files. Properties are as `zfs get` prints them.

    `version` is as the module prints it ("2.2.4-1"). `has_log` and `has_cache` are True if a pool has a log or a cache
    vdev. `mirrors` are the mirrors among the data vdevs. `pools` are names. `objsets` are the kstat files of the
    datasets, below /proc/spl/kstat/zfs. A property is None if it was not read.
    """

    version: str | None = None
    is_zvol: bool = False
    direct: str | None = None
    sync: str | None = None
    logbias: str | None = None
    primarycache: str | None = None
    dedup: str | None = None
    arc_max_bytes: int | None = None
    has_log: bool = False
    has_cache: bool = False
    mirrors: tuple[tuple[MirrorSide, ...], ...] = ()
    pools: tuple[str, ...] = ()
    objsets: tuple[str, ...] = ()


@dataclass(frozen=True)
class Target:
    """What the test files are stored on, as the host reports it. A field is None if it is not known.

    `volatile`: RAM (tmpfs, ramfs, zram). `compression` is the property as set ("zstd:3", "lz4"), None for none.
    `record_bytes` is the unit that a compressing or copy-on-write file system works in (ZFS recordsize, 128 KiB btrfs).
    `loop_without_direct` names loop devices under the target that go through the page cache of the file below. `zfs` is
    the ZFS below, even if it is under a zvol with another file system on it. `kernel` is its version, (6, 18).

    Of the leaf devices: `rotational` if all are, `disks` is their number, `ceiling_*` the most that their links and
    media can carry together, without RAM. `write_through`: none has a volatile write cache, so the kernel sends no
    flushes. `discarded`: they were trimmed and not filled since. `zoned`: one is an SMR disk. `physical_block_bytes` is
    the sector of the medium, `alignment_bytes` the smallest write that the layout sends to it (1 << ashift).

    `in_guest`: the host is a virtual machine, whose own host may cache below the counters. `dirty_limit_bytes`: the
    kernel makes writers wait above this amount of dirty data. `md_bitmap`: an md array below has an internal
    write-intent bitmap.
    """

    file_system: str
    ram_bytes: int | None = None
    volatile: bool = False
    compression: str | None = None
    record_bytes: int | None = None
    loop_without_direct: tuple[str, ...] = ()
    zfs: ZfsFacts | None = None
    kernel: tuple[int, int] | None = None
    rotational: bool | None = None
    disks: int | None = None
    ceiling_read_bytes_per_s: float | None = None
    ceiling_write_bytes_per_s: float | None = None
    write_through: bool | None = None
    in_guest: bool | None = None
    dirty_limit_bytes: int | None = None
    physical_block_bytes: int | None = None
    alignment_bytes: int | None = None
    discarded: bool | None = None
    zoned: bool | None = None
    md_bitmap: bool | None = None
    mount_options: tuple[str, ...] = ()


@dataclass(frozen=True)
class DatasetUse:
    """The bytes that passed a dataset in the window, by its own counters (nread, nwritten), above the ARC."""

    name: str
    read_bytes: int
    write_bytes: int


@dataclass(frozen=True)
class VdevUse:
    """A top-level vdev after the trial, from `zpool list -v`.

    `section` is empty for data, else `logs`, `cache`, `special`, `dedup` or `spare`. `allocated_bytes` include parity
    and count the copies of a mirror once.
    """

    pool: str
    name: str
    section: str
    size_bytes: int | None
    allocated_bytes: int | None


@dataclass(frozen=True)
class ZfsUse:
    """The difference of the ZFS counters in the window of a trial: /proc/spl/kstat/zfs. None if not counted.

    `direct_read_bytes` and `arc_read_bytes` are from the pool's iostats (2.3 and later); `zil_slog_bytes` and
    `zil_normal_bytes` from zil_itx_metaslab_slog_bytes and zil_itx_metaslab_normal_bytes; `l2_read_bytes` and
    `l2_write_bytes` from arcstats. `vdevs` are as they were after the drain.
    """

    direct_read_bytes: int | None = None
    arc_read_bytes: int | None = None
    zil_commits: int | None = None
    zil_slog_bytes: int | None = None
    zil_normal_bytes: int | None = None
    l2_read_bytes: int | None = None
    l2_write_bytes: int | None = None
    datasets: tuple[DatasetUse, ...] = ()
    vdevs: tuple[VdevUse, ...] = ()


@dataclass(frozen=True)
class Level:
    """The bytes that passed one level of the stack in the window.

    `layer` is `fio`, a layer's word, `dataset`, `device` (a leaf device), or `below` (the disk that holds a loop file).
    `depth` counts from 0, fio. `write_bytes` were written when fio ended, `drained_write_bytes` when everything was
    flushed; the latter is None if the level is not counted then.
    """

    layer: str
    name: str
    depth: int
    read_bytes: int
    write_bytes: int
    drained_write_bytes: int | None = None


@dataclass(frozen=True)
class CpuUse:
    """How one processor spent the time of a trial, as shares of 1.

    `busy`: in programs and the kernel. `iowait`: idle while something waited for a disk. `steal`: taken by the
    hypervisor.
    """

    name: str
    busy: float
    iowait: float
    steal: float


@dataclass(frozen=True)
class HostUse:
    """The host's memory in bytes and its processors: before the load, after it, and after everything was flushed.

    `dirty` includes data that is being written back.
    """

    cached_start_bytes: int
    cached_end_bytes: int
    dirty_start_bytes: int
    dirty_end_bytes: int
    dirty_drained_bytes: int
    cpus: tuple[CpuUse, ...] = ()


@dataclass(frozen=True)
class Evidence:
    """Everything that was counted for one trial. `busy_with` is the background work of layers (resync, scrub).

    `zfs` is the difference of ZFS's own counters. `levels` is the byte account by level, from fio down; levels of the
    same depth are siblings. `host` is the memory and the processors of the measured host. `counters`: by how much the
    counters of each source (`sources.py`) grew, by the names of source and counter.
    """

    account: Account | None
    leaves: tuple[LeafUse, ...] = ()
    files: tuple[TestFile, ...] = ()
    busy_with: tuple[str, ...] = ()
    zfs: ZfsUse | None = None
    levels: tuple[Level, ...] = ()
    host: HostUse | None = None
    counters: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
