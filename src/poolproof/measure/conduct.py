"""Conduct a run: build, fill, measure and remove each layout.

With `calibrate`, each disk is first measured individually.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from random import randrange

from poolproof.campaign.calibration import builds_of
from poolproof.campaign.cell_key import CellKey
from poolproof.campaign.model import Layout
from poolproof.errors import BuildError, PoolproofError
from poolproof.facts.block import used_loops
from poolproof.hosts.base import Host, HostUnreachable, host_named, host_names
from poolproof.layers.adapt import core_of, families
from poolproof.layers.open_layout import describe, deviations, expected_below
from poolproof.layers.tree import directories, on_host
from poolproof.measure.disk_faults import check_layers
from poolproof.measure.existing_files import found_directory
from poolproof.measure.free_space import MonitoredDirectory, enough_space
from poolproof.measure.health_check import watched
from poolproof.measure.leftovers import Leftovers
from poolproof.measure.model import BuiltLayout, Listener, TrialContext, cause_of
from poolproof.measure.order import TrialOrder, build_rounds
from poolproof.measure.own_storage import OwnStorage
from poolproof.measure.plan import RunPlan, needed_bytes, needed_files, plan_core, plan_next_core, plan_one, plan_rest
from poolproof.measure.prepare import prepare
from poolproof.measure.schedule import Schedule, schedule_of
from poolproof.measure.space import counted_bytes
from poolproof.measure.target import target_of
from poolproof.measure.trial import failed_trial, run_trial
from poolproof.provision.apply import apply
from poolproof.provision.directories import directory_steps, owner_of
from poolproof.provision.journal import Journal
from poolproof.provision.layout_plan import LayoutPlan
from poolproof.provision.leaf_guard import check_leaves
from poolproof.provision.owned import owned_by_site
from poolproof.provision.stalled import StalledDisks
from poolproof.provision.undo import FailedUndo, complain, undo_all
from poolproof.results.runs.convergence import VariancePriors, priors_among
from poolproof.results.runs.directory import RunDirectory
from poolproof.results.runs.model import Trial

_IMAGES = ("/dev/loop", "/dev/nbd")
_ATTEMPTS = 5
_WITH_LOWEST = 2
_LOOPS_TO_DRAW_FROM = 64
_LOOP_TAKEN = "failed to set up loop device: Device or resource busy"  # losetup(8)


def conduct(plan: RunPlan, host: Host, run: RunDirectory, listener: Listener) -> None:
    """Run all remaining trials, then remove everything that the run built on the host.

    If a layout can't be built, its trials are recorded as `failed` and the run continues. If a layout can't be removed,
    the run continues with the layouts that don't need its devices, and tries again at the end. If the host becomes
    unreachable, the current trial is recorded as `failed`, and the run ends but can be resumed later.

    Raises:
        BuildError: something could not be removed.
        HostUnreachable: the connection was lost. If it can't be restored, the layout stays on the host.
        KeyboardInterrupt: the user pressed Ctrl-C. Everything has been removed.
    """
    journal = Journal(run.journal_path, root=run.root)
    done = _finished(run)
    bare = _orders(plan, plan.calibration.layouts, done)
    orders = _orders(plan, plan.campaign.layouts, done)
    schedule = schedule_of(plan.campaign, orders)
    remaining = {name: order.announce() for name, order in {**bare, **orders}.items()}
    if not any(remaining.values()) and not (schedule and schedule.candidates()):
        return
    listener.campaign_begins(sum(remaining.values()), len(done))
    with StalledDisks(journal, host, owned_by_site(plan.site)) as stalled:
        try:
            for name in host_names(host):
                owner = owner_of(run.path, host_named(host, name))
                directories = directory_steps(plan.site, owner, with_ram=plan.uses_ram_files)
                apply(on_host(directories, name), host, journal, may_overwrite=frozenset())
            left = Leftovers(plan.nodes, str(run.path))
            conductor = _Conductor(plan, host, run, journal, listener, stalled, left)
            conductor.measure([name for name in bare if remaining[name]], bare)
            if schedule is not None:
                schedule.start()
            conductor = replace(conductor, schedule=schedule)
            rounds = build_rounds(list(orders), plan.campaign.measure.builds, plan.seed)
            for build, names in enumerate(rounds, start=1):
                conductor.measure([name for name in names if orders[name].certain(build)], orders, build)
            # Spend the rest of the budget on the layouts that may still be the best, one trial of each per round.
            while schedule and (candidates := schedule.candidates()) and schedule.affords(candidates):
                if not conductor.measure(schedule.begin_round(candidates), orders, affordable=True):
                    break
        finally:
            # Also after Ctrl-C, because an error about what is left on the host is more urgent.
            _remove_everything(plan, host, run, journal, listener)


def _remove_everything(plan: RunPlan, host: Host, run: RunDirectory, journal: Journal, listener: Listener) -> None:
    """Undo all changes. If the first Ctrl-C arrives now, start again, because later ones don't interrupt anything."""

    def remove() -> None:
        complain(undo_all(journal, host, owned_by_site(plan.site), tell=listener.activity_begins), str(run.path))

    try:
        remove()
    except KeyboardInterrupt:
        remove()
        raise


def _finished(run: RunDirectory) -> tuple[Trial, ...]:
    """Return the finished trials, and remove interrupted trials from the run.

    A trial is interrupted if it failed because the connection was lost. Such a failure says nothing about the layout,
    so the trial is repeated.
    """
    trials = run.trials()
    finished = tuple(trial for trial in trials if not trial.interrupted)
    if len(finished) < len(trials):
        run.write_trials(finished)
    return finished


def _orders(plan: RunPlan, layouts: Iterable[Layout], done: Sequence[Trial]) -> dict[str, TrialOrder]:
    """Return the trial order of each layout. All layouts share one estimate of the variance between a cell's trials."""
    orders: dict[str, TrialOrder] = {}

    def spread() -> VariancePriors:
        return priors_among(cell for order in orders.values() for cell in order.cells_of_builds())

    for layout in layouts:
        workloads = [cell.workload for cell in plan.cells_of(layout.name)]
        measure = replace(plan.campaign.measure, builds=builds_of(plan.campaign, layout.name))
        orders[layout.name] = TrialOrder(layout.name, workloads, measure, plan.seed, done, spread)
    return orders


@dataclass(frozen=True)
class _Conductor:
    """Builds, measures and removes layouts.

    `schedule`: sets the time limit of each trial. None if the campaign has no budget, and while disks are measured
    individually.
    """

    plan: RunPlan
    host: Host
    run: RunDirectory
    journal: Journal
    listener: Listener
    stalled: StalledDisks
    left: Leftovers
    schedule: Schedule | None = None

    def measure(
        self, names: Sequence[str], orders: Mapping[str, TrialOrder], build: int = 1, *, affordable: bool = False
    ) -> bool:
        """Measure one build of each of these layouts, one family at a time. Return True if all were measured.

        Within a family, each layout is converted into the next one in place. If layouts are built several times, each
        is built from scratch instead, because a converted layout is not an independent build.

        `affordable`: whether to stop and return False if the time that the schedule has left does not suffice for the
        next family.
        """
        apart = self.plan.campaign.measure.builds > 1
        for family in [[name] for name in names] if apart else families(self.plan.nodes, names):
            if affordable and self.schedule and not self.schedule.affords(family):
                return False
            self._measure_family({name: orders[name] for name in family}, build)
        return True

    def _measure_family(self, orders: Mapping[str, TrialOrder], build: int) -> None:
        """Measure the layouts of a family.

        The part that they have in common, called the core, is built once and then changed for each layout. After a
        failure, it is built again. A family with a single layout has no core. Whatever can't be removed now is removed
        at the end of the run.
        """
        before = self._outstanding()
        core: LayoutPlan | None = None
        for name, order in orders.items():
            self.listener.layout_begins(name, len(order.certain(build)), build)
            self.stalled.forget()
            try:
                self.left.check(name)
                if len(orders) > 1:
                    core = self._core(name, core, before)
                self._measure_layout(name, order, build, core)
            except HostUnreachable:
                raise
            except PoolproofError as error:
                cause = cause_of(error, (self.stalled.check,))
                self.listener.warning(f"{name}: {cause.message}")
                self._fail_remaining(order, build, cause)
                self._remove_or_leave(before, list(orders), told=cause)
                core = None
        self._remove_or_leave(before, list(orders))

    def _core(self, name: str, core: LayoutPlan | None, before: set[int]) -> LayoutPlan:
        """Convert the current core into the layout's core. If that fails or none is built yet, build a new one."""
        if core is not None and core.node == core_of(self.plan.nodes[name]):
            return core
        if core is not None:
            try:
                return self._build(partial(plan_next_core, self.plan, self.host, name, core), core)
            except BuildError as error:
                self.listener.warning(f"{name}: {error.message}; building it from scratch")
                self._remove_all_but(before)
        return self._build(partial(plan_core, self.plan, self.host, name))

    def _measure_layout(self, name: str, order: TrialOrder, build: int, core: LayoutPlan | None) -> None:
        """Build the layout, either from scratch or on its core, measure it, and remove everything built for it."""
        before, plan, host = self._outstanding(), self.plan, self.host
        planner = partial(plan_rest, plan, host, name, core) if core else partial(plan_one, plan, host, name)
        self._run_trials(self._open_layout(self._build(planner, core)), order, build)
        self._remove_all_but(before)

    def _outstanding(self) -> set[int]:
        return {change.number for change in self.journal.outstanding()}

    def _remove_all_but(self, keep: set[int]) -> None:
        """Undo all changes except those whose numbers are in `keep`. Raises a BuildError if one can't be undone."""
        complain(self._undo_all_but(keep), str(self.run.path))

    def _remove_or_leave(self, keep: set[int], layouts: Sequence[str], *, told: PoolproofError | None = None) -> None:
        """Undo all changes except those whose numbers are in `keep`, and warn about those that can't be undone.

        After such a failure, the run continues without the devices that `layouts` use.

        `told`: an error that the user has already seen, so that the warning does not repeat it.
        """
        failed = self.left.add(layouts, self._undo_all_but(keep), self.journal)
        try:
            complain(failed, str(self.run.path))
        except BuildError as error:
            if told is None or error.message != told.message:
                self.listener.warning(f"{', '.join(layouts)}: {error.message}")

    def _undo_all_but(self, keep: set[int]) -> tuple[FailedUndo, ...]:
        return undo_all(
            self.journal,
            self.host,
            owned_by_site(self.plan.site),
            keep=lambda change: change.number in keep or change in self.left,
            tell=self.listener.activity_begins,
        )

    def _build(self, planner: Callable[[int], LayoutPlan], core: LayoutPlan | None = None) -> LayoutPlan:
        """Plan a layout and build it.

        If another program has taken one of the planned loop devices in the meantime, plan and build it again. From
        the third attempt on, the lowest number of a loop device is drawn at random, so that two runs that start at the
        same moment do not collide again and again.

        `core`: the plan of the core that is already built.
        """
        ends = [generator.cleanup_step(self.plan.site.state_dir) for generator in self.plan.generators]
        for attempt in range(1, _ATTEMPTS + 1):
            planned = planner(0 if attempt <= _WITH_LOWEST else randrange(_LOOPS_TO_DRAW_FROM))
            check_leaves(planned.tree, self.host, self.plan.allowed_disks, core.tree.leaves if core else ())
            before = self._outstanding()
            try:
                apply(
                    (*planned.steps, *ends),
                    self.host,
                    self.journal,
                    may_overwrite=planned.may_overwrite,
                    identity_checks=planned.identity_checks,
                    tell=self.listener.activity_begins,
                )
                return planned
            except BuildError as error:
                self._remove_all_but(before)
                # the other program may have released the device again
                was_taken = _LOOP_TAKEN in error.message or not planned.loops.isdisjoint(used_loops(self.host))
                if attempt == _ATTEMPTS or not was_taken:
                    raise
        raise AssertionError("unreachable")

    def _open_layout(self, planned: LayoutPlan) -> BuiltLayout:
        host, tree = self.host, planned.tree
        for deviation in deviations(tree, host):
            self.listener.warning(f"{planned.layout.name}: {deviation}")
        own = OwnStorage(tree, planned.identity_checks, self.plan.site.state_dir)
        own.begin(host)
        return BuiltLayout(
            name=planned.layout.name,
            node=planned.node,
            tree=tree,
            target=describe(tree, host, target_of(host, tree.volume, tree.leaves, self.plan.machine)),
            scratch=self.plan.site.state_dir,
            found=found_directory(planned.node),
            own=own,
            identity_checks=planned.identity_checks,
            below=expected_below(tree, host),
        )

    def _run_trials(self, layout: BuiltLayout, order: TrialOrder, build: int) -> None:
        names = {workload.name for workload, _number in order.certain(build)}
        cells = [cell for cell in self.plan.cells_of(layout.name) if cell.workload.name in names]
        with watched(self.host, layout.tree) as check_health, self._space(layout) as check_space:
            try:
                prepared = prepare(self.host, layout, cells, self.listener)
            except PoolproofError as error:
                raise cause_of(error, (partial(check_layers, self.host, layout.tree),)) from None
            if self.schedule is not None:
                self.schedule.filled(layout.name, prepared)
            checks = (check_health, self.stalled.check, check_space)
            context = TrialContext(
                self.host, self.run, layout, self.plan.campaign.measure, self.listener, checks=checks, build=build
            )
            for workload, number in order.ahead(prepared, build):
                if order.is_new(workload, build):
                    self.listener.trial_added(CellKey(layout.name, workload.name))
                if self.schedule is not None:
                    context.measure = self.schedule.measure(layout.name, workload.name)
                order.add(run_trial(context, prepared[workload.name], number))
                for check in checks:
                    check()

    def _space(self, layout: BuiltLayout) -> AbstractContextManager[Callable[[], None]]:
        """Monitor the file systems of images, existing directories and logs. Kill the load before one is full."""
        devices, needed = self.plan.campaign.devices, needed_bytes(layout.node, layout.tree, self.plan)
        files = needed_files(layout.node, self.plan)
        places = [MonitoredDirectory(path, needed, files) for path in directories(layout.node)]
        has_images = any(leaf.path.startswith(_IMAGES) and not leaf.host for leaf in layout.leaves)
        # Without images, the load generator's logs are all that the run writes to its scratch directory.
        places.append(
            MonitoredDirectory(layout.scratch, counted_bytes(layout.node, devices, needed) if has_images else 0)
        )
        if self.plan.uses_ram_files:  # other programs, such as a second run, may take the RAM that was free
            places.append(MonitoredDirectory(self.plan.site.ram_dir, counted_bytes(layout.node, devices, needed)))

        def stop() -> None:
            for generator in self.plan.generators:
                generator.kill(self.host, layout.scratch)

        return enough_space(self.host, places, stop)

    def _fail_remaining(self, order: TrialOrder, build: int, error: PoolproofError) -> None:
        for workload, number in order.certain(build):
            trial = failed_trial(order.layout, workload, number, error, build)
            self.run.append(trial)
            self.listener.trial_ends(trial)
            order.add(trial)
