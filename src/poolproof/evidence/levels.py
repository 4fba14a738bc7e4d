"""The byte account by level: the bytes that fio moved, and those that passed each layer below it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from poolproof.evidence.account import Window
from poolproof.evidence.counters import Counters, difference
from poolproof.evidence.model import Level, ZfsUse
from poolproof.evidence.sampler import CounterFile

FIO = "fio"
DATASET = "dataset"
DEVICE = "device"
BELOW = "below"


@dataclass(frozen=True)
class CountingPoint:
    """A place where bytes are counted: a layer by its word, a device, or the disk below a device. `depth` is 1 under
    fio.

    Its value is the sum of the sysfs `stat` files in `counters`; without any, that of ZFS's counters of dataset `name`.
    `host`: the name of the host that has the files; empty: the run's main host.
    """

    layer: str
    name: str
    depth: int
    counters: tuple[str, ...] = ()
    host: str = ""


def levels_of(
    fio_bytes: tuple[int, int],
    places: Sequence[CountingPoint],
    files: Sequence[CounterFile],
    window: Window,
    zfs: ZfsUse | None,
) -> tuple[Level, ...]:
    """Return every level from fio down. `files` are those of the window's readings, in order."""
    numbers = {file: number for number, file in enumerate(files)}
    below = [_level(place, numbers, window, zfs) for place in places]
    return (Level(FIO, FIO, 0, *fio_bytes), *(level for level in below if level is not None))


def _level(
    place: CountingPoint, numbers: Mapping[CounterFile, int], window: Window, zfs: ZfsUse | None
) -> Level | None:
    if not place.counters:
        used = next((used for used in (zfs.datasets if zfs else ()) if used.name == place.name), None)
        return Level(place.layer, place.name, place.depth, used.read_bytes, used.write_bytes) if used else None
    done = [difference(end, start) for end, start in _pairs(place, numbers, window.end.counters, window)]
    drained = [difference(end, start) for end, start in _pairs(place, numbers, window.drained.counters, window)]
    return Level(
        layer=place.layer,
        name=place.name,
        depth=place.depth,
        read_bytes=sum(counters.read_bytes for counters in done),
        write_bytes=sum(counters.write_bytes for counters in done),
        drained_write_bytes=sum(counters.write_bytes for counters in drained),
    )


def _pairs(
    place: CountingPoint, numbers: Mapping[CounterFile, int], later: Sequence[Counters], window: Window
) -> Iterator[tuple[Counters, Counters]]:
    for path in place.counters:
        number = numbers[CounterFile(place.host, path)]
        yield later[number], window.start.counters[number]
