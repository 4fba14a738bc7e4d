"""`poolproof lab stop`: the end of a lab."""

import json

import typer

from poolproof.cli.lab_options import Name
from poolproof.cli.run import Json


def command(name: Name, as_json: Json = False) -> None:
    """End a lab and its disks: what was written to them is gone. Its console's log stays until `lab rm`."""
    from poolproof.cli.signals import end_in_order
    from poolproof.lab.standing import find, stop

    end_in_order()
    lab = find(name)
    stop(lab.folder)
    typer.echo(json.dumps({"stopped": lab.name}) if as_json else f"{lab.name} is stopped")
