"""Verification in a speed test."""

from poolproof.rules.fio_job import fio_job
from poolproof.rules.model import Case, Findings, Rule, fio_doc, notes


def _in_job(case: Case) -> Findings:
    if jobs := [job for job in case.jobs if job.verifies and job.writes]:
        yield notes(
            f"{case.who(jobs)} sets verify={fio_job(jobs[0]).text('verify')}: fio spends processor time on checksums "
            "and reads back everything that it wrote",
            weight=30,
        )


RULE = Rule(
    title="Verifying while measuring",
    wrong="verify refills buffers, computes checksums and adds reads, which are reported next to the writes.",
    shows="In a job: verify is set, and the job writes.",
    error="Too low, and the result contains reads that nobody requested.",
    fix="use verify only in a correctness test, and measure speed without it",
    sources=(fio_doc("verify"),),
    in_job=_in_job,
    options=("verify",),
    cleared_by_byte_count=False,
    commands="for verify in 0 crc32c; do fio --rw=write --bs=1m --size=256m --end_fsync=1 --verify=$verify; done",
)
