"""`poolproof clean`: undo what a dead run left on the machine."""

import json
from pathlib import Path
from typing import Annotated

import typer

from poolproof.cli.run import Json, OnItsHost


def command(
    run: Annotated[Path | None, typer.Argument(help="The run directory. Without: labs whose run is dead.")] = None,
    on: OnItsHost = None,
    as_json: Json = False,
) -> None:
    """Undo, from its journal, what a dead run left on the machine; its results stay.

    Without a run directory: end the labs whose run is dead.
    """
    from poolproof.cli.session import clean

    if run is None:
        _end_orphans(as_json)
        return
    undone = clean(run, on=on)
    typer.echo(json.dumps({"undone": undone}) if as_json else f"{undone} changes undone; nothing of this run is left")


def _end_orphans(as_json: bool) -> None:
    from poolproof.lab.standing import orphans, remove

    ended = []
    for folder in orphans():
        remove(folder)
        ended.append(folder.name)
    said = f"labs whose run was dead, and which are ended: {', '.join(ended)}" if ended else "no lab outlived its run"
    typer.echo(json.dumps({"labs_ended": ended}) if as_json else said)
