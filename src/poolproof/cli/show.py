"""`poolproof show`: the results of a run as a table."""

from typing import Annotated

import typer

from poolproof.cli.options import Json, Run


def command(
    run: Run,
    leaves: Annotated[bool, typer.Option("--leaves", help="Print each disk's share for every layout.")] = False,
    as_json: Json = False,
) -> None:
    """Print the results of a run with their verdicts and the reasons."""
    from poolproof.cli.result import show

    show(run, as_json=as_json, leaves=leaves)
