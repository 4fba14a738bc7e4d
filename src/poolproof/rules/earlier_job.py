"""A file that an earlier job in the same input wrote only in part or through the page cache."""

from poolproof.rules.disk_requests import disk_requests
from poolproof.rules.fio_job import is_fio_job
from poolproof.rules.flow import cold_reads
from poolproof.rules.model import Case, Findings, Rule, fio_source, suspects
from poolproof.rules.reported import bandwidth_bytes, parts
from poolproof.rules.service_time import faster_than, interval_ns, typical_ns

_DISK_NS = 200_000.0
_DISK_RATE = 1e9
_HALF = 50.0
_LARGE_BYTES = 64 << 30
_SMALL_BYTES = 64 << 20
_CACHED_BYTES, _CACHED_RATE = 256 << 20, 300e6


def _in_result(case: Case) -> Findings:
    requests = disk_requests(case.outcome, "read")
    has_counters = cold_reads(case) is not None or (requests is not None and requests.in_order)
    if case.quoted is None or has_counters or not case.cold:
        return
    if case.quoted.unfilled:
        yield suspects(
            f"{case.quoted.unfilled}, and the text shows no other job that wrote it: unless the file had been filled "
            "before, reads of the rest return zeros without any disk I/O",
            weight=84,
        )
    elif case.quoted.just_written and _may_be_memory(case):
        yield suspects(
            f"{case.quoted.just_written}, and this job reads it through the page cache: data that is still in RAM is "
            "not read from the disk",
            weight=62,
            fix="run `sync; echo 3 > /proc/sys/vm/drop_caches` between the jobs, or read with direct I/O "
            "(fio: direct=1, dd: iflag=direct)",
        )


def _may_be_memory(case: Case) -> bool:
    """True if most servers can cache the file, and the values look like those of RAM.

    They look like those of RAM if the rate is at least 1 GB/s, or if the mean or the median latency of random reads is
    below 200 µs. Programs other than fio do not drop a file's pages before they read it. For such a program, a file of
    at most 64 MiB is enough, or one of at most 256 MiB and a rate of 300 MB/s, which hard disks and cards do not reach.
    """
    size = case.load.unique_bytes or 0
    if size >= _LARGE_BYTES:
        return False
    rate, keeps_pages = bandwidth_bytes(case.outcome, "read") or 0.0, not any(map(is_fio_job, case.jobs))
    if keeps_pages and (0 < size <= _SMALL_BYTES or (0 < size <= _CACHED_BYTES and rate >= _CACHED_RATE)):
        return True
    if rate >= _DISK_RATE:
        return True
    for part in parts(case.outcome):
        job = case.job_named(part.job.name)
        latency = typical_ns(part) or interval_ns(part, job)
        is_fast = (latency is not None and latency < _DISK_NS) or faster_than(part, _DISK_NS, is_alone=False) > _HALF
        if part.kind == "read" and job is not None and job.is_random and is_fast:
            return True
    return False


RULE = Rule(
    title="An earlier job left the file cached or incomplete",
    wrong=(
        "Parts of a file remain unwritten if the write job is ended by its runtime, or if the job picks random blocks "
        "without a random map (norandommap). The file still has its full size, because fio allocates the full size "
        "first. A file that was just written through the page cache is still in RAM."
    ),
    shows=(
        "In a text with several jobs: a job reads a file that an earlier job wrote only in part (less than 95%), or "
        "wrote without direct=1. The second case is reported if the reads reach 1 GB/s, or if the mean or the median "
        "latency of random reads is below 200 µs. For programs other than fio, a file of at most 64 MiB is enough, or "
        "one of at most 256 MiB and a rate of 300 MB/s. Files of 64 GiB or more are not reported in this case. If "
        "fio's disk statistics or the disks' counters are available, they take precedence."
    ),
    error="Too high. In one case, only 63% of the file had been written, and reads of the rest returned zeros.",
    fix=(
        "fill the whole file first, with a job that has no runtime (rw=write bs=1m end_fsync=1), and then drop the "
        "caches"
    ),
    sources=(fio_source("3.38", "filesetup.c", "extend_file"), "measured case L01"),
    in_result=_in_result,
    prepare="rm -f trap; fio --rw=randwrite --norandommap --bs=4k --size=256m --end_fsync=1",
    commands="fio --rw=randread --bs=4k --size=256m --direct=1 --ioengine=libaio --iodepth=8",
)
