"""`poolproof runs`: list all runs below a folder, or write a page of their history."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from poolproof.cli.options import Json
from poolproof.cli.query import Runs, name_left_out

if TYPE_CHECKING:
    from poolproof.results.query.listing import ListedRun
    from poolproof.results.query.session import Session


def command(
    folder: Runs = Path("runs"),
    page: Annotated[
        Path | None,
        typer.Option("--page", metavar="FILE.html", help="Write a page that shows each cell over time."),
    ] = None,
    as_json: Json = False,
) -> None:
    """List runs with their date, campaign, host, number of cells, verdicts, and whether they are running or finished.

    A run that can't be read is skipped with a message; the exit code is then 7.
    """
    from poolproof.errors import RunError
    from poolproof.results.query.listing import listed_runs
    from poolproof.results.query.session import open_runs

    with open_runs(folder) as session:
        runs = listed_runs(session)
        if as_json:
            typer.echo(json.dumps(_object(runs, session)))
        elif page is None:
            _print(runs)
        if page is not None:
            _write_page(page, session, as_json=as_json)
        name_left_out(session, as_json=as_json)
        if session.left_out:
            raise typer.Exit(RunError.exit_code)


def _write_page(out: Path, session: "Session", *, as_json: bool) -> None:
    """Write the page. A run that can't be read well enough is skipped with a message."""
    from poolproof.errors import PoolproofError
    from poolproof.presentation.history.page import write_history
    from poolproof.presentation.history.series import NamedRun
    from poolproof.results.query.found import SkippedRun
    from poolproof.results.runs.loading import load_run

    named = {each.what.partition(",")[0] for each in session.left_out}
    runs, gaps = [], []
    for found in session.runs:
        try:
            seen = load_run(found.path, lenient=True)
        except PoolproofError as error:
            session.left_out.append(SkippedRun(found.name, error.message, error.hint))
        else:
            runs.append(NamedRun(found.name, seen))
            if seen.left_out and found.name not in named:
                gaps += [f"{found.name}: {gap}" for gap in seen.missing]
    notes = [*(f"{each.what}: {each.why}" for each in session.left_out), *gaps]
    series = write_history(runs, notes, out)
    if not as_json:
        typer.echo(f"{len(runs)} runs, {len(series)} cells: {out}")


def _print(runs: "tuple[ListedRun, ...]") -> None:
    """Print complete lines, however long: a truncated name can't be typed."""
    from poolproof.presentation.terminal.words import MARKS

    rows = [("run", "begun", "campaign", "host", "state", "cells", "trials", "verdicts")]
    for each in runs:
        verdicts = "  ".join(f"{MARKS[verdict]} {count} {verdict}" for verdict, count in each.verdicts.items())
        begun, host = each.run.record.begun_at[:16].replace("T", " "), each.run.record.host
        rows.append((each.run.name, begun, each.campaign, host, each.state, _cells(each), str(each.trials), verdicts))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        typer.echo("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip())


def _cells(each: "ListedRun") -> str:
    return f"{each.cells} of {'?' if each.cells_wanted is None else each.cells_wanted}"


def _object(runs: "tuple[ListedRun, ...]", session: "Session") -> dict[str, object]:
    listed = [
        {
            "run": each.run.name,
            "path": str(each.run.path),
            "begun_at": each.run.record.begun_at,
            "campaign": each.campaign,
            "host": each.run.record.host,
            "state": each.state,
            "cells": each.cells,
            "cells_wanted": each.cells_wanted,
            "trials": each.trials,
            "verdicts": dict(each.verdicts),
        }
        for each in runs
    ]
    left_out = [{"what": each.what, "why": each.why} for each in session.left_out]
    return {"schema": 1, "runs": listed, "left_out": left_out}
