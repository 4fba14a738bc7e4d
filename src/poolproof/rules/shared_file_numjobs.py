"""Several jobs that access the same bytes of one file."""

import re
from collections import Counter
from collections.abc import Callable, Sequence

from poolproof.load.model import Load, LoadPart
from poolproof.rules.fio_job import fio_job
from poolproof.rules.flow import Flow, lost_reads, lost_writes
from poolproof.rules.model import Case, Changes, Findings, Rule, finding, fio_doc, fio_source
from poolproof.rules.path import all_go_past_ram, is_direct_on_unknown, may_end_in_ram
from poolproof.rules.proof import OF_READS, OF_WRITES
from poolproof.rules.reported import parts
from poolproof.rules.service_time import submission_ns
from poolproof.units import canonical_size, format_number_of, format_rate

_NEAR = 0.2
_TIMES = 2
_MOST_PARTS = 100
_DISK = re.compile(
    r"/dev/(?:[shv]d[a-z]|xvd[a-z]|nvme\d|mmcblk\d|md\d|md/|disk/|pmem\d)"
)  # zvols are left out, because their I/O goes through RAM


_OF_SPDK = re.compile(r"(?:\S+\s)*(?:trtype|traddr)=")


def _fix(case: Case) -> str:
    """Return the suggested fix: give each job its own file or its own part of the file.

    If all jobs have the same size, the fix states the size of each part.
    """
    sizes = {job.size_bytes for job in case.jobs}
    fix = "use directory= instead of filename= (one file per job), or offset_increment="
    if all(name.startswith("/dev/") or _OF_SPDK.match(name) for job in case.jobs for name in fio_job(job).filenames):
        fix = "set offset_increment="
    size = next(iter(sizes))
    if len(sizes) > 1 or size is None or size < case.load.sharers:
        return f"{fix} to give each job its own part"
    part = _share_of(size, case.load.sharers)
    return f"{fix}{part} size={part}"


def _share_of(size_bytes: int, sharers: int) -> str:
    """Return the size of one job's part of the file, in fio's notation.

    The size is a whole number of MiB or, below 1 MiB, a multiple of 4 KiB. Both are suitable for O_DIRECT.
    """
    size_bytes //= sharers
    unit = 1024**2 if size_bytes >= 1024**2 else 4096
    return canonical_size(max(size_bytes // unit * unit, 1)).lower()


def _in_job(case: Case) -> Findings:
    yield from _direct_in_step(case)
    sharers = _sharers(case, lambda _job: True)
    # True if the largest group that shares bytes contains writers.
    writers = _sharers(case, lambda job: job.writes) == sharers or _sharers(case, lambda job: not job.writes) < sharers
    if sharers < 2 or not (case.cold or writers):
        return
    in_step = _starters(case) > 1
    what = "device" if all(map(_on_device, case.jobs)) else "file"
    order = "start at the same offset" if in_step else "access some of the same blocks"
    yield finding(
        "suspects" if in_step else "notes",
        f"{sharers} jobs {'write' if writers else 'read'} the same bytes of one {what} and {order}: RAM can serve all "
        f"but one of them, so the sum may be too high by a factor of up to {sharers}",
        weight=80,
        fix=_fix(case),
    )


def _direct_in_step(case: Case) -> Findings:
    """Yield a finding if clones with direct=1 access the same bytes of an unknown target at the same time.

    A cache may serve them despite direct=1. A file may be on ZFS, which can ignore direct=1, and a disk has its own
    cache.
    """
    jobs = [job for job in case.jobs if is_direct_on_unknown(job, case.target) and _walks_forward(job)]
    jobs = [job for job in jobs if (job.reads or job.writes) and _starters_in((job,)) > 1]
    jobs = [job for job in jobs if fio_job(job).engine != "http"]  # objects of a server, which no page cache holds
    if not jobs or not (case.cold or case.load.writes):
        return
    clones, did = _starters_in((jobs[0],)), " and ".join(["read"] * jobs[0].reads + ["write"] * jobs[0].writes)
    on_device = _on_device(jobs[0])
    is_direct = (
        on_device
        or all(fio_job(job).engine == "windowsaio" for job in jobs)  # opens its files with FILE_FLAG_NO_BUFFERING
        or (case.quoted is not None and case.quoted.honours_direct)
        or all(_queues(case, job) for job in jobs)
    )
    cache = "the drive's cache" if is_direct else "if direct=1 is not honoured here, RAM"
    yield finding(
        "notes" if is_direct or all(job.writes_are_synchronous for job in jobs) else "suspects",
        f"{clones} jobs {did} the same bytes of one {'device' if on_device else 'file'} and start at the same offset: "
        f"{cache} can serve all but one of them, so the sum may be too high by a factor of up to {clones}",
        weight=80,
        fix=_fix(case),
    )


def _on_device(job: LoadPart) -> bool:
    """True if the job uses a disk, perhaps through a driver in user space (`filename=trtype=PCIe traddr=…`)."""
    names = fio_job(job).filenames
    return bool(names) and all(_DISK.match(name) or _OF_SPDK.match(name) for name in names)


def _queues(case: Case, job: LoadPart) -> bool:
    """True if the result shows that libaio queued the job's I/Os on files, so the file system honoured direct=1.

    Otherwise, libaio does the I/O while it submits it, and so each I/O takes about as long as the submission of all
    I/Os in the queue. A zvol queues I/O that the ARC serves, so devices do not count.
    """
    fio = fio_job(job)
    if fio.engine != "libaio" or job.queue_each < 2 or any(name.startswith("/dev/") for name in fio.filenames):
        return False
    found = [part for part in parts(case.outcome) if case.job_named(part.job.name) is job]
    return bool(found) and all(
        part.total is not None and (part.total.mean_ns or 0.0) > _TIMES * job.queue_each * submission_ns(part) > 0
        for part in found
    )


def _sharers(case: Case, counts: Callable[[LoadPart], bool]) -> int:
    """Return the maximum number of clones that access the same bytes at the same time.

    Jobs that RAM cannot serve are ignored. Random jobs of an unknown size are ignored, because two clones rarely hit
    the same block of a whole disk. Random writes that are synced one by one are ignored too, because two clones are
    unlikely to write the same block between two syncs.
    `counts`: returns True for the jobs to consider.
    """
    phases = (
        [
            job
            for job in phase
            if (job.reads or (job.writes and not (job.is_random and job.commits_each_write)))
            and may_end_in_ram(job, case.target)
            and counts(job)
            and (job.is_sequential or job.size_bytes is not None)
        ]
        for phase in case.load.phases
    )
    return max((Load(tuple(phase)).sharers for phase in phases), default=0)


def _starters(case: Case) -> int:
    """Return the maximum number of clones that start at the same byte at the same time and move forward from there."""
    most = 0
    for phase in case.load.phases:
        jobs = [job for job in phase if _walks_forward(job) and may_end_in_ram(job, case.target)]
        most = max(most, _starters_in([job for job in jobs if job.reads or job.writes]))
    return most


def _starters_in(jobs: Sequence[LoadPart]) -> int:
    """Return the largest number of clones that start at the same byte of a file."""
    starts = Counter((extent.file, extent.scale, extent.start) for job in jobs for extent in job.extents)
    return max(starts.values(), default=0)


def _walks_forward(job: LoadPart) -> bool:
    """True if the job is sequential and does not move backwards, as `rw=read:-8k` does."""
    return job.is_sequential and not (fio_job(job).text("rw") or "").partition(":")[2].strip().startswith("-")


def _in_result(case: Case) -> Findings:
    if not case.load.shares_one_file or all_go_past_ram(case):
        return
    yield from _missing(case, lost_writes(case), "wrote", "to", "reached the disks", "was overwritten in RAM")
    again = "was read from RAM after another job had read it"
    yield from _missing(case, lost_reads(case), "read", "from", "came from the disks", again)


def _missing(case: Case, flow: Flow | None, did: str, preposition: str, arrived: str, rest: str) -> Findings:
    """Yield a finding if accesses that RAM served explain the missing bytes.

    The jobs move each byte several times: once per job, and again in each further pass over the file. The disks may
    have moved it only once, because RAM can serve the other accesses.
    """
    if flow is None:
        return
    sharers, unique_bytes = case.load.sharers, case.load.unique_bytes
    times = max(sharers, flow.moved_bytes / unique_bytes if unique_bytes else 0)
    if flow.ratio < (1 - _NEAR) / times:
        return
    exact = abs(flow.ratio * sharers - 1) <= _NEAR
    once = f", 1/{sharers} as expected if the disks moved each block once" if exact else ""
    yield finding(
        flow.effect,
        f"{sharers} jobs {did} {flow.moved} {preposition} one file; {flow.counted} {arrived} ({flow.share} of "
        f"{flow.expected}{once}): the rest {rest}",
        weight=90,
        fix=_fix(case),
        metrics=OF_WRITES if did == "wrote" else OF_READS,
    )


def _least_rate(case: Case, rate: float) -> tuple[float, str]:
    """Return the rate if the disks moved each shared block only once, and its calculation as text."""
    least = rate / case.load.sharers
    quotient = f"{format_rate(rate)} / {format_number_of(case.load.sharers, 'job')} = {format_rate(least)}"
    return least, f"{quotient} if each block was transferred once"


def _fixed_options(_case: Case, job: LoadPart) -> Changes:
    """Return changes that give each clone its own part of the file, or its own file if the size is unknown.

    Returns no changes if the job has only one clone, or if a device would be split into too many parts.
    """
    filename, clones, size = fio_job(job).filename or "", job.clones, job.size_bytes
    if clones < 2:
        return {}
    if size is None and filename.startswith("/dev/"):
        return {"size": f"{100 // clones}%", "offset_increment": f"{100 // clones}%"} if clones <= _MOST_PARTS else {}
    if size is None or size < clones:
        return {"filename": None, "directory": fio_job(job).directory or filename.rpartition("/")[0] or "."}
    part = _share_of(size, clones)
    return {"size": part, "offset_increment": part}


RULE = Rule(
    title="Several jobs share one file",
    wrong="Jobs with the same filename access the same bytes. A cache (RAM, or the drive's own) can serve all but "
    "one of them, and fio adds up the rates of all of them.",
    shows="In a job: clones that access the same bytes and are not known to bypass RAM. The finding is only a note if "
    "they do not start at the same offset. With direct=1 on an unknown target, only sequential clones that start at "
    "the same offset are reported. This finding is only a note in these cases: on a block device, with "
    "windowsaio, if each write is "
    "synchronous, if a heading above the result names ext4 or XFS, or if the latencies show that libaio queued the I/O "
    "of a file (it does so only if direct=1 is honoured). In the counters: the disks moved about 1/numjobs of what fio "
    "moved.",
    error="Too high by a factor of up to numjobs. Measured: 6 with 8 writers, 4.0 with 4 readers; correct with "
    "direct=1 on ext4.",
    fix="use directory= so that each job has its own file, or set size=X/numjobs and offset_increment=X/numjobs",
    sources=(
        "measured cases L02, L03, L04",
        fio_source("3.42", "filesetup.c", "get_start_offset (offset_increment)"),
        fio_source("3.42", "io_u.c", "get_next_seq_offset"),
        fio_doc("offset_increment"),
    ),
    in_job=_in_job,
    options=("numjobs", "filename"),
    fixed_options=_fixed_options,
    in_result=_in_result,
    least_rate=_least_rate,
    explains_lost={"read": "already in RAM: another job had read it", "write": "overwritten in memory by another job"},
    commands="fio --rw=write --bs=1m --size=128m --numjobs=8 --end_fsync=1 --group_reporting",
)
