"""A queue that thinktime empties again and again."""

from poolproof.load.model import LoadPart
from poolproof.rules.fio_job import fio_job
from poolproof.rules.model import Case, Findings, Rule, fio_doc, fio_source, suspects


def _in_job(case: Case) -> Findings:
    jobs = [job for job in case.jobs if job.thinks and job.queue_each > _blocks(job)]
    if jobs:
        blocks = _blocks(jobs[0])
        each, most = ("each I/O", "one I/O is") if blocks == 1 else (f"every {blocks} I/Os", f"{blocks} I/Os are")
        yield suspects(
            f"{case.who(jobs)} sets thinktime and a queue depth of {jobs[0].queue_each}, but fio waits after {each} "
            f"until all I/Os have finished, so at most {most} in flight",
            weight=62,
        )


def _in_result(case: Case) -> Findings:
    """Yield the findings on the job for its result too.

    The byte accounting must not clear them, because the bytes match at any queue depth.
    """
    if case.outcome is not None:
        yield from _in_job(case)


def _blocks(job: LoadPart) -> int:
    return max(1, fio_job(job).number("thinktime_blocks") or 1)


RULE = Rule(
    title="thinktime empties the queue",
    wrong=(
        "Before it waits for thinktime, fio lets all I/Os in flight finish. With thinktime_blocks=1, the default, the "
        "queue depth is then 1, regardless of iodepth."
    ),
    shows="In a job and its result: thinktime is set, and iodepth is larger than thinktime_blocks.",
    error="Too low for the stated depth, which was not reached. Measured: iodepth=16 with thinktime=2000 ran at depth "
    "1 for 94% of the time.",
    fix="set thinktime_blocks to a multiple of iodepth, or remove thinktime; rate_iops also empties the queue before "
    "each wait",
    sources=(
        fio_source("3.42", "backend.c", "handle_thinktime"),
        fio_source("3.42", "io_u.c", "rate_ddir (io_u_quiesce unless io_submit_mode=offload)"),
        fio_doc("thinktime, thinktime_blocks"),
    ),
    in_job=_in_job,
    in_result=_in_result,
    options=("thinktime", "iodepth"),
    cleared_by_byte_count=False,
    commands="fio --rw=randread --bs=4k --size=256m --direct=1 --ioengine=libaio --iodepth=16 --thinktime=2000",
)
