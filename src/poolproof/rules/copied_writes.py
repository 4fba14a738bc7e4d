"""Writes that the engine only copies into memory, so their latency says nothing about a disk."""

from poolproof.rules.disk_requests import disk_requests
from poolproof.rules.flow import writes_at_end
from poolproof.rules.model import Case, Finding, Rule, suspects
from poolproof.rules.quoted import UNQUOTED
from poolproof.rules.reported import ReportedDirection, each_part
from poolproof.units import format_duration

_COMPLETION_NS = 20_000.0
_TIMES = 5
_CALL_NS, _COPY_NS_PER_BYTE = 500_000.0, 2.0  # a slow machine: 500 µs per call, and 500 MB/s


def _in_part(case: Case, part: ReportedDirection) -> Finding | None:
    slat, clat = part.figures.slat, part.figures.clat
    job, assumed = case.job_named(part.job.name), (case.quoted or UNQUOTED).assumed
    if part.kind != "write" or not (slat and clat and slat.mean_ns and clat.mean_ns):
        return None
    is_direct = job is not None and job.direct and "direct" not in assumed
    is_synced = job is not None and job.syncs and "end_fsync" not in assumed
    if part.job.sync is not None or part.job.syncs or (job is not None and "direct" in assumed and not job.is_random):
        return None
    flow, requests = writes_at_end(case), disk_requests(case.outcome, "write")
    if is_direct or is_synced or flow or (requests and requests.in_order):
        return None
    if clat.mean_ns > _COMPLETION_NS or slat.mean_ns < _TIMES * clat.mean_ns:
        return None
    if job is not None and slat.mean_ns > _CALL_NS + job.max_block_bytes * _COPY_NS_PER_BYTE:
        return None  # too slow for a copy: the writes waited for the disk
    return suspects(
        f"a write took {format_duration(slat.mean_ns / 1e9)} to submit and {format_duration(clat.mean_ns / 1e9)} to "
        "complete: it was copied into RAM during its submission, and nothing shows that it reached a disk",
        weight=68,
        fix="use direct=1, or end_fsync=1 and a size well above the dirty limit",
    )


RULE = Rule(
    title="Writes copied into memory",
    wrong="An asynchronous engine returns from submitting a buffered write when the data is in the page cache. The "
    "completion then takes about 1 µs, because the data has already been copied. At that time, the disk has not "
    "received any of it.",
    shows="In a result: writes complete in 20 µs or less on average, and their submission takes at least 5 times as "
    "long. Jobs with direct=1 or a sync are not reported, because direct writes that extend a file also take long to "
    "submit, nor writes that take longer to submit than a copy at 500 MB/s. Sequential writes are not reported either "
    "if the source does not show whether they are direct.",
    error="Too high: the rate is that of the page cache until the dirty limit is reached.",
    fix="use direct=1, or end_fsync=1 and a size well above the dirty limit",
    sources=("Linux 6.12 fs/aio.c, aio_write", "https://github.com/red-hat-storage/ocs-ci/pull/283"),
    in_result=each_part(_in_part),
    commands="fio --rw=randwrite --bs=4k --size=256m --ioengine=libaio --iodepth=16 --runtime=5 --time_based",
)
