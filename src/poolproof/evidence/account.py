"""The byte accounting of a trial: the bytes moved by the load and by the disks, in total and at each level."""

from collections.abc import Sequence
from dataclasses import dataclass

from poolproof.devices.model import Leaf
from poolproof.evidence.counters import CounterFile, CounterReading, Counters, difference
from poolproof.evidence.model import Account, Expected, LeafUse, Level, ZfsUse
from poolproof.facts.block import has_counted_flushes

FIO = "fio"
DATASET = "dataset"
DEVICE = "device"
BELOW = "below"


@dataclass(frozen=True)
class Window:
    """The counters at the start and at the end of a trial's measurement window, and after the final flush.

    The window starts just before the load starts or, if it has a ramp, at the end of the ramp.
    """

    start: CounterReading
    end: CounterReading
    drained: CounterReading

    @property
    def seconds(self) -> float:
        return self.end.at_s - self.start.at_s

    def changes(self, host: str, path: str) -> tuple[Counters, Counters]:
        """Return the increase of one file's counters by the end of the window, and by the end of the final flush."""
        number = self.start.files.index(CounterFile(host, path))
        start = self.start.counters[number]
        return difference(self.end.counters[number], start), difference(self.drained.counters[number], start)

    def has_counted(self, host: str, path: str) -> bool:
        """True if the device of this counter file has counted any request since it appeared."""
        return self.drained.counters[self.start.files.index(CounterFile(host, path))].counts


@dataclass(frozen=True)
class Idle:
    """The I/O of the leaf devices while no load was running, added up over all pauses between a layout's trials."""

    seconds: float = 0.0
    read_bytes: int = 0
    write_bytes: int = 0

    def plus(self, before: CounterReading, after: CounterReading, leaf_count: int) -> "Idle":
        """Return the sum of this I/O and that of one more pause.

        `before`, `after`: the counters at the start and at the end of the pause. Those of the leaf devices come first.
        `leaf_count`: the number of leaf devices. The other counters belong to disks below loop files and are ignored.
        """
        done = [difference(b, a) for a, b in zip(before.counters, after.counters, strict=True)][:leaf_count]
        return Idle(
            self.seconds + after.at_s - before.at_s,
            self.read_bytes + sum(counters.read_bytes for counters in done),
            self.write_bytes + sum(counters.write_bytes for counters in done),
        )


@dataclass(frozen=True)
class CountingPoint:
    """A level of the storage stack at which bytes are counted: a layer, a device, or the disk below a device.

    `depth`: the level's depth; 1 is directly below the load.
    `counters`: the paths of the sysfs `stat` files whose bytes are added up. If empty, ZFS's counters for the dataset
    `name` are used instead.
    `host`: the name of the host with these files, or an empty string for the run's main host.
    """

    layer: str
    name: str
    depth: int
    counters: tuple[str, ...] = ()
    host: str = ""


def leaf_uses(leaves: Sequence[Leaf], window: Window, load_s: float | None = None) -> tuple[LeafUse, ...]:
    """Return the activity of each leaf device in the measurement window.

    `load_s`: the number of seconds for which the load did I/O. The utilisation refers to this time, because the load
    generator spends the rest of the window starting up. By default, it refers to the entire window.
    """
    return tuple(_leaf_use(leaf, window, min(window.seconds, load_s or window.seconds)) for leaf in leaves)


def _leaf_use(leaf: Leaf, window: Window, load_s: float) -> LeafUse:
    done, drained = window.changes(leaf.host, leaf.counter)
    below = leaf.below
    below_done, below_drained = window.changes(leaf.host, below.counter) if below else (None, None)
    requests = done.read_ios + done.write_ios
    flushes = done.flush_ios if has_counted_flushes(leaf.kernel_name) else None
    return LeafUse(
        device=leaf.name,
        read_bytes=done.read_bytes,
        write_bytes=done.write_bytes,
        drained_write_bytes=drained.write_bytes,
        read_ios=done.read_ios,
        write_ios=done.write_ios,
        flush_ios=flushes,
        utilisation=min(1.0, done.busy_ms / 1000 / load_s) if load_s > 0 else 0.0,
        latency_s=(done.read_ms + done.write_ms) / 1000 / requests if requests else None,
        below_device=below.device if below else None,
        below_read_bytes=below_done.read_bytes if below_done else None,
        below_drained_write_bytes=below_drained.write_bytes if below_drained else None,
        drained_write_ios=drained.write_ios,
        read_merges=done.read_merges,
        write_merges=done.write_merges,
        counted=window.has_counted(leaf.host, leaf.counter),
        drain_flush_s=None if flushes is None else (drained.flush_ms - done.flush_ms) / 1000,
        drained_read_bytes=drained.read_bytes,
    )


def byte_account(
    fio_bytes: tuple[int, int], leaves: Sequence[LeafUse], expected: Expected, window: Window, idle: Idle
) -> Account:
    """Return the byte accounting.

    `fio_bytes`: the number of bytes that the load generator read and the number that it wrote.
    """
    return Account(
        fio_read_bytes=fio_bytes[0],
        fio_write_bytes=fio_bytes[1],
        leaf_read_bytes=sum(leaf.read_bytes for leaf in leaves),
        leaf_write_bytes=sum(leaf.write_bytes for leaf in leaves),
        leaf_drained_write_bytes=sum(leaf.drained_write_bytes for leaf in leaves),
        **vars(expected),
        window_s=window.seconds,
        drain_s=window.drained.at_s - window.end.at_s,
        idle_s=idle.seconds,
        idle_read_bytes_per_s=idle.read_bytes / idle.seconds if idle.seconds else 0.0,
        idle_write_bytes_per_s=idle.write_bytes / idle.seconds if idle.seconds else 0.0,
    )


def levels_of(
    fio_bytes: tuple[int, int], points: Sequence[CountingPoint], window: Window, zfs: ZfsUse | None
) -> tuple[Level, ...]:
    """Return the number of bytes that passed through each level of the storage stack, from the load downwards.

    A dataset is left out if ZFS has no counters for it.
    """
    below = (_level(point, window, zfs) for point in points)
    return (Level(FIO, FIO, 0, *fio_bytes), *(level for level in below if level is not None))


def _level(point: CountingPoint, window: Window, zfs: ZfsUse | None) -> Level | None:
    if not point.counters:
        used = next((used for used in (zfs.datasets if zfs else ()) if used.name == point.name), None)
        return Level(point.layer, point.name, point.depth, used.read_bytes, used.write_bytes) if used else None
    changes = [window.changes(point.host, path) for path in point.counters]
    return Level(
        layer=point.layer,
        name=point.name,
        depth=point.depth,
        read_bytes=sum(done.read_bytes for done, _ in changes),
        write_bytes=sum(done.write_bytes for done, _ in changes),
        drained_write_bytes=sum(drained.write_bytes for _, drained in changes),
    )
