"""Conduct a run: each bare disk where asked, then each layout is built, filled, measured and taken down."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from poolproof.campaign.model import Layout
from poolproof.errors import BuildError, PoolproofError
from poolproof.facts.block import used_loops
from poolproof.hosts.base import Host, HostUnreachable
from poolproof.layers.base import Node
from poolproof.layers.change import can_become
from poolproof.layers.extend import core_of
from poolproof.layers.open_layout import describe, deviations
from poolproof.layers.tree import devices
from poolproof.measure.events import Listener
from poolproof.measure.found import found_directory
from poolproof.measure.health_check import watched
from poolproof.measure.model import BuiltLayout, TrialContext
from poolproof.measure.order import TrialOrder
from poolproof.measure.plan import RunPlan, plan_core, plan_next_core, plan_one, plan_rest
from poolproof.measure.prepare import prepare
from poolproof.measure.schedule import Schedule, schedule_of
from poolproof.measure.target import target_of
from poolproof.measure.trial import failed_trial, run_trial
from poolproof.provision.apply import apply
from poolproof.provision.directories import directory_steps, owner_of
from poolproof.provision.journal import Journal
from poolproof.provision.layout import LayoutPlan
from poolproof.provision.undo import complain, undo_all
from poolproof.results.runs.convergence import VariancePriors, priors_among
from poolproof.results.runs.directory import RunDirectory
from poolproof.results.runs.model import Trial

_ATTEMPTS = 3


def conduct(plan: RunPlan, host: Host, run: RunDirectory, listener: Listener) -> None:
    """Run every trial that is not done yet; at the end nothing of the run is left on the host.

    A layout that can't be built makes its trials `failed`, and the run goes on. A host that can't be reached any more
    ends the run: the trial at hand is `failed`, the others stay to be done.

    Raises:
        BuildError: something could not be taken down.
        HostUnreachable: the link broke; if it can't be made again, the layout still stands there.
        KeyboardInterrupt: after everything was taken down.
    """
    journal = Journal(run.journal_path)
    done = run.trials()
    bare = _orders(plan, plan.calibration.layouts, done)
    orders = _orders(plan, plan.campaign.layouts, done)
    schedule = schedule_of(plan.campaign, orders)
    ahead = {name: order.announce() for name, order in {**bare, **orders}.items()}
    if not any(ahead.values()) and not (schedule and schedule.candidates()):
        return
    listener.campaign_begins(sum(ahead.values()), len(done))
    try:
        own_places = directory_steps(plan.site, owner_of(run.path), with_ram=plan.uses_ram_files)
        apply(own_places, host, journal, may_overwrite=frozenset())
        conductor = _Conductor(plan, host, run, journal, listener)
        _measure_all(conductor, bare, ahead)
        if schedule is not None:
            schedule.start()
        conductor = replace(conductor, schedule=schedule)
        _measure_all(conductor, orders, ahead)
        if schedule is not None:
            _sample_adaptively(conductor, schedule, orders)
    finally:
        # Also after Ctrl-C: what is left on the machine is the more urgent thing to say.
        complain(undo_all(journal, host, tell=listener.step), str(run.path))


@dataclass(frozen=True)
class _Conductor:
    plan: RunPlan
    host: Host
    run: RunDirectory
    journal: Journal
    listener: Listener
    schedule: Schedule | None = None


def _orders(plan: RunPlan, layouts: Iterable[Layout], done: Sequence[Trial]) -> dict[str, TrialOrder]:
    """The trials of each layout; how much trials differ is told by those of all these layouts."""
    orders: dict[str, TrialOrder] = {}

    def spread() -> VariancePriors:
        return priors_among(cell for order in orders.values() for cell in order.cells())

    for layout in layouts:
        workloads = [cell.workload for cell in plan.cells_of(layout.name)]
        orders[layout.name] = TrialOrder(layout.name, workloads, plan.campaign.measure, plan.seed, done, spread)
    return orders


def _measure_all(conductor: _Conductor, orders: Mapping[str, TrialOrder], ahead: Mapping[str, int]) -> None:
    for family in families(conductor.plan.nodes, [name for name in orders if ahead[name]]):
        _measure_family(conductor, {name: orders[name] for name in family})


def _sample_adaptively(conductor: _Conductor, schedule: Schedule, orders: Mapping[str, TrialOrder]) -> None:
    """What is left of the budget goes to the layouts that may still be the best, a trial of each at a time."""
    while candidates := schedule.candidates():
        if not schedule.affords(candidates):
            return
        for family in families(conductor.plan.nodes, schedule.begin_round(candidates)):
            if not schedule.affords(family):
                return
            _measure_family(conductor, {name: orders[name] for name in family})


def families(nodes: Mapping[str, Node], names: Sequence[str]) -> list[list[str]]:
    """The layouts in their order. Neighbours of which one becomes the next while it stands are a family.

    They differ in log and cache devices of a pool, or in the leaves of its mirrors. A device that was given up on the
    way is not taken in again within a family: as long as the family stands, so does what it was.
    """
    found: list[list[str]] = []
    for name in names:
        if found and _goes_on(nodes, found[-1], name):
            found[-1].append(name)
        else:
            found.append([name])
    return found


def _goes_on(nodes: Mapping[str, Node], family: Sequence[str], name: str) -> bool:
    before, after = core_of(nodes[family[-1]]), core_of(nodes[name])
    given_up = {device for member in family for device in devices(core_of(nodes[member]))} - set(devices(before))
    if not given_up.isdisjoint(devices(nodes[name])):
        return False
    if before != after:
        return can_become(before, after)
    # the same layout twice, with nothing to add, is asked for to be built twice
    return any(nodes[member] != after for member in (name, *family) if core_of(nodes[member]) == after)


def _measure_family(conductor: _Conductor, orders: Mapping[str, TrialOrder]) -> None:
    """Layouts with a core that is built once, changed in place, and built anew after a failure. One alone is whole."""
    before = _standing(conductor)
    core: LayoutPlan | None = None
    for name, order in orders.items():
        conductor.listener.layout_begins(name, len(order.certain()))
        try:
            if len(orders) > 1:
                core = _core(conductor, name, core, before)
            _measure_layout(conductor, name, order, core)
        except HostUnreachable:
            raise
        except PoolproofError as error:
            conductor.listener.warning(f"{name}: {error.message}")
            _fail_the_rest(conductor, order, error)
            _take_down(conductor, before)
            core = None
    _take_down(conductor, before)


def _core(conductor: _Conductor, name: str, core: LayoutPlan | None, before: set[int]) -> LayoutPlan:
    """The layout's core, standing: built, or made of the one that stands. If that fails, built after all."""
    plan, host = conductor.plan, conductor.host
    if core is not None and core.node == core_of(plan.nodes[name]):
        return core
    if core is not None:
        try:
            return _build(conductor, partial(plan_next_core, plan, host, name, core))
        except BuildError as error:
            conductor.listener.warning(f"{name}: {error.message}; it is built anew")
            _take_down(conductor, before)
    return _build(conductor, partial(plan_core, plan, host, name))


def _measure_layout(conductor: _Conductor, name: str, order: TrialOrder, core: LayoutPlan | None) -> None:
    """Build the layout, whole or over its core, measure it, and take down what was built here."""
    before, plan, host = _standing(conductor), conductor.plan, conductor.host
    planner = partial(plan_rest, plan, host, name, core) if core else partial(plan_one, plan, host, name)
    _run_trials(conductor, _ready(conductor, _build(conductor, planner)), order)
    _take_down(conductor, before)


def _standing(conductor: _Conductor) -> set[int]:
    return {change.number for change in conductor.journal.outstanding()}


def _take_down(conductor: _Conductor, keep: set[int]) -> None:
    """Undo all but the changes of these numbers."""
    leftovers = undo_all(
        conductor.journal, conductor.host, keep=lambda change: change.number in keep, tell=conductor.listener.step
    )
    complain(leftovers, str(conductor.run.path))


def _run_trials(conductor: _Conductor, layout: BuiltLayout, order: TrialOrder) -> None:
    plan, host = conductor.plan, conductor.host
    wanted = {workload.name for workload, _number in order.certain()}
    cells = [cell for cell in plan.cells_of(layout.name) if cell.workload.name in wanted]
    with watched(host, layout.tree) as check_pulse:
        prepared = prepare(host, layout, cells, conductor.listener)
        if conductor.schedule is not None:
            conductor.schedule.filled(layout.name, prepared)
        bench = TrialContext(host, conductor.run, layout, plan.campaign.measure, conductor.listener)
        for workload, number in order.ahead(prepared):
            if order.is_new(workload, number):
                conductor.listener.trial_added(layout.name, workload.name)
            if conductor.schedule is not None:
                bench.measure = conductor.schedule.measure(layout.name, workload.name)
            order.add(run_trial(bench, prepared[workload.name], number))
            check_pulse()


def _build(conductor: _Conductor, planner: Callable[[], LayoutPlan]) -> LayoutPlan:
    """Build what is planned; if another program took one of its loop devices meanwhile, plan anew and try again."""
    for attempt in range(1, _ATTEMPTS + 1):
        planned = planner()
        before = _standing(conductor)
        try:
            _apply(conductor, planned)
            return planned
        except BuildError:
            _take_down(conductor, before)
            if attempt == _ATTEMPTS or not planned.loops & used_loops(conductor.host):
                raise
    raise AssertionError("unreachable")


def _apply(conductor: _Conductor, planned: LayoutPlan) -> None:
    ends = [generator.cleanup_step(conductor.plan.site.state_dir) for generator in conductor.plan.generators]
    steps = (*planned.steps, *ends)
    apply(
        steps,
        conductor.host,
        conductor.journal,
        may_overwrite=planned.may_overwrite,
        identity_check=planned.identity_check,
        tell=conductor.listener.step,
    )


def _ready(conductor: _Conductor, planned: LayoutPlan) -> BuiltLayout:
    host, tree = conductor.host, planned.tree
    for doubt in deviations(tree, host):
        conductor.listener.warning(f"{planned.layout.name}: {doubt}")
    return BuiltLayout(
        name=planned.layout.name,
        node=planned.node,
        tree=tree,
        target=describe(tree, host, target_of(host, tree.volume, tree.leaves, conductor.plan.machine)),
        scratch=conductor.plan.site.state_dir,
        found=found_directory(planned.node),
        identity_check=tuple(planned.identity_check.values()),
    )


def _fail_the_rest(conductor: _Conductor, order: TrialOrder, error: PoolproofError) -> None:
    for workload, number in order.certain():
        trial = failed_trial(order.layout, workload, number, error)
        conductor.run.append(trial)
        conductor.listener.trial_ends(trial)
        order.add(trial)
