"""`poolproof lab build`: the machine image."""

import json
from typing import Annotated

import typer

from poolproof.cli.lab_options import SERIES, Series
from poolproof.cli.run import Json


def command(
    zfs: Series = SERIES,
    anew: Annotated[bool, typer.Option("--anew", help="Build it even if it is there.")] = False,
    as_json: Json = False,
) -> None:
    """Build the lab's machine image from Debian packages, with OpenZFS compiled for its kernel; kept for later labs.

    Its packages come from the suites and mirrors of this machine's own apt configuration. A build that was stopped goes
    on where it was.
    """
    from poolproof.cli.signals import end_in_order
    from poolproof.lab.build import USUALLY, Stopwatch, build, recipe_here
    from poolproof.lab.cache import image_named

    end_in_order()
    recipe = recipe_here(zfs)
    was_there = image_named(recipe.name).is_there and not anew
    if not was_there:
        typer.echo(f"building the image {recipe.name}: {USUALLY}", err=True)
    image = build(recipe, Stopwatch(lambda line: typer.echo(line, err=True)), anew=anew)
    found = {"image": recipe.name, "path": str(image.folder), "built": not was_there}
    typer.echo(json.dumps(found) if as_json else f"{image.folder}{'' if not was_there else ' was there already'}")
