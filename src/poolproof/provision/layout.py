"""Plan one complete layout: its devices, its layers, and the devices that its steps may write to."""

import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count, islice

from poolproof.campaign.error_location import located_at
from poolproof.campaign.model import Campaign, Disk, Layout
from poolproof.devices.disk import bare_identity
from poolproof.devices.model import DevicePlan, Leaf, Site, Volume
from poolproof.devices.plan import DeviceFacts, plan_devices
from poolproof.errors import CommandError, HostError
from poolproof.facts.block import Below, BlockFacts, LoopFacts, block_devices, free_nbds, loop_facts
from poolproof.hosts.base import Host
from poolproof.layers.adapt import plan_change, plan_extension
from poolproof.layers.base import Node
from poolproof.layers.catalogue import device_under
from poolproof.layers.tree import TreePlan, devices, directories, plan_tree
from poolproof.provision.directories import check_writable, existing_directory
from poolproof.steps import Step, path_on

_LIMIT_S = 20.0


@dataclass(frozen=True)
class HostFacts:
    """The current state of the host, for planning.

    `below_state`: the disk that holds the state directory. `directories`: the directories of `dir` layouts as volumes.
    """

    loops: tuple[LoopFacts, ...]
    nbds: tuple[int, ...]
    disks: tuple[BlockFacts, ...]
    below_state: Below | None
    directories: Mapping[str, Volume]


@dataclass(frozen=True)
class PlanningContext:
    """The input of every plan. `permitted`: the identities of the disks that may be overwritten."""

    campaign: Campaign
    site: Site
    facts: HostFacts
    permitted: frozenset[str]


@dataclass(frozen=True)
class LayoutPlan:
    """The steps that build a layout, in order, and its parts. `loops`: the numbers of the loop devices it uses."""

    layout: Layout
    node: Node
    devices: tuple[DevicePlan, ...]
    tree: TreePlan
    loops: frozenset[int]

    @property
    def steps(self) -> tuple[Step, ...]:
        """Return the steps: devices first, then the layers from the bottom up."""
        return (*(step for device in self.devices for step in device.steps), *self.tree.make)

    @property
    def may_overwrite(self) -> frozenset[str]:
        """Return the block devices that belong to this layout: its disks and those that its layers provide."""
        volumes = (device.volume for device in self.devices)
        return frozenset(path_on(volume.host, volume.path) for volume in volumes) | self.tree.block_paths

    @property
    def identity_check(self) -> Mapping[str, tuple[str, ...]]:
        """Return, by disk path, the command that checks whether it is still the disk that the campaign names."""
        return {device.volume.path: device.identity_check for device in self.devices if device.identity_check}


def gather_facts(host: Host, campaign: Campaign, nodes: Collection[Node], state_dir: str) -> HostFacts:
    """Return the facts that planning these layouts needs.

    Raises:
        HostError: a directory of a `dir` layout does not exist or is not writable.
        CampaignError: a disk that the campaign names does not exist.
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
    """Return the plan of one layout; a pure function of the campaign and the host's facts.

    Raises a GuardError if a disk may not be overwritten, and a HostError if the host can't build the layout.
    """
    added, numbers = _plan_added(node, {}, context)
    volumes = {name: plan.volume for name, plan in added.items()}
    with _naming_devices(layout, volumes):
        tree = plan_tree(node, {**context.facts.directories, **volumes}, context.site, layout.name)
    return LayoutPlan(layout, node, tuple(added.values()), tree, frozenset(numbers))


def plan_extended(layout: Layout, node: Node, core: LayoutPlan, context: PlanningContext) -> LayoutPlan:
    """Return the plan of the parts that a layout has on top of its core, which is already built.

    The plan's `tree` unmounts and mounts the whole layout. Raises the errors of `plan_layout`.
    """
    built = _built_volumes(core)
    added, numbers = _plan_added(node, built, context)
    volumes = {name: plan.volume for name, plan in added.items()}
    below = {**context.facts.directories, **built, **volumes}
    tree = plan_extension(core.tree, node, below, context.site, layout.name)
    return LayoutPlan(layout, node, tuple(added.values()), tree, frozenset(numbers))


def plan_changed(layout: Layout, node: Node, core: LayoutPlan, context: PlanningContext) -> LayoutPlan:
    """Return the plan that changes the built core into `node`, which must be possible.

    It has all devices of `node`, but steps only for the new ones. Raises the errors of `plan_layout`.
    """
    built = _built_volumes(core)
    added, numbers = _plan_added(node, built, context)
    plans = tuple(added.get(name) or DevicePlan((), built[name]) for name in devices(node))
    volumes = dict(zip(devices(node), (plan.volume for plan in plans), strict=True))
    tree = plan_change(core.tree, node, {**context.facts.directories, **volumes}, context.site, layout.name)
    return LayoutPlan(layout, node, plans, tree, frozenset(numbers))


def _built_volumes(core: LayoutPlan) -> dict[str, Volume]:
    return dict(zip(devices(core.node), (device.volume for device in core.devices), strict=True))


def _plan_added(
    node: Node, built: Mapping[str, Volume], context: PlanningContext
) -> tuple[dict[str, DevicePlan], tuple[int, ...]]:
    """Return the devices of the layout that are not built yet, by name, and the loop numbers that they may use."""
    host = context.facts
    by_name = {device.name: device for device in context.campaign.devices}
    added = [by_name[name] for name in devices(node) if name not in built]
    used = {loop.number for loop in host.loops}
    numbers = tuple(islice((number for number in count() if number not in used), len(added)))
    facts = DeviceFacts(numbers, host.nbds, host.below_state, host.disks, context.permitted)
    plans = plan_devices(added, context.site, facts)
    return {device.name: plan for device, plan in zip(added, plans, strict=True)}, numbers


@contextmanager
def _naming_devices(layout: Layout, volumes: Mapping[str, Volume]) -> Iterator[None]:
    """Replace the paths of disks in an error by their names in the campaign, because the campaign is at fault."""
    with located_at(layout.expression.origin):
        try:
            yield
        except HostError as error:
            for name, volume in volumes.items():
                error.message = re.sub(rf"{re.escape(volume.path)}(?!\w)", name, error.message)
            error.message = f"layout {layout.name}: {error.message}"
            raise error.concerning(layout.name) from None


def _disks(host: Host, campaign: Campaign, nodes: Collection[Node]) -> tuple[BlockFacts, ...]:
    """Return every block device of the host if the layouts use a real disk; otherwise none.

    Only the disks in use are examined: that wakes sleeping disks, and is slow on a remote host.
    """
    used = {name for node in nodes for name in devices(node)}
    sources = [device.source for device in campaign.devices if device.name in used]
    named = {bare_identity(source.identity) for source in sources if isinstance(source, Disk)}
    return block_devices(host, named) if named else ()


def _directory_of(campaign: Campaign, host: Host, path: str, loops: tuple[LoopFacts, ...]) -> Volume:
    """Return an existing directory as a volume: its leaves are the block devices of its file system."""
    using = (layout for layout in campaign.layouts if path in layout.expression.text)
    with located_at(next((layout.expression.origin for layout in using), "")):
        try:
            real = existing_directory(host, path)
            check_writable(host, real)
            free = host.run(["stat", "--file-system", "--format=%a %S", real], timeout_s=_LIMIT_S).stdout.split()
            found = device_under(host, real)
        except HostError as error:
            raise error.concerning(path) from None
        except CommandError:
            raise HostError(f"the directory {path} has disappeared", f"ls -ld {path}").concerning(path) from None
    leaves = tuple(
        Leaf(below.device, f"/dev/{below.device}", below.counter, _below_loop(host, below, loops)) for below in found
    )
    return Volume(real, False, leaves, int(free[0]) * int(free[1]))


def _below_loop(host: Host, device: Below, loops: tuple[LoopFacts, ...]) -> Below | None:
    """Return the disk that holds the file behind a loop device."""
    backing = next((loop.backing_file for loop in loops if f"loop{loop.number}" == device.device), None)
    return _only(device_under(host, _parent(backing))) if backing else None


def _only(found: tuple[Below, ...]) -> Below | None:
    """Return the one disk below; None if there are several, because then no single disk counts all bytes."""
    return found[0] if len(found) == 1 else None


def _parent(path: str) -> str:
    return path.rpartition("/")[0] or "/"
