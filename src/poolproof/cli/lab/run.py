"""`poolproof lab run`: one command inside a lab."""

import json
from typing import Annotated

import typer

from poolproof.cli.lab_options import Name
from poolproof.cli.run import Json


def command(
    name: Name,
    argv: Annotated[list[str], typer.Argument(metavar="-- COMMAND…", help="The program and its arguments.")],
    limit: Annotated[str, typer.Option("--limit", metavar="DURATION", help="End it after this time.")] = "10m",
    as_json: Json = False,
) -> None:
    """Run a program in a lab, as root; its output and its exit code are this command's.

    poolproof lab run nas -- zpool version
    """
    from poolproof.campaign.document import Spot
    from poolproof.campaign.measure import duration
    from poolproof.lab.link import run
    from poolproof.lab.standing import find

    completed = run(find(name), argv, duration(limit, Spot("--limit")))
    if as_json:
        row = {"returncode": completed.returncode, "stdout": completed.stdout, "stderr": completed.stderr}
        typer.echo(json.dumps(row))
    else:
        typer.echo(completed.stdout, nl=False)
        typer.echo(completed.stderr, nl=False, err=True)
    raise typer.Exit(completed.returncode)
