"""Print docs/rules.md, generated from the rules."""

from poolproof.rules.model import Rule
from poolproof.rules.rule_catalogue import all_rules

_INTRO = """\
# The rules

Generated from `src/poolproof/rules/` by `make docs`; do not edit.

Each rule describes one pitfall: how to recognize it in a job before a run and in results and counters after the run,
and how to fix it. [verdicts.md](verdicts.md) explains how findings become a verdict.

The column "found in" shows where a rule finds its pitfall. The rules with "job" apply to jobs, so `poolproof lint` uses
them. The rules with "result" apply to the results of runs and audits. In the descriptions of the rules:

- *Before a run*, *in a job*: what the job, its files and its target show. *In a text*: what a text with results shows.
- *In a result*: what fio reports. *In the counters*, *in the evidence*: what poolproof records during a trial, such as
  the disks' counters and the state of the test files.
- *Error*: how the reported result differs from what the disks can deliver.
- *Measured* values are from our own runs. Most *observed* values are from other people's runs. "Measured cases" are the
  labelled runs L01 to L18 in `tests/unit/rules/test_measured.py`.
- A *clone* is one of the processes that fio starts for a job with `numjobs`.
"""


def page() -> str:
    """Return all rules in Markdown: a table, then a section for each rule."""
    rows = ["| rule | pitfall | found in |", "|---|---|---|", *(_row(rule) for rule in all_rules())]
    return "\n".join([_INTRO, *rows, "", *(_section(rule) for rule in all_rules())]).rstrip() + "\n"


def _row(rule: Rule) -> str:
    found_in = [name for name, check in (("job", rule.in_job), ("result", rule.in_result)) if check is not None]
    return f"| [{rule.id}](#{rule.id}) | {rule.title} | {', '.join(found_in)} |"


def _section(rule: Rule) -> str:
    lines = [
        f"## {rule.id}",
        "",
        f"**{rule.title}.** {rule.wrong}",
        "",
        f"- **How to recognize it.** {rule.shows}",
        f"- **Error.** {rule.error}",
        f"- **Fix.** {rule.fix[0].upper()}{rule.fix[1:]}.",
        f"- **Effect of the byte accounting.** {_if_proven(rule)}",
        f"- **Sources.** {'; '.join(rule.sources)}",
        "",
        "```sh",
        rule.reproduce.rstrip(),
        "```",
        "",
    ]
    return "\n".join(lines)


def _if_proven(rule: Rule) -> str:
    if rule.in_job is None:
        return "None. The finding is about the measured result, so it remains valid even if the byte counts are right."
    if rule.cleared_by_byte_count:
        return "If the byte counts prove the result, a finding about the job is dropped, because the disks did the I/O."
    return (
        "If the byte counts prove the result, a finding about the job becomes a note, because the pitfall does not "
        "change where the bytes go."
    )


if __name__ == "__main__":
    print(page(), end="")
