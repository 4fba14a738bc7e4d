"""A queue depth that the engine does not support."""

from collections.abc import Iterable

from poolproof.load.model import LoadPart
from poolproof.rules.fio_job import fio_job
from poolproof.rules.model import Case, Changes, Finding, Rule
from poolproof.rules.naming import who
from poolproof.rules.path import is_zfs
from poolproof.rules.reproduction import script

_PLAIN = ("sync", "psync", "vsync", "pvsync", "pvsync2")
_FIX = "ioengine=io_uring (or libaio) with direct=1, or iodepth=1 and that many numjobs, each with its own file"


def _in_job(case: Case) -> Iterable[Finding]:
    jobs = [
        job
        for job in case.load.parts
        if job.is_synchronous and job.depth > 1 and fio_job(job).text("io_submit_mode") != "offload"
    ]
    if jobs:
        yield Finding(
            rule="iodepth-with-sync-engine",
            effect="suspects",
            message=f"{who(case, jobs)} asks for iodepth={jobs[0].depth} with ioengine={fio_job(jobs[0]).engine}, "
            "which does one I/O at a time: the depth is 1",
            fix=_FIX,
            weight=60,
        )


def _mended(case: Case, job: LoadPart) -> Changes:
    """Return libaio for direct I/O; otherwise return iodepth=1, because buffered I/O has no real queue depth."""
    if fio_job(job).engine not in _PLAIN or not job.direct or job.commits_each_write or is_zfs(case.target):
        return {"iodepth": "1"}
    return {"ioengine": "libaio"}


RULE = Rule(
    id="iodepth-with-sync-engine",
    title="iodepth without effect",
    wrong="sync, psync, mmap and similar engines (psync is the default) do one I/O at a time and ignore iodepth. The "
    "result is correct, but for a depth of 1.",
    shows="In a job: a synchronous engine, iodepth over 1, and io_submit_mode not offload. fio itself prints `queue "
    "depth will be capped at 1`.",
    error="Too low on disks that can work in parallel; the reader assumes a depth that was never used.",
    fix=_FIX,
    sources=("https://fio.readthedocs.io/en/latest/fio_doc.html (iodepth)", "fio backend.c"),
    pitfall_numbers="#6",
    in_job=_in_job,
    options=("iodepth", "ioengine"),
    fixed_options=_mended,
    cleared_by_byte_count=False,
    reproduce=script(
        "for depth in 1 32; do fio --name=trap --filename=trap --rw=randread --bs=4k --size=256m --direct=1 "
        "--ioengine=psync --iodepth=$depth --time_based --runtime=3; done"
    ),
)
