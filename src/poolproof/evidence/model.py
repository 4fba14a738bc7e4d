"""The evidence of one trial, as immutable values. Sizes are in bytes, times in seconds, and rates per second."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class LeafUse:
    """The activity of one leaf device in a trial's measurement window. Counts that older runs lack are None.

    `*_ios`: the number of requests at the device. The load may have issued more or fewer I/Os.
    `read_*`, `write_*`: what the device had read and written by the end of the load. `drained_*` also includes what it
    read and wrote during the final flush.
    `below_*`: the activity of the disk that stores a loop file, or None if the device is not a loop device.
    `flush_ios`: the number of flushes, or None if the kernel does not count them (before Linux 5.5, and for
    partitions, md arrays, device mapper and zvols).
    `latency_s`: the mean time of a request at the device, or None without requests.
    `*_merges`: the number of requests that the block layer merged into others before they reached the device.
    `counted`: False if all of the device's counters are still 0, so its I/O is not counted.
    `drain_flush_s`: the time spent on flush requests during the final flush, or None if the kernel does not count them.
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
    drained_read_bytes: int | None = None


@dataclass(frozen=True)
class Expected:
    """The expected write amplification of a layout, given the bytes written to each of its disks. See `Account`."""

    write_factor: float
    commit_factor: float | None = None
    stored_share: float | None = None


@dataclass(frozen=True, slots=True)
class Account:
    """The byte accounting: the bytes moved by the load (`fio_*`), and by the leaf devices in the same window.

    `write_factor`: the expected write amplification, i.e. the bytes written to the disks per byte of data.
    `commit_factor`: the bytes first written to ZFS's intent log per committed byte, or None if as many as for the data.
    `stored_share`: the stored fraction of a filled test file's size, or None if it is unknown or uncompressed.
    `idle_*_per_s`: the disks' rates during the `idle_s` seconds without a load. Other values still include this I/O.
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
        """Raise a ValueError unless `write_factor` is a positive number, because rules divide by it."""
        if not 0 < self.write_factor < math.inf:
            raise ValueError("write_factor must be positive")

    @property
    def read_ratio(self) -> float | None:
        """The bytes that the leaf devices read, divided by the bytes that the load read, or None if it read nothing."""
        return self.leaf_read_bytes / self.fio_read_bytes if self.fio_read_bytes else None

    @property
    def write_ratio(self) -> float | None:
        """The bytes that the disks wrote (flush included) divided by those expected. None if nothing was written."""
        expected = self.fio_write_bytes * self.write_factor
        return self.leaf_drained_write_bytes / expected if expected else None


@dataclass(frozen=True)
class TestFile:
    """The state of a test file before the trial. Values that the host cannot report are None.

    `resident_bytes`: the number of bytes that were still in RAM after the caches had been dropped.
    `unwritten_bytes`: the number of allocated bytes that were never written. They are read as zeros without disk I/O.
    `hole_bytes`: the number of bytes that are not allocated. They, too, are read as zeros without disk I/O.
    `shared_bytes`: the number of bytes stored in the same place as other bytes of the test files (reflinks).
    """

    path: str
    size_bytes: int
    hole_bytes: int | None = None
    unwritten_bytes: int | None = None
    resident_bytes: int | None = None
    shared_bytes: int | None = None


@dataclass(frozen=True)
class DatasetUse:
    """The bytes read from and written to a dataset during the load, even if the ARC served them (nread, nwritten)."""

    name: str
    read_bytes: int
    write_bytes: int


@dataclass(frozen=True)
class VdevUse:
    """A top-level vdev after the trial, as listed by `zpool list -v`.

    `section`: `logs`, `cache`, `special`, `dedup` or `spare`. Empty for data vdevs.
    `allocated_bytes`: the space in use. It includes parity, but counts the copies in a mirror only once.
    """

    pool: str
    name: str
    section: str
    size_bytes: int | None
    allocated_bytes: int | None


@dataclass(frozen=True)
class ZfsUse:
    """The increase of ZFS's counters (/proc/spl/kstat/zfs) during the load, ramp included. Missing counters are None.

    `direct_read_bytes`, `direct_write_bytes`, `arc_read_bytes`: from the pools' iostats (ZFS 2.3 and later).
    `zil_slog_bytes`, `zil_normal_bytes`: zil_itx_metaslab_slog_bytes and zil_itx_metaslab_normal_bytes. `l2_*`: from
    arcstats.
    `data_hits`: the number of data blocks that were in the ARC when they were read (demand_data_hits).
    `data_misses`: the number of data blocks that were not in the ARC when they were read: the sum of demand_data_misses
    and prefetch_data_misses from arcstats, and of direct_read_count from the pools' iostats.
    `vdevs`: the state of the vdevs after the final flush.
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
    """The bytes that passed through one level of the storage stack during the measurement window.

    `layer`: `fio`, a layer's keyword, `dataset`, `device` (a leaf device), or `below` (the disk below a loop file).
    `depth`: the level's depth; the load is 0.
    `write_bytes`: the bytes written by the time the load ended.
    `drained_write_bytes`: the bytes written by the end of the final flush, or None if the level has no counter for it.
    """

    layer: str
    name: str
    depth: int
    read_bytes: int
    write_bytes: int
    drained_write_bytes: int | None = None


@dataclass(frozen=True)
class CpuUse:
    """The fractions of a trial's time that one processor spent in different states, each from 0 to 1.

    `busy`: running programs or the kernel.
    `iowait`: idle while a program was waiting for a disk.
    `steal`: taken away by the hypervisor.
    """

    name: str
    busy: float
    iowait: float
    steal: float


@dataclass(frozen=True)
class HostUse:
    """The host's memory use in bytes (before the load, after it, and after the final flush) and its processors' use.

    `dirty_*`: dirty data, including data that is being written back.
    """

    cached_start_bytes: int
    cached_end_bytes: int
    dirty_start_bytes: int
    dirty_end_bytes: int
    dirty_drained_bytes: int
    cpus: tuple[CpuUse, ...] = ()


@dataclass(frozen=True)
class OtherWork:
    """The activity of other processes on the host while the load ran.

    `seconds`: the length of the observation, from just before the load started until it ended.
    `cpu_s`, `read_bytes`, `write_bytes`: the processor time of these processes, and their I/O on any block device.
    `waiting_s`: the time for which at least one task on the host waited for a processor, or None without PSI.
    `delay_share`: the mean fraction of the time for which the load's threads waited for a processor, or None if
    unknown.
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

    `kind`: `rbps` or `wbps` (bytes per second read or written), or `riops` or `wiops` (read or write requests per
    second).
    """

    device: str
    kind: str
    most: int


@dataclass(frozen=True)
class Throttling:
    """The limits that control groups set on the load, and how they and heat slowed it down.

    `processors`: the number of processors that the load may use, or None if unlimited.
    `cpu_periods`, `cpu_s`: the number of times and seconds that the load was stopped to enforce its processor quota.
    `heat_events`: the number of times that a processor slowed down because of heat.
    """

    devices: tuple[DeviceLimit, ...] = ()
    processors: float | None = None
    cpu_periods: int = 0
    cpu_s: float = 0.0
    heat_events: int = 0


@dataclass(frozen=True)
class Evidence:
    """Everything that was counted during one trial.

    `busy_with`: background work of the layers, such as a resync or scrub.
    `levels`: the bytes at each level of the stack, from the load downwards. Levels of the same depth are side by side.
    `host`: the memory and processor use of the measured host.
    `counters`: the increase of additional counters, keyed by source (see `counter_sources.py`) and then by counter.
    `others`, `throttling`: other processes and control groups on the main host.
    `conditions`: settings and states of the main host after the load (governor, link, temperature, scheduler).
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
