"""Syncs that empty the queue."""

from collections.abc import Iterable

from poolproof.load.model import LoadPart
from poolproof.rules.model import Case, Changes, Finding, Rule
from poolproof.rules.naming import who
from poolproof.rules.reproduction import script


def _in_job(case: Case) -> Iterable[Finding]:
    jobs = [
        job
        for job in case.load.parts
        if job.writes and job.sync_every and job.sync_every < job.depth and not job.is_synchronous
    ]
    if jobs:
        job = jobs[0]
        yield Finding(
            rule="sync-at-depth",
            effect="notes",
            message=f"{who(case, jobs)} syncs after every {job.sync_every} writes at iodepth={job.depth}: each sync "
            f"waits until the queue is empty, so at most {job.sync_every} writes are ever in flight",
            fix="iodepth=1 with more numjobs, each with its own file, for several committing clients; or sync=dsync "
            "at that depth",
            weight=40,
        )


def _mended(_case: Case, job: LoadPart) -> Changes:
    """Return the depth that the job really reaches."""
    return {"iodepth": str(job.sync_every or 1)}


RULE = Rule(
    id="sync-at-depth",
    title="A sync empties the queue",
    wrong="With fsync=N and fdatasync=N, fio empties the queue before each sync. A depth larger than N is never "
    "reached.",
    shows="In a job: an asynchronous engine with iodepth larger than fsync or fdatasync.",
    error="Too low; the reader assumes a depth that was never reached.",
    fix="iodepth=1 and more jobs.",
    sources=("https://fio.readthedocs.io/en/latest/fio_doc.html (fsync)",),
    pitfall_numbers="#19",
    in_job=_in_job,
    options=("iodepth", "fsync", "fdatasync"),
    fixed_options=_mended,
    cleared_by_byte_count=False,
    reproduce=script(
        "for depth in 1 32; do fio --name=trap --filename=trap --rw=randwrite --bs=4k --size=64m --io_size=4m "
        "--direct=1 --ioengine=libaio --iodepth=$depth --fdatasync=1; done"
    ),
)
