"""The values that a load generator measured, with units in their names.

A value that the source does not contain is None. Missing values are never guessed or replaced with 0.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

DIRECTIONS = ("read", "write", "trim", "mixed")


@dataclass(frozen=True)
class Latency:
    """A latency distribution in nanoseconds. `percentiles_ns` maps a percentage, such as 99.9, to a latency.

    `bins_ns` is the histogram. It maps the latency of each bin to the number of I/Os in the bin, and is empty if the
    generator reported no histogram. Only distributions with histograms can be merged completely.
    """

    samples: int | None = None
    mean_ns: float | None = None
    percentiles_ns: Mapping[float, float] = field(default_factory=dict)
    bins_ns: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Direction:
    """The I/O of one part or group in one direction. Bandwidth is in bytes per second, IOPS in I/Os per second.

    `slat` is the time to submit an I/O, `clat` is the time from submission to completion, and `lat` is the sum of the
    two. `samples` is the number of rate samples from which the minimum, maximum, mean and standard deviation were
    computed.
    """

    io_bytes: int | None = None
    ios: int | None = None
    runtime_ms: int | None = None
    bandwidth_bytes: float | None = None
    iops: float | None = None
    bandwidth_min_bytes: float | None = None
    bandwidth_max_bytes: float | None = None
    bandwidth_mean_bytes: float | None = None
    bandwidth_stddev_bytes: float | None = None
    iops_mean: float | None = None
    samples: int | None = None
    slat: Latency | None = None
    clat: Latency | None = None
    lat: Latency | None = None


@dataclass(frozen=True)
class PartOutcome:
    """The outcome of one part of a load: a fio job, or a group of its clones.

    `clones` is the number of clones whose values are included. Directions without I/O are None. `mixed` is the total of
    all directions, which some sources contain instead of separate values. `syncs` is the number of fsync and fdatasync
    calls, and `sync` is their latency. `host` is the machine's name in client/server runs.

    Parts with the same `group` ran at the same time, apart from their delays. `delay_ms` is the requested time from the
    start of the group to the start of the part's measurement, or None if unknown. Groups usually ran one after the
    other.

    `options` are the options as the generator printed them. fio omits switches without a value (`time_based`).

    `latency_shares` is the distribution of the completion latencies of all directions. It maps the upper bound of each
    bin, in nanoseconds, to the percentage of I/Os in the bin. It is empty if the source does not contain the
    distribution.
    """

    name: str
    error: int = 0
    clones: int = 1
    options: Mapping[str, str] = field(default_factory=dict)
    read: Direction | None = None
    write: Direction | None = None
    trim: Direction | None = None
    mixed: Direction | None = None
    sync: Latency | None = None
    syncs: int | None = None
    job_runtime_ms: int | None = None
    job_start_ms: int | None = None
    delay_ms: int | None = None
    user_cpu_percent: float | None = None
    system_cpu_percent: float | None = None
    host: str | None = None
    group: int = 0
    latency_shares: Mapping[float, float] = field(default_factory=dict)

    @property
    def directions(self) -> dict[str, Direction]:
        """The directions with I/O, keyed by name."""
        found = {name: getattr(self, name) for name in DIRECTIONS}
        return {name: direction for name, direction in found.items() if direction is not None}

    @property
    def longest_ms(self) -> int:
        """The longest runtime of any direction in ms, or 0 if none is known."""
        return max((direction.runtime_ms or 0 for direction in self.directions.values()), default=0)


def separate(
    read: Direction | None, write: Direction | None, trim: Direction | None, mixed: Direction | None
) -> Direction | None:
    """Return the total of all directions. None if the source also has the separate directions.

    With `unified_rw_reporting=both`, fio prints both the total and the separate directions, and using both would count
    everything twice.
    """
    return mixed if read is write is trim is None else None


@dataclass(frozen=True)
class DiskUtilization:
    """A disk's requests, bytes and utilization as reported by the generator, including start-up and file layout.

    Merges are requests that the kernel merged into another request. `is_component` is True for a disk below a device
    mapper or md device that is itself among the disks.
    """

    name: str
    read_requests: int | None = None
    write_requests: int | None = None
    utilisation_percent: float | None = None
    read_bytes: int | None = None
    write_bytes: int | None = None
    read_merges: int | None = None
    write_merges: int | None = None
    is_component: bool = False


@dataclass(frozen=True)
class Outcome:
    """The outcome of one run of a load generator. `version` is the generator's name and version (`fio-3.33`).

    `timestamp_ms` is the end of the run in milliseconds since 1970. `groups` maps each group's number to the group's
    totals by direction, and is empty if the generator printed no totals. `notes` contains the output lines that are not
    part of the report.
    """

    version: str
    parts: tuple[PartOutcome, ...]
    disks: tuple[DiskUtilization, ...] = ()
    timestamp_ms: int | None = None
    notes: tuple[str, ...] = ()
    groups: Mapping[int, Mapping[str, Direction]] = field(default_factory=dict)


def per_second(amount: int | None, ran_ms: int | None) -> float | None:
    """Return `amount` per second if it took `ran_ms` milliseconds. None if either is unknown or `ran_ms` is 0."""
    return 1000 * amount / ran_ms if amount is not None and ran_ms else None
