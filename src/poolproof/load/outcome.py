"""The values measured by a load generator, with units in their names.

A value that the source does not contain is None. It is never guessed or replaced with 0.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

DIRECTIONS = ("read", "write", "trim", "mixed")


@dataclass(frozen=True)
class Latency:
    """A latency distribution in nanoseconds.

    `percentiles_ns`: the latencies, keyed by percentage, such as 99.9.
    `bins_ns`: the histogram: the number of I/Os in each bin, keyed by the bin's latency. Empty if the generator
    reported none. Only distributions with histograms can be merged completely.
    """

    samples: int | None = None
    mean_ns: float | None = None
    percentiles_ns: Mapping[float, float] = field(default_factory=dict)
    bins_ns: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Direction:
    """The reads, writes or trims of one part or group. Bandwidth is in bytes per second, IOPS in I/Os per second.

    `slat`: the time taken to submit an I/O.
    `clat`: the time from submission to completion.
    `lat`: the sum of `slat` and `clat`.
    `samples`: the number of rate samples from which the minimum, maximum, mean and standard deviation were computed.
    `ramp_ios`: the number of I/Os, included in `ios`, that began during the ramp and ended after it.
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
    ramp_ios: int = 0


@dataclass(frozen=True)
class PartOutcome:
    """The result of one part of a load: a fio job, or a group of its clones.

    `clones`: the number of clones whose values are included.
    `read`, `write`, `trim`: the I/O in each direction, or None if there was none.
    `mixed`: the combined total, in sources that do not separate reads, writes and trims.
    `syncs`, `sync`: the number of fsync and fdatasync calls, and their latency.
    `context_switches`: how often the generator gave up the CPU, for example to wait for an I/O.
    `host`: the machine's name in client/server runs.
    `group`: the group's number. Parts of the same group ran concurrently, apart from their delays. Groups usually ran
    one after another.
    `delay_ms`: the requested time from the group's start to the part's first measurement, or None if unknown.
    `options`: the options as printed by the generator. fio omits switches without a value (`time_based`).
    `latency_shares`: the distribution of all completion latencies: the percentage of I/Os in each bin, keyed by the
    bin's upper bound in nanoseconds. Empty if the source does not contain it.
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
    context_switches: int | None = None
    host: str | None = None
    group: int = 0
    latency_shares: Mapping[float, float] = field(default_factory=dict)

    @property
    def directions(self) -> dict[str, Direction]:
        """The directions in which there was I/O, keyed by name, such as "read"."""
        found = {name: getattr(self, name) for name in DIRECTIONS}
        return {name: direction for name, direction in found.items() if direction is not None}

    @property
    def longest_ms(self) -> int:
        """The longest runtime of any direction in ms, or 0 if none is known."""
        return max((direction.runtime_ms or 0 for direction in self.directions.values()), default=0)


def separate(
    read: Direction | None, write: Direction | None, trim: Direction | None, mixed: Direction | None
) -> Direction | None:
    """Return the combined total `mixed`, or None if the source also has separate reads, writes or trims.

    With `unified_rw_reporting=both`, fio prints both. Using both would count everything twice.
    """
    return mixed if read is write is trim is None else None


@dataclass(frozen=True)
class DiskUtilization:
    """A disk's requests, bytes and utilization as reported by the generator, including start-up and file layout.

    `read_merges`, `write_merges`: the number of requests that the kernel merged into another request.
    `is_component`: True for a disk that is a component of a listed device mapper or md device.
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
    """The result of one run of a load generator.

    `version`: the generator's name and version (`fio-3.33`).
    `timestamp_ms`: the end of the run, in milliseconds since 1970.
    `notes`: the output lines that are not part of the report.
    `groups`: the totals of each group, keyed by group number and then by direction. Empty if the generator printed no
    totals.
    """

    version: str
    parts: tuple[PartOutcome, ...]
    disks: tuple[DiskUtilization, ...] = ()
    timestamp_ms: int | None = None
    notes: tuple[str, ...] = ()
    groups: Mapping[int, Mapping[str, Direction]] = field(default_factory=dict)


def per_second(amount: int | None, ran_ms: int | None) -> float | None:
    """Return `amount` per second, given the duration `ran_ms`. None if either is unknown or the duration is 0."""
    return 1000 * amount / ran_ms if amount is not None and ran_ms else None
