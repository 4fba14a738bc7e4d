"""Random writes that leave part of the file untouched."""

from poolproof.load.model import LoadPart
from poolproof.rules.fio_job import fio_job
from poolproof.rules.model import Case, Findings, Rule, fio_doc, notes


def _in_job(case: Case) -> Findings:
    if jobs := [job for job in case.jobs if job.writes and job.is_random and _skips(job)]:
        yield notes(
            f"{case.who(jobs)} picks its blocks without a map (norandommap, or a skewed distribution): one pass writes "
            "at most about 63 % of the blocks and some of them more than once, so a later read of the file finds holes",
            weight=30,
        )


def _skips(job: LoadPart) -> bool:
    distribution = (fio_job(job).text("random_distribution") or "").partition(":")[0]
    return fio_job(job).flag("norandommap") or distribution not in ("random", "")


RULE = Rule(
    title="Random writes do not cover the file",
    wrong="Without a map of the blocks already written, random writes hit some blocks twice and miss others: one pass "
    "writes 1 − 1/e = 63 % of the blocks. A later read of the file finds holes in place of the rest.",
    shows="In a job: random writes with norandommap or a random_distribution such as zipf.",
    error="Too high for a later read job.",
    fix="fill the file with a sequential write first, and remove norandommap if every block must be written",
    sources=(fio_doc("norandommap"),),
    in_job=_in_job,
    options=("norandommap", "random_distribution"),
    commands="rm -f trap; fio --rw=randwrite --size=64m --norandommap --end_fsync=1 --fallocate=none; du -k trap",
)
