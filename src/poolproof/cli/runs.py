"""`poolproof runs`: list all runs below a folder, or write a page with their history."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option

from poolproof.cli.options import Json, Runs
from poolproof.cli.output import aligned, print_answer
from poolproof.cli.query import exit_if_skipped, skipped_objects
from poolproof.cli.signals import end_by_exception
from poolproof.units import format_number_of

if TYPE_CHECKING:
    from poolproof.results.query.connection import QuerySession


def command(
    folder: Runs = Path("runs"),
    page: Annotated[
        Path | None, Option(metavar="FILE.html", help="Write a page that shows each cell over time.")
    ] = None,
    as_json: Json = False,
) -> None:
    """List the runs in a folder.

    Each line shows a run's date, campaign, host, state (running, stopped, finished or imported), number of cells, and
    verdicts. A run that can't be read is skipped with a message; the exit code is then 7.
    """
    from poolproof.presentation.terminal.words import MARKS
    from poolproof.results.query.connection import listed_runs, open_runs
    from poolproof.results.runs.few_events import TOO_FEW

    objects, rows = [], [("run", "begun", "campaign", "host", "state", "cells", "trials", "verdicts")]
    end_by_exception()
    with open_runs(folder) as session:
        for each in listed_runs(session):
            record = each.run.record
            listed = {
                "run": each.run.name,
                "path": str(each.run.path),
                "begun_at": record.begun_at,
                "campaign": each.campaign,
                "host": record.host,
                "state": each.state,
                "cells": each.cells,
                "cells_wanted": each.cells_wanted,
                "trials": each.trials,
                "verdicts": dict(each.verdicts),
                "unusable": each.unusable,
                "too_few": each.too_few,
            }
            objects.append(listed)
            marks = [f"{MARKS[verdict]} {count} {verdict}" for verdict, count in each.verdicts.items()]
            marks += [f"! {format_number_of(each.unusable, 'cell')} with an unusable value"] * bool(each.unusable)
            marks += [f"! {format_number_of(each.too_few, 'cell')} with {TOO_FEW}"] * bool(each.too_few)
            verdicts = "  ".join(marks)
            cells = f"{each.cells} of {'?' if each.cells_wanted is None else each.cells_wanted}"
            begun = record.begun_at[:16].replace("T", " ")
            state = "running" if each.state == "going" else each.state
            row = (each.run.name, begun, each.campaign, record.host, state, cells, str(each.trials), verdicts)
            rows.append(row)
        if as_json or page is None:
            answer = {"schema": 1, "runs": objects, "left_out": skipped_objects(session)}
            print_answer(answer, aligned(rows), as_json=as_json)
        if page is not None:
            _write_page(page, session, as_json=as_json)
        exit_if_skipped(session, as_json=as_json)


def _write_page(out: Path, session: "QuerySession", *, as_json: bool) -> None:
    """Write the history page. Runs that are too damaged to be shown are skipped and reported."""
    from poolproof.api import load_run
    from poolproof.errors import PoolproofError
    from poolproof.presentation.history import NamedRun, without_copies, write_history
    from poolproof.results.query.find_runs import SkippedRun
    from poolproof.units import format_number_of

    named = {each.what.partition(",")[0] for each in session.left_out}
    runs, gaps = [], []
    for found in session.runs:
        try:
            run = load_run(found.path, lenient=True)
        except PoolproofError as error:
            session.left_out.append(SkippedRun(found.name, error.message, error.hint))
        else:
            runs.append(NamedRun(found.name, run))
            if run.left_out and found.name not in named:
                gaps += [f"{found.name}: {gap}" for gap in run.missing]
    runs, copies = without_copies(runs)
    notes = [*(f"{each.what}: {each.why}" for each in session.left_out), *gaps, *copies]
    series = write_history(runs, notes, out)
    if not as_json:
        typer.echo(f"{format_number_of(len(runs), 'run')}, {format_number_of(len(series), 'cell')}: {out}")
