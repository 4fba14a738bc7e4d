"""A queue depth that the engine does not support."""

import re
from collections.abc import Sequence

from poolproof.load.model import LoadPart
from poolproof.rules.fio_job import fio_job, is_fio_job
from poolproof.rules.model import Case, Changes, Findings, Rule, finding, fio_doc, fio_source
from poolproof.rules.path import is_zfs

_MAY_BE_LIBAIO = ("sync", "psync", "pvsync", "pvsync2")
_DEPTH_IN_NAME = re.compile(
    r"(?<![a-z])(?:qd|(?:io|queue)?[-_]?depth)[-_=]?(\d{1,5})(?!\d)|q(\d{1,5})t\d", re.IGNORECASE
)


def _in_job(case: Case) -> Findings:
    jobs = [job for job in case.jobs if job.is_synchronous and job.depth > 1 and job.queue_each == 1]
    if jobs:
        depth = f"a queue depth of {jobs[0].depth} with an engine that"
        if is_fio_job(jobs[0]):
            depth = f"iodepth={jobs[0].depth} with ioengine={fio_job(jobs[0]).engine}, which"
        engine = "an asynchronous engine (io_uring or libaio)"
        fix = f"use {engine}" if jobs[0].direct else f"use {engine} together with direct=1"
        fix = f"{fix}; or set iodepth=1 and raise numjobs instead, with one file per job"
        if is_fio_job(jobs[0]) and not jobs[0].may_use_page_cache:  # another engine cannot access the same target
            fix = "set iodepth=1 and raise numjobs instead"
        claim = _claim(case, jobs)
        yield finding(
            "suspects" if case.outcome is None or claim else "notes",
            f"{case.who(jobs)} sets {depth} performs one I/O at a time, so the depth is 1"
            + (f", but {claim}" if claim else ""),
            weight=60,
            fix=fix,
        )


def _claim(case: Case, jobs: Sequence[LoadPart]) -> str:
    """Return a clause that says where this queue depth is claimed, or an empty string if it is not claimed.

    A claim can be in a job's name or in the text around the result.
    """
    said = case.quoted.depths if case.quoted else {}
    for job in jobs:
        named = [int(match[1] or match[2]) for match in _DEPTH_IN_NAME.finditer(job.name)]
        if job.depth in named:
            return f"the job's name, `{job.name}`, claims a depth of {job.depth}"
        if job.depth in said:
            return said[job.depth]
    return ""


def _fixed_options(case: Case, job: LoadPart) -> Changes:
    """Return changes that set ioengine=libaio, or iodepth=1 if libaio cannot queue the job's I/O.

    For example, libaio never queues buffered I/O.
    """
    may_be_libaio = fio_job(job).engine in _MAY_BE_LIBAIO and job.direct and not job.commits_each_write
    return {"ioengine": "libaio"} if may_be_libaio and not is_zfs(case.target) else {"iodepth": "1"}


RULE = Rule(
    title="iodepth has no effect",
    wrong="sync, psync (the default), mmap and other engines ignore iodepth. (vsync is different: it gathers up to "
    "iodepth adjacent I/Os into one call.) The result is correct for a depth of 1, but not for the greater depth.",
    shows=(
        "In a job: a synchronous engine with iodepth above 1 and without io_submit_mode=offload. For such a job, fio "
        "prints `queue depth will be capped at 1`. In a text: the job's name or a sentence near the result claims the "
        "configured depth (`QD32`). Without such a claim, the finding is a note."
    ),
    error="Too low on disks that can work in parallel. Readers assume a queue depth that was never reached.",
    fix="set ioengine=io_uring (or libaio) with direct=1; or set iodepth=1 and raise numjobs instead, with one file "
    "per job",
    sources=(
        fio_source("3.42", "backend.c", "thread_main (`queue depth will be capped at 1`)"),
        fio_source("3.42", "engines/sync.c", "fio_vsyncio_queue"),
        fio_doc("iodepth"),
    ),
    in_job=_in_job,
    options=("iodepth", "ioengine"),
    fixed_options=_fixed_options,
    cleared_by_byte_count=False,
    commands="for d in 1 32; do fio --rw=randread --bs=4k --size=256m --direct=1 --iodepth=$d --runtime=3; done",
)
