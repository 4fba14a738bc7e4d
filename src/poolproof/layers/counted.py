"""Where the bytes of a layout that stands can be counted, layer by layer, from its top down to the disks."""

from collections.abc import Iterator, Mapping
from typing import Any

from poolproof.evidence.levels import BELOW, DATASET, DEVICE, CountingPoint
from poolproof.hosts.base import Host
from poolproof.layers.base import Layer, LayerNode
from poolproof.layers.tree import BuiltNode, TreePlan, from_bottom

_LIMIT_S = 30.0
_STAT = (
    'for path; do name=$(readlink -f -- "$path"); stat=/sys/class/block/${name##*/}/stat; '
    '[ -b "$name" ] && [ -e "$stat" ] && echo "$stat" || echo; done'
)


def places_of(plan: TreePlan, host: Host) -> tuple[CountingPoint, ...]:
    """Every place of an open layout; asked anew after it was closed and opened, since the kernel's names change.

    A file system has no counters of its own, and no place.
    """
    blocks = [entry.volume.path for entry in from_bottom(plan.top) if entry.plan is not None and entry.volume.is_block]
    return tuple(_places(plan.top, 1, _stat_files(blocks, host)))


def _stat_files(paths: list[str], host: Host) -> Mapping[str, str]:
    """The counters of the block devices among the paths; a file that serves as one has none."""
    if not paths:
        return {}
    said = host.run(("sh", "-c", _STAT, "sh", *paths), timeout_s=_LIMIT_S).stdout.splitlines()
    return {path: stat for path, stat in zip(paths, said, strict=True) if stat}


def _places(standing: BuiltNode, depth: int, stats: Mapping[str, str]) -> Iterator[CountingPoint]:
    if not isinstance(standing.node, LayerNode):
        yield from _of_device(standing, depth)
        return
    layer: Layer[Any] = standing.node.layer
    dataset = layer.dataset(standing.volume)
    if dataset is not None:
        yield CountingPoint(DATASET, dataset, depth)
        counters = [_counter(below, stats) for below in standing.inputs]
        known = tuple(path for path in counters if path is not None)
        if len(known) == len(counters):
            yield CountingPoint(layer.word, dataset, depth, known)
    elif standing.volume.path in stats:
        yield CountingPoint(layer.word, standing.volume.path, depth, (stats[standing.volume.path],))
    for below in standing.inputs:
        yield from _places(below, depth + 1, stats)


def _counter(standing: BuiltNode, stats: Mapping[str, str]) -> str | None:
    """What counts a block device as a whole."""
    if isinstance(standing.node, LayerNode):
        return stats.get(standing.volume.path)
    return standing.volume.leaves[0].counter if len(standing.volume.leaves) == 1 else None


def _of_device(standing: BuiltNode, depth: int) -> Iterator[CountingPoint]:
    for leaf in standing.volume.leaves:
        yield CountingPoint(DEVICE, leaf.name, depth, (leaf.counter,))
        if leaf.below is not None:
            yield CountingPoint(BELOW, leaf.below.device, depth + 1, (leaf.below.counter,))
