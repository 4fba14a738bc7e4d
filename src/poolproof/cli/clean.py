"""`poolproof clean`: undo what a dead run left on the machine."""

import json
from pathlib import Path
from typing import Annotated

import typer

from poolproof.cli.run import Json, OnItsHost


def command(
    run: Annotated[Path, typer.Argument(help="The run directory.")],
    on: OnItsHost = None,
    as_json: Json = False,
) -> None:
    """Undo, from its journal, what a dead run left on the machine; its results stay."""
    from poolproof.cli.session import clean

    undone = clean(run, on=on)
    typer.echo(json.dumps({"undone": undone}) if as_json else f"{undone} changes undone; nothing of this run is left")
