"""`poolproof rules`: every pitfall that poolproof detects."""

import json

import typer

from poolproof.cli.options import Json


def command(as_json: Json = False) -> None:
    """List every pitfall that poolproof detects."""
    from poolproof.rules.catalogue import all_rules

    if as_json:
        typer.echo(json.dumps([{"rule": rule.id, "title": rule.title} for rule in all_rules()]))
    else:
        width = max(len(rule.id) for rule in all_rules())
        for rule in all_rules():
            typer.echo(f"{rule.id:{width}}  {rule.title}")
