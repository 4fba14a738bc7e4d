"""The evidence of one trial, as frozen values. Sizes are in bytes, rates are per second, times are in seconds."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class LeafUse:
    """The activity of one leaf device in the window of a trial.

    `*_ios` are requests at the device, not I/Os of the load.

    `write_bytes` and `write_ios` count the writes up to the end of the load. `drained_write_bytes` and
    `drained_write_ios` also count the writes of the final flush. `drained_write_ios` is None in older runs. `below_*`
    are about the disk that stores a loop file, and are None if the device is not a loop device. `flush_ios` is None if
    the kernel does not count the device's flushes: before Linux 5.5, and for partitions. `latency_s` is the mean time
    of a request at the device, or None if there were no requests.

    `*_merges` are the requests that the block layer merged into others before the device got them, and are None in
    older runs. `counted` is False if the device's counters have been 0 since it appeared, because nothing counts its
    I/O. `drain_flush_s` is the time that flush requests took during the final flush, or None if the kernel does not
    count them.
    """

    device: str
    read_bytes: int
    write_bytes: int
    drained_write_bytes: int
    read_ios: int
    write_ios: int
    flush_ios: int | None
    utilisation: float
    latency_s: float | None
    below_device: str | None = None
    below_read_bytes: int | None = None
    below_drained_write_bytes: int | None = None
    drained_write_ios: int | None = None
    read_merges: int | None = None
    write_merges: int | None = None
    counted: bool = True
    drain_flush_s: float | None = None


@dataclass(frozen=True)
class Expected:
    """The bytes that a layout is expected to move on its leaf devices, per byte of the load.

    They depend on where the load wrote. Each field is also a field of `Account`.
    """

    write_factor: float
    commit_factor: float | None = None
    stored_share: float | None = None


@dataclass(frozen=True)
class Account:
    """The byte accounting: the bytes that fio moved, and the bytes that the leaf devices moved in the same window.

    `write_factor` is the expected write amplification: the number of bytes that the layout writes to its disks per byte
    of data. `commit_factor` is the number of bytes written to log vdevs per byte of a committed write, before its
    transaction group is written. None without log vdevs. `stored_share` is the stored size of a test file as a fraction
    of its full size, measured when the file was filled. None if that is unknown or nothing compresses. `idle_*_per_s`
    are the rates of the disks while no load was running, measured over `idle_s` seconds. They are not subtracted from
    the other values.
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
    commit_factor: float | None = None
    stored_share: float | None = None

    def __post_init__(self) -> None:
        """Raise a ValueError if `write_factor` is not a positive number.

        Rules divide by it, so a file with any other value is damaged.
        """
        if not 0 < self.write_factor < math.inf:
            raise ValueError("write_factor must be positive")

    @property
    def read_ratio(self) -> float | None:
        """The bytes that the leaf devices read per byte that fio read, or None if fio read nothing."""
        return self.leaf_read_bytes / self.fio_read_bytes if self.fio_read_bytes else None

    @property
    def write_ratio(self) -> float | None:
        """The bytes that the disks had written after the final flush, per expected byte. None if fio wrote nothing."""
        expected = self.fio_write_bytes * self.write_factor
        return self.leaf_drained_write_bytes / expected if expected else None


@dataclass(frozen=True)
class TestFile:
    """The state of a test file before the trial.

    `resident_bytes` were still in RAM after the caches had been dropped. `unwritten_bytes` are allocated but were never
    written; `hole_bytes` are not allocated. Both are read as zeros without any disk I/O. `shared_bytes` are stored in
    the same place as other bytes of the test files (reflinks). A value is None if the host cannot report it.
    """

    path: str
    size_bytes: int
    hole_bytes: int | None = None
    unwritten_bytes: int | None = None
    resident_bytes: int | None = None
    shared_bytes: int | None = None


@dataclass(frozen=True)
class MirrorSide:
    """One side of a ZFS mirror and the names of the disks that belong to it.

    `turns` (a key of evidence.json): True if one of the disks is rotational, None if unknown. `is_file`: the vdev is a
    file on a file system, not a block device.
    """

    devices: tuple[str, ...]
    turns: bool | None
    is_file: bool


@dataclass(frozen=True)
class ZfsFacts:
    """What ZFS reports about the dataset or zvol below the test files. A value is None if it could not be read.

    Properties are as `zfs get` prints them, and `version` is as the module prints it ("2.2.4-1"). `has_log` and
    `has_cache`: one of the pools has a log or cache vdev. `mirrors`: the mirrors among the data vdevs. `pools`: the
    names of the pools. `objsets`: the kstat files of the datasets, below /proc/spl/kstat/zfs.
    `l2arc_write_bytes_per_s`, `l2arc_boost_bytes_per_s`: the module parameters l2arc_write_max and l2arc_write_boost.
    `l2arc_shortest_s`: the shortest interval between two feeds of a cache device, in seconds: l2arc_feed_min_ms, or
    l2arc_feed_secs if l2arc_feed_again is 0. `log_devices` and `cache_devices`: the names of the
    leaf devices below log and cache vdevs, if the layout names them. `capacity_percent` and `fragmentation_percent`:
    CAP and FRAG of `zpool list`, the highest of all pools. `raidz_parity`: the parity of the raidz data vdevs, None
    without raidz.
    """

    version: str | None = None
    is_zvol: bool = False
    direct: str | None = None
    sync: str | None = None
    logbias: str | None = None
    primarycache: str | None = None
    dedup: str | None = None
    arc_max_bytes: int | None = None
    l2arc_write_bytes_per_s: int | None = None
    l2arc_boost_bytes_per_s: int | None = None
    l2arc_shortest_s: float | None = None
    capacity_percent: int | None = None
    fragmentation_percent: int | None = None
    raidz_parity: int | None = None
    has_log: bool = False
    has_cache: bool = False
    mirrors: tuple[tuple[MirrorSide, ...], ...] = ()
    pools: tuple[str, ...] = ()
    objsets: tuple[str, ...] = ()
    log_devices: tuple[str, ...] = ()
    cache_devices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Target:
    """The storage below the test files, as the host reports it. A field is None if unknown.

    `volatile`: the files are in RAM (tmpfs, ramfs, zram). `compression`: the property as set ("zstd:3", "lz4"), None if
    there is none. `record_bytes`: the unit in which a compressing or copy-on-write file system works (recordsize on
    ZFS, 128 KiB on btrfs). `loop_without_direct`: the names of the loop devices below the target that use the page
    cache of their backing file. `zfs`: facts about ZFS if ZFS is anywhere below the files, for example as a zvol with
    another file system. `kernel`: the kernel version, for example (6, 18).

    About the leaf devices: `rotational`: all of them are rotational. `disks`: how many there are. `ceiling_*`: the
    maximum rate of their links and media together, without RAM. `write_through`: none of them has a volatile write
    cache, so the kernel sends no flushes. `discarded`: they were trimmed and have not been filled since. `zoned`: one
    of them is an SMR disk. `emulated`: the names of those that are emulated disks. `physical_block_bytes`: the sector
    size of the medium. `alignment_bytes`: the smallest write that the layout sends to them (1 << ashift).
    `not_counted`: the names of those whose counters are switched off (queue/iostats is 0). `without_write_cache`: the
    names of those without a volatile write cache.

    `in_guest`: the host is a virtual machine, and its hypervisor may have a cache that the counters cannot see.
    `dirty_limit_bytes`: the amount of dirty data above which the kernel makes writers wait. `md_bitmap`: an md array
    below the target has an internal write-intent bitmap. `persistent_memory`: the data is on a pmem device, or the
    file system maps it (dax). `narrow_links`: a clause for each disk whose PCIe link is narrower or slower than
    the disk allows. `cloud_volume`: the model name of a leaf device that is a network volume of a cloud provider.
    `degraded`: a clause for each array or pool that is missing a disk. `governor`: the frequency governor of the
    processors. `cache_devices`: the names of the fast devices of LVM caches. `tree_block_bytes`: the size of btrfs's
    metadata blocks (nodesize).
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
    emulated: tuple[str, ...] = ()
    persistent_memory: bool | None = None
    not_counted: tuple[str, ...] = ()
    without_write_cache: tuple[str, ...] = ()
    narrow_links: tuple[str, ...] = ()
    cloud_volume: str | None = None
    degraded: tuple[str, ...] = ()
    governor: str | None = None
    cache_devices: tuple[str, ...] = ()
    tree_block_bytes: int | None = None


@dataclass(frozen=True)
class DatasetUse:
    """The bytes read from and written to a dataset while fio ran, counted above the ARC (nread, nwritten)."""

    name: str
    read_bytes: int
    write_bytes: int


@dataclass(frozen=True)
class VdevUse:
    """A top-level vdev after the trial, from `zpool list -v`.

    `section` is empty for data vdevs, otherwise `logs`, `cache`, `special`, `dedup` or `spare`. `allocated_bytes`
    includes parity but counts the copies of a mirror only once.
    """

    pool: str
    name: str
    section: str
    size_bytes: int | None
    allocated_bytes: int | None


@dataclass(frozen=True)
class ZfsUse:
    """How much the ZFS counters (/proc/spl/kstat/zfs) grew while fio ran, including its ramp.

    A value is None if it was not counted.

    `direct_read_bytes`, `direct_write_bytes` and `arc_read_bytes` are from the pools' iostats (ZFS 2.3 and later).
    `zil_slog_bytes` is zil_itx_metaslab_slog_bytes, and `zil_normal_bytes` is zil_itx_metaslab_normal_bytes. `l2_*` are
    from arcstats. `data_misses` is the number of reads of data blocks that were not in the ARC: demand_data_misses and
    prefetch_data_misses of arcstats, and direct_read_count of the pools' iostats. `data_hits` is the number of reads of
    data blocks that were in the ARC (demand_data_hits). `vdevs` is the state of the vdevs after the final flush.
    """

    direct_read_bytes: int | None = None
    arc_read_bytes: int | None = None
    data_hits: int | None = None
    data_misses: int | None = None
    zil_commits: int | None = None
    zil_slog_bytes: int | None = None
    zil_normal_bytes: int | None = None
    l2_read_bytes: int | None = None
    l2_write_bytes: int | None = None
    direct_write_bytes: int | None = None
    datasets: tuple[DatasetUse, ...] = ()
    vdevs: tuple[VdevUse, ...] = ()


@dataclass(frozen=True)
class Level:
    """The bytes that passed through one level of the stack during the window.

    `layer` is `fio`, a layer's word in a campaign (such as `md`), `dataset`, `device` (a leaf device) or `below` (the
    disk that stores a loop file). `depth` is 0 for fio. `write_bytes` counts what had been written when fio ended,
    and `drained_write_bytes` what had been written after the final flush (None if the level was not counted then).
    """

    layer: str
    name: str
    depth: int
    read_bytes: int
    write_bytes: int
    drained_write_bytes: int | None = None


@dataclass(frozen=True)
class CpuUse:
    """How one processor spent the time of a trial, as fractions of 1.

    `busy`: running programs or the kernel. `iowait`: idle while a program waited for a disk. `steal`: taken by the
    hypervisor.
    """

    name: str
    busy: float
    iowait: float
    steal: float


@dataclass(frozen=True)
class HostUse:
    """The host's memory in bytes (before the load, after it, and after the final flush) and the use of its processors.

    `dirty_*` includes data that is being written back.
    """

    cached_start_bytes: int
    cached_end_bytes: int
    dirty_start_bytes: int
    dirty_end_bytes: int
    dirty_drained_bytes: int
    cpus: tuple[CpuUse, ...] = ()


@dataclass(frozen=True)
class OtherWork:
    """What other processes on the host did while the load ran.

    `seconds` is the length of the observation, from just before the load began until it ended. `cpu_s` is the processor
    time of these processes, and `read_bytes` and `write_bytes` are their I/O to any block device. `waiting_s` is how
    long at least one task on the host waited for a processor, or None without pressure information (PSI). `delay_share`
    is about the load's own threads: the average share of their time for which they were ready to run but waited for a
    processor. None if it was not observed.
    """

    seconds: float
    cpu_s: float
    read_bytes: int
    write_bytes: int
    waiting_s: float | None = None
    delay_share: float | None = None


@dataclass(frozen=True)
class DeviceLimit:
    """A limit that a control group sets on a block device of the layout, or on a disk below a loop file.

    `kind` is `rbps` or `wbps` (bytes per second of reads or writes), `riops` or `wiops` (requests per second).
    """

    device: str
    kind: str
    most: int


@dataclass(frozen=True)
class Throttling:
    """The limits of control groups on the load, and their effects.

    `processors` is how many processors the load may use, or None without a limit. `cpu_periods` and `cpu_s` are how
    often, and for how many seconds, the load was stopped in the trial because its processor quota was used up.
    `heat_events` is how often a processor became slower because of heat.
    """

    devices: tuple[DeviceLimit, ...] = ()
    processors: float | None = None
    cpu_periods: int = 0
    cpu_s: float = 0.0
    heat_events: int = 0


@dataclass(frozen=True)
class Evidence:
    """Everything that was counted for one trial.

    `busy_with`: background work of layers (resync, scrub). `zfs`: how much ZFS's counters grew. `levels`: the byte
    accounting by level, from fio down; levels of the same depth are siblings. `host`: memory and processors of the
    measured host. `counters`: how much other counters of the host grew, by the name of the source (see
    `counter_sources.py`) and of the counter. `others`: what other processes did. `throttling`: limits of control
    groups. `conditions`: other settings and states of the host after the load (governor, link, temperature, scheduler),
    as strings. The last three describe the main host.
    """

    account: Account | None
    leaves: tuple[LeafUse, ...] = ()
    files: tuple[TestFile, ...] = ()
    busy_with: tuple[str, ...] = ()
    zfs: ZfsUse | None = None
    levels: tuple[Level, ...] = ()
    host: HostUse | None = None
    counters: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    others: OtherWork | None = None
    throttling: Throttling | None = None
    conditions: Mapping[str, str] = field(default_factory=dict)
