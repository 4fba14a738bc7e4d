"""Asynchronous engines that block during submission."""

from poolproof.load.model import LoadPart
from poolproof.rules.fio_job import fio_job
from poolproof.rules.model import Case, Changes, Finding, Findings, Rule, notes, suspects, zfs_issue
from poolproof.rules.path import is_zfs
from poolproof.rules.reported import ReportedDirection, each_part
from poolproof.units import format_duration

_SECTOR = 512


def _blocks(case: Case, job: LoadPart) -> bool:
    engine = fio_job(job).engine
    buffered = engine == "libaio" and not job.direct
    on_zfs = engine in ("libaio", "io_uring") and is_zfs(case.target)
    return job.depth > 1 and (job.reads or job.writes) and (buffered or on_zfs)


def _in_job(case: Case) -> Findings:
    if jobs := [job for job in case.jobs if _blocks(case, job)]:
        on_zfs, buffered = "ZFS does not support asynchronous I/O", "libaio is asynchronous only with direct=1"
        yield suspects(
            f"{case.who(jobs)} sets iodepth={jobs[0].depth}, but {on_zfs if is_zfs(case.target) else buffered}: "
            "submission blocks until the I/O is done, so the depth is 1 and the latencies include the wait for the "
            "whole queue",
            weight=55,
        )


def _in_part(case: Case, part: ReportedDirection) -> Finding | None:
    job, lat, slat = case.job_named(part.job.name), part.figures.lat, part.figures.slat
    if job is None or job.depth <= 1 or job.is_synchronous or not (lat and slat and lat.mean_ns):
        return None
    share = lat.mean_ns / job.depth
    if slat.mean_ns is None or slat.mean_ns < 0.9 * share:
        return None
    return notes(
        f"on average, submitting an I/O took {format_duration(slat.mean_ns / 1e9)} of its total latency of "
        f"{format_duration(lat.mean_ns / 1e9)}, which is {job.depth} × {format_duration(share / 1e9)}: submission "
        f"blocks until the I/O is done, so the depth was 1 and the latency is too high by a factor of {job.depth}",
        weight=60,
    )


def _fixed_options(case: Case, job: LoadPart) -> Changes:
    """Return direct=1, which libaio needs, or iodepth=1 on ZFS and for block sizes that rule out direct I/O."""
    takes_direct = not is_zfs(case.target) and job.block_bytes % _SECTOR == 0
    return {"buffered": None, "direct": "1"} if takes_direct else {"iodepth": "1"}


RULE = Rule(
    title="An asynchronous engine that blocks",
    wrong="Buffered libaio, and libaio or io_uring on ZFS, do the I/O during submission: one at a time, whatever "
    "iodepth is.",
    shows="In a job: libaio with direct=0, or libaio or io_uring on ZFS, with iodepth above 1. In a result: the mean "
    "submission latency is about the mean latency divided by iodepth. The depth histogram does not show it.",
    error="Latency is too high by a factor of iodepth; IOPS are too low. Measured: a mean slat of 27.3 µs, and a mean "
    "latency of 27.9 µs × iodepth.",
    fix="set direct=1; on ZFS, set iodepth=1 and use more numjobs, each with its own file",
    sources=(zfs_issue(10018), "https://www.mail-archive.com/fio@vger.kernel.org/msg00766.html"),
    in_job=_in_job,
    options=("iodepth", "ioengine", "direct", "buffered"),
    fixed_options=_fixed_options,
    in_result=each_part(_in_part),
    cleared_by_byte_count=False,
    commands="for d in 0 1; do fio --rw=randread --bs=4k --size=256m --direct=$d --ioengine=libaio --iodepth=32; done",
)
