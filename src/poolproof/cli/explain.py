"""`poolproof explain`: explain one pitfall in detail."""

from typing import Annotated

from typer import Argument

from poolproof.cli.options import Json
from poolproof.cli.output import print_answer

_CLONE = "A clone is one of the processes that fio starts for a job with numjobs."


def command(
    rule: Annotated[
        str, Argument(metavar="RULE", help="The rule's id, as listed by `poolproof rules` or printed by lint.")
    ],
    as_json: Json = False,
) -> None:
    """Explain one pitfall.

    The explanation says what goes wrong, how to recognize it, how to fix it, and how to reproduce it. For a finding
    that only `poolproof lint` reports, it says what goes wrong and how to fix it.
    """
    from poolproof.foreign.lint.own_findings import OWN_FINDINGS
    from poolproof.rules.rule_catalogue import RETIRED
    from poolproof.rules.rule_catalogue import rule as find

    if rule in RETIRED:
        answer = {"id": rule, "retired": RETIRED[rule]}
        print_answer(answer, f"{rule}: retired\n\n{RETIRED[rule]}", as_json=as_json)
        return
    if own := OWN_FINDINGS.get(rule):
        text = f"{rule}: {own.title} (reported by `poolproof lint`)\n\n{own.wrong}\n\nThe fix: {own.fix}"
        print_answer({"id": rule, "title": own.title, "wrong": own.wrong, "mend": own.fix}, text, as_json=as_json)
        return
    found = find(rule, OWN_FINDINGS)
    keys = {"mend": "fix"}  # the JSON object keeps its older key
    names = ("id", "title", "wrong", "shows", "error", "mend", "sources", "reproduce")
    lines = [
        f"{found.id}: {found.title}\n\n{found.wrong}\n\nHow to recognize it: {found.shows}",
        f"\nThe error: {found.error}\n\nThe fix: {found.fix}",
        *([f"\n{_CLONE}"] if any("clone" in text for text in (found.wrong, found.shows, found.error)) else []),
        *([f"\nTo reproduce it:\n{found.reproduce.rstrip()}"] if found.reproduce else []),
        "\nSources: " + "; ".join(found.sources),
    ]
    print_answer({name: getattr(found, keys.get(name, name)) for name in names}, lines, as_json=as_json)
