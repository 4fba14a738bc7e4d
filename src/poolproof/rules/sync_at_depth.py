"""Syncs that empty the queue."""

from poolproof.load.model import LoadPart
from poolproof.rules.model import Case, Changes, Findings, Rule, fio_doc, notes


def _in_job(case: Case) -> Findings:
    writers = [job for job in case.jobs if job.writes and job.sync_every and not job.is_synchronous]
    if jobs := [job for job in writers if (job.sync_every or 0) < job.depth]:
        every, depth = jobs[0].sync_every, jobs[0].depth
        often = "after every write" if every == 1 else f"after every {every} writes"
        most = "1 write is" if every == 1 else f"{every} writes are"
        yield notes(
            f"{case.who(jobs)} syncs {often} at iodepth={depth}: each sync waits until the queue is empty, so at most "
            f"{most} ever in flight",
            weight=40,
        )


def _fixed_options(_case: Case, job: LoadPart) -> Changes:
    """Return the queue depth that the job really reaches."""
    return {"iodepth": str(job.sync_every or 1)}


RULE = Rule(
    title="A sync empties the queue",
    wrong="With fsync=N or fdatasync=N, fio empties the queue before each sync, so a depth larger than N is never "
    "reached.",
    shows="In a job: an asynchronous engine with iodepth larger than fsync or fdatasync.",
    error="Too low; the reader assumes a depth that was never reached.",
    fix="set iodepth=1 and more numjobs, each with its own file, for several committing clients; or use sync=dsync at "
    "that depth",
    sources=(fio_doc("fsync"),),
    in_job=_in_job,
    options=("iodepth", "fsync", "fdatasync"),
    fixed_options=_fixed_options,
    cleared_by_byte_count=False,
    commands="for depth in 1 32; do fio --rw=randwrite --bs=4k --size=64m --io_size=4m --direct=1 --ioengine=libaio "
    "--iodepth=$depth --fdatasync=1; done",
)
