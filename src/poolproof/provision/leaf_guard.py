"""The guard for disks that layers add to a layout, such as disks of another host.

Each disk is checked on its own host. The campaign's own disks were already checked during planning
(`devices/guard.py`).
"""

from collections.abc import Collection

from poolproof.devices.guard import check_disk
from poolproof.devices.model import Leaf
from poolproof.facts.block import block_devices, examine
from poolproof.hosts.base import Host, host_named
from poolproof.layers.tree import TreePlan, leaves_of_layers


def check_leaves(tree: TreePlan, host: Host, permitted: frozenset[str], built: Collection[Leaf] = ()) -> None:
    """Check that the leaf devices that layers add may be overwritten. Must be called before any step runs.

    A leaf device that does not exist yet will be created by the layout's own steps. One that exists must be a free and
    empty disk.

    `permitted`: the identities of the disks that may be overwritten. For a disk on another host, they start with that
    host's name: `nas2:V1G0DDDD`.
    `built`: leaf devices to skip, because they belong to a part of the layout that is already built.

    Raises:
        GuardError: a leaf device may not be overwritten.
        HostError: the run does not have the host of a leaf device.
    """
    added = [leaf for leaf in leaves_of_layers(tree) if leaf not in built]
    for name in dict.fromkeys(leaf.host for leaf in added):
        owner = host_named(host, name)
        disks = block_devices(owner, ())
        existing = {device.name: device for disk in disks for device in disk.tree()}
        for leaf in added:
            device = existing.get(leaf.kernel_name) if leaf.host == name else None
            if device is not None:
                (examined,) = examine(owner, [device])
                check_disk(examined, permitted, name, disks)
