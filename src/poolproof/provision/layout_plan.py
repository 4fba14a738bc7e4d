"""Plans a layout: the steps for its devices and layers, and the block devices that these steps may overwrite."""

import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count, islice

from poolproof.campaign.error_location import located_at
from poolproof.campaign.model import Campaign, Disk, Layout
from poolproof.devices.guard import bare_identity
from poolproof.devices.model import DevicePlan, IdentityCheck, Leaf, Site, Volume
from poolproof.devices.plan import DeviceFacts, plan_devices
from poolproof.errors import HostError, as_word
from poolproof.facts.block import Below, BlockFacts, LoopFacts, block_devices, free_nbds, loop_facts
from poolproof.facts.machine import IN_RAM, within_ram
from poolproof.hosts.base import Host, text_of
from poolproof.hosts.numbers import whole_numbers
from poolproof.layers.adapt import plan_change, plan_extension
from poolproof.layers.base import Node
from poolproof.layers.layer_catalogue import device_under, leaves_under
from poolproof.layers.tree import TreePlan, devices, directories, leaves_of_layers, plan_tree
from poolproof.process import CommandFailed
from poolproof.provision.directories import check_writable, existing_directory
from poolproof.provision.swappable import check_not_swappable
from poolproof.steps import Step, path_on

_LIMIT_S = 20.0


@dataclass(frozen=True)
class HostFacts:
    """The devices and directories that the host has now. Planning is based on them.

    `below_state`: the disk that stores the state directory, or None if it is unknown or there are several.
    `directories`: the volume for each directory in a `dir` layout, keyed by the directory's path.
    """

    loops: tuple[LoopFacts, ...]
    nbds: tuple[int, ...]
    disks: tuple[BlockFacts, ...]
    below_state: Below | None
    directories: Mapping[str, Volume]


@dataclass(frozen=True)
class PlanningContext:
    """The input that all layouts' plans share.

    `permitted`: the identities of the disks that may be overwritten.
    `first_loop`: the lowest number that a new loop device may have.
    """

    campaign: Campaign
    site: Site
    facts: HostFacts
    permitted: frozenset[str]
    first_loop: int = 0


@dataclass(frozen=True)
class LayoutPlan:
    """The plan for a layout: its devices and its tree of layers.

    `loops`: the numbers of the loop devices that the layout may use.
    """

    layout: Layout
    node: Node
    devices: tuple[DevicePlan, ...]
    tree: TreePlan
    loops: frozenset[int]

    @property
    def steps(self) -> tuple[Step, ...]:
        """All steps in order: first those for the devices, then those for the layers, from the bottom up."""
        return (*(step for device in self.devices for step in device.steps), *self.tree.make)

    @property
    def may_overwrite(self) -> frozenset[str]:
        """The block devices that the plan may overwrite.

        These are the layout's own devices, the devices that its layers create, and existing disks that its layers add.
        `leaf_guard.py` checks the existing disks.
        """
        volumes = frozenset(path_on(each.volume.host, each.volume.path) for each in self.devices)
        leaves = frozenset(path_on(leaf.host, leaf.path) for leaf in leaves_of_layers(self.tree))
        return volumes | leaves | self.tree.block_paths

    @property
    def identity_checks(self) -> tuple[IdentityCheck, ...]:
        """The identity checks, one for each real disk and loop device of the layout."""
        checked = [(device.volume, device.identity_check) for device in self.devices if device.identity_check]
        return tuple(IdentityCheck(volume.path, argv, volume.host) for volume, argv in checked)


def gather_facts(host: Host, campaign: Campaign, nodes: Collection[Node], state_dir: str) -> HostFacts:
    """Collect the facts about the host that are needed to plan these layouts.

    Raises a HostError if the directory of a `dir` layout does not exist, is not writable, or could be replaced by
    another user.
    """
    loops = loop_facts(host)
    return HostFacts(
        loops=loops,
        nbds=free_nbds(host),
        disks=_disks(host, campaign, nodes),
        below_state=_only(device_under(host, _parent(state_dir))),
        directories={path: _directory_of(campaign, host, path, loops) for node in nodes for path in directories(node)},
    )


def plan_layout(layout: Layout, node: Node, context: PlanningContext) -> LayoutPlan:
    """Plan a layout. The plan depends only on the campaign and the facts about the host.

    Raises:
        CampaignError: a disk or disk model does not exist.
        GuardError: a disk may not be overwritten.
        HostError: the host can't build the layout.
    """
    added, numbers = _plan_added(node, {}, context)
    volumes = {name: plan.volume for name, plan in added.items()}
    with _naming_devices(layout, volumes):
        tree = plan_tree(node, {**context.facts.directories, **volumes}, context.site, layout.name)
    return LayoutPlan(layout, node, tuple(added.values()), tree, frozenset(numbers))


def plan_extended(layout: Layout, node: Node, core: LayoutPlan, context: PlanningContext) -> LayoutPlan:
    """Plan the remaining steps for a layout whose core has already been built.

    The plan's `tree` can unmount and remount the complete layout. Raises the same errors as `plan_layout`.
    """
    built = _built_volumes(core)
    added, numbers = _plan_added(node, built, context)
    volumes = {name: plan.volume for name, plan in added.items()}
    below = {**context.facts.directories, **built, **volumes}
    tree = plan_extension(core.tree, node, below, context.site, layout.name)
    return LayoutPlan(layout, node, tuple(added.values()), tree, frozenset(numbers))


def plan_changed(layout: Layout, node: Node, core: LayoutPlan, context: PlanningContext) -> LayoutPlan:
    """Plan how to convert the core, which has already been built, into `node`.

    The caller must have checked that the conversion is possible. The plan includes all devices of `node`, but has steps
    only for the new ones. Raises the same errors as `plan_layout`.
    """
    built = _built_volumes(core)
    added, numbers = _plan_added(node, built, context)
    kept = {name: replace(plan, steps=()) for name, plan in zip(devices(core.node), core.devices, strict=True)}
    plans = tuple(added.get(name) or kept[name] for name in devices(node))
    volumes = dict(zip(devices(node), (plan.volume for plan in plans), strict=True))
    tree = plan_change(core.tree, node, {**context.facts.directories, **volumes}, context.site, layout.name)
    return LayoutPlan(layout, node, plans, tree, frozenset(numbers))


def _built_volumes(core: LayoutPlan) -> dict[str, Volume]:
    return dict(zip(devices(core.node), (device.volume for device in core.devices), strict=True))


def _plan_added(
    node: Node, built: Mapping[str, Volume], context: PlanningContext
) -> tuple[dict[str, DevicePlan], tuple[int, ...]]:
    """Plan those devices of the layout that have not been built yet.

    Also returns the numbers of the loop devices that they may use.
    """
    host = context.facts
    by_name = {device.name: device for device in context.campaign.devices}
    added = [by_name[name] for name in devices(node) if name not in built]
    used = {loop.number for loop in host.loops}
    numbers = tuple(islice((number for number in count(context.first_loop) if number not in used), len(added)))
    facts = DeviceFacts(numbers, host.nbds, host.below_state, host.disks, context.permitted)
    plans = plan_devices(added, context.site, facts)
    return {device.name: plan for device, plan in zip(added, plans, strict=True)}, numbers


@contextmanager
def _naming_devices(layout: Layout, volumes: Mapping[str, Volume]) -> Iterator[None]:
    """Make HostErrors easier to understand: add the layout and its location, and replace paths with device names."""
    with located_at(layout.expression.origin):
        try:
            yield
        except HostError as error:
            for name, volume in volumes.items():
                error.message = re.sub(rf"{re.escape(volume.path)}(?!\w)", name, error.message)
            error.message = f"layout {layout.name}: {error.message}"
            raise error.concerning(layout.name) from None


def _disks(host: Host, campaign: Campaign, nodes: Collection[Node]) -> tuple[BlockFacts, ...]:
    """Return all block devices of the host, or an empty tuple if no layout uses a real disk.

    Signatures are read only from disks that the layouts use, because reading wakes up a sleeping disk.
    """
    used = {name for node in nodes for name in devices(node)}
    sources = [device.source for device in campaign.devices if device.name in used]
    named = {bare_identity(source.identity) for source in sources if isinstance(source, Disk)}
    return block_devices(host, named) if named else ()


def _directory_of(campaign: Campaign, host: Host, path: str, loops: tuple[LoopFacts, ...]) -> Volume:
    """Return an existing directory as a volume. Its leaf devices are its file system's block devices.

    Raises a HostError if the directory does not exist, is not writable, or could be replaced by another user.
    """
    using = (layout for layout in campaign.layouts if path in layout.expression.text)
    with located_at(next((layout.expression.origin for layout in using), "")):
        try:
            real = existing_directory(host, path)
            check_writable(host, real)
            check_not_swappable(host, real)
            printed = host.run(["stat", "--file-system", "--format=%a %S", real], timeout_s=_LIMIT_S).stdout
            free_blocks, block_bytes = whole_numbers(printed, f"stat -f {as_word(path)}", 2)
            free_bytes = free_blocks * block_bytes
            found = leaves_under(host, real)
            if not found:
                free_bytes = _usable_bytes(host, real, free_bytes)
        except HostError as error:
            raise error.concerning(path) from None
        except CommandFailed:
            raise HostError(f"the directory {path} no longer exists", f"ls -ld {as_word(path)}").concerning(
                path
            ) from None
    leaves = tuple(
        Leaf(below.device, f"/dev/{below.device}", below.counter, _below_loop(host, below, loops)) for below in found
    )
    return Volume(real, False, leaves, free_bytes)


def _usable_bytes(host: Host, path: str, free_bytes: int) -> int:
    """Return the free bytes of a directory without a disk, which for a file system in RAM are limited by the free RAM.

    Raises a CommandFailed if the directory no longer exists.
    """
    kind = host.run(["stat", "--file-system", "--format=%t", path], timeout_s=_LIMIT_S).stdout.strip()
    return within_ram(free_bytes, text_of(host, "/proc/meminfo")) if kind in IN_RAM else free_bytes


def _below_loop(host: Host, device: Below, loops: tuple[LoopFacts, ...]) -> Below | None:
    """Return the disk that stores a loop device's backing file. None if unknown or not a loop device."""
    backing = next((loop.backing_file for loop in loops if f"loop{loop.number}" == device.device), None)
    return _only(device_under(host, _parent(backing))) if backing else None


def _only(found: tuple[Below, ...]) -> Below | None:
    """Return the only disk, or None unless there is exactly one.

    If there are several, none of them counts all of the bytes.
    """
    return found[0] if len(found) == 1 else None


def _parent(path: str) -> str:
    return path.rpartition("/")[0] or "/"
