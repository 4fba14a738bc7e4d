"""Queries about an open layout: where its data is stored, its background work, and where its bytes are counted.

`host` is always the run's main host. If a layer or leaf device is on another host, its commands run there.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from poolproof.devices.model import Leaf, Volume
from poolproof.evidence.account import BELOW, DATASET, DEVICE, CountingPoint
from poolproof.evidence.model import Expected, VdevUse
from poolproof.evidence.target_facts import Target
from poolproof.hosts.base import Host, host_named, text_of
from poolproof.layers.base import Layer, LayerFault, LayerNode, OpenLayer, WriteBack
from poolproof.layers.directory import Dir
from poolproof.layers.file_system import file_bytes
from poolproof.layers.layer_catalogue import expected_found, leaf_names, storage_at
from poolproof.layers.tree import BuiltNode, TreePlan, from_bottom

_LIMIT_S = 30.0
_STAT = (
    'for path; do name=$(readlink -f -- "$path"); stat=/sys/class/block/${name##*/}/stat; '
    '[ -b "$name" ] && [ -e "$stat" ] && echo "$stat" || echo; done'
)


def stored_per_leaf(plan: TreePlan, host: Host) -> dict[str, int]:
    """Return the number of bytes of data (not metadata) on each leaf device, keyed by the device's name.

    Disks are omitted if a volume that poolproof did not build has several of them, such as an existing directory on a
    RAID.
    """
    volume = plan.volume
    total = (volume.size_bytes or 0) if volume.is_block else file_bytes(volume.path, host_named(host, volume.host))
    stored: Counter[str] = Counter()
    for name, count in _stored(plan.top, total, host):
        stored[name] += count
    return dict(stored)


def _stored(built: BuiltNode, total_bytes: int, host: Host) -> Iterator[tuple[str, int]]:
    own = built.own_leaves
    if own and own == built.volume.leaves:  # all leaf devices are those of the node, so its inputs store nothing
        if len(own) == 1:
            yield own[0].name, total_bytes
    elif isinstance(built.node, LayerNode):
        counts = built.node.layer.stored(_open(built, built.node, host), total_bytes)
        for entry, count in zip(built.inputs, counts, strict=True):
            yield from _stored(entry, count, host)


def _open(built: BuiltNode, node: LayerNode, host: Host) -> OpenLayer[Any]:
    inputs = [entry.volume for entry in built.inputs]
    return OpenLayer(node.spec, built.volume, inputs, host_named(host, built.volume.host))


def _layers_of(plan: TreePlan, host: Host) -> Iterator[tuple[Layer[Any], OpenLayer[Any]]]:
    """Yield each layer together with its open state (volumes and host), from the bottom up."""
    for built in from_bottom(plan.top):
        if isinstance(built.node, LayerNode):
            yield built.node.layer, _open(built, built.node, host)


def busy_with(plan: TreePlan, host: Host) -> tuple[str, ...]:
    """Describe the background work of the layers that is in progress (resync, balance). Empty if there is none."""
    found = [layer.busy_with(built) for layer, built in _layers_of(plan, host)]
    return tuple(dict.fromkeys(text for text in found if text))


def faults_of(plan: TreePlan, host: Host) -> tuple[LayerFault, ...]:
    """Return the faults of the open layers, from the bottom up. Empty if none has a fault."""
    found = [layer.fault(built) for layer, built in _layers_of(plan, host)]
    return tuple(fault for fault in found if fault is not None)


def deviations(plan: TreePlan, host: Host) -> tuple[str, ...]:
    """Describe how built layers differ from the layout. Empty if none of them does."""
    found = [layer.deviations(built) for layer, built in _layers_of(plan, host)]
    return tuple(dict.fromkeys(text for text in found if text))


def describe(plan: TreePlan, host: Host, target: Target) -> Target:
    """Return a copy of the target, with layout facts filled in that only the layers can supply."""
    for layer, built in _layers_of(plan, host):
        target = layer.describe(built, target)
        if layer.mkfs_discards and _was_discarded(target, built.inputs, host):
            target = replace(target, discarded=True)
    return target


def _was_discarded(target: Target, inputs: Sequence[Volume], host: Host) -> bool:
    """True if the file system was created directly on real disks and at least one of them supports discard.

    Emulated disks and the disks of virtual machines do not count, because they have no flash memory to erase.
    """
    leaves = [leaf for device in inputs for leaf in device.leaves if leaf.path == device.path]
    is_bare = target.in_guest is False and len(leaves) == len(inputs)
    return is_bare and any(_supports_discard(leaf, host) for leaf in leaves)


def _supports_discard(leaf: Leaf, host: Host) -> bool:
    path = f"{leaf.counter.removesuffix('/stat')}/queue/discard_max_bytes"
    most_bytes = text_of(host_named(host, leaf.host), path).strip()
    return not leaf.path.startswith("/dev/loop") and most_bytes not in ("", "0")


def expected_below(plan: TreePlan, host: Host) -> dict[str, Expected]:
    """Return the expected write amplification of the storage below each `dir` layer, keyed by the layer's path.

    Storage with an unknown write amplification is omitted. Storage whose leaves have changed since the layout was
    planned, e.g. because a disk was replaced, is omitted too, because its write amplification is that of the new
    leaves.
    """
    found: dict[str, Expected] = {}
    for _, built in _layers_of(plan, host):
        if not isinstance(built.spec, Dir):
            continue
        directory = built.inputs[0]
        storage = storage_at(built.host, directory.path)
        known = expected_found(built.host, storage) if storage else None
        planned = tuple(leaf.kernel_name for leaf in directory.leaves)
        if storage and known and leaf_names(built.host, storage) == planned:
            found[built.spec.path] = known
    return found


def write_backs(plan: TreePlan, host: Host) -> tuple[WriteBack, ...]:
    """Return the write-back cycle of each layer that buffers data in RAM."""
    found = [layer.write_back(built) for layer, built in _layers_of(plan, host)]
    return tuple(each for each in found if each is not None)


def cached_bytes(plan: TreePlan, host: Host) -> int | None:
    """Return the number of bytes in the layers' own caches, or None if the size of any cache is unknown."""
    counts = [layer.cached_bytes(built) for layer, built in _layers_of(plan, host)]
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def cache_size_commands(plan: TreePlan, host: Host) -> tuple[str, ...]:
    """Return the commands that show the user the amount of data in the layers' own caches."""
    commands = (layer.cache_size_command for layer, _ in _layers_of(plan, host))
    return tuple(dict.fromkeys(command for command in commands if command))


def vdev_uses(plan: TreePlan, host: Host) -> tuple[VdevUse, ...]:
    """Return all vdevs of the layout's pools, with their size and their allocated space."""
    return tuple(vdev for layer, built in _layers_of(plan, host) for vdev in layer.vdevs(built))


def pool_host(plan: TreePlan, host: Host) -> Host:
    """Return the host that has the layout's ZFS pools and their counters, or the main host without ZFS pools."""
    return next((built.host for layer, built in _layers_of(plan, host) if layer.dataset(built.volume)), host)


def counting_points(plan: TreePlan, host: Host) -> tuple[CountingPoint, ...]:
    """Return the levels at which bytes and requests are counted, from the top of the layout down to the disks.

    Must be called again after the layout has been reopened, because kernel names change. File systems other than ZFS
    have no counters, so their levels are missing.
    """
    blocks = [entry.volume for entry in from_bottom(plan.top) if entry.plan is not None and entry.volume.is_block]
    return tuple(_points(plan.top, 1, _stat_files(blocks, host)))


def _stat_files(blocks: list[Volume], host: Host) -> Mapping[Volume, str]:
    """Return the path of each block device's sysfs `stat` file. Regular files that serve as devices are omitted."""
    stats: dict[Volume, str] = {}
    for name in dict.fromkeys(volume.host for volume in blocks):
        there = [volume for volume in blocks if volume.host == name]
        argv = ("sh", "-c", _STAT, "sh", *(volume.path for volume in there))
        lines = host_named(host, name).run(argv, timeout_s=_LIMIT_S).stdout.splitlines()
        stats |= {volume: stat for volume, stat in zip(there, lines, strict=True) if stat}
    return stats


def _points(built: BuiltNode, depth: int, stats: Mapping[Volume, str]) -> Iterator[CountingPoint]:
    volume = built.volume
    if not isinstance(built.node, LayerNode):
        yield from _points_of(volume.leaves, depth)
        return
    word, dataset = built.node.layer.word, built.node.layer.dataset(volume)
    if dataset is not None:
        yield CountingPoint(DATASET, dataset, depth)
        known = [stat for below in built.inputs if (stat := _counter(below, stats)) is not None]
        if len(known) == len(built.inputs):
            yield CountingPoint(word, dataset, depth, tuple(known), volume.host)
    elif volume in stats:
        yield CountingPoint(word, volume.path, depth, (stats[volume],), volume.host)
    yield from _points_of(built.own_leaves, depth + 1)
    for below in built.inputs:
        yield from _points(below, depth + 1, stats)


def _points_of(leaves: Sequence[Leaf], depth: int) -> Iterator[CountingPoint]:
    for leaf in leaves:
        yield CountingPoint(DEVICE, leaf.name, depth, (leaf.counter,), leaf.host)
        if leaf.below is not None:
            yield CountingPoint(BELOW, leaf.below.device, depth + 1, (leaf.below.counter,), leaf.host)


def _counter(built: BuiltNode, stats: Mapping[Volume, str]) -> str | None:
    """Return the path of the sysfs `stat` file for the block device that a node provides, or None if it has none."""
    if isinstance(built.node, LayerNode):
        return stats.get(built.volume)
    return built.volume.leaves[0].counter if len(built.volume.leaves) == 1 else None
