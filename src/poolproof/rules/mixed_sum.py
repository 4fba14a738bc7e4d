"""Reads and writes added together."""

from collections.abc import Iterable

from poolproof.rules.model import Case, Finding, Rule
from poolproof.rules.naming import who
from poolproof.rules.reproduction import script


def _in_job(case: Case) -> Iterable[Finding]:
    jobs = [job for job in case.load.parts if job.is_mixed]
    if case.outcome is None and jobs:
        yield Finding(
            rule="mixed-sum",
            effect="notes",
            message=f"{who(case, jobs)} mixes reads and writes: rwmixread ties their rates together, so the slower "
            "one limits both, and the sum of the two is not a meaningful rate",
            fix="report reads and writes separately, with the mix",
            weight=15,
        )


RULE = Rule(
    id="mixed-sum",
    title="One sum for reads and writes",
    wrong="In a mixed job fio keeps the ratio, so slow writes also slow down the reads. Some scripts print the sum of "
    "both as a total.",
    shows="In a job: rw=rw or randrw.",
    error="High if the sum is used as a rate.",
    fix="Report two results, never one.",
    sources=("https://github.com/masonr/yet-another-bench-script",),
    pitfall_numbers="#46",
    in_job=_in_job,
    options=("rw",),
    reproduce=script(
        "fio --name=trap --filename=trap --rw=randrw --rwmixread=70 --bs=4k --size=256m --io_size=32m --direct=1"
    ),
)
