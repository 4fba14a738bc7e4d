"""Start a run, resume a run, or print the plan of a run, for the commands `run`, `demo` and `resume`."""

import os
from collections.abc import Sequence
from pathlib import Path

from poolproof.campaign.trial_length import few_events_ahead
from poolproof.cli.output import following, print_answer, print_results, say
from poolproof.cli.signals import end_in_order, stop_if_asked
from poolproof.errors import BuildError
from poolproof.load.generator import generator_of
from poolproof.measure.prepare import fill_text
from poolproof.measure.session import (
    RunRequest,
    Session,
    check_measured,
    create_run,
    locked_host,
    measure_run,
    open_session,
    planned_rounds,
    planned_steps,
    reopen_session,
)
from poolproof.presentation.terminal.plan_text import PlannedJobs, plan_object, plan_text
from poolproof.provision.directories import crash_warning
from poolproof.results.runs.directory import RunDirectory


def start(request: RunRequest, *, as_json: bool, plain: bool) -> None:
    """Measure a new run and print its results. `plain`: whether to show the progress as plain lines."""
    end_in_order()
    _keep_others_out()
    with open_session(request, say) as session:
        stop_if_asked()
        with locked_host(session, share=request.share_host):
            run = create_run(request, session)
            _measure(session, run, as_json=as_json, plain=plain)


def resume(
    path: Path,
    *,
    as_json: bool,
    plain: bool,
    on: str | None,
    share_host: bool,
    engines: Sequence[str] = (),
    wipe: Sequence[str] = (),
) -> None:
    """Continue an interrupted run and print its results.

    `on`: a different address for the run's host.
    `share_host`: whether to allow other runs on this machine that use none of this run's disks and directories.
    `engines`: the I/O engine files that fio may load.
    `wipe`: the disks that may be overwritten, in addition to those that the host remembers.
    """
    end_in_order()
    _keep_others_out()
    run = RunDirectory.open(path)
    with reopen_session(run, say, on=on, engines=engines, wipe=wipe) as session:
        stop_if_asked()
        with locked_host(session, share=share_host):
            _measure(session, run, as_json=as_json, plain=plain)


def print_plan(request: RunRequest, *, as_json: bool) -> None:
    """Print every step of the run without changing anything."""
    with open_session(request, say) as session:
        once, layouts = planned_steps(request, session)
        jobs = [
            PlannedJobs(
                cell.workload.name,
                fill_text(cell.workload, cell.load),
                generator_of(cell.load).text(cell.load),
                cell.load.generator,
            )
            for cell in (*session.plan.bare_cells, *session.plan.cells)
        ]
        for note in few_events_ahead(request.campaign):
            say(f"note: {note}")
        rounds = planned_rounds(session)
        text = plan_text(once, layouts, jobs, rounds)
        print_answer(plan_object(once, layouts, jobs, rounds), text, as_json=as_json)


def _keep_others_out() -> None:
    """Create all files so that only their owner can write to them. Otherwise, `clean` and `resume` reject the run."""
    os.umask(os.umask(0o022) | 0o022)


def _measure(session: Session, run: RunDirectory, *, as_json: bool, plain: bool) -> None:
    if (warning := crash_warning(session.host)) is not None:
        say(warning)
    for note in few_events_ahead(session.plan.campaign):
        say(f"note: {note}")
    hint = "Ctrl-C stops the run and cleans up"
    measure_run(session, run, following(session.plan.campaign, run.trials(), plain=plain or as_json, hint=hint))
    print_results(run.path, as_json=as_json)
    try:
        check_measured(run)
    except BuildError as error:
        if as_json:
            raise SystemExit(error.exit_code) from None
        raise
