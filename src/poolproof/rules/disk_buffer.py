"""I/O on data that fits in a disk's internal buffer."""

from functools import partial

from poolproof.load.merge import direction_of
from poolproof.load.model import LoadPart
from poolproof.rules.coverage import random_reads_in_order
from poolproof.rules.fio_job import fio_job, has_copied_clock, is_fio_job
from poolproof.rules.model import Case, Finding, Findings, Rule, linux_source, notes, suspects
from poolproof.rules.path import goes_past_ram
from poolproof.rules.proof import OF_READS, OF_WRITES
from poolproof.rules.repeated_area import keeps_order, repeated_bytes, step_bytes
from poolproof.rules.reported import Kind, ReportedDirection, moved_bytes, parts
from poolproof.rules.turning_disks import turning_disks
from poolproof.units import format_count, format_duration, format_number_of, format_size

_SURELY = 16 << 20
_MAYBE = 256 << 20
_SEEKS, _SEEKS_DEEP = 300, 450
_PASSES = 20
_FAST_NS, _FAST_SHARE, _FEWEST_READS = 500e3, 0.25, 50
_KINDS: tuple[Kind, ...] = ("read", "write")


def _in_job(case: Case) -> Findings:
    if case.outcome is not None:
        return  # the rate of a result shows whether the buffer served it
    for kind in _KINDS:
        if (size := _covered(case, kind)) is not None:
            is_repeated = any(job.time_based for job in case.jobs if _can_hit(case, job, kind))
            if size <= _SURELY or is_repeated:
                found = partial(suspects, weight=84) if size <= _SURELY else partial(notes, weight=40)
                yield found(_message(case, kind), metrics=_METRICS[kind])


def _in_result(case: Case) -> Findings:
    """Yield at most one finding about reads and one about writes.

    At rates that seeks allow, the buffer can have served only a few of the I/Os. If the disks are unknown, the number
    of passes over the data is checked instead.
    """
    checks = (_repeated, partial(_above_seek_rate, kind="read"), _without_rotation, _read_in_order_again)
    found = (_above_seek_rate(case, kind="write"), next(filter(None, (check(case) for check in checks)), None))
    yield from filter(None, found)


def _above_seek_rate(case: Case, kind: Kind) -> Finding | None:
    """Return a finding if the rate is higher than the disks' seek rate allows."""
    size, turning = _covered(case, kind), turning_disks(case, kind)
    if size is None or turning is None or case.outcome is None:
        return None
    rate = ((found.iops if (found := direction_of(case.outcome, kind)) else None) or 0.0) * turning.share
    most = (_SEEKS if size <= _SURELY else _SEEKS_DEEP) * turning.count
    if rate - _continuing_rate(case, kind) * turning.share <= most:
        return None
    return suspects(
        f"{_message(case, kind)}. The rate of {format_count(rate)} {kind}s/s is higher than the "
        f"{format_count(most)}/s that seeks allow",
        weight=84,
        metrics=_METRICS[kind],
    )


def _continuing_rate(case: Case, kind: Kind) -> float:
    """Return the number of reads or writes per second that continue the previous one, which need no seeks."""
    jobs = ((part, case.job_named(part.job.name)) for part in parts(case.outcome) if part.kind == kind)
    return sum((part.figures.iops or 0.0) * _continuing_share(job) for part, job in jobs if job is not None)


def _without_rotation(case: Case) -> Finding | None:
    """Return a finding if many reads that continue no earlier read took less time than a rotational disk needs.

    On average, such a read waits for half a rotation: 4.2 ms at 7200 rpm, and 2 ms at 15,000 rpm. Only one in eight
    waits for less than 0.5 ms at 15,000 rpm. In a queue, reads take longer. Nothing is reported if the disks are
    unknown, because virtual disks often call themselves rotational.
    """
    target, turning = case.target, turning_disks(case, "read")
    if turning is None or not case.cold or not random_reads_in_order(case):
        return None
    if has_copied_clock(case.jobs):
        return None
    for part in parts(case.outcome):
        job, bins = case.job_named(part.job.name), part.completion.bins_ns if part.completion else {}
        if part.kind != "read" or job is None or not bins or sum(bins.values()) < _FEWEST_READS:
            continue
        goes_back = not job.is_random and step_bytes(job) <= 0 and goes_past_ram(job, target) is True
        fast = sum(count for time_ns, count in bins.items() if time_ns < _FAST_NS) / sum(bins.values())
        jumps = job.is_random and not keeps_order(job)
        others = 1 - turning.share  # other disks may be as fast
        if (jumps or goes_back) and fast > others + turning.share * (_FAST_SHARE + _continuing_share(job)):
            which = "reads, each of which starts before the previous one," if goes_back else "random reads"
            return suspects(
                f"{100 * fast:.0f}% of the {which} took less than {format_duration(_FAST_NS / 1e9)}, but a rotational "
                "disk needs several milliseconds on average: the disks' own buffers served these reads, because their "
                "offsets are repeated or close to each other",
                weight=84,
                metrics=OF_READS,
            )
    return None


def _read_in_order_again(case: Case) -> Finding | None:
    """Return a finding if direct sequential reads repeat a small area, or if clones read the same bytes.

    Their rate and latencies do not show it, because a disk reads ahead of sequential reads anyway.
    """
    turning = turning_disks(case, "read")
    if turning is None or not case.cold:
        return None
    reading = [part for part in parts(case.outcome) if part.kind == "read" and _is_in_order(case, part)]
    if sharing := [job for part in reading if (job := case.job_named(part.job.name)) and job.shares_one_file]:
        return suspects(
            f"{format_number_of(sharing[0].clones, 'clone')} read the same bytes in order: a disk reads them from the "
            "medium only once, and its buffer can serve the other clones",
            weight=84,
            metrics=OF_READS,
            fix="let each clone read its own file (without filename), or set size and offset_increment",
        )
    areas = [area for part in reading if (area := repeated_bytes(case, part)) is not None]
    if areas and sum(areas) * turning.share <= _SURELY * turning.count:
        return suspects(
            f"the sequential reads repeat an area of only {format_size(sum(areas))} on "
            f"{format_number_of(turning.count, 'rotational disk')}: a disk's buffer can hold that much data, and the "
            "kernel counts reads from the buffer as usual",
            weight=84,
            metrics=OF_READS,
        )
    return None


def _is_in_order(case: Case, part: ReportedDirection) -> bool:
    job = case.job_named(part.job.name)
    return job is not None and (not job.is_random or keeps_order(job)) and goes_past_ram(job, case.target) is True


def _continuing_share(job: LoadPart) -> float:
    """Return the fraction of the job's reads that continue the previous one, such as 7/8 with `rw=randread:8`."""
    if not job.is_random:
        return 0.0
    is_same_offset = (fio_job(job).text("rw_sequencer") or "").strip() == "identical"
    return 0.0 if is_same_offset else 1 - job.random_share


def _repeated(case: Case) -> Finding | None:
    """Return a finding if direct reads cover a small area many times and the kind of disk is unknown."""
    unique, moved = case.load.unique_bytes, moved_bytes(case.outcome, "read")
    is_known = case.target is not None and (case.target.rotational is not None or case.target.volatile)
    if not case.cold or is_known or not unique or unique > _SURELY or moved is None or moved < _PASSES * unique:
        return None
    if not case.jobs or not all(job.direct and not job.writes for job in case.jobs):
        return None
    return suspects(
        f"the direct reads cover only {format_size(unique)}, and read this area {moved / unique:,.0f} times: the "
        "RAM of a disk, a RAID controller or a hypervisor can hold that much data",
        weight=84,
        metrics=OF_READS,
        fix="" if is_fio_job(case.jobs[0]) else "read an area of at least 1 GiB, for example with fio",
    )


def _covered(case: Case, kind: Kind) -> float | None:
    """Return the size in bytes of the area that the random reads or writes cover on each rotational disk.

    Of a larger area, jobs may repeat only a small part (zones, random_distribution). Returns None if the disks are not
    known to be rotational, if the size is unknown, if it exceeds the disks' buffers, or if a buffer cannot serve any of
    the jobs.
    """
    turning, size = turning_disks(case, kind), _area_bytes(case, kind)
    if turning is None or size is None or size * turning.share > _MAYBE * turning.count:
        return None
    return size * turning.share / turning.count if any(_can_hit(case, job, kind) for job in case.jobs) else None


def _area_bytes(case: Case, kind: Kind) -> float | None:
    """Return the size of the area that the load covers, or that its random reads or writes repeat if this is less."""
    jobs = ((case.job_named(part.job.name), part) for part in parts(case.outcome) if part.kind == kind)
    areas = [repeated_bytes(case, part) for job, part in jobs if job is not None and _can_hit(case, job, kind)]
    sizes = [case.load.unique_bytes, None if None in areas or not areas else sum(filter(None, areas))]
    return min((size for size in sizes if size is not None), default=None)


def _can_hit(case: Case, job: LoadPart, kind: Kind) -> bool:
    """True if a disk's buffer can serve the job's random reads or writes.

    Reads count only if the job is meant to measure uncached reads. Writes count only if they bypass RAM and are
    acknowledged before they reach the medium, which excludes frequent syncs and disks without a write cache.
    """
    if not job.is_random or keeps_order(job):
        return False
    if kind == "read":
        return job.reads and case.cold
    is_through = case.target is not None and case.target.write_through is True
    syncs_often = job.commits_each_write or job.sync_every is not None
    return job.writes and goes_past_ram(job, case.target) is True and not syncs_often and not is_through


def _message(case: Case, kind: Kind) -> str:
    size, turning = _area_bytes(case, kind) or 0, turning_disks(case, kind)
    disks = turning.count if turning else 1
    verb = "cover" if size == case.load.unique_bytes else "repeat an area of"
    where = f"the random {kind}s {verb} only {format_size(size)} on {format_number_of(disks, 'rotational disk')}: "
    if kind == "read":
        return where + "a disk's buffer can hold that much data, and the kernel counts reads from the buffer as usual"
    return where + "a disk's write cache can hold that much data, and blocks overwritten there never reach the medium"


_METRICS = {"read": OF_READS, "write": OF_WRITES}

RULE = Rule(
    title="I/O served from the disk's own buffer",
    wrong=(
        "A hard disk has a buffer of 16 to 512 MiB of RAM. The disk reads whole tracks into this buffer, and "
        "acknowledges writes as soon as their data is in the buffer. Random I/O on a small area then needs no seeks, "
        "but the kernel counts it like any other I/O."
    ),
    shows=(
        "Before a run: random reads, or direct random writes without syncs between them, that cover at most 16 MiB per "
        "rotational disk. If they cover up to 256 MiB and the job is time_based, the finding is a note. In a result: "
        "the rate of such I/Os is above 300/s per disk (450/s if they cover more than 16 MiB), more than seeks allow. "
        "I/Os that continue the previous one, as with `rw=randread:8`, need no seeks. The I/Os may also repeat such an "
        "area of a larger file (zonerange, random_distribution). If only some disks are rotational, those "
        "that served the I/Os count. Or more than a quarter of at least 50 reads that are random, or that each start "
        "before the previous one, took less than 0.5 ms, although a rotational disk needs several milliseconds on "
        "average. Or direct sequential reads repeat at most 16 MiB per rotational disk, or clones read the same bytes "
        "in order. If the kind of disk is unknown: direct reads that cover at most 16 MiB and read this area at least "
        "20 times, as `hdparm -T --direct` does."
    ),
    error=(
        "Too high. Measured on an emulated hard disk: 3,822 random reads/s in a file of 2 MiB, but only 130/s in a "
        "large file; and 4,223 random writes/s in a file of 64 KiB."
    ),
    fix="use a size of at least 1 GiB per disk, or a size larger than the buffer that the disk's data sheet specifies",
    sources=(
        "data sheets of hard disks (buffer size)",
        linux_source("6.12", "include/linux/blkdev.h", "blk_queue_write_cache"),
        "docs/emulated-disks.md",
    ),
    in_job=_in_job,
    options=("size",),
    in_result=_in_result,
    cleared_by_byte_count=False,
    commands="fio --rw=randread --bs=4k --size=2m --direct=1 --time_based --runtime=5",
)
