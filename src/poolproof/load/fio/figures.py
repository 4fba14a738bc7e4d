"""What fio measured, as frozen values with their units in the names. Every reader in `fio/` produces these.

A figure that the source did not hold is None: never guessed, never 0.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Latency:
    """A latency distribution in nanoseconds. `percentiles_ns` maps a percentage (99.9) to its value.

    `bins_ns` (json+ only) maps a latency to the number of I/Os seen there: the whole histogram, for merging.
    """

    samples: int | None = None
    min_ns: float | None = None
    max_ns: float | None = None
    mean_ns: float | None = None
    stddev_ns: float | None = None
    percentiles_ns: Mapping[float, float] = field(default_factory=dict)
    bins_ns: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Direction:
    """One direction (read, write or trim) of one job or group. Rates in bytes per second and I/Os per second."""

    io_bytes: int | None = None
    ios: int | None = None
    runtime_ms: int | None = None
    bandwidth_bytes: float | None = None
    iops: float | None = None
    short_ios: int | None = None
    bandwidth_min_bytes: float | None = None
    bandwidth_max_bytes: float | None = None
    bandwidth_mean_bytes: float | None = None
    bandwidth_stddev_bytes: float | None = None
    iops_min: float | None = None
    iops_max: float | None = None
    iops_mean: float | None = None
    iops_stddev: float | None = None
    samples: int | None = None
    slat: Latency | None = None
    clat: Latency | None = None
    lat: Latency | None = None


@dataclass(frozen=True)
class JobResult:
    """One job (or one group of clones, under group_reporting) of a fio run.

    `options` are fio's own words as it printed them: the job's over the global ones; fio leaves out switches that were
    given without a value (`time_based`). `jobs` counts the clones that the figures sum (1 without group_reporting).
    A direction in which no I/O was done is None; `mixed` is there instead of the three under unified_rw_reporting, or
    where a fragment does not tell the direction.
    `syncs` counts fsync and fdatasync calls, `sync` is how long they took.
    `depth_levels` maps "1", "2", ">=64" to per cent of I/Os. `host` is the machine, in client/server runs. `group`:
    fio's number of the jobs that it sums together; a job that waits for those before it opens a new one.
    """

    name: str
    error: int = 0
    jobs: int = 1
    options: Mapping[str, str] = field(default_factory=dict)
    read: Direction | None = None
    write: Direction | None = None
    trim: Direction | None = None
    mixed: Direction | None = None
    sync: Latency | None = None
    syncs: int | None = None
    job_runtime_ms: int | None = None
    job_start_ms: int | None = None
    user_cpu_percent: float | None = None
    system_cpu_percent: float | None = None
    depth_levels: Mapping[str, float] = field(default_factory=dict)
    host: str | None = None
    group: int = 0


@dataclass(frozen=True)
class DiskUse:
    """fio's own look at one disk: I/Os, bytes (where fio is new enough) and busy share, ramp and layout included."""

    name: str
    read_ios: int | None = None
    write_ios: int | None = None
    utilisation_percent: float | None = None
    read_bytes: int | None = None
    write_bytes: int | None = None


@dataclass(frozen=True)
class FioResult:
    """One fio run. `timestamp_ms` is the wall clock at its end, as fio printed it.

    `groups`: fio's own sums of each group, by direction, where it printed them (`Run status group`).
    """

    version: str
    jobs: tuple[JobResult, ...]
    disks: tuple[DiskUse, ...] = ()
    timestamp_ms: int | None = None
    notes: tuple[str, ...] = ()
    groups: Mapping[int, Mapping[str, Direction]] = field(default_factory=dict)
