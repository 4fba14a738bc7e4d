"""`poolproof rules`: every pitfall that poolproof detects."""

import json
from typing import Annotated

import typer

from poolproof.cli.options import Json


def command(
    as_json: Json = False,
    markdown: Annotated[bool, typer.Option("--markdown", hidden=True, help="Print docs/rules.md.")] = False,
) -> None:
    """List every pitfall that poolproof detects."""
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
