"""IOPS of small sequential I/Os that the kernel merges."""

from poolproof.load.model import LoadPart
from poolproof.rules.disk_requests import disk_requests, statistics_prove
from poolproof.rules.fio_job import fio_job, is_fio_job
from poolproof.rules.flow import bytes_prove
from poolproof.rules.model import Case, Findings, Rule, fio_issue, linux_source, notes
from poolproof.rules.path import drops_data
from poolproof.rules.reported import parts
from poolproof.units import format_count, format_size


def _small(case: Case) -> list[LoadPart]:
    jobs = [job for job in case.jobs if job.may_use_page_cache and job.is_sequential and _may_merge(job)]
    jobs = [job for job in jobs if not drops_data(job)]
    jobs = [job for job in jobs if not job.size_bytes or job.time_based or job.size_bytes > job.max_block_bytes]
    return [job for job in jobs if job.max_block_bytes <= 16 * 1024 and not job.commits_each_write]


def _may_merge(job: LoadPart) -> bool:
    """True if the kernel can merge neighbouring I/Os, either in RAM or in a queue of several I/Os.

    A direct job with a single I/O in flight sends each I/O as a separate request. With `rw=write:4k`, fio leaves 4 KiB
    between two I/Os (io_u.c, get_next_seq_offset).
    """
    has_gaps = is_fio_job(job) and ":" in (fio_job(job).text("rw") or "")
    return not has_gaps and (not job.direct or job.queue_each > 1)


def _in_job(case: Case) -> Findings:
    if (jobs := _small(case)) and _shows_iops(case) and not _was_not_merged(case):
        is_default = is_fio_job(jobs[0]) and not any(map(fio_job(jobs[0]).text, ("bs", "bsrange", "bssplit")))
        default = " (bs is not set; the default is 4k)" if is_default else ""
        sizes = [job.max_block_bytes for job in jobs]
        blocks = " to ".join(map(format_size, dict.fromkeys([min(sizes), max(sizes)])))
        does_merge = not any(job.direct for job in jobs)
        yield notes(
            f"{case.who(jobs)} issues sequential I/Os of {blocks}{default}: the kernel "
            f"{'merges' if does_merge else 'can merge'} them into larger requests, so these IOPS "
            f"{'do' if does_merge else 'may'} not count requests to the disk",
            weight=25,
        )


def _shows_iops(case: Case) -> bool:
    """True for a job without a result, and for a result that shows IOPS or a number of I/Os."""
    return case.outcome is None or any(part.figures.iops or part.figures.ios for part in parts(case.outcome))


def _was_not_merged(case: Case) -> bool:
    """True if fio's disk statistics show as many requests as I/Os, and no merges."""
    requests = [found for part in parts(case.outcome) if (found := disk_requests(case.outcome, part.kind))]
    disks = case.outcome.disks if case.outcome else ()
    has_merges = any(disk.read_merges or disk.write_merges for disk in disks)
    return bool(requests) and all(each.in_order for each in requests) and not has_merges


def _in_result(case: Case) -> Findings:
    by_fio = sum(part.figures.ios or 0 for part in parts(case.outcome))
    by_leaves = sum(leaf.read_ios + leaf.write_ios for leaf in case.leaves)
    by_disks = by_leaves or _requests_in_statistics(case)
    is_covered = bytes_prove(case) or (not by_leaves and statistics_prove(case))
    if by_disks and by_disks < 0.5 * by_fio and len(_small(case)) == len(case.jobs) and is_covered:
        yield notes(
            f"{case.generator} issued {format_count(by_fio)} I/Os, but the disks handled {format_count(by_disks)} "
            "requests: the I/Os were merged on the way. The bandwidth is valid, but the IOPS are not",
            weight=25,
        )


def _requests_in_statistics(case: Case) -> int:
    disks = case.outcome.disks if case.outcome else ()
    return sum((disk.read_requests or 0) + (disk.write_requests or 0) for disk in disks if not disk.is_component)


RULE = Rule(
    title="IOPS of merged requests",
    wrong="Readahead, writeback and the block layer merge small sequential I/Os. fio's IOPS then count system calls, "
    "not requests to the disk. A layer above the disk can even look faster than the disk.",
    shows="In a job: sequential I/O in blocks of 16 KiB or less, buffered or with several I/Os in flight, without a "
    "sync after each write. This is not reported if fio's disk statistics show that nothing was merged, or if the "
    "result does not show IOPS. In the counters or fio's disk statistics: the disks handled fewer than half as many "
    "requests as fio issued I/Os.",
    error="IOPS are too high; the bandwidth is right. Measured: 65,536 reads by fio, 74 by the disk.",
    fix="report bytes per second for sequential I/O, and use randread or randwrite for IOPS",
    sources=(
        linux_source("6.12", "block/blk-merge.c", "blk_attempt_plug_merge"),
        linux_source("6.12", "mm/readahead.c", "page_cache_ra_order"),
        fio_issue(41),
        "https://github.com/longhorn/longhorn/issues/7905",
    ),
    in_job=_in_job,
    options=("bs", "bsrange", "bssplit", "rw"),
    in_result=_in_result,
    commands="fio --rw=read --bs=4k --size=256m",
)
