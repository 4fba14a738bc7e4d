"""Starting, resuming and planning runs: what `run`, `demo` and `resume` share."""

import contextlib
import errno
import json
import secrets
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from poolproof import __version__
from poolproof.campaign.calibration import calibrated_device
from poolproof.campaign.model import Campaign
from poolproof.campaign.write import format_campaign
from poolproof.campaign.yaml import parse_campaign
from poolproof.cli.cleaning import check_machine, end_own_lab, undo_leftovers
from poolproof.cli.following import listening
from poolproof.cli.left_behind import warn_of_the_dead
from poolproof.cli.reached_host import ReachedHost, in_own_lab, on_host
from poolproof.cli.signals import end_in_order, stop_if_asked
from poolproof.errors import NO_ROOM, BuildError, Interrupted, RunError
from poolproof.facts.machine import mark_of
from poolproof.facts.tunables import tunables
from poolproof.facts.versions import program_versions
from poolproof.hosts.base import Host, HostUnreachable
from poolproof.load.fio.render import render
from poolproof.load.fio.version import fio_version
from poolproof.measure.cells import CellJobs
from poolproof.measure.jobs import fill_job
from poolproof.measure.plan import (
    BuildDirectories,
    RunPlan,
    building_programs,
    check_expressions,
    make_plan,
    plan_layouts,
)
from poolproof.presentation.terminal.plan_text import PlannedJobs, plan_object, plan_text
from poolproof.provision.layout import look_around
from poolproof.provision.owner import owner_of
from poolproof.provision.place import RAM_FILES, new_label, places, real_directory
from poolproof.results.runs.directory import RunDirectory
from poolproof.results.runs.model import RunLab, RunRecord

_UNWRITABLE = (*NO_ROOM, errno.EROFS)


@dataclass(frozen=True)
class RunRequest:
    """What `run` was asked to do. `campaign_text` is the campaign as given, `on` the name of the host.

    `lab`: the run starts a lab of its own, which lives on after it if `keep_lab`. `plain`: no live screen.
    """

    campaign: Campaign
    campaign_text: str
    out: Path | None
    work: str
    wipe: frozenset[str]
    as_json: bool
    on: str
    lab: RunLab | None = None
    keep_lab: bool = False
    plain: bool = False


def start(request: RunRequest) -> None:
    """Begin a run and see it to its end; prints its table or its JSON object."""
    end_in_order()
    label = new_label()
    with _ground(request, label) as ground:
        plan = _plan(request, label, ground)
        stop_if_asked()
        run = _create(request, plan, ground.host)
        _conduct(plan, ground.host, run, as_json=request.as_json, plain=request.plain)


def _ground(request: RunRequest, label: str) -> contextlib.AbstractContextManager[ReachedHost]:
    if request.lab is not None:
        check_expressions(request.campaign)  # a mistake is told now, not after an image and a boot
        return in_own_lab(request.lab, label, request.campaign, keep=request.keep_lab)
    return on_host(request.on, request.campaign, request.wipe)


def go_on(path: Path, *, as_json: bool, on: str | None = None, plain: bool = False) -> None:
    """Resume a run that was stopped, on its host: first undo what it left, then do what is not done.

    `on`: another name of the same host. `plain`: no live screen.
    """
    end_in_order()
    run = RunDirectory.open(path)
    record = run.record()
    if record.imported:
        raise RunError(
            f"{path} was imported: others measured it, there is nothing to go on with", f"poolproof show {path}"
        )
    campaign = parse_campaign(record.campaign, str(run.path / "run.json"), recorded=True)
    if record.lab is not None:
        with run.locked():
            end_own_lab(run, record)
        ground = in_own_lab(record.lab, record.label, campaign, keep=False)
    else:
        ground = on_host(on or record.host, campaign, frozenset(record.allowed_disks))
    with ground as found:
        if record.lab is None:
            check_machine(path, record, found.host)
        with run.locked():
            undo_leftovers(run, found.host)
        label_places = BuildDirectories(record.label, record.state_dir, record.ram_dir)
        plan = make_plan(found.campaign, found.host, label_places, record.seed, found.permitted)
        stop_if_asked()
        _conduct(plan, found.host, run, as_json=as_json, plain=plain)


def dry_run_text(request: RunRequest) -> str:
    """Every step that the run would take, as text or as one JSON object; nothing is changed."""
    label = new_label()
    with _ground(request, label) as ground:
        plan = _plan(request, label, ground)
        around = look_around(ground.host, plan.campaign, plan.nodes.values(), plan.site.state_dir)
        owner = owner_of(_path_of(request, datetime.now()))
        once, layouts = places(plan.site, owner, with_ram=plan.uses_ram_files), plan_layouts(plan, around)
        jobs = [_planned_jobs(cell) for cell in (*plan.bare_cells, *plan.cells)]
        return json.dumps(plan_object(once, layouts, jobs)) if request.as_json else plan_text(once, layouts, jobs)


def _planned_jobs(cell: CellJobs) -> PlannedJobs:
    fill = render(fill_job(cell.jobs)) if cell.workload.fill else ""
    return PlannedJobs(cell.workload.name, fill, render(cell.jobs))


def _plan(request: RunRequest, label: str, ground: ReachedHost) -> RunPlan:
    work = real_directory(ground.host, request.work)
    label_places = BuildDirectories(label, f"{work.rstrip('/')}/poolproof-{label}", f"{RAM_FILES}/poolproof-{label}")
    seed = request.campaign.measure.seed
    return make_plan(
        ground.campaign, ground.host, label_places, secrets.randbelow(2**31) if seed is None else seed, ground.permitted
    )


def _create(request: RunRequest, plan: RunPlan, host: Host) -> RunDirectory:
    now = datetime.now()
    record = RunRecord(
        poolproof=__version__,
        campaign=format_campaign(request.campaign),
        label=plan.site.label,
        state_dir=plan.site.state_dir,
        ram_dir=plan.site.ram_dir,
        seed=plan.seed,
        host=host.name,
        begun_at=now.astimezone().isoformat(timespec="seconds"),
        facts={
            "kernel": plan.machine.kernel,
            "distribution": plan.machine.distribution,
            "processors": str(plan.machine.processors),
            "processor": plan.machine.processor,
            "ram_bytes": str(plan.machine.ram_bytes),
            "machine": mark_of(host),
            **tunables(host),
        },
        versions={
            "poolproof": __version__,
            "fio": str(fio_version(host)),
            **program_versions(host, building_programs(plan)),
        },
        allowed_disks=tuple(sorted(request.wipe)),
        lab=request.lab,
    )
    return RunDirectory.create(_path_of(request, now), request.campaign_text, record)


def _path_of(request: RunRequest, now: datetime) -> Path:
    """As asked, or runs/<name>-<date>-<time>; with seconds, then a number, where that is taken."""
    if request.out is not None:
        return request.out
    base = Path("runs") / f"{request.campaign.name}-{now:%Y%m%d-%H%M}"
    candidates = [base, base.with_name(f"{base.name}{now:%S}")]
    candidates += [base.with_name(f"{base.name}{now:%S}-{number}") for number in range(2, 100)]
    return next(path for path in candidates if not path.exists())


def _conduct(plan: RunPlan, host: Host, run: RunDirectory, *, as_json: bool, plain: bool) -> None:
    from poolproof.measure.conduct import conduct

    warn_of_the_dead(host)
    try:
        with run.locked(), listening(run, plan.campaign, plain=plain or as_json) as listener:
            conduct(plan, host, run, listener)
    except KeyboardInterrupt:
        raise Interrupted(
            "stopped; everything was taken down, and what was finished is kept", f"poolproof resume {run.path}"
        ) from None
    except HostUnreachable as error:
        again = f"poolproof resume {run.path}"
        raise HostUnreachable(error.message, f"when this works again: {error.hint}; then: {again}") from None
    except OSError as error:
        if error.errno not in _UNWRITABLE:
            raise
        raise RunError(
            f"{run.path} cannot be written: {error.strerror}; everything was taken down, and what was finished is kept",
            f"make room (df -h {run.path}), then: poolproof resume {run.path}",
        ) from None
    from poolproof.cli.result import print_result

    print_result(run.path, as_json=as_json)
    _end_if_nothing(run, as_json=as_json)


def _end_if_nothing(run: RunDirectory, *, as_json: bool) -> None:
    """A run of which no trial came as far as a figure did not do what was asked: it ends as what kept it from that.

    Disks alone are not what was asked.

    Raises:
        BuildError: no trial of a layout has figures.
    """
    trials = [trial for trial in run.trials() if calibrated_device(trial.layout) is None]
    if any(trial.figures is not None for trial in trials):
        return
    if as_json:
        raise SystemExit(BuildError.exit_code)
    finding = trials[0].findings[0]
    raise BuildError(f"nothing could be measured: {finding.message}", finding.fix)
