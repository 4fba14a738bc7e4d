"""Syncs that do not cover the writes in flight."""

from poolproof.rules.fio_job import fio_job
from poolproof.rules.model import Case, Findings, Rule, fio_doc, fio_source, notes
from poolproof.rules.path import writes_are_synchronous

_ENGINES = ("libaio", "io_uring")  # posixaio passes the sync to aio_fsync, which waits for earlier requests


def _in_job(case: Case) -> Findings:
    writers = [job for job in case.jobs if job.writes and job.sync_every and not writes_are_synchronous(case, job)]
    if jobs := [job for job in writers if job.queue_each > 1 and fio_job(job).engine in _ENGINES]:
        every, depth = jobs[0].sync_every, jobs[0].queue_each
        often = "after every write" if every == 1 else f"after every {every} writes"
        yield notes(
            f"{case.who(jobs)} syncs {often} at iodepth={depth}: fio does not wait for the writes in flight before it "
            f"syncs, so a sync may miss up to {depth - 1} of them, and its latency is not that of a commit",
            weight=40,
        )


RULE = Rule(
    title="A sync that does not cover the writes in flight",
    wrong="With fsync=N or fdatasync=N, libaio and io_uring issue the sync while other writes are in flight. fsync "
    "only covers writes that have completed. A database, in contrast, waits for its writes before it syncs, and then "
    "waits for the sync.",
    shows="In a job: libaio or io_uring with iodepth above 1, and fsync or fdatasync.",
    error="Rates are too high for a database; the sync latency is too low or too high. Measured at iodepth=32: libaio "
    "was at depth 32 in 94% of the submissions, io_uring in all of them.",
    fix="set iodepth=1 and, for several committing clients, raise numjobs, with one file per job; or use sync=dsync at "
    "that depth",
    sources=(
        fio_source("3.33", "engines/libaio.c", "fio_libaio_queue (waits for queued I/Os, not for those submitted)"),
        fio_source("3.33", "engines/io_uring.c", "fio_ioring_queue"),
        fio_source("3.33", "backend.c", "do_io"),
        fio_doc("fsync"),
    ),
    in_job=_in_job,
    options=("iodepth", "fsync", "fdatasync"),
    fixed_options={"iodepth": "1"},
    cleared_by_byte_count=False,
    commands="for depth in 1 32; do fio --rw=randwrite --bs=4k --size=64m --io_size=4m --direct=1 --ioengine=libaio "
    "--iodepth=$depth --fdatasync=1; done",
)
