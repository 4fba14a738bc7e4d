"""Disk statistics in fio's own report that show fewer requests than fio issued."""

from poolproof.load.model import LoadPart
from poolproof.rules.disk_requests import disk_requests, statistics_cover
from poolproof.rules.model import Case, Finding, Findings, Rule, finding
from poolproof.rules.quoted import UNQUOTED
from poolproof.rules.reported import Kind, parts
from poolproof.rules.tolerances import REFUTED, REQUESTS, percent
from poolproof.units import format_count


def _in_result(case: Case) -> Findings:
    if case.cold and (found := _finding(case, "read")):
        yield found
    if found := _finding(case, "write"):
        yield found


def _finding(case: Case, kind: Kind) -> Finding | None:
    requests = disk_requests(case.outcome, kind)
    jobs = [case.job_named(part.job.name) for part in parts(case.outcome) if part.kind == kind]
    if requests is None or requests.in_order or not all(job and _cannot_combine(job, kind) for job in jobs):
        return None
    is_direct = all(job and job.direct for job in jobs)
    is_stated = is_direct and "direct" not in (case.quoted or UNQUOTED).assumed
    may_combine = all(job and (kind == "write" or not job.is_random) for job in jobs)
    if not is_stated and may_combine and statistics_cover(case, kind):
        return None  # the page cache combines such I/Os before they become requests
    share = f"{100 * requests.ratio:.2g}%"
    cause = "the other direct reads hit extents that were never written, or were served by a cache below the file"
    if kind == "write":
        cause = "the rest was overwritten or dropped before it reached the disk"
    elif not is_stated:
        cause = "the rest came from RAM, or from extents that were never written"
    return finding(
        "refutes" if is_stated and requests.ratio < REFUTED else "suspects",
        f"{case.generator} issued {format_count(requests.issued)} {kind}s; its disk statistics show at most "
        f"{format_count(requests.reached)} requests and merges for {requests.disks} ({share}): {cause}",
        weight=92,
    )


def _cannot_combine(job: LoadPart, kind: Kind) -> bool:
    """True if each I/O should result in at least one request, or be counted as a merged request."""
    return job.direct or (kind == "read" and job.is_random)


RULE = Rule(
    title="fio's disk statistics show less I/O than fio issued",
    wrong=(
        "Each direct I/O either becomes at least one disk request or is merged into one and counted as a merge. If the "
        "requests and merges in fio's own disk statistics add up to less than the number of I/Os that fio issued, the "
        "remaining I/Os did not reach the disk."
    ),
    shows=(
        "In a result with fio's `Disk stats`: for direct I/O or random reads, the requests and merges add up to less "
        f"than {percent(REQUESTS)} of the I/Os. For direct I/O, a share below {percent(REFUTED)} refutes the result. "
        "The statistics also include the layout of files and all job groups of a run, so they may be too high, but "
        "never too low. Sequential I/O and writes that may be buffered are not judged if the statistics cover all "
        "bytes, because the page cache combines I/Os before they become requests. Runs shorter than 2 s, and "
        "statistics that are all 0, are not judged."
    ),
    error=(
        "Too high by a factor of at most I/Os / (requests + merges). Observed: 1,048,576 direct reads but only 357,248 "
        "requests, because the file had been preallocated but only partly written."
    ),
    fix="fill the file completely before you read it, and use direct=1",
    fix_if_direct="fill the file completely before you read it",
    sources=(
        "fio-3.38 stat.c, print_disk_util; fio-3.38 diskutil.c, update_io_tick_disk",
        "Linux 6.12 block/blk-merge.c, blk_account_io_merge_bio",
    ),
    in_result=_in_result,
    prepare="rm -f trap; fallocate -l 1g trap",
    commands="fio --rw=randread --bs=4k --size=1g --direct=1 --ioengine=libaio --iodepth=8 --runtime=5 --time_based",
)
