"""The byte account level by level: what fio moved, and what passed each layer under it on the way to the disks."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from poolproof.evidence.account import Window
from poolproof.evidence.counters import Counters, difference
from poolproof.evidence.model import Level, ZfsUse

FIO = "fio"
DATASET = "dataset"
DEVICE = "device"
BELOW = "below"


@dataclass(frozen=True)
class CountingPoint:
    """Where bytes can be counted: a layer by its word, or a device, or what lies below one. `depth`: 1 under fio.

    `counters`: the sysfs `stat` files whose sum it is; without any, ZFS's own counters of the dataset `name`.
    """

    layer: str
    name: str
    depth: int
    counters: tuple[str, ...] = ()


def levels_of(
    fio_bytes: tuple[int, int],
    places: Sequence[CountingPoint],
    paths: Sequence[str],
    window: Window,
    zfs: ZfsUse | None,
) -> tuple[Level, ...]:
    """Every level from fio down. `paths`: the counter files of the window's readings, in their order."""
    numbers = {path: number for number, path in enumerate(paths)}
    below = [_level(place, numbers, window, zfs) for place in places]
    return (Level(FIO, FIO, 0, *fio_bytes), *(level for level in below if level is not None))


def _level(place: CountingPoint, numbers: Mapping[str, int], window: Window, zfs: ZfsUse | None) -> Level | None:
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
    place: CountingPoint, numbers: Mapping[str, int], later: Sequence[Counters], window: Window
) -> Iterator[tuple[Counters, Counters]]:
    for path in place.counters:
        yield later[numbers[path]], window.start.counters[numbers[path]]
