"""The guard for disks that layers add to a layout, such as disks of another host.

Each disk is checked on the host that owns it. The campaign's own disks are checked when they are planned
(`devices/guard.py`).
"""

from collections.abc import Collection

from poolproof.devices.guard import check_disk
from poolproof.devices.model import Leaf
from poolproof.facts.block import block_devices, examine
from poolproof.hosts.base import Host, host_named
from poolproof.layers.tree import TreePlan, leaves_of_layers


def check_leaves(tree: TreePlan, host: Host, permitted: frozenset[str], built: Collection[Leaf] = ()) -> None:
    """Check that the leaf devices that layers add may be overwritten. Call this before any step of the layout runs.

    If a leaf device does not exist yet, the layout's own steps make it. If it exists, it must be a free and empty disk,
    and `permitted` must contain one of its identities, prefixed with the name of its host: `nas2:V1G0DDDD`. Leaf
    devices in `built` are not checked, because they belong to what was already built.

    Raises a GuardError if a leaf device may not be overwritten, and a HostError if the run does not have the host.
    """
    added = [leaf for leaf in leaves_of_layers(tree) if leaf not in built]
    for name in dict.fromkeys(leaf.host for leaf in added):
        owner = host_named(host, name)
        existing = {device.name: device for disk in block_devices(owner, ()) for device in disk.tree()}
        for leaf in added:
            device = existing.get(leaf.kernel_name) if leaf.host == name else None
            if device is not None:
                (examined,) = examine(owner, [device])
                check_disk(examined, permitted, name)
