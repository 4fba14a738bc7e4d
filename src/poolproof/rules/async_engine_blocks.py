"""Asynchronous engines that block during submission."""

from collections.abc import Iterable
from functools import partial

from poolproof.load.model import LoadPart
from poolproof.rules.fio_job import fio_job
from poolproof.rules.model import Case, Changes, Finding, Rule
from poolproof.rules.naming import who
from poolproof.rules.path import is_zfs
from poolproof.rules.reported import ReportedDirection, each_part, job_of
from poolproof.rules.reproduction import script
from poolproof.units import format_duration

_SECTOR = 512
_WAITED = 0.9
_FIX = "direct=1; on ZFS (no asynchronous I/O here), iodepth=1 and more numjobs, each with its own file"


def _blocks(case: Case, job: LoadPart) -> bool:
    if job.depth <= 1 or not (job.reads or job.writes):
        return False
    return (fio_job(job).engine == "libaio" and not job.direct) or (
        fio_job(job).engine in ("libaio", "io_uring") and is_zfs(case.target)
    )


def _in_job(case: Case) -> Iterable[Finding]:
    jobs = [job for job in case.load.parts if _blocks(case, job)]
    if not jobs:
        return
    why = (
        "ZFS does not support asynchronous I/O here"
        if is_zfs(case.target)
        else "libaio is asynchronous only with direct=1"
    )
    yield Finding(
        rule="async-engine-blocks",
        effect="suspects",
        message=f"{who(case, jobs)} asks for iodepth={jobs[0].depth}, but {why}: submission blocks until the I/O is "
        "done, so the depth is 1 and the latencies include the wait for the whole queue",
        fix=_FIX,
        weight=55,
    )


def _in_result(case: Case) -> Iterable[Finding]:
    yield from each_part(case.outcome, partial(_of_part, case))


def _of_part(case: Case, part: ReportedDirection) -> Finding | None:
    job, lat, slat = job_of(case, part), part.figures.lat, part.figures.slat
    if job is None or job.depth <= 1 or job.is_synchronous or not (lat and slat and lat.mean_ns):
        return None
    share = lat.mean_ns / job.depth
    if slat.mean_ns is None or slat.mean_ns < _WAITED * share:
        return None
    return Finding(
        rule="async-engine-blocks",
        effect="notes",
        message=f"an I/O took {format_duration(slat.mean_ns / 1e9)} to submit and "
        f"{format_duration(lat.mean_ns / 1e9)} in total, {job.depth} times {format_duration(share / 1e9)}: "
        f"submission blocks until the I/O is done, so the depth was 1 and the latency is {job.depth} × too high",
        fix=_FIX,
        weight=60,
    )


def _mended(case: Case, job: LoadPart) -> Changes:
    """Return direct=1, which libaio needs; on ZFS, or if the block size rules out direct I/O, return iodepth=1."""
    takes_direct = not is_zfs(case.target) and job.block_bytes % _SECTOR == 0
    return {"buffered": None, "direct": "1"} if takes_direct else {"iodepth": "1"}


RULE = Rule(
    id="async-engine-blocks",
    title="An asynchronous engine that blocks",
    wrong="libaio on a buffered file, and any engine on ZFS, does the I/O inside the call that should only submit it. "
    "One I/O runs at a time, but fio counts iodepth I/Os as in flight.",
    shows="In a job: libaio with direct=0, or libaio or io_uring on ZFS, with iodepth over 1. In a result: the mean "
    "submission latency is about the mean latency divided by iodepth. The depth histogram does not show it.",
    error="Latency is too high by a factor of iodepth; IOPS are too low. Measured: slat 27.3 µs vs 27.9 µs.",
    fix=_FIX,
    sources=(
        "https://github.com/openzfs/zfs/issues/10018",
        "https://www.mail-archive.com/fio@vger.kernel.org/msg00766.html",
    ),
    pitfall_numbers="#7, A8",
    in_job=_in_job,
    options=("iodepth", "ioengine", "direct", "buffered"),
    fixed_options=_mended,
    in_result=_in_result,
    cleared_by_byte_count=False,
    reproduce=script(
        "for direct in 0 1; do fio --name=trap --filename=trap --rw=randread --bs=4k --size=256m --direct=$direct "
        "--ioengine=libaio --iodepth=32; done"
    ),
)
