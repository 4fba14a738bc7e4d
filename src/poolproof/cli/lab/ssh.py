"""`poolproof lab ssh`: a shell inside a lab."""

import json

import typer

from poolproof.cli.lab_options import Name
from poolproof.cli.run import Json


def command(name: Name, as_json: Json = False) -> None:
    """Open a shell in a lab, as root; with --json, print the ssh command instead of running it."""
    from poolproof.lab.link import ssh_command
    from poolproof.lab.standing import find
    from poolproof.process import become

    argv = ssh_command(find(name))
    if as_json:
        typer.echo(json.dumps({"argv": argv}))
        return
    become(argv)
