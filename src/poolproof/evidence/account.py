"""The byte account of a trial, from readings of the counters: start and end of the window, drained, and idle."""

from collections.abc import Sequence
from dataclasses import dataclass

from poolproof.devices.model import Leaf
from poolproof.evidence.counters import Counters, difference
from poolproof.evidence.model import Account, LeafUse
from poolproof.evidence.sampler import CounterFile, CounterReading, counter_files


@dataclass(frozen=True)
class Window:
    """The readings at the bounds of a trial. The ramp and start-up are before `start`; `drained` is after a sync."""

    start: CounterReading
    end: CounterReading
    drained: CounterReading


@dataclass(frozen=True)
class Idle:
    """What the leaf devices did while no load was running, summed over the pauses of a layout."""

    seconds: float = 0.0
    read_bytes: int = 0
    write_bytes: int = 0

    def plus(self, before: CounterReading, after: CounterReading, leaf_count: int) -> "Idle":
        """Return the sum with one more pause between two readings. Disks below leaf devices do not count."""
        done = [difference(b, a) for a, b in zip(before.counters, after.counters, strict=True)][:leaf_count]
        return Idle(
            self.seconds + after.at_s - before.at_s,
            self.read_bytes + sum(counters.read_bytes for counters in done),
            self.write_bytes + sum(counters.write_bytes for counters in done),
        )


def leaf_uses(leaves: Sequence[Leaf], window: Window) -> tuple[LeafUse, ...]:
    """Return what each leaf device did in the window."""
    place = {file: number for number, file in enumerate(counter_files(leaves))}
    return tuple(_leaf_use(leaf, place, window) for leaf in leaves)


def _leaf_use(leaf: Leaf, place: dict[CounterFile, int], window: Window) -> LeafUse:
    done, drained = _two_differences(window, place[CounterFile(leaf.host, leaf.counter)])
    below = leaf.below
    below_file = CounterFile(leaf.host, below.counter) if below else None
    below_done, below_drained = _two_differences(window, place[below_file]) if below_file else (None, None)
    ios = done.read_ios + done.write_ios
    busy_s = (done.read_ms + done.write_ms) / 1000
    seconds = window.end.at_s - window.start.at_s
    return LeafUse(
        device=leaf.name,
        read_bytes=done.read_bytes,
        write_bytes=done.write_bytes,
        drained_write_bytes=drained.write_bytes,
        read_ios=done.read_ios,
        write_ios=done.write_ios,
        flush_ios=done.flush_ios,
        utilisation=min(1.0, done.busy_ms / 1000 / seconds) if seconds > 0 else 0.0,
        latency_s=busy_s / ios if ios else None,
        below_device=below.device if below else None,
        below_read_bytes=below_done.read_bytes if below_done else None,
        below_drained_write_bytes=below_drained.write_bytes if below_drained else None,
    )


def _two_differences(window: Window, number: int) -> tuple[Counters, Counters]:
    start = window.start.counters[number]
    return (
        difference(window.end.counters[number], start),
        difference(window.drained.counters[number], start),
    )


def byte_account(
    fio_bytes: tuple[int, int], leaves: Sequence[LeafUse], write_factor: float, window: Window, idle: Idle
) -> Account:
    """Return the byte account. `fio_bytes` are the bytes read and written, as the load generator counted them."""
    return Account(
        fio_read_bytes=fio_bytes[0],
        fio_write_bytes=fio_bytes[1],
        leaf_read_bytes=sum(leaf.read_bytes for leaf in leaves),
        leaf_write_bytes=sum(leaf.write_bytes for leaf in leaves),
        leaf_drained_write_bytes=sum(leaf.drained_write_bytes for leaf in leaves),
        write_factor=write_factor,
        window_s=window.end.at_s - window.start.at_s,
        drain_s=window.drained.at_s - window.end.at_s,
        idle_s=idle.seconds,
        idle_read_bytes_per_s=idle.read_bytes / idle.seconds if idle.seconds else 0.0,
        idle_write_bytes_per_s=idle.write_bytes / idle.seconds if idle.seconds else 0.0,
    )
