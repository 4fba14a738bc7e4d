"""Random writes that leave part of the file untouched."""

from collections.abc import Iterable

from poolproof.load.model import LoadPart
from poolproof.rules.fio_job import fio_job
from poolproof.rules.model import Case, Finding, Rule
from poolproof.rules.naming import who
from poolproof.rules.reproduction import script


def _skips(job: LoadPart) -> bool:
    skewed = (fio_job(job).text("random_distribution") or "random").partition(":")[0] not in ("random", "")
    return job.writes and job.is_random and (fio_job(job).flag("norandommap") or skewed)


def _in_job(case: Case) -> Iterable[Finding]:
    jobs = [job for job in case.load.parts if _skips(job)]
    if jobs:
        yield Finding(
            rule="random-coverage",
            effect="notes",
            message=f"{who(case, jobs)} picks its blocks without a map (norandommap, or a skewed distribution): one "
            "pass over the size writes about 63 % of the blocks and some of them twice; a later read of the file meets "
            "holes",
            fix="fill the file with a sequential write first; remove norandommap if every block must be written",
            weight=30,
        )


RULE = Rule(
    id="random-coverage",
    title="Random writes do not cover the file",
    wrong="Without a map of the blocks already written, random writes hit some blocks twice and miss others: after one "
    "pass 1 − 1/e = 63 % are written. A later read of the file reads holes for the rest.",
    shows="In a job: random writes with norandommap or a random_distribution such as zipf.",
    error="High for a read job that follows.",
    fix="Fill the file first.",
    sources=("https://fio.readthedocs.io/en/latest/fio_doc.html (norandommap)",),
    pitfall_numbers="#28",
    in_job=_in_job,
    options=("norandommap", "random_distribution"),
    reproduce=script(
        "rm -f trap; fio --name=trap --filename=trap --rw=randwrite --bs=4k --size=64m --norandommap --end_fsync=1 "
        "--fallocate=none; du -k trap"
    ),
)
