"""Questions to a layout that stands and is open: what lies where, what it is busy with, what the rules should know."""

from collections.abc import Iterator
from typing import Any

from poolproof.devices.model import Volume
from poolproof.evidence.model import Target, VdevUse
from poolproof.hosts.base import Host
from poolproof.layers.base import DeviceNode, Layer, LayerNode, WriteBack
from poolproof.layers.file_bytes import file_bytes
from poolproof.layers.tree import BuiltNode, TreePlan, from_bottom


def stored_per_leaf(plan: TreePlan, host: Host) -> dict[str, int]:
    """Bytes that the files of an open layout take on each leaf, by the leaf's name; data, not metadata.

    Leaves that share a volume in a way poolproof cannot see (a directory on somebody else's RAID) are left out.
    """
    volume = plan.volume
    total = (volume.size_bytes or 0) if volume.is_block else file_bytes(volume.path, host)
    stored: dict[str, int] = {}
    for name, count in _stored(plan.top, total, host):
        stored[name] = stored.get(name, 0) + count
    return stored


def _stored(standing: BuiltNode, total_bytes: int, host: Host) -> Iterator[tuple[str, int]]:
    if isinstance(standing.node, DeviceNode):
        if len(standing.volume.leaves) == 1:
            yield standing.volume.leaves[0].name, total_bytes
        return
    below = [entry.volume for entry in standing.inputs]
    counts = standing.node.layer.stored(standing.node.spec, standing.volume, below, total_bytes, host)
    for entry, count in zip(standing.inputs, counts, strict=True):
        yield from _stored(entry, count, host)


def busy_with(plan: TreePlan, host: Host) -> tuple[str, ...]:
    """What the layers of an open layout are doing by themselves just now (resync, balance); empty when all is quiet."""
    said = [
        layer.busy_with(node.spec, standing.volume, below, host) for node, layer, standing, below in _layers_of(plan)
    ]
    return tuple(dict.fromkeys(text for text in said if text))


def deviations(plan: TreePlan, host: Host) -> tuple[str, ...]:
    """What does not stand as the layout asked for, though building it succeeded."""
    said = [layer.deviations(node.spec, built.volume, below, host) for node, layer, built, below in _layers_of(plan)]
    return tuple(dict.fromkeys(text for text in said if text))


def describe(plan: TreePlan, host: Host, target: Target) -> Target:
    """The target with what the layers of an open layout know of it, from the bottom up."""
    for node, layer, standing, below in _layers_of(plan):
        target = layer.describe(node.spec, standing.volume, below, host, target)
    return target


def write_backs(plan: TreePlan, host: Host) -> tuple[WriteBack, ...]:
    """The cycles by which the layers of an open layout write back what they hold in RAM."""
    said = [layer.write_back(node.spec, standing.volume, host) for node, layer, standing, _ in _layers_of(plan)]
    return tuple(each for each in said if each is not None)


def cached_bytes(plan: TreePlan, host: Host) -> int | None:
    """Bytes of data in caches of the layers' own, beside the page cache; None where a layer can't tell."""
    counts = [layer.cached_bytes(node.spec, standing.volume, host) for node, layer, standing, _ in _layers_of(plan)]
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def vdev_uses(plan: TreePlan, host: Host) -> tuple[VdevUse, ...]:
    """The vdevs of all pools of an open layout, and what is allocated on each."""
    return tuple(vdev for _, layer, standing, _ in _layers_of(plan) for vdev in layer.vdevs(standing.volume, host))


def _layers_of(plan: TreePlan) -> Iterator[tuple[LayerNode, Layer[Any], BuiltNode, list[Volume]]]:
    """The layers of an open layout from the bottom up, each with the volumes below it."""
    for standing in from_bottom(plan.top):
        if isinstance(standing.node, LayerNode):
            yield standing.node, standing.node.layer, standing, [entry.volume for entry in standing.inputs]
