"""One session of a run: connect to the host, plan the run, create or reopen its directory, and run the trials."""

import contextlib
import errno
import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from poolproof.campaign.calibration import calibrated_device
from poolproof.campaign.external_engine import with_engines
from poolproof.campaign.flags import check_wipe
from poolproof.campaign.measure import removed_criterion
from poolproof.campaign.model import Campaign
from poolproof.campaign.write import format_campaign
from poolproof.campaign.yaml import parse_campaign
from poolproof.devices.disk import check_wiped
from poolproof.devices.permission import keep_permission
from poolproof.errors import LOST_DISK, NO_ROOM, BuildError, GuardError, Interrupted, RunError, as_word
from poolproof.facts.block import block_devices
from poolproof.facts.conditions import read_conditions
from poolproof.facts.machine import mark_of, program_versions, tunables
from poolproof.hosts.base import Host
from poolproof.lab.reach import ReachedHost, reach_for_campaign, reach_others, reach_own_lab
from poolproof.layers.layer_catalogue import recorded_settings
from poolproof.layers.tree import directories, hosts_of
from poolproof.measure import cleanup
from poolproof.measure.host_lock import host_locked, real_disks, uses_of
from poolproof.measure.model import Listener
from poolproof.measure.order import build_rounds
from poolproof.measure.plan import (
    BuildDirectories,
    RunPlan,
    building_versions,
    check_disks_of_layers,
    check_without_host,
    make_plan,
    plan_layouts,
)
from poolproof.measure.resume_permission import still_permitted
from poolproof.provision.blocked import blocked_by_run
from poolproof.provision.directories import RAM_FILES, directory_steps, owner_of, real_directory
from poolproof.provision.layout_plan import LayoutPlan, gather_facts
from poolproof.provision.owned import new_label
from poolproof.results.runs.directory import RunDirectory
from poolproof.results.runs.model import RunLab, RunRecord
from poolproof.results.runs.occupied import check_without_run
from poolproof.results.runs.resumes import changes_text, machine_changes
from poolproof.results.runs.trust import check_creatable
from poolproof.steps import Step
from poolproof.version import __version__

_UNWRITABLE = (*NO_ROOM, *LOST_DISK, errno.EROFS)

Tell = Callable[[str], None]


@dataclass(frozen=True)
class RunRequest:
    """A request for a new run.

    `campaign_text`: the campaign file as the user wrote it.
    `out`: the path of the run directory, or None for the default.
    `work`: the work directory on the host.
    `wipe`: the disks that may be overwritten.
    `on`: the name of the host.
    `lab`: the lab that the run starts for itself, or None.
    `keep_lab`: whether that lab keeps running after the run.
    `share_host`: whether the run may start while other runs are in progress on this machine.
    """

    campaign: Campaign
    campaign_text: str
    out: Path | None
    work: str
    wipe: frozenset[str]
    on: str
    lab: RunLab | None = None
    keep_lab: bool = False
    share_host: bool = False


@dataclass(frozen=True)
class Session:
    """A planned run, and the host on which it runs."""

    plan: RunPlan
    host: Host


@contextlib.contextmanager
def open_session(request: RunRequest, tell: Tell) -> Iterator[Session]:
    """Connect to the host of a new run, and plan the run.

    This changes nothing on the host, but may start a lab. Raises a PoolproofError if the host can't be reached or can't
    build the campaign's layouts, if the campaign contains a mistake, or if others could change the results.
    """
    check_creatable(_run_path(request, datetime.now()))
    label = new_label()
    if request.lab is None:
        reaching = reach_for_campaign(request.on, request.campaign, request.wipe)
    else:
        check_without_host(request.campaign)  # report a mistake now, not after building an image and booting it
        lab_name, keep = cleanup.own_lab_name(label), request.keep_lab
        reaching = reach_own_lab(request.lab, lab_name, request.campaign, keep=keep, tell=tell)
    with reaching as reached:
        work = real_directory(reached.host, request.work).rstrip("/")
        directories = BuildDirectories(label, f"{work}/poolproof-{label}", f"{RAM_FILES}/poolproof-{label}")
        seed = request.campaign.measure.seed
        seed = secrets.randbelow(2**31) if seed is None else seed
        with _planned(reached, directories, seed) as session:
            if request.wipe:
                check_wiped(request.wipe, reached.campaign.devices, block_devices(reached.host, ()))
            yield session


@contextlib.contextmanager
def reopen_session(
    run: RunDirectory, tell: Tell, *, on: str | None, engines: Sequence[str] = (), wipe: Sequence[str] = ()
) -> Iterator[Session]:
    """Connect to the host of an interrupted run, clean up what the run left there, and plan the run again.

    `on`: another name for the same host.
    `engines`: the I/O engine files that fio may load. They are never taken from the run, because it may come from a
    stranger.
    `wipe`: the disks that may be overwritten, in addition to those that the host remembers (`devices/permission.py`).

    Raises:
        RunError: the run was imported, is in use, is from another machine, could have been written by another user, or
            used a steady-state criterion that this version does not support.
        GuardError: the host does not remember that the run may overwrite its disks, or someone has written to one.
        BuildError: a change that the run left behind can't be undone, or its journal was lost.
        PoolproofError: as for `open_session`.
    """
    record = run.record()
    if record.imported:
        raise RunError(f"{run.path} was imported and can't be resumed", f"poolproof show {as_word(run.path)}")
    removed = removed_criterion(record.campaign)
    if removed:
        raise RunError(
            f"{run.path} was measured with `steady: {removed}`, which this version no longer supports, "
            "so it can't be resumed",
            f"poolproof show {as_word(run.path)}",
        )
    cleanup.run_owned(run)
    campaign = with_engines(parse_campaign(record.campaign, str(run.path / "run.json"), recorded=True), engines)
    if wipe:
        check_wipe(campaign, wipe)
    if record.lab is not None:
        with cleanup.locked(run):
            cleanup.end_own_lab(run, record)
        reaching = reach_own_lab(record.lab, cleanup.own_lab_name(record.label), campaign, keep=False, tell=tell)
    else:
        reaching = reach_for_campaign(on or record.host, campaign, frozenset(wipe))
    with contextlib.ExitStack() as stack:
        with cleanup.unreachable_explained(run, "resume"):
            reached = stack.enter_context(reaching)
            if record.lab is None:
                cleanup.check_machine(run.path, record, reached.host)
            with cleanup.locked(run):
                cleanup.undo_leftovers(run, reached.host, tell)
                if record.lab is None:
                    cleanup.check_removed(run, record, reached.host)
        if record.lab is None:
            reached = still_permitted(run, record, reached, wipe)
        directories = BuildDirectories(record.label, record.state_dir, record.ram_dir)
        with _planned(reached, directories, record.seed) as session:
            now = replace(
                record, facts=_facts(session.plan, reached.host), versions=_versions(session.plan, reached.host)
            )
            if changes := machine_changes(record, now):
                tell(changes_text(changes))
            resumed_at = (*record.resumed_at, datetime.now().astimezone().isoformat(timespec="seconds"))
            with cleanup.locked(run):
                run.write_record(
                    replace(
                        record,
                        changes={**record.changes, **changes},
                        resumed_at=resumed_at,
                        allowed_disks=tuple(sorted({*record.allowed_disks, *wipe})),
                    )
                )
            yield session


@contextlib.contextmanager
def _planned(reached: ReachedHost, directories: BuildDirectories, seed: int) -> Iterator[Session]:
    """Plan the run on its host, and connect to the other hosts on which its layouts are built."""
    try:
        plan = make_plan(reached.campaign, reached.host, directories, seed, reached.permitted)
    except GuardError as error:
        raise blocked_by_run(error, reached.host, directories.state_dir.rpartition("/")[0] or "/") from None
    with reach_others(reached.host, frozenset().union(*map(hosts_of, plan.nodes.values()))) as hosts:
        if hosts is not reached.host:
            check_disks_of_layers(plan, hosts)
        yield Session(plan, hosts)


def create_run(request: RunRequest, session: Session) -> RunDirectory:
    """Create the run directory, and record the host, the program versions and the campaign in it.

    Raises a RunError if the directory exists and is not empty, can't be created, or could be changed by others.
    """
    plan, host, now = session.plan, session.host, datetime.now()
    record = RunRecord(
        poolproof=__version__,
        campaign=format_campaign(request.campaign),
        label=plan.site.label,
        state_dir=plan.site.state_dir,
        ram_dir=plan.site.ram_dir,
        seed=plan.seed,
        host=host.name,
        begun_at=now.astimezone().isoformat(timespec="seconds"),
        facts=_facts(plan, host),
        versions=_versions(plan, host),
        allowed_disks=tuple(sorted(request.wipe)),
        lab=request.lab,
    )
    path = _run_path(request, now)
    check_without_run(path)
    return RunDirectory.create(path, request.campaign_text, record)


def _facts(plan: RunPlan, host: Host) -> dict[str, str]:
    return {
        "kernel": plan.machine.kernel,
        "distribution": plan.machine.distribution,
        "processors": str(plan.machine.processors),
        "processor": plan.machine.processor,
        "ram_bytes": str(plan.machine.ram_bytes),
        "machine": mark_of(host),
        **tunables(host, recorded_settings()),
        **read_conditions(host).texts,
    }


def _versions(plan: RunPlan, host: Host) -> dict[str, str]:
    return {
        "poolproof": __version__,
        **{each.name: each.version(host) for each in plan.generators},
        **program_versions(host, building_versions(plan)),
    }


def planned_steps(request: RunRequest, session: Session) -> tuple[tuple[Step, ...], tuple[LayoutPlan, ...]]:
    """For `--dry-run`, return the steps that create the run's own directories, and the plan of each layout."""
    plan = session.plan
    around = gather_facts(session.host, plan.campaign, plan.nodes.values(), plan.site.state_dir)
    owner = owner_of(_run_path(request, datetime.now()))
    return directory_steps(plan.site, owner, with_ram=plan.uses_ram_files), tuple(plan_layouts(plan, around))


def planned_rounds(session: Session) -> list[list[str]]:
    """For `--dry-run`, return the names of the layouts in the order of building, as one list per round."""
    campaign = session.plan.campaign
    return build_rounds([layout.name for layout in campaign.layouts], campaign.measure.builds, session.plan.seed)


def measure_run(
    session: Session,
    run: RunDirectory,
    listen: contextlib.AbstractContextManager[Listener],
) -> None:
    """Run the remaining trials.

    When this function returns or raises, the layouts have been removed, except after a HostUnreachable or a BuildError.

    Raises:
        BuildError: something could not be removed.
        Interrupted: the user pressed Ctrl-C, or a signal arrived.
        HostUnreachable: the connection was lost.
        RunError: the run directory can't be written.
    """
    from poolproof.measure.conduct import conduct

    resume = f"poolproof resume {as_word(run.path)}"
    host, state_dir = session.host, session.plan.site.state_dir
    try:
        with cleanup.unreachable_explained(run, "resume"), cleanup.locked(run), listen as listener:
            keep_permission(host, state_dir, session.plan.allowed_disks)
            conduct(session.plan, host, run, listener)
            cleanup.forget_disks(run.record(), host)
    except KeyboardInterrupt:
        raise Interrupted("interrupted; layouts removed, finished trials saved", resume) from None
    except OSError as error:
        if error.errno not in _UNWRITABLE:
            raise
        first = f"make its file system writable (findmnt -T {as_word(run.path)})"
        if error.errno in NO_ROOM:
            first = f"free some space (df -h {as_word(run.path)})"
        elif error.errno in LOST_DISK:
            first = f"repair its file system (findmnt -T {as_word(run.path)}; dmesg | tail)"
        raise RunError(
            f"{run.path} cannot be written: {error.strerror}; layouts removed, finished trials saved",
            f"{first}, then: {resume}",
        ) from None


def locked_host(session: Session, *, share: bool) -> contextlib.AbstractContextManager[None]:
    """If the session's host is this machine, hold its locks while the context is active.

    Raises a HostError if another run is in progress, or if a lock file can't be opened. With `share`, another run
    causes an error only if it uses one of the same disks or directories.
    """
    if not session.plan.site.is_here:
        return contextlib.nullcontext()
    campaign, nodes = session.plan.campaign, session.plan.nodes.values()
    folders = frozenset[str]().union(*map(directories, nodes))
    disks = block_devices(session.host, ()) if real_disks(campaign) else ()
    return host_locked(uses_of(campaign, folders, disks), share=share)


def check_measured(run: RunDirectory) -> None:
    """If no trial of any layout has results, raise a BuildError with the finding of the first trial.

    Trials of individual disks don't count, because the user asked for the layouts.
    """
    trials = [trial for trial in run.trials() if calibrated_device(trial.layout) is None]
    if all(trial.figures is None for trial in trials):
        finding = trials[0].findings[0]
        raise BuildError(f"nothing could be measured: {finding.message}", finding.fix)


def _run_path(request: RunRequest, now: datetime) -> Path:
    """Return the path that the user chose for the run directory, or an unused default path: runs/NAME-DATE-TIME.

    If that path exists, the seconds are added to it and, if necessary, a number.
    """
    if request.out is not None:
        return request.out
    base = Path("runs") / f"{request.campaign.name}-{now:%Y%m%d-%H%M}"
    candidates = [base, base.with_name(f"{base.name}{now:%S}")]
    candidates += [base.with_name(f"{base.name}{now:%S}-{number}") for number in range(2, 100)]
    return next(path for path in candidates if not path.exists())
