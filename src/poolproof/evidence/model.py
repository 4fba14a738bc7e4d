"""The evidence of one trial, as frozen values. Bytes are bytes, rates are per second, times are seconds."""

from dataclasses import dataclass


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
    """The byte account: F bytes that fio moved, D bytes that the leaf disks moved in the same window.

    `write_factor` is P, the bytes the layout writes to its leaves for each byte of data (mirror of n: n). `idle_*` is
    the rate of the leaves while fio was not running; the leaf figures are as counted, nothing is subtracted.
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
        """RR = D_r / F_r; None when fio read nothing."""
        return self.leaf_read_bytes / self.fio_read_bytes if self.fio_read_bytes else None

    @property
    def write_ratio(self) -> float | None:
        """WR = D_w / (F_w × P) once drained; None when fio wrote nothing."""
        expected = self.fio_write_bytes * self.write_factor
        return self.leaf_drained_write_bytes / expected if expected else None


@dataclass(frozen=True)
class TestFile:
    """One file that the job uses, as it stood before the trial. `resident_bytes`: its pages in RAM after cooling.

    `unwritten_bytes`: allocated but never written; `hole_bytes`: not allocated at all; both read as zeros from no disk.
    None: could not be told here.
    """

    path: str
    size_bytes: int
    hole_bytes: int | None = None
    unwritten_bytes: int | None = None
    resident_bytes: int | None = None


@dataclass(frozen=True)
class MirrorSide:
    """One side of a ZFS mirror: the disks below it, by name; whether one of them turns (None: the host does not say).

    `is_file`: the vdev is a file on a file system, and no block device.
    """

    devices: tuple[str, ...]
    turns: bool | None
    is_file: bool


@dataclass(frozen=True)
class ZfsFacts:
    """What ZFS says of the dataset or zvol under the test files. Properties in `zfs get`'s own words; None: not asked.

    `version` as the module prints it ("2.2.4-1"). `has_log` and `has_cache`: a pool has a log or a cache vdev.
    `mirrors`: those among the data vdevs, side by side.
    `pools` by name. `objsets`: the kstat file of each dataset, below /proc/spl/kstat/zfs.
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
    """What the test files stand on, as the host tells it.

    `volatile`: RAM (tmpfs, ramfs, zram). `compression` is the property as set ("zstd:3", "lz4"), None for none.
    `loop_without_direct` names loop devices under the target that go through the page cache of the file below.
    `record_bytes` is the unit that a compressing or copy-on-write file system works in (ZFS recordsize, 128 KiB btrfs).

    What follows is None where the host was not asked or cannot tell. `zfs`: the ZFS beneath, also under a zvol with
    another file system on it. `kernel`: its version, (6, 18). `rotational`: every leaf turns. `disks`: how many
    leaves. `ceiling_*`: the most that the links and media of all leaves can carry, RAM left out. `write_through`: no
    leaf has a volatile write cache, so that the kernel has no flushes to send. `in_guest`: a virtual machine, whose
    host may cache below the counters. `dirty_limit_bytes`: dirty data above which a writer is made to wait.
    `physical_block_bytes` and `alignment_bytes`: the sector of the medium, and the smallest write that the layout
    sends to it (1 << ashift). `discarded`: the leaves were trimmed and not filled since. `zoned`: a leaf is an SMR
    disk. `md_bitmap`: an md array beneath keeps its own internal write-intent bitmap. `mount_options` as mounted.
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
    """What passed a dataset in the window, by its own counters (nread, nwritten): above the ARC."""

    name: str
    read_bytes: int
    write_bytes: int


@dataclass(frozen=True)
class VdevUse:
    """A top-level vdev after the trial, by `zpool list -v`.

    `section`: empty for data, else `logs`, `cache`, `special`, `dedup` or `spare`. `allocated_bytes` has parity in it,
    and a mirror's copies once.
    """

    pool: str
    name: str
    section: str
    size_bytes: int | None
    allocated_bytes: int | None


@dataclass(frozen=True)
class ZfsUse:
    """What the ZFS counters moved by in the window of a trial: /proc/spl/kstat/zfs. None: not counted here.

    `direct_read_bytes` and `arc_read_bytes` are from the pool's iostats (2.3 and later); `zil_slog_bytes` and
    `zil_normal_bytes` from zil_itx_metaslab_slog_bytes and zil_itx_metaslab_normal_bytes; `l2_read_bytes` and
    `l2_write_bytes` from arcstats. `vdevs`: how full each is once all is drained.
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
    """Bytes that passed one level of the stack in the window.

    `layer`: `fio`, a layer by its word, `dataset`, `device` (a leaf), or `below` (the disk that a loop file lies on).
    `depth` counts from 0, fio. `write_bytes` are those of when fio ended, `drained_write_bytes` those of when all was
    flushed; None where the level is not counted then.
    """

    layer: str
    name: str
    depth: int
    read_bytes: int
    write_bytes: int
    drained_write_bytes: int | None = None


@dataclass(frozen=True)
class CpuUse:
    """How one processor spent the time of a trial, shares of 1: `busy` in programs and the kernel, `iowait` idle while
    something waited for a disk, `steal` taken by the hypervisor.
    """

    name: str
    busy: float
    iowait: float
    steal: float


@dataclass(frozen=True)
class HostUse:
    """The measured host's memory, bytes, and processors: right before fio, right after it, and when all was flushed.

    `dirty` is what waits to be written back and what is being written.
    """

    cached_start_bytes: int
    cached_end_bytes: int
    dirty_start_bytes: int
    dirty_end_bytes: int
    dirty_drained_bytes: int
    cpus: tuple[CpuUse, ...] = ()


@dataclass(frozen=True)
class Evidence:
    """Everything that was counted for one trial. `busy_with`: what layers were doing by themselves (resync, scrub).

    `zfs`: the movement of ZFS's own counters.
    `levels`: the byte account level by level, from fio down; levels of one depth stand side by side. `host`: memory and
    processors of the measured host.
    """

    account: Account | None
    leaves: tuple[LeafUse, ...] = ()
    files: tuple[TestFile, ...] = ()
    busy_with: tuple[str, ...] = ()
    zfs: ZfsUse | None = None
    levels: tuple[Level, ...] = ()
    host: HostUse | None = None
