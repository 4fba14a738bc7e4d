"""`poolproof show`: print a run's results as a table."""

from typing import Annotated

from typer import Option

from poolproof.cli.options import Json, Run
from poolproof.cli.output import exit_if_incomplete, print_results


def command(
    run: Run,
    disks: Annotated[
        bool, Option("--disks", "--leaves", help="Print each disk's share of the bytes for every layout.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Print the results of a run with their verdicts and the reasons."""
    exit_if_incomplete(print_results(run, as_json=as_json, disks=disks))
