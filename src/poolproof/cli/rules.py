"""`poolproof rules`: list every pitfall that poolproof detects."""

from poolproof.cli.options import Json
from poolproof.cli.output import aligned, print_answer


def command(as_json: Json = False) -> None:
    """List every pitfall that poolproof detects."""
    from poolproof.rules.rule_catalogue import all_rules

    rows = [(rule.id, rule.title) for rule in all_rules()]
    print_answer([{"rule": name, "title": title} for name, title in rows], aligned(rows), as_json=as_json)
