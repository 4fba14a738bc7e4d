"""`poolproof runs`: all runs below a folder, as a list or as one page."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from poolproof.cli.query import Runs, name_left_out
from poolproof.cli.run import Json

if TYPE_CHECKING:
    from poolproof.querying.listing import ListedRun
    from poolproof.querying.session import Session


def command(
    folder: Runs = Path("runs"),
    as_json: Json = False,
) -> None:
    """List runs: when, which campaign, where, how many cells, their verdicts, going or finished.

    What cannot be read is named and left out: then the exit code is 7.
    """
    from poolproof.errors import RunError
    from poolproof.querying.listing import listed_runs
    from poolproof.querying.session import open_runs

    with open_runs(folder) as session:
        runs = listed_runs(session)
        if as_json:
            typer.echo(json.dumps(_object(runs, session)))
        else:
            _print(runs)
        name_left_out(session, as_json=as_json)
        if session.left_out:
            raise typer.Exit(RunError.exit_code)


def _print(runs: "tuple[ListedRun, ...]") -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from poolproof.report.words import MARKS, STYLES

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for name in ("run", "begun", "campaign", "host", "state", "cells", "trials", "verdicts"):
        table.add_column(name, no_wrap=name != "run", overflow="fold", justify="right" if name == "trials" else "left")
    for each in runs:
        record, verdicts = each.run.record, Text()
        for verdict, count in each.verdicts.items():
            verdicts.append(f"{MARKS[verdict]} {count} {verdict}  ", style=STYLES[verdict])
        texts = (each.run.name, record.begun_at[:16].replace("T", " "), each.campaign, record.host, each.state)
        table.add_row(*map(Text, texts), Text(_cells(each)), Text(str(each.trials)), verdicts)
    Console(highlight=False).print(table)


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
