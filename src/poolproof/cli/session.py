"""Start, resume or print the plan of a run: what `run`, `demo` and `resume` share."""

import json
from pathlib import Path

from poolproof.cli.listeners import listening
from poolproof.cli.signals import end_in_order, stop_if_asked
from poolproof.cli.stderr import say
from poolproof.errors import BuildError
from poolproof.load.generators import generator_of
from poolproof.measure.model import CellJobs
from poolproof.measure.prepare import fill_text
from poolproof.measure.session import (
    RunRequest,
    Session,
    check_measured,
    create_run,
    measure_run,
    open_session,
    planned_steps,
    reopen_session,
)
from poolproof.presentation.terminal.plan_text import PlannedJobs, plan_object, plan_text
from poolproof.provision.leftovers import crash_warning
from poolproof.results.runs.directory import RunDirectory


def start(request: RunRequest, *, as_json: bool, plain: bool) -> None:
    """Make a run and print its table or its JSON object. `plain`: lines instead of the live screen."""
    end_in_order()
    with open_session(request, say) as session:
        stop_if_asked()
        _measure(session, create_run(request, session), as_json=as_json, plain=plain)


def resume(path: Path, *, as_json: bool, plain: bool, on: str | None) -> None:
    """Continue an interrupted run and print its table or its JSON object. `on`: another name for its host."""
    end_in_order()
    run = RunDirectory.open(path)
    with reopen_session(run, say, on=on) as session:
        stop_if_asked()
        _measure(session, run, as_json=as_json, plain=plain)


def dry_run_text(request: RunRequest, *, as_json: bool) -> str:
    """Return every step of the run as text or as one JSON object; nothing is changed."""
    with open_session(request, say) as session:
        once, layouts = planned_steps(request, session)
        jobs = [_planned_jobs(cell) for cell in (*session.plan.bare_cells, *session.plan.cells)]
        return json.dumps(plan_object(once, layouts, jobs)) if as_json else plan_text(once, layouts, jobs)


def _planned_jobs(cell: CellJobs) -> PlannedJobs:
    fill = fill_text(cell.load) if cell.workload.fill else ""
    return PlannedJobs(cell.workload.name, fill, generator_of(cell.load).text(cell.load))


def _measure(session: Session, run: RunDirectory, *, as_json: bool, plain: bool) -> None:
    warning = crash_warning(session.host)
    if warning is not None:
        say(warning)
    measure_run(session, run, listening(run, session.plan.campaign, plain=plain or as_json))
    from poolproof.cli.result import print_result

    print_result(run.path, as_json=as_json)
    try:
        check_measured(run)
    except BuildError as error:
        if as_json:
            raise SystemExit(error.exit_code) from None
        raise
