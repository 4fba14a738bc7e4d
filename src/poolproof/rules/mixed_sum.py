"""Reads and writes added together."""

from poolproof.rules.model import Case, Findings, Rule, notes


def _in_job(case: Case) -> Findings:
    jobs = [job for job in case.jobs if job.is_mixed]
    if case.outcome is None and jobs:
        yield notes(
            f"{case.who(jobs)} mixes reads and writes: rwmixread ties their rates together, so the slower one limits "
            "both, and the sum of the two is not a meaningful rate",
            weight=15,
        )


RULE = Rule(
    title="One sum for reads and writes",
    wrong="A mixed job keeps its ratio, so slow writes also slow down the reads. Some scripts print the sum of both "
    "rates.",
    shows="In a job: rw=rw or randrw.",
    error="Too high if the sum is used as a rate.",
    fix="report the rates of reads and writes separately, together with the mix",
    sources=("https://github.com/masonr/yet-another-bench-script",),
    in_job=_in_job,
    options=("rw",),
    commands="fio --rw=randrw --rwmixread=70 --bs=4k --size=256m --io_size=32m --direct=1",
)
