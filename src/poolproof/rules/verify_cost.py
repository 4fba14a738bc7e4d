"""Verification in a speed test."""

from collections.abc import Iterable

from poolproof.rules.fio_job import fio_job
from poolproof.rules.model import Case, Finding, Rule
from poolproof.rules.naming import who
from poolproof.rules.reproduction import script


def _in_job(case: Case) -> Iterable[Finding]:
    jobs = [job for job in case.load.parts if job.verifies and job.writes]
    if jobs:
        yield Finding(
            rule="verify-cost",
            effect="notes",
            message=f"{who(case, jobs)} has verify={fio_job(jobs[0]).text('verify')}: fio spends processor time on "
            "checksums and reads back everything that it wrote",
            fix="use verify only in a correctness test; measure speed without it",
            weight=30,
        )


RULE = Rule(
    id="verify-cost",
    title="Verifying while measuring",
    wrong="verify refills each buffer, computes checksums, and adds a phase of reads, whose results appear next to "
    "those of the writes.",
    shows="In a job: verify is set, and the job writes.",
    error="Low, and the result contains reads that nobody requested.",
    fix="Make two runs: one for speed, one for correctness.",
    sources=("https://fio.readthedocs.io/en/latest/fio_doc.html (verify)",),
    pitfall_numbers="#44",
    in_job=_in_job,
    options=("verify",),
    cleared_by_byte_count=False,
    reproduce=script(
        "for verify in 0 crc32c; do fio --name=trap --filename=trap --rw=write --bs=1m --size=256m --end_fsync=1 "
        "--verify=$verify; done"
    ),
)
