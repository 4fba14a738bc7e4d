"""`poolproof show`: the table of a run."""

from pathlib import Path
from typing import Annotated

import typer

from poolproof.cli.options import Json


def command(
    run: Annotated[Path, typer.Argument(help="The run directory.")],
    leaves: Annotated[bool, typer.Option("--leaves", help="Every disk's share, on every layout.")] = False,
    as_json: Json = False,
) -> None:
    """Print what a run found: figures, verdicts, reasons."""
    from poolproof.cli.result import show

    show(run, as_json=as_json, leaves=leaves)
