"""The rules as a page: docs/rules.md, which `poolproof rules --markdown` prints."""

from collections.abc import Sequence

from poolproof.rules.model import Rule

_INTRO = """\
# The rules

Generated from `src/poolproof/rules/` by `poolproof rules --markdown > docs/rules.md`; do not edit.

A rule is one pitfall: how it shows in a job before a run, how it shows in figures and counters after it, and how to
mend it. How findings become a verdict stands in [verdicts.md](verdicts.md). "Measured cases" are the labelled runs L01
to L18 in `tests/unit/rules/test_measured.py`.
"""


def markdown_of(rules: Sequence[Rule]) -> str:
    """All rules in Markdown: a table, then a section for each."""
    rows = ["| rule | what it says | seen |", "|---|---|---|", *(_row(rule) for rule in rules)]
    return "\n".join([_INTRO, *rows, "", *(rule_section(rule) for rule in rules)]).rstrip() + "\n"


def rule_section(rule: Rule) -> str:
    """One rule in Markdown."""
    lines = [
        f"## {rule.id}",
        "",
        f"**{rule.title}.** {rule.wrong}",
        "",
        f"- **How it shows.** {rule.shows}",
        f"- **Error.** {rule.error}",
        f"- **Fix.** {_sentence(rule.fix)}",
        f"- **With a byte account in order.** {_settled(rule)}",
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
    """Where the rule looks: `job`, `result`, or both."""
    faces = [name for name, face in (("job", rule.in_job), ("result", rule.in_result)) if face is not None]
    return ", ".join(faces)


def _settled(rule: Rule) -> str:
    if rule.in_job is None:
        return "It looks at results only; what it finds there stands."
    if rule.cleared_by_byte_count:
        return "What it suspects in the job is dropped: the bytes show that the trap did not snap."
    return "What it suspects in the job stays as a note: the trap leaves the bytes as they are."


def _sentence(text: str) -> str:
    return text if text.endswith(".") else f"{text}."
