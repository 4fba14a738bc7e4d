"""Asynchronous engines that block while submitting I/O."""

from collections.abc import Mapping

from poolproof.load.model import LoadPart
from poolproof.metrics import MetricId
from poolproof.rules.fio_job import fio_job
from poolproof.rules.model import (
    Case,
    Changes,
    Finding,
    Findings,
    Rule,
    finding,
    fio_issue,
    fio_source,
    linux_source,
    notes,
    suspects,
    zfs_issue,
    zfs_source,
)
from poolproof.rules.path import is_zfs, is_zvol
from poolproof.rules.proof import LATENCIES, LATENCIES_WITH_READS, LATENCIES_WITH_WRITES
from poolproof.rules.reported import ReportedDirection, each_part, parts, parts_of
from poolproof.units import format_duration

_SECTOR = 512
_LEFT_OUT = 0.5
_MOST_TIMES = 1.5  # more than this is a batch (iodepth_batch_submit)
_FASTEST_BYTES_PER_NS = 20.0  # 20 GB/s: faster than any drive, and than a copy in RAM
_MOST_OF_RUN, _CLEARLY_LONGER = 0.5, 2.0
_LONG_NS, _COPIED_BYTES_PER_NS = 100_000.0, 1.0
_LATENCIES_OF: Mapping[str, tuple[MetricId, ...]] = {"read": LATENCIES_WITH_READS, "write": LATENCIES_WITH_WRITES}
_ONE_EACH = "set iodepth=1 and raise numjobs, with one file per job"
_ON_ZFS = f"set ioengine=io_uring, or {_ONE_EACH}"


def _blocks(case: Case, job: LoadPart) -> bool:
    engine = fio_job(job).engine
    buffered = engine == "libaio" and not job.direct
    # io_uring passes I/O that would block to worker threads, so it reaches its queue depth even on ZFS
    on_zfs = engine == "libaio" and _is_dataset(case)
    return job.depth > 1 and (job.reads or job.writes) and (buffered or on_zfs)


def _is_dataset(case: Case) -> bool:
    """True if the target is a dataset of ZFS. A zvol queues its I/O for a thread of its own."""
    return is_zfs(case.target) and not is_zvol(case.target)


def _in_job(case: Case) -> Findings:
    if jobs := [job for job in case.jobs if _blocks(case, job)]:
        on_zfs, buffered = "ZFS has no asynchronous path for libaio", "libaio is asynchronous only with direct=1"
        is_quoted = case.outcome is not None and case.quoted is not None
        has_latencies = is_quoted and any(part.total is not None for part in parts(case.outcome))
        yield finding(
            "notes" if is_quoted and not has_latencies else "suspects",
            f"{case.who(jobs)} sets iodepth={jobs[0].depth}, but {on_zfs if _is_dataset(case) else buffered}: "
            "submission blocks until the I/O is done, so the depth is 1 and the latencies include the time spent "
            "waiting for the whole queue",
            weight=55,
            fix=_ON_ZFS if _is_dataset(case) else "set direct=1 (libaio queues only direct I/O), or use io_uring",
            metrics=LATENCIES if has_latencies or (case.outcome is not None and _only_fills_the_cache(jobs)) else (),
        )


def _only_fills_the_cache(jobs: list[LoadPart]) -> bool:
    """True if the jobs do nothing but buffered writes.

    The kernel writes such data to the disk later, at a queue depth of its own choice.
    """
    return all(job.writes and not job.reads and not job.direct for job in jobs)


def _in_part(case: Case, part: ReportedDirection) -> Finding | None:
    return _one_after_another(case, part) or _mostly_submitted(case, part) or _noticed_late(case, part)


def _mostly_submitted(case: Case, part: ReportedDirection) -> Finding | None:
    """Return a finding if the percentiles leave out most of the time, because they begin after the submission."""
    job, lat, clat, slat = case.job_named(part.job.name), part.figures.lat, part.figures.clat, part.figures.slat
    if job is None or not (lat and clat and slat and lat.mean_ns and slat.mean_ns):
        return None
    has_percentiles = clat.percentiles_ns or clat.bins_ns
    waited_ns = _waited_for_cpu_ns(case, part)
    if slat.mean_ns - waited_ns < _LEFT_OUT * max(lat.mean_ns - waited_ns, 0.0) or slat.mean_ns <= waited_ns:
        return None
    if not has_percentiles or not fio_job(job).flag("clat_percentiles"):
        return None
    return suspects(
        f"on average, the {part.kind}s took {format_duration(lat.mean_ns / 1e9)}, of which their submission took "
        f"{format_duration(slat.mean_ns / 1e9)}: the percentiles are those of the completion latency, which begins "
        "after the submission, so they leave out most of the time",
        weight=65,
        metrics=_LATENCIES_OF.get(part.kind, LATENCIES),
        fix="set lat_percentiles=1 and clat_percentiles=0, so that the percentiles include the submission",
    )


def _waited_for_cpu_ns(case: Case, part: ReportedDirection) -> float:
    """Return the time per I/O for which fio's threads were ready to run, but waited for a processor.

    Other programs and virtual machines cause these waits, and `other-work` reports them if they matter. In a short
    trial, a single wait during a submission can be longer than all submissions together. All waits are assumed to have
    been during submissions. Returns 0 if they are unknown.
    """
    evidence, figures = case.evidence, part.figures
    if evidence is None or not figures.ios or not figures.runtime_ms:
        return 0.0
    delayed = (evidence.others.delay_share if evidence.others else None) or 0.0
    cpus = evidence.host.cpus if evidence.host else ()
    stolen = sum(cpu.steal for cpu in cpus) / len(cpus) if cpus else 0.0
    return min(1.0, delayed + stolen) * figures.runtime_ms * 1e6 * part.job.clones / figures.ios


def _one_after_another(case: Case, part: ReportedDirection) -> Finding | None:
    """Return a finding if submitting the I/Os one after another took nearly all of the time."""
    job, lat, slat = case.job_named(part.job.name), part.figures.lat, part.figures.slat
    if job is None or job.depth <= 1 or job.is_synchronous or not (lat and slat and lat.mean_ns):
        return None
    share = lat.mean_ns / job.depth
    if slat.mean_ns is None or not 0.9 * share <= slat.mean_ns <= _MOST_TIMES * share:
        return None
    if slat.mean_ns - _waited_for_cpu_ns(case, part) < 0.5 * share:
        return None
    if slat.mean_ns < job.block_bytes / _FASTEST_BYTES_PER_NS:
        return None  # the data cannot have been moved while the I/O was submitted
    return notes(
        f"on average, submitting an I/O took {format_duration(slat.mean_ns / 1e9)} and the whole I/O took "
        f"{format_duration(lat.mean_ns / 1e9)}, which is {job.depth} × {format_duration(share / 1e9)}: "
        f"{_one_at_a_time(job)}, so the depth was 1 and the latency is too high by a factor of {job.depth}",
        weight=60,
        fix=_ONE_EACH if job.direct else "",
    )


def _noticed_late(case: Case, part: ReportedDirection) -> Finding | None:
    """Return a finding if fio was blocked by submissions in the other direction, and so noticed late which I/Os ended.

    The disks' own times show that: while fio is blocked, the I/Os in flight end, but fio cannot collect them.
    """
    job, lat = case.job_named(part.job.name), part.figures.lat
    disk_ns = 1e9 * max((leaf.latency_s or 0.0 for leaf in case.leaves), default=0.0)
    if job is None or job.queue_each <= 1 or job.is_synchronous or not (lat and lat.mean_ns and disk_ns):
        return None
    others = [each for each in parts_of(part.job) if each.kind != part.kind]
    run_ns = 1e6 * part.job.longest_ms * part.job.clones
    share = sum(_blocked_ns(case, each) for each in others) / run_ns if run_ns else 0.0
    if share < _MOST_OF_RUN or lat.mean_ns < _CLEARLY_LONGER * disk_ns:
        return None
    return suspects(
        f"the submission of {others[0].kind}s blocked {case.generator} for {min(100.0, 100 * share):.0f}% of the time. "
        f"It noticed only afterwards which {part.kind}s had finished: they took "
        f"{format_duration(lat.mean_ns / 1e9)} on average, but a request to a disk took "
        f"{format_duration(disk_ns / 1e9)}",
        weight=64,
        metrics=_LATENCIES_OF.get(part.kind, LATENCIES),
        fix="do the reads and the writes in separate jobs, or set ioengine=io_uring",
    )


def _blocked_ns(case: Case, part: ReportedDirection) -> float:
    """Return the time for which the submission of a part's I/Os blocked the load generator.

    Short submissions are left out: they are work of the processor, even if they take most of the time.
    """
    ios, slat = part.figures.ios, part.figures.slat
    if not ios or slat is None or not slat.mean_ns:
        return 0.0
    each_ns = slat.mean_ns - _waited_for_cpu_ns(case, part)
    is_long = each_ns >= _LONG_NS + (part.figures.io_bytes or 0) / ios / _COPIED_BYTES_PER_NS
    return ios * each_ns if is_long else 0.0


def _one_at_a_time(job: LoadPart) -> str:
    if fio_job(job).engine == "libaio":
        return "submission blocks until the I/O is done"
    return "nearly all of the time is spent on submitting one I/O after another"


def _fixed_options(case: Case, job: LoadPart) -> Changes:
    """Return changes that set direct=1, because libaio is asynchronous only with direct I/O.

    If direct I/O has no use, because the target is ZFS or the block size is unsuitable, they set iodepth=1 instead.
    """
    takes_direct = not is_zfs(case.target) and job.block_bytes % _SECTOR == 0
    return {"buffered": None, "direct": "1"} if takes_direct else {"iodepth": "1"}


RULE = Rule(
    title="An asynchronous engine that blocks",
    wrong=(
        "libaio performs buffered I/O (and, on datasets of ZFS, all I/O) during submission, one I/O at a time, "
        "regardless of iodepth. io_uring passes this I/O to worker threads instead. fio's percentiles are those of the "
        "completion latency, which begins after the submission, so they leave out most of the time that such an I/O "
        "takes."
    ),
    shows=(
        "In a job: the engine is libaio, iodepth is above 1, and the I/O is buffered or the target is a dataset of "
        "ZFS. Direct I/O on zvols is not reported, because a zvol queues it. In a result: the mean submission latency "
        "is about the mean latency divided by iodepth, or, with percentiles of the completion latency, at least half "
        "of the mean latency, even without the time for which fio's threads waited for a processor. fio's histogram of "
        "queue depths does not show this problem. The latencies of reads are also suspect if the submission of writes "
        "blocked fio for at least half of the time and the reads took at least twice as long as a request to a disk, "
        "and the other way round. The rate of someone else's result is not suspect, because it is not "
        "too high."
    ),
    error=(
        "The latency is too high by a factor of iodepth, and the IOPS are too low. Measured: a mean slat of 27.3 µs, "
        "and a mean latency of 27.9 µs × iodepth. Percentiles are too low if most of the time is spent on submission. "
        "Measured on btrfs with direct=1 (Linux 6.18, libaio, iodepth=1): a median of 4.0 µs, although each write took "
        "6.0 ms on average. The reads of such a job at iodepth=8 took "
        "1.28 ms on average, but only 0.25 ms at the disk."
    ),
    fix="use libaio only with direct=1; on ZFS, use io_uring, or set iodepth=1 and raise numjobs, with one file per "
    "job",
    sources=(
        linux_source("6.12", "fs/aio.c", "io_submit_one"),
        linux_source("6.12", "io_uring/io_uring.c", "io_queue_iowq"),
        zfs_source("2.3.0", "module/os/linux/zfs/zpl_file.c", "zpl_iter_read"),
        zfs_source("2.3.0", "module/os/linux/zfs/zvol_os.c", "zvol_request_impl (queues the I/O of zvols)"),
        zfs_issue(10018),
        fio_source("3.42", "engines/libaio.c", "fio_libaio_queued (the completion latency begins after io_submit)"),
        fio_issue(1863),
        "https://www.mail-archive.com/fio@vger.kernel.org/msg00766.html",
    ),
    in_job=_in_job,
    options=("iodepth", "ioengine", "direct", "buffered"),
    fixed_options=_fixed_options,
    in_result=each_part(_in_part),
    cleared_by_byte_count=False,
    commands="for d in 0 1; do fio --rw=randread --bs=4k --size=256m --direct=$d --ioengine=libaio --iodepth=32; done",
)
