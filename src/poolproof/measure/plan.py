"""Plan a run, and check loads, layouts, programs, space and disks before anything is built."""

import importlib
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from poolproof.campaign.calibration import Calibration, calibrated_device, calibration_of
from poolproof.campaign.check import bin_mistake
from poolproof.campaign.error_location import located_at, located_in
from poolproof.campaign.model import Campaign, Device, Emulated, Layout, Workload
from poolproof.devices.disk import check_disks
from poolproof.devices.model import Site
from poolproof.devices.plan import check_sources, programs_of, versions_of
from poolproof.errors import CampaignError, PoolproofError
from poolproof.facts.machine import Machine, ProgramVersion, survey
from poolproof.hosts.base import Host
from poolproof.hosts.local import LocalHost
from poolproof.layers import tree
from poolproof.layers.adapt import core_of
from poolproof.layers.base import Node
from poolproof.layers.layer_catalogue import all_layers
from poolproof.layers.least_trial import check_budget
from poolproof.layers.resolve import resolve
from poolproof.layers.trims import check_trims
from poolproof.load.generator import LoadGenerator, all_generators, generator_for, generator_of
from poolproof.load.model import Load
from poolproof.measure.existing_files import check_found
from poolproof.measure.free_space import floor_bytes
from poolproof.measure.memory import check_memory
from poolproof.measure.model import CellJobs
from poolproof.measure.space import check_files, check_space, image_bytes
from poolproof.metrics import metric_of
from poolproof.provision.directories import check_work, site_of
from poolproof.provision.layout_plan import (
    HostFacts,
    LayoutPlan,
    PlanningContext,
    gather_facts,
    plan_changed,
    plan_extended,
    plan_layout,
)
from poolproof.provision.leaf_guard import check_leaves
from poolproof.rules.rule_catalogue import all_rules
from poolproof.units import format_size

_CELLS_AT_ONCE = 32
_ALWAYS_NEEDED = ("sync", "fincore", "filefrag", "dd", "find", "stat")


@dataclass(frozen=True)
class RunPlan:
    """Everything that a run needs, checked before anything is changed.

    `nodes`: each layout's tree of layers, keyed by layout name.
    `cells`: the campaign's workloads.
    `bare_cells`: the workloads for disks that are measured individually.
    """

    campaign: Campaign
    machine: Machine
    site: Site
    nodes: Mapping[str, Node]
    cells: tuple[CellJobs, ...]
    seed: int
    allowed_disks: frozenset[str]
    calibration: Calibration = field(default_factory=Calibration)
    bare_cells: tuple[CellJobs, ...] = ()

    @property
    def layouts(self) -> tuple[Layout, ...]:
        """Return the layouts in the order of building: individual disks first, for comparison, then the campaign's."""
        return (*self.calibration.layouts, *self.campaign.layouts)

    def cells_of(self, layout: str) -> tuple[CellJobs, ...]:
        return self.cells if calibrated_device(layout) is None else self.bare_cells

    @property
    def generators(self) -> tuple[LoadGenerator, ...]:
        """Return the distinct load generators that the cells use."""
        loads = (cell.load for cell in (*self.cells, *self.bare_cells))
        return tuple({load.generator: generator_of(load) for load in loads}.values())

    @property
    def uses_ram_files(self) -> bool:
        """True if an emulated disk may keep its data in RAM."""
        return any(isinstance(device.source, Emulated) for device in self.campaign.devices)


@dataclass(frozen=True)
class BuildDirectories:
    """The run's label and its directories on the host, one on disk and one in RAM."""

    label: str
    state_dir: str
    ram_dir: str


def make_plan(
    campaign: Campaign, host: Host, places: BuildDirectories, seed: int, allowed_disks: frozenset[str]
) -> RunPlan:
    """Check the campaign against the host, without changing anything, and return the plan.

    Raises:
        CampaignError: an expression, a device, an option or a size is invalid.
        HostError: the host lacks a program, kernel support for a file system, or disk space, or commands do not run as
            root.
        GuardError: a disk must not be overwritten.
        FioError: the load generator is missing or too old.
    """
    calibration = calibration_of(campaign)
    nodes = {layout.name: _resolved(layout, campaign) for layout in (*calibration.layouts, *campaign.layouts)}
    check_trims(campaign)
    cells = tuple(_cell(workload, campaign, host) for workload in campaign.workloads)
    bare_cells = tuple(_cell(workload, campaign, host) for workload in calibration.workloads)
    with ThreadPoolExecutor(1) as pool:
        jobs_checked = pool.submit(_check_values, cells, host)
        try:
            machine = survey(host, _programs(campaign), frozenset().union(*map(tree.modules, nodes.values())))
            is_here = host.name == LocalHost.name
            for cell in (*cells, *bare_cells):
                with located_in(cell.workload):
                    check_memory(cell.workload.name, cell.load, machine)
            site = site_of(machine, places.label, places.state_dir, places.ram_dir, is_here=is_here)
            plan = RunPlan(campaign, machine, site, nodes, cells, seed, allowed_disks, calibration, bare_cells)
            _check_layouts(plan, host)
            # imported while fio checks the jobs, so that the first trial does not have to wait for the import
            importlib.import_module("poolproof.measure.trial")
            all_rules()
        except PoolproofError:
            jobs_checked.result()  # so that a mistake in a job is reported first
            raise
        jobs_checked.result()
    return plan


def check_without_host(campaign: Campaign) -> tuple[Device, ...]:
    """Check everything that does not depend on the host, and return the devices that the layouts use.

    Raises a CampaignError if a layout expression, a device or a trim is invalid, if the budget is too small, or if
    poolproof does not allow an option of a workload.
    """
    nodes = [_resolved(layout, campaign) for layout in campaign.layouts]
    used = {name for node in nodes for name in tree.devices(node)}
    devices = tuple(device for device in campaign.devices if device.name in used)
    check_sources(devices)
    check_trims(campaign)
    check_budget(campaign)
    for workload in campaign.workloads:
        with located_in(workload):
            generator_for(workload).check_permitted(workload)
    return devices


def _check_layouts(plan: RunPlan, host: Host) -> None:
    """Check that the host can build the layouts and that the test files fit on them."""
    for node in plan.nodes.values():
        tree.needs(node, plan.site)
    check_work(host, plan.site.state_dir)
    facts = gather_facts(host, plan.campaign, tuple(plan.nodes.values()), plan.site.state_dir)
    used = {name for node in plan.nodes.values() for name in tree.devices(node)}
    check_disks([device for device in plan.campaign.devices if device.name in used], facts.disks, plan.allowed_disks)
    for name, node in plan.nodes.items():
        check_found(name, node, plan.cells_of(name), host)
    for planned in plan_layouts(plan, facts):
        if calibrated_device(planned.layout.name) is not None:
            continue  # a workload on a bare disk is cut to the size of the disk
        with located_at(planned.layout.expression.origin):
            _check_room(planned, plan, facts)
            images = image_bytes(
                planned, plan.campaign.devices, plan.site.state_dir, needed_bytes(planned.node, planned.tree, plan)
            )
            check_space(planned.layout.name, images, plan.site.state_dir.rpartition("/")[0] or "/", host)
            for path in tree.directories(planned.node):
                check_files(planned.layout.name, needed_files(planned.node, plan), path, host)


def plan_layouts(plan: RunPlan, facts: HostFacts) -> tuple[LayoutPlan, ...]:
    """Return the plan of each layout. Each is planned on its own, because only one layout exists at a time."""
    context = _context(plan, facts)
    return tuple(plan_layout(layout, plan.nodes[layout.name], context) for layout in plan.layouts)


def check_disks_of_layers(plan: RunPlan, host: Host) -> None:
    """Raise a GuardError if a disk that a layer uses must not be overwritten. Each disk is checked on its own host."""
    facts = gather_facts(host, plan.campaign, tuple(plan.nodes.values()), plan.site.state_dir)
    for planned in plan_layouts(plan, facts):
        with located_at(planned.layout.expression.origin):
            check_leaves(planned.tree, host, plan.allowed_disks)


def plan_one(plan: RunPlan, host: Host, name: str, first_loop: int = 0) -> LayoutPlan:
    """Return the steps that build a layout, based on the host's current state.

    Like the functions below, this raises a GuardError if a disk must not be overwritten, and a HostError if the host
    can't build the layout.

    `first_loop`: the lowest number that a new loop device may have.
    """
    return plan_layout(_layout(plan, name), plan.nodes[name], _context_now(plan, host, plan.nodes[name], first_loop))


def plan_core(plan: RunPlan, host: Host, name: str, first_loop: int = 0) -> LayoutPlan:
    """Return the steps that build a layout's core: the layout without its log and cache devices."""
    node = core_of(plan.nodes[name])
    return plan_layout(_layout(plan, name), node, _context_now(plan, host, node, first_loop))


def plan_next_core(plan: RunPlan, host: Host, name: str, core: LayoutPlan, first_loop: int = 0) -> LayoutPlan:
    """Return the steps that turn the mounted core into this layout's core by attaching and detaching mirror disks."""
    node = core_of(plan.nodes[name])
    return plan_changed(_layout(plan, name), node, core, _context_now(plan, host, node, first_loop))


def plan_rest(plan: RunPlan, host: Host, name: str, core: LayoutPlan, first_loop: int = 0) -> LayoutPlan:
    """Return the steps that add the layout's log and cache devices to the mounted core."""
    node = plan.nodes[name]
    return plan_extended(_layout(plan, name), node, core, _context_now(plan, host, node, first_loop))


def _context_now(plan: RunPlan, host: Host, node: Node, first_loop: int) -> PlanningContext:
    return _context(plan, gather_facts(host, plan.campaign, (node,), plan.site.state_dir), first_loop)


def _context(plan: RunPlan, facts: HostFacts, first_loop: int = 0) -> PlanningContext:
    return PlanningContext(plan.campaign, plan.site, facts, plan.allowed_disks, first_loop)


def _layout(plan: RunPlan, name: str) -> Layout:
    return next(layout for layout in plan.layouts if layout.name == name)


def _resolved(layout: Layout, campaign: Campaign) -> Node:
    return resolve(layout.expression, {device.name for device in campaign.devices})


def _programs(campaign: Campaign) -> Iterable[str]:
    return {
        *_ALWAYS_NEEDED,
        *(program for workload in campaign.workloads for program in generator_for(workload).programs),
        *(program for layer in all_layers().values() for program in layer.programs),
        *(program for device in campaign.devices for program in programs_of(device.source)),
    }


def building_versions(plan: RunPlan) -> frozenset[ProgramVersion]:
    """Return the programs that build the layouts and devices. The run records their versions."""
    used = {name for node in plan.nodes.values() for name in tree.devices(node)}
    sources = (device.source for device in plan.campaign.devices if device.name in used)
    of_layers = {entry.layer.version for node in plan.nodes.values() for entry in tree.layer_nodes(node)}
    of_devices = {version for source in sources for version in versions_of(source)}
    return frozenset(version for version in of_layers | of_devices if version is not None)


def _cell(workload: Workload, campaign: Campaign, host: Host) -> CellJobs:
    with located_in(workload):
        load = generator_for(workload).prepare(workload, campaign.measure.longest_s, host)
        _check_metric(workload, load)
        _check_bins(workload, campaign, generator_of(load))
        return CellJobs(workload, load)


def _check_metric(workload: Workload, load: Load) -> None:
    """Raise a CampaignError if the workload is compared by a metric that its load can't provide."""
    metric = metric_of(workload.metric)
    of = metric.of
    where = f"the metric of workload {workload.name} is {workload.metric}"
    if of == "syncs" and not any(part.syncs for part in load.parts):
        raise CampaignError(f"{where}, but its load never syncs", "choose another metric: p99").concerning("metric")
    if of == "read" and not load.reads:
        raise CampaignError(f"{where}, but its load never reads", "choose another metric: p99").concerning("metric")
    if of == "write" and not load.writes:
        raise CampaignError(f"{where}, but its load never writes", "choose another metric: p99").concerning("metric")
    if metric.is_of_ios and not any(part.measures_latency for part in load.parts):
        raise CampaignError(f"{where}, but no latency is measured", "choose another metric: iops").concerning("metric")


def _check_bins(workload: Workload, campaign: Campaign, generator: LoadGenerator) -> None:
    """Raise a CampaignError if the generator's latency bins are too wide for the tolerance that `until` sets."""
    if mistake := bin_mistake(workload, campaign.measure, generator.bin_width):
        raise CampaignError(*mistake).concerning("metric")


def _check_values(cells: Sequence[CellJobs], host: Host) -> None:
    """Let the load generators check all loads, several at a time. If a check fails, check each of its loads separately.

    This shows which load caused the failure.
    """
    for first in range(0, len(cells), _CELLS_AT_ONCE):
        together = cells[first : first + _CELLS_AT_ONCE]
        try:
            _check(together, host)
        except CampaignError:
            for cell in together:
                with located_in(cell.workload):
                    _check((cell,), host)
            raise


def _check(cells: Iterable[CellJobs], host: Host) -> None:
    loads: dict[str, dict[str, Load]] = {}
    for cell in cells:
        loads.setdefault(cell.load.generator, {})[cell.workload.name] = cell.load
    for name, each in loads.items():
        all_generators()[name].check(each, host)


def _check_room(planned: LayoutPlan, plan: RunPlan, facts: HostFacts) -> None:
    """Raise a CampaignError if the test files don't fit on the layout, whose capacity is estimated conservatively."""
    volumes = dict(zip(tree.devices(planned.node), (device.volume for device in planned.devices), strict=True))
    sizes = {name: volume.size_bytes or 0 for name, volume in volumes.items()}
    # During the run, a load is stopped if less than `floor_bytes` is left, so the same again is kept for metadata.
    free = {path: directory.size_bytes or 0 for path, directory in facts.directories.items()}
    sizes |= {path: free_bytes - 2 * floor_bytes(free_bytes) for path, free_bytes in free.items()}
    needed, room = needed_bytes(planned.node, planned.tree, plan), tree.capacity_bytes(planned.node, sizes)
    if needed > room:
        raise CampaignError(
            f"layout {planned.layout.name} has room for about {format_size(room)}, but the workloads' test files take "
            f"{format_size(needed)}",
            "give the workloads a smaller `size` or `filesize`, or the layout larger devices or a directory with more "
            "space",
        )
    largest_room = tree.largest_file_bytes(planned.node, sizes)
    for cell in plan.cells:
        largest = max(max(part.file_bytes, (part.size_bytes or 0) // max(1, part.files)) for part in cell.load.parts)
        if cell.workload.fill and largest > largest_room:
            with located_in(cell.workload):
                raise CampaignError(
                    f"workload {cell.workload.name} has a file of {format_size(largest)}, but a file on layout "
                    f"{planned.layout.name} can be at most {format_size(largest_room)}",
                    "a file must fit on one branch: use larger devices for the branches, or a smaller `size` for the "
                    "workload",
                ).concerning("size")


def needed_bytes(node: Node, built: tree.TreePlan, plan: RunPlan) -> int:
    """Return the total size of all test files of a layout in bytes.

    Files that several workloads share are counted once. On a block device, all workloads use the same bytes.
    """
    filled = [cell for cell in plan.cells if cell.workload.fill]
    if built.volume.is_block:
        path = built.volume.path
        loads = [generator_of(cell.load).on_device(cell.load, path) for cell in filled]
        return max((load.end_bytes for load in loads), default=0)
    return _most_at_a_time(node, [(cell, cell.load.created_bytes) for cell in filled])


def needed_files(node: Node, plan: RunPlan) -> int:
    """Return the largest number of test files that a layout can have at a time."""
    return _most_at_a_time(
        node,
        [
            (cell, sum(p.files * p.clones for p in cell.load.parts if cell.workload.fill or p.makes_new_files))
            for cell in plan.cells
        ],
    )


def _most_at_a_time(node: Node, amounts: Iterable[tuple[CellJobs, int]]) -> int:
    """Add up what the cells' test files need. Of the cells that share their files, the largest amount counts."""
    sets: dict[str, int] = {}
    apart = tree.copies_on_write(node)
    for cell, amount in amounts:
        place = generator_of(cell.load).file_set(cell.workload, cell.load, writers_apart=apart)
        sets[place] = max(sets.get(place, 0), amount)
    return sum(sets.values())
