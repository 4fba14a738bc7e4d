"""`poolproof rules`: every pitfall that poolproof looks for."""

import json
from typing import Annotated

import typer

from poolproof.cli.options import Json


def command(
    as_json: Json = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="The whole catalogue, as docs/rules.md has it.")] = False,
) -> None:
    """List every pitfall that poolproof looks for."""
    from poolproof.rules.catalogue import all_rules
    from poolproof.rules.docs import markdown_of

    if as_json:
        typer.echo(json.dumps([{"rule": rule.id, "title": rule.title} for rule in all_rules()]))
    elif markdown:
        typer.echo(markdown_of(all_rules()), nl=False)
    else:
        width = max(len(rule.id) for rule in all_rules())
        for rule in all_rules():
            typer.echo(f"{rule.id:{width}}  {rule.title}")
