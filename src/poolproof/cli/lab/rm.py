"""`poolproof lab rm`: a lab or an image is removed."""

import json
from typing import Annotated

import typer

from poolproof.cli.run import Json


def command(
    name: Annotated[str, typer.Argument(help="A lab or an image, as `poolproof lab list` names them.")],
    as_json: Json = False,
) -> None:
    """Stop a lab and remove all that is left of it, or remove an image."""
    from poolproof.cli.signals import end_in_order
    from poolproof.lab.standing import remove_named

    end_in_order()
    remove_named(name)
    typer.echo(json.dumps({"removed": name}) if as_json else f"{name} is removed")
