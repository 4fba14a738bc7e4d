"""Plan one layout whole: its devices, its layers, and which devices its steps may write to."""

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
from poolproof.facts.block import Below, BlockFacts, LoopFacts, block_devices, device_under, free_nbds, loop_facts
from poolproof.hosts.base import Host
from poolproof.layers.base import Node
from poolproof.layers.change import plan_change
from poolproof.layers.extend import plan_extension
from poolproof.layers.tree import TreePlan, devices, directories, plan_tree
from poolproof.provision.directories import check_writable, existing_directory
from poolproof.steps import Step

_LIMIT_S = 20.0


@dataclass(frozen=True)
class HostFacts:
    """What the host has just now, for planning: loop and nbd numbers, real disks, what lies under the directories."""

    loops: tuple[LoopFacts, ...]
    nbds: tuple[int, ...]
    disks: tuple[BlockFacts, ...]
    below_state: Below | None
    directories: Mapping[str, Volume]


@dataclass(frozen=True)
class Premises:
    """What every plan of a layout starts from. `permitted`: the identities of the disks that may be overwritten."""

    campaign: Campaign
    site: Site
    ground: HostFacts
    permitted: frozenset[str]


@dataclass(frozen=True)
class LayoutPlan:
    """Every step that builds a layout, in order, and what stands then. `loops` are the loop numbers it takes."""

    layout: Layout
    node: Node
    devices: tuple[DevicePlan, ...]
    tree: TreePlan
    loops: frozenset[int]

    @property
    def steps(self) -> tuple[Step, ...]:
        """Devices first, then the layers from the bottom up."""
        return (*(step for device in self.devices for step in device.steps), *self.tree.make)

    @property
    def may_overwrite(self) -> frozenset[str]:
        """The block devices that are this layout's own: its disks, and what its layers offer."""
        return frozenset(device.volume.path for device in self.devices) | self.tree.block_paths

    @property
    def identity_check(self) -> Mapping[str, tuple[str, ...]]:
        """By the path of a disk, the command that tells whether it is still the one that was named."""
        return {device.volume.path: device.identity_check for device in self.devices if device.identity_check}


def look_around(host: Host, campaign: Campaign, nodes: Collection[Node], state_dir: str) -> HostFacts:
    """The facts that planning the layouts needs.

    Raises:
        HostError: a directory of a `dir` layout is not there, or can't be written to.
        CampaignError: a disk that the campaign names is not there.
    """
    loops = loop_facts(host)
    return HostFacts(
        loops=loops,
        nbds=free_nbds(host),
        disks=_disks(host, campaign, nodes),
        below_state=_only(device_under(host, _parent(state_dir))),
        directories={path: _directory_of(campaign, host, path, loops) for node in nodes for path in directories(node)},
    )


def plan_layout(layout: Layout, node: Node, premises: Premises) -> LayoutPlan:
    """The plan of one layout; a pure function of what was asked and what the host has.

    Raises:
        GuardError: a disk may not be written to.
        HostError: the host can't build it.
    """
    added, numbers = _plan_added(node, {}, premises)
    volumes = {name: plan.volume for name, plan in added.items()}
    with _in_the_campaigns_words(layout, volumes):
        tree = plan_tree(node, {**premises.ground.directories, **volumes}, premises.site, layout.name)
    return LayoutPlan(layout, node, tuple(added.values()), tree, frozenset(numbers))


def plan_over(layout: Layout, node: Node, core: LayoutPlan, premises: Premises) -> LayoutPlan:
    """The plan of what a layout has more than its core, which stands; its `tree` closes and opens the whole.

    Raises:
        GuardError: a disk may not be written to.
        HostError: the host can't build it.
    """
    standing = _standing_volumes(core)
    added, numbers = _plan_added(node, standing, premises)
    volumes = {name: plan.volume for name, plan in added.items()}
    below = {**premises.ground.directories, **standing, **volumes}
    tree = plan_extension(core.tree, node, below, premises.site, layout.name)
    return LayoutPlan(layout, node, tuple(added.values()), tree, frozenset(numbers))


def plan_changed(layout: Layout, node: Node, core: LayoutPlan, premises: Premises) -> LayoutPlan:
    """The plan by which what stands becomes `node`, which it can; it has all devices of it, new ones with their steps.

    Raises:
        GuardError: a disk may not be written to.
        HostError: the host can't build it.
    """
    standing = _standing_volumes(core)
    added, numbers = _plan_added(node, standing, premises)
    plans = tuple(added.get(name) or DevicePlan((), standing[name]) for name in devices(node))
    volumes = dict(zip(devices(node), (plan.volume for plan in plans), strict=True))
    tree = plan_change(core.tree, node, {**premises.ground.directories, **volumes}, premises.site, layout.name)
    return LayoutPlan(layout, node, plans, tree, frozenset(numbers))


def _standing_volumes(core: LayoutPlan) -> dict[str, Volume]:
    return dict(zip(devices(core.node), (device.volume for device in core.devices), strict=True))


def _plan_added(
    node: Node, standing: Mapping[str, Volume], premises: Premises
) -> tuple[dict[str, DevicePlan], tuple[int, ...]]:
    """The devices of the layout that do not stand yet, by name, and the loop numbers that they may take."""
    ground = premises.ground
    by_name = {device.name: device for device in premises.campaign.devices}
    added = [by_name[name] for name in devices(node) if name not in standing]
    numbers = _free_loops(ground.loops, len(added))
    facts = DeviceFacts(numbers, ground.nbds, ground.below_state, ground.disks, premises.permitted)
    plans = plan_devices(added, premises.site, facts)
    return {device.name: plan for device, plan in zip(added, plans, strict=True)}, numbers


@contextmanager
def _in_the_campaigns_words(layout: Layout, volumes: Mapping[str, Volume]) -> Iterator[None]:
    """A disk that is too small for its layer is a mistake of the campaign, which calls it by its own name for it."""
    with located_at(layout.expression.origin):
        try:
            yield
        except HostError as error:
            for name, volume in volumes.items():
                error.message = re.sub(rf"{re.escape(volume.path)}(?!\w)", name, error.message)
            error.message = f"layout {layout.name}: {error.message}"
            raise error.concerning(layout.name) from None


def _disks(host: Host, campaign: Campaign, nodes: Collection[Node]) -> tuple[BlockFacts, ...]:
    """Every block device of the host, if the layouts stand on a real disk; else none.

    Those alone are examined on which they stand: it wakes sleeping disks, and takes its time on a far host.
    """
    used = {name for node in nodes for name in devices(node)}
    sources = [device.source for device in campaign.devices if device.name in used]
    named = {bare_identity(source.identity) for source in sources if isinstance(source, Disk)}
    return block_devices(host, named) if named else ()


def _directory_of(campaign: Campaign, host: Host, path: str, loops: tuple[LoopFacts, ...]) -> Volume:
    using = (layout for layout in campaign.layouts if path in layout.expression.text)
    with located_at(next((layout.expression.origin for layout in using), "")):
        return _directory(host, path, loops)


def _directory(host: Host, path: str, loops: tuple[LoopFacts, ...]) -> Volume:
    """An existing directory as a volume: its leaves are the block devices that its file system lies on."""
    try:
        real = existing_directory(host, path)
        check_writable(host, real)
    except HostError as error:
        raise error.concerning(path) from None
    try:
        free = host.run(["stat", "--file-system", "--format=%a %S", real], timeout_s=_LIMIT_S).stdout.split()
        found = device_under(host, real)
    except CommandError:
        raise HostError(f"the directory {path} went away", f"ls -ld {path}").concerning(path) from None
    leaves = tuple(
        Leaf(below.device, f"/dev/{below.device}", below.counter, _below_loop(host, below, loops)) for below in found
    )
    return Volume(real, False, leaves, int(free[0]) * int(free[1]))


def _below_loop(host: Host, device: Below, loops: tuple[LoopFacts, ...]) -> Below | None:
    """The disk that holds the file behind a loop device."""
    backing = next((loop.backing_file for loop in loops if f"loop{loop.number}" == device.device), None)
    return _only(device_under(host, _parent(backing))) if backing else None


def _only(found: tuple[Below, ...]) -> Below | None:
    """The one disk below; of several none counts all the bytes, so none is looked at."""
    return found[0] if len(found) == 1 else None


def _parent(path: str) -> str:
    return path.rpartition("/")[0] or "/"


def _free_loops(loops: tuple[LoopFacts, ...], wanted: int) -> tuple[int, ...]:
    used = {loop.number for loop in loops}
    return tuple(islice((number for number in count() if number not in used), wanted))
