"""The guard for disks that layers bring along, such as those of another host. Each is checked on the host that owns it.

The campaign's own disks are checked when they are planned (`devices/guard.py`).
"""

from collections.abc import Collection

from poolproof.devices.guard import refusal
from poolproof.devices.model import Leaf
from poolproof.errors import GuardError
from poolproof.facts.block import BlockFacts, block_devices, examine
from poolproof.hosts.base import Host, host_named
from poolproof.layers.open_layout import leaves_of_layers
from poolproof.layers.tree import TreePlan
from poolproof.steps import path_on


def check_leaves(tree: TreePlan, host: Host, permitted: frozenset[str], built: Collection[Leaf] = ()) -> None:
    """Check that the leaf devices that layers add may be overwritten. Call this before any step of the layout runs.

    A leaf device that does not exist yet is made by the layout's own steps. One that exists must be a free and empty
    disk, and `permitted` must contain one of its identities, prefixed with the name of its host: `nas2:V1G0DDDD`.
    Leaf devices in `built` are left out, because they are part of what was already built.

    Raises a GuardError if not, and a HostError if the run does not have the host.
    """
    added = [leaf for leaf in leaves_of_layers(tree) if leaf not in built]
    for name in dict.fromkeys(leaf.host for leaf in added):
        owner = host_named(host, name)
        existing = {device.name: device for disk in block_devices(owner, ()) for device in disk.tree()}
        for leaf in added:
            device = existing.get(leaf.counter.split("/")[-2]) if leaf.host == name else None
            if device is not None:
                (examined,) = examine(owner, [device])
                _check(examined, name, permitted)


def _check(disk: BlockFacts, host_name: str, permitted: frozenset[str]) -> None:
    where = f"on {host_name}: " if host_name else ""
    refused = refusal(disk)
    if refused is not None:
        raise GuardError(f"{where}{refused.message}", refused.hint)
    if not permitted.intersection(path_on(host_name, identity) for identity in disk.identities):
        raise GuardError(
            f"{where}{disk.identity or disk.name} ({disk.path}) would be overwritten, which is not permitted",
            f"poolproof run … --wipe {path_on(host_name, disk.identity)}",
        )
