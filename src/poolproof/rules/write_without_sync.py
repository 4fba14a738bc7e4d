"""Buffered writes that are never synced."""

from poolproof.load.model import LoadPart
from poolproof.rules.fio_job import fio_job
from poolproof.rules.flow import late_writes
from poolproof.rules.model import Case, Findings, Rule, finding, fio_doc, fio_issue, fio_source, linux_source
from poolproof.rules.path import may_end_in_ram
from poolproof.rules.reported import bandwidth_bytes, moved_bytes, ran_s
from poolproof.units import format_rate, format_size

_FIX = "set end_fsync=1 and a size of at least twice the dirty limit for throughput, or fdatasync=1 for commit latency"

_GIB = 1024**3
_TIMES_RAM = 2  # at most 20% of RAM is dirty (vm.dirty_ratio), which is a tenth of twice the RAM
_MOST_OF_ANY_RAM, _LONG_S, _COPY_BYTES_PER_S = 128 * _GIB, 120, 500e6
_FEWEST_WRITES, _LITTLE_BYTES, _NOT_BUFFERED_BYTES_PER_S = 16, 64 << 20, 1e6

_FIX_OF_DD = "add conv=fdatasync, so that dd syncs the data before it prints the time"


def _unsynced(case: Case) -> list[LoadPart]:
    """Return the jobs that write without ever syncing, so that their data may remain in RAM."""
    if case.target is not None and case.target.volatile:
        return []
    return [job for job in case.jobs if job.writes and not job.syncs and may_end_in_ram(job, case.target)]


def _in_job(case: Case) -> Findings:
    if jobs := _unsynced(case):
        why = "direct=1 may not be honoured here" if jobs[0].direct else "buffered"
        ranged = fio_job(jobs[0]).text("sync_file_range")
        syncs = (
            "only calls sync_file_range, which flushes no drive cache and writes no metadata"
            if ranged
            else "never syncs"
        )
        little = _why_little_is_left(case)
        yield finding(
            "notes" if little else "suspects",
            f"{case.who(jobs)} writes ({why}) and {syncs}: {case.generator} stops its clock while data is still in RAM"
            + (f". Only a small part of the data can have been left there: {little}" if little else ""),
            weight=75,
            fix=_FIX_OF_DD if case.generator == "dd" else _FIX,
        )


def _why_little_is_left(case: Case) -> str:
    """Return why only a small part of a result's data can have been left in RAM, or an empty string if it may be more.

    RAM accepts many small writes at once, so a program that only writes, and needed long for a few MiB, waited for the
    disk with each write. More data must be at least twice the RAM. If the RAM is unknown, the data must be larger than
    twice the usual RAM of a server, and the writes must have been slower than copies in RAM for minutes. Data that was
    written again does not count.
    """
    written, rate, seconds = (
        moved_bytes(case.outcome, "write"),
        bandwidth_bytes(case.outcome, "write"),
        ran_s(case.outcome),
    )
    if not written:
        return ""
    distinct = min(written, case.load.unique_bytes or written)
    only_writes = all(job.writes and not (job.reads or job.rate_limited or job.thinks) for job in case.jobs)
    fewest = _FEWEST_WRITES * max((job.max_block_bytes for job in case.jobs), default=0)
    is_crawling = rate is not None and rate < _NOT_BUFFERED_BYTES_PER_S and fewest <= written <= _LITTLE_BYTES
    if rate is not None and only_writes and is_crawling:
        return f"at {format_rate(rate)}, each write waited for the disk, as with the mount option sync"
    ram = case.target.ram_bytes if case.target else None
    if ram:
        is_more = distinct >= _TIMES_RAM * ram
        return (
            f"{case.generator} wrote {format_size(distinct)}, at least twice the RAM ({format_size(ram)})"
            if is_more
            else ""
        )
    writers = sum(job.clones for job in case.jobs if job.writes)
    is_slow = rate is not None and rate < _COPY_BYTES_PER_S * writers and (seconds or 0) >= _LONG_S
    if not is_slow or distinct < _MOST_OF_ANY_RAM:
        return ""
    return f"{case.generator} wrote {format_size(distinct)}, at a lower rate than copies in RAM reach"


def _in_result(case: Case) -> Findings:
    flow = late_writes(case)
    if flow and _unsynced(case):
        yield finding(
            flow.effect,
            f"{case.generator} wrote {flow.moved} and never synced; when it ended, {flow.counted} had reached the "
            f"disks ({flow.share} of {flow.expected}): the result is the speed of copying into RAM",
            weight=90,
            fix=_FIX_OF_DD if case.generator == "dd" else _FIX,
        )


RULE = Rule(
    title="Writes that are never synced",
    wrong="Buffered writes return as soon as the data is in RAM. Without a sync, fio ends before the disks have the "
    "data.",
    shows="In a job: unsynced buffered writes (sync_file_range is not a sync). The finding is only a note if the "
    "result wrote at least twice the RAM, because by default at most 20% of RAM holds unwritten data. If the RAM is "
    "unknown, the finding is a note if at least 128 GiB were written for at least 2 minutes at less than 500 MB/s per "
    "clone. It is also a note if a job that only writes, without a rate limit, wrote 16 blocks to 64 MiB at less than "
    "1 MB/s, because RAM would have accepted this data at once. In the counters: when fio ended, more than 10% of the "
    "bytes had not been written yet.",
    error="Too high by a factor of 2 to more than 100. Measured: 4052 MB/s without end_fsync=1, 2110 MB/s with it.",
    fix=_FIX + " (the bandwidth includes the time of end_fsync, the clat percentiles do not)",
    sources=(
        "measured cases L05, L06",
        fio_source("3.42", "backend.c", "do_io (end_fsync, fsync_on_close)"),
        linux_source("6.12", "fs/sync.c", "ksys_sync_file_range (`does not flush disk caches`)"),
        linux_source("6.12", "mm/page-writeback.c", "balance_dirty_pages"),
        fio_doc("end_fsync"),
        fio_issue(470),
    ),
    in_job=_in_job,
    options=("direct", "buffered", "rw"),
    fixed_options={"end_fsync": "1"},
    in_result=_in_result,
    commands="fio --rw=write --bs=1m --size=512m",
)
