"""Reads at the speed of memory from a file that fits in the RAM of most servers."""

from poolproof.load.model import LoadPart
from poolproof.rules.disk_requests import disk_requests
from poolproof.rules.fio_job import fio_job
from poolproof.rules.flow import cold_reads
from poolproof.rules.link_rates import PCIE3_X4, PCIE5_X4
from poolproof.rules.model import Case, Findings, Rule, suspects
from poolproof.rules.path import is_direct_on_unknown, may_end_in_ram
from poolproof.rules.quoted import UNQUOTED
from poolproof.rules.reported import ReportedDirection, bandwidth_bytes, moved_bytes, parts
from poolproof.rules.service_time import interval_ns, latency_text, typical_ns
from poolproof.units import format_rate, format_size

_GIB = 1024**3
_SMALL_BYTES, _MODEST_BYTES = 4 * _GIB, 32 * _GIB
_FLASH_NS = 44_000.0
_PASSES = 2


def _in_result(case: Case) -> Findings:
    size, requests = _size(case), disk_requests(case.outcome, "read")
    has_counters = cold_reads(case) is not None or (requests is not None and requests.in_order)
    if not case.cold or not size or has_counters:
        return
    rate = bandwidth_bytes(case.outcome, "read")
    readers = [job for job in case.jobs if job.reads]
    is_buffered = bool(readers) and all(_is_buffered(case, job) for job in readers)
    quoted = case.quoted or UNQUOTED
    why = f". {quoted.ignores_direct}" if quoted.ignores_direct and any(job.direct for job in readers) else ""
    where = f"from {format_size(size)} of files"
    if rate and rate > PCIE5_X4 and size <= _MODEST_BYTES:
        yield suspects(
            f"reads {where} reached {format_rate(rate)}: the fastest link of a drive, PCIe 5.0 x4, carries "
            f"{format_rate(PCIE5_X4)}, and this much data fits in RAM",
            weight=72,
        )
    elif rate and rate > PCIE3_X4 and is_buffered and size <= _SMALL_BYTES:
        yield suspects(
            f"reads {where} through the page cache reached {format_rate(rate)}: these files are smaller than the RAM "
            f"of most servers, so RAM can serve them at this rate{why}",
            weight=66,
        )
    elif part := next((part for part in parts(case.outcome) if _is_fast(case, part, size)), None):
        typical = _typical_ns(case, part) or 0.0
        yield suspects(
            f"random reads {where} typically took {latency_text(typical)}: that is faster than flash, and the files "
            f"are smaller than the RAM of most servers{why}",
            weight=66,
        )


def _size(case: Case) -> int | None:
    """Return the number of bytes that the jobs can read, or None if it is unknown.

    If the jobs do not show it, fio's message about the size of its files is used.
    """
    return case.load.unique_bytes or (case.quoted or UNQUOTED).laid_out_bytes


def _is_buffered(case: Case, job: LoadPart) -> bool:
    """True if the source shows that the job reads through the page cache.

    On macOS, this includes files that are read with direct=1, which sets F_NOCACHE there: pages that are already cached
    can still serve the reads.
    """
    quoted = case.quoted or UNQUOTED
    if quoted.is_macos and job.direct and is_direct_on_unknown(job, case.target):
        return not any(path.startswith("/dev/") for path in fio_job(job).filenames)
    if quoted.ignores_direct and is_direct_on_unknown(job, case.target):
        return True
    return not job.direct and may_end_in_ram(job, case.target) and "direct" not in quoted.assumed


def _is_fast(case: Case, part: ReportedDirection, size: int) -> bool:
    """True if random reads were faster than flash and may have been served by RAM.

    RAM may serve buffered reads. It may also serve reads that cover the files at least twice, unless the source shows
    direct=1. If the job is unknown, its name decides whether its reads are random.
    """
    job, moved = case.job_named(part.job.name), moved_bytes(case.outcome, "read")
    is_random = job.is_random if job is not None else "rand" in part.job.name.lower()
    if part.kind != "read" or not is_random or size > _SMALL_BYTES:
        return False
    typical = _typical_ns(case, part)
    if typical is None or typical >= _FLASH_NS:
        return False
    is_repeated = moved is not None and moved >= _PASSES * size
    if job is None:
        return is_repeated
    is_direct = job.direct and "direct" not in (case.quoted or UNQUOTED).assumed
    return _is_buffered(case, job) or (is_repeated and not is_direct)


def _typical_ns(case: Case, part: ReportedDirection) -> float | None:
    """Return the typical time of a read in nanoseconds, or None if unknown.

    Normally, this is the latency. The interval between two reads of the same clone is used instead in two cases: if the
    latency is unknown and only one I/O is in flight, and for buffered libaio. libaio then reads during submission, so
    that its latency includes the wait for the whole queue.
    """
    typical, job = typical_ns(part), case.job_named(part.job.name)
    if job is None:
        return typical
    blocks = job.queue_each > 1 and fio_job(job).engine == "libaio" and _is_buffered(case, job)
    if blocks or (typical is None and job.queue_each <= 1):
        return interval_ns(part, job) or typical
    return typical


RULE = Rule(
    title="A small file at the speed of memory",
    wrong="A file of a few GiB fits in the RAM of most servers. If reads of such a file go through the page cache and "
    "are faster than a disk, they came from RAM unless counters show otherwise.",
    shows="In a result without counters: at least one of the following is true. (1) Buffered reads of at most 4 GiB of "
    "files are faster than 3.94 GB/s (PCIe 3.0 x4). (2) Random buffered reads of such files take less than 44 µs each. "
    "(3) Random reads take less than 44 µs each and read such files at least twice, unless the source shows direct=1. "
    "(4) Any reads of at most 32 GiB of files are faster than 15.75 GB/s (PCIe 5.0 x4). Three kinds of reads with "
    "direct=1 count as buffered: on macOS, because they can be served from pages that are already in the cache; on "
    "zvols; and on ZFS if the releases or the dates in the text are before OpenZFS 2.3, which first honoured direct=1.",
    error="Too high by a factor of 2 to more than 100. Observed: 31 GB/s from a file of 2 GiB.",
    fix="make the file twice the size of the RAM or set direct=1, and run the job with poolproof, which reads the "
    "disks' counters",
    fix_if_direct="make the file twice the size of the RAM, and run the job with poolproof, which reads the disks' "
    "counters",
    sources=(
        "PCI Express Base Specification 5.0: 32 GT/s × 4 lanes × 128/130",
        "measured case L07",
        "fio-3.38 os/os-mac.h, fio_set_odirect (F_NOCACHE); https://github.com/axboe/fio/issues/1212",
    ),
    in_result=_in_result,
    commands="for run in 1 2; do fio --rw=randread --bs=4k --size=256m --invalidate=0; done",
)
