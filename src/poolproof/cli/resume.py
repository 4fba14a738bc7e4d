"""`poolproof resume`: go on with a run that was stopped or killed."""

from pathlib import Path
from typing import Annotated

import typer

from poolproof.cli.run import Json, OnItsHost, Plain


def command(
    run: Annotated[Path, typer.Argument(help="The run directory.")],
    on: OnItsHost = None,
    plain: Plain = False,
    as_json: Json = False,
) -> None:
    """Go on with a run that was stopped or killed: finished trials stay, the rest is measured."""
    from poolproof.cli.session import go_on

    go_on(run, as_json=as_json, on=on, plain=plain)
