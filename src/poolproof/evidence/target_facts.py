"""The storage below the test files, as the rules see it."""

from dataclasses import dataclass, field

from poolproof.evidence.backing_files import BackingFiles


@dataclass(frozen=True)
class MirrorSide:
    """One side of a ZFS mirror, with the names of its disks.

    `turns`: True if any of the disks is rotational, or None if unknown. evidence.json uses the same name.
    `is_file`: True if the vdev is a file on a file system rather than a block device.
    """

    devices: tuple[str, ...]
    turns: bool | None
    is_file: bool


@dataclass(frozen=True)
class ZfsFacts:
    """Facts from ZFS about the dataset or zvol below the test files. Values that could not be read are None.

    ZFS properties are strings as printed by `zfs get`. `version` is the kernel module's version, e.g. "2.2.4-1".
    `has_log`, `has_cache`: True if any of the pools has a log or cache vdev.
    `objsets`: the datasets' kstat files, as paths relative to /proc/spl/kstat/zfs.
    `l2arc_write_bytes_per_s`, `l2arc_boost_bytes_per_s`: the module parameters l2arc_write_max and l2arc_write_boost.
    `l2arc_shortest_s`: the shortest interval between two feeds of a cache device (l2arc_feed_min_ms, l2arc_feed_secs).
    `log_devices`, `cache_devices`: the names of the leaf devices below log and cache vdevs, if the layout names them.
    `capacity_percent`, `fragmentation_percent`: CAP and FRAG from `zpool list`. With several pools, the highest value.
    `raidz_parity`: the parity level of the raidz data vdevs, or None without raidz.
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
    """The storage below the test files, as reported by the host. Unknown fields are None.

    `volatile`: True if the files are in RAM, for example on tmpfs or zram.
    `compression`: the compression property as set, e.g. "zstd:3" or "lz4", or None if it is not set.
    `record_bytes`: the file system's unit of compression or copy-on-write (recordsize on ZFS, 128 KiB on btrfs).
    `tree_block_bytes`: the size of btrfs's metadata blocks (nodesize).
    `loop_without_direct`: the names of the loop devices below the target that use their backing file's page cache.
    `zfs`: facts about ZFS if it is used at any level below the files, for example below another file system on a zvol.
    `in_guest`: True if the host is a virtual machine. Its hypervisor may have a cache that the counters cannot see.
    `dirty_limit_bytes`: the amount of dirty data above which the kernel makes writers wait.
    `md_bitmap`: True if an md array below the target has an internal write-intent bitmap.
    `has_parity`: True if md, LVM or btrfs stores parity. raid6 over four disks writes as many bytes as a mirror.
    `journals_in_ram`: True if dm-integrity's journal completes writes below the target while they are only in RAM.
    `persistent_memory`: True if the data is on a pmem device, or the file system maps it directly (dax).
    `narrow_links`: a clause for each disk whose PCIe link is narrower or slower than the disk supports.
    `degraded`: a clause for each array or pool with a missing disk.
    `cloud_volume`: the model name of a leaf device that is a cloud provider's network volume.
    `cache_devices`: the names of the fast devices of LVM caches.
    `copy_devices`: the names of those fast devices that store only copies of data.

    The other fields describe the leaf devices:

    `disks`: the number of leaf devices.
    `emulated`: the names of the emulated ones.
    `rotational`: True if all of them are rotational.
    `rotational_devices`: the names of those known to be rotational.
    `zoned`: True if any of them is an SMR disk.
    `discarded`: True if they were trimmed and have not been filled since.
    `ceiling_*`: the maximum rate of all their links and media together, without RAM.
    `write_through`: True if none of them has a volatile write cache. The kernel then sends no flushes.
    `without_write_cache`: the names of those without a volatile write cache.
    `physical_block_bytes`: the sector size of their medium.
    `alignment_bytes`: the smallest write that the layout sends to them (1 << ashift).
    `compressed_below`: the paths of loop devices whose files are on a file system with compression.
    `not_counted`: the names of those whose counters are switched off (queue/iostats is 0).
    `backing`: what stores the files of those that are loop devices.
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
    has_parity: bool | None = None
    mount_options: tuple[str, ...] = ()
    emulated: tuple[str, ...] = ()
    persistent_memory: bool | None = None
    not_counted: tuple[str, ...] = ()
    backing: BackingFiles = field(default_factory=BackingFiles)
    without_write_cache: tuple[str, ...] = ()
    narrow_links: tuple[str, ...] = ()
    cloud_volume: str | None = None
    degraded: tuple[str, ...] = ()
    governor: str | None = None
    cache_devices: tuple[str, ...] = ()
    copy_devices: tuple[str, ...] = ()
    tree_block_bytes: int | None = None
    rotational_devices: tuple[str, ...] = ()
    compressed_below: tuple[str, ...] = ()
    journals_in_ram: bool = False
