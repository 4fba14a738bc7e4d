"""The rules as a page: docs/rules.md, which `poolproof rules --markdown` prints."""

from collections.abc import Sequence

from poolproof.rules.model import Rule

_INTRO = """\
# The rules

Generated from `src/poolproof/rules/` by `poolproof rules --markdown > docs/rules.md`; do not edit.

A rule describes one pitfall: how it shows in a job before a run, how it shows in results and counters after the run,
and how to fix it. [verdicts.md](verdicts.md) describes how findings become a verdict. "Measured cases" are the labelled
runs L01 to L18 in `tests/unit/rules/test_measured.py`.
"""


def markdown_of(rules: Sequence[Rule]) -> str:
    """Return all rules in Markdown: a table, then a section for each rule."""
    rows = ["| rule | what it reports | checks |", "|---|---|---|", *(_row(rule) for rule in rules)]
    return "\n".join([_INTRO, *rows, "", *(rule_section(rule) for rule in rules)]).rstrip() + "\n"


def rule_section(rule: Rule) -> str:
    """Return one rule in Markdown."""
    lines = [
        f"## {rule.id}",
        "",
        f"**{rule.title}.** {rule.wrong}",
        "",
        f"- **How it shows.** {rule.shows}",
        f"- **Error.** {rule.error}",
        f"- **Fix.** {_sentence(rule.fix)}",
        f"- **If the byte count is in order.** {_settled(rule)}",
        f"- **Sources.** {'; '.join(rule.sources)}",
        "",
        "```sh",
        rule.reproduce.rstrip(),
        "```",
        "",
    ]
    return "\n".join(lines)


def _row(rule: Rule) -> str:
    return f"| [{rule.id}](#{rule.id}) | {rule.title} | {seen_in(rule)} |"


def seen_in(rule: Rule) -> str:
    """Return what the rule checks: `job`, `result`, or both."""
    faces = [name for name, face in (("job", rule.in_job), ("result", rule.in_result)) if face is not None]
    return ", ".join(faces)


def _settled(rule: Rule) -> str:
    if rule.in_job is None:
        return "The rule checks results only; its findings remain."
    if rule.cleared_by_byte_count:
        return "Its findings about the job are dropped: the byte count shows that the pitfall did not occur."
    return "Its findings about the job remain as notes: the pitfall does not change the byte count."


def _sentence(text: str) -> str:
    return text if text.endswith(".") else f"{text}."
