"""Questions to a built and open layout: where its data is, what it is busy with, where its bytes are counted."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from poolproof.devices.model import Leaf, Volume
from poolproof.evidence.levels import BELOW, DATASET, DEVICE, CountingPoint
from poolproof.evidence.model import Target, VdevUse
from poolproof.hosts.base import FileMissing, Host
from poolproof.layers.base import DeviceNode, Layer, LayerNode, WriteBack
from poolproof.layers.file_bytes import file_bytes
from poolproof.layers.tree import BuiltNode, TreePlan, from_bottom

_LIMIT_S = 30.0
_STAT = (
    'for path; do name=$(readlink -f -- "$path"); stat=/sys/class/block/${name##*/}/stat; '
    '[ -b "$name" ] && [ -e "$stat" ] && echo "$stat" || echo; done'
)


def stored_per_leaf(plan: TreePlan, host: Host) -> dict[str, int]:
    """Return the bytes of data (not metadata) that the files of the layout occupy on each leaf, by its name.

    Leaves under a volume that poolproof did not build, such as a directory on another RAID, are left out.
    """
    volume = plan.volume
    total = (volume.size_bytes or 0) if volume.is_block else file_bytes(volume.path, host)
    stored: dict[str, int] = {}
    for name, count in _stored(plan.top, total, host):
        stored[name] = stored.get(name, 0) + count
    return stored


def _stored(built: BuiltNode, total_bytes: int, host: Host) -> Iterator[tuple[str, int]]:
    if isinstance(built.node, DeviceNode):
        if len(built.volume.leaves) == 1:
            yield built.volume.leaves[0].name, total_bytes
        return
    below = [entry.volume for entry in built.inputs]
    counts = built.node.layer.stored(built.node.spec, built.volume, below, total_bytes, host)
    for entry, count in zip(built.inputs, counts, strict=True):
        yield from _stored(entry, count, host)


def busy_with(plan: TreePlan, host: Host) -> tuple[str, ...]:
    """Return the background work of the layers (resync, balance); empty if there is none."""
    found = [layer.busy_with(node.spec, built.volume, below, host) for node, layer, built, below in _layers_of(plan)]
    return tuple(dict.fromkeys(text for text in found if text))


def deviations(plan: TreePlan, host: Host) -> tuple[str, ...]:
    """Return what was built differently from what the layout asks, although no step failed."""
    found = [layer.deviations(node.spec, built.volume, below, host) for node, layer, built, below in _layers_of(plan)]
    return tuple(dict.fromkeys(text for text in found if text))


def describe(plan: TreePlan, host: Host, target: Target) -> Target:
    """Return the target with the facts that only the layers know, from the bottom up."""
    for node, layer, built, below in _layers_of(plan):
        target = layer.describe(node.spec, built.volume, below, host, target)
        if layer.mkfs_discards and _was_discarded(target, below, host):
            target = replace(target, discarded=True)
    return target


def _was_discarded(target: Target, inputs: Sequence[Volume], host: Host) -> bool:
    """True if the file system is directly on real disks, one of which supports discard.

    Disks of a virtual machine and emulated disks have no flash to erase.
    """
    leaves = [leaf for device in inputs for leaf in device.leaves if leaf.path == device.path]
    is_bare = target.in_guest is False and len(leaves) == len(inputs)
    return is_bare and any(_supports_discard(leaf, host) for leaf in leaves)


def _supports_discard(leaf: Leaf, host: Host) -> bool:
    try:
        most = host.read(f"{leaf.counter.removesuffix('/stat')}/queue/discard_max_bytes").strip()
    except FileMissing:
        return False
    return not leaf.path.startswith("/dev/loop") and most.isdigit() and int(most) > 0


def write_backs(plan: TreePlan, host: Host) -> tuple[WriteBack, ...]:
    """Return how often each layer writes back what it buffers in RAM."""
    found = [layer.write_back(node.spec, built.volume, host) for node, layer, built, _ in _layers_of(plan)]
    return tuple(each for each in found if each is not None)


def cached_bytes(plan: TreePlan, host: Host) -> int | None:
    """Return the bytes of data in the layers' own caches (not the page cache); None if a layer does not know."""
    counts = [layer.cached_bytes(node.spec, built.volume, host) for node, layer, built, _ in _layers_of(plan)]
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def vdev_uses(plan: TreePlan, host: Host) -> tuple[VdevUse, ...]:
    """Return the vdevs of all pools, with the bytes allocated on each."""
    return tuple(vdev for _, layer, built, _ in _layers_of(plan) for vdev in layer.vdevs(built.volume, host))


def _layers_of(plan: TreePlan) -> Iterator[tuple[LayerNode, Layer[Any], BuiltNode, list[Volume]]]:
    """Yield the layers from the bottom up, each with the volumes below it."""
    for built in from_bottom(plan.top):
        if isinstance(built.node, LayerNode):
            yield built.node, built.node.layer, built, [entry.volume for entry in built.inputs]


def counting_points(plan: TreePlan, host: Host) -> tuple[CountingPoint, ...]:
    """Return where bytes and requests are counted, from the top of the layout down to the disks.

    Call this again after the layout was closed and opened, because kernel names change. A file system has no counters
    of its own, so it has no counting point.
    """
    blocks = [entry.volume.path for entry in from_bottom(plan.top) if entry.plan is not None and entry.volume.is_block]
    return tuple(_points(plan.top, 1, _stat_files(blocks, host)))


def _stat_files(paths: list[str], host: Host) -> Mapping[str, str]:
    """Return the counters of the block devices by path; a file that serves as a device has none."""
    if not paths:
        return {}
    lines = host.run(("sh", "-c", _STAT, "sh", *paths), timeout_s=_LIMIT_S).stdout.splitlines()
    return {path: stat for path, stat in zip(paths, lines, strict=True) if stat}


def _points(built: BuiltNode, depth: int, stats: Mapping[str, str]) -> Iterator[CountingPoint]:
    if not isinstance(built.node, LayerNode):
        yield from _points_of_device(built, depth)
        return
    layer: Layer[Any] = built.node.layer
    dataset = layer.dataset(built.volume)
    if dataset is not None:
        yield CountingPoint(DATASET, dataset, depth)
        counters = [_counter(below, stats) for below in built.inputs]
        known = tuple(path for path in counters if path is not None)
        if len(known) == len(counters):
            yield CountingPoint(layer.word, dataset, depth, known)
    elif built.volume.path in stats:
        yield CountingPoint(layer.word, built.volume.path, depth, (stats[built.volume.path],))
    for below in built.inputs:
        yield from _points(below, depth + 1, stats)


def _counter(built: BuiltNode, stats: Mapping[str, str]) -> str | None:
    """Return the counter of a whole block device; None if it has none."""
    if isinstance(built.node, LayerNode):
        return stats.get(built.volume.path)
    return built.volume.leaves[0].counter if len(built.volume.leaves) == 1 else None


def _points_of_device(built: BuiltNode, depth: int) -> Iterator[CountingPoint]:
    for leaf in built.volume.leaves:
        yield CountingPoint(DEVICE, leaf.name, depth, (leaf.counter,))
        if leaf.below is not None:
            yield CountingPoint(BELOW, leaf.below.device, depth + 1, (leaf.below.counter,))
