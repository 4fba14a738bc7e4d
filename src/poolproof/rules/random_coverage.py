"""Random writes that leave part of the file untouched."""

from poolproof.load.model import LoadPart
from poolproof.rules.fio_job import fio_job
from poolproof.rules.model import Case, Findings, Rule, fio_doc, notes


def _in_job(case: Case) -> Findings:
    if jobs := [job for job in case.jobs if job.writes and job.is_random and _skips(job)]:
        yield notes(
            f"{case.who(jobs)} picks its blocks without a map (norandommap, or a skewed distribution): one pass over "
            "the size writes about 63 % of the blocks and some of them twice; a later read of the file meets holes",
            weight=30,
        )


def _skips(job: LoadPart) -> bool:
    distribution = (fio_job(job).text("random_distribution") or "").partition(":")[0]
    return fio_job(job).flag("norandommap") or distribution not in ("random", "")


RULE = Rule(
    title="Random writes do not cover the file",
    wrong="Without a map of the blocks already written, random writes hit some blocks twice and miss others: after one "
    "pass 1 − 1/e = 63 % are written. A later read of the file reads holes for the rest.",
    shows="In a job: random writes with norandommap or a random_distribution such as zipf.",
    error="Too high for a read job that follows.",
    fix="fill the file with a sequential write first; remove norandommap if every block must be written",
    sources=(fio_doc("norandommap"),),
    in_job=_in_job,
    options=("norandommap", "random_distribution"),
    commands="rm -f trap; fio --rw=randwrite --size=64m --norandommap --end_fsync=1 --fallocate=none; du -k trap",
)
