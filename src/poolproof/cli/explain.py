"""`poolproof explain`: everything about one pitfall."""

import json
from typing import Annotated

import typer

from poolproof.cli.options import Json


def command(
    rule: Annotated[str, typer.Argument(help="The rule's id, as listed by `poolproof rules`.")],
    as_json: Json = False,
) -> None:
    """Explain one pitfall: what goes wrong, how to recognize it, how to fix it, and how to reproduce it."""
    from poolproof.rules.catalogue import RETIRED
    from poolproof.rules.catalogue import rule as find

    if rule in RETIRED:
        told = {"id": rule, "retired": RETIRED[rule]}
        typer.echo(json.dumps(told) if as_json else f"{rule}: retired\n\n{RETIRED[rule]}")
        return
    found = find(rule)
    if as_json:
        keys = {"mend": "fix"}  # the name of the key is public
        names = ("id", "title", "wrong", "shows", "error", "mend", "sources", "reproduce")
        typer.echo(json.dumps({name: getattr(found, keys.get(name, name)) for name in names}))
        return
    typer.echo(f"{found.id}: {found.title}\n\n{found.wrong}\n\nHow to recognize it: {found.shows}")
    typer.echo(f"\nThe error: {found.error}\n\nThe fix: {found.fix}")
    if found.reproduce:
        typer.echo(f"\nTo reproduce it:\n{found.reproduce}")
    typer.echo("\nSources: " + "; ".join(found.sources))
