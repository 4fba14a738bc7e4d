"""Buffered writes that are never synced."""

from poolproof.evidence.target_facts import Target
from poolproof.load.model import LoadPart
from poolproof.metrics import rates_of
from poolproof.rules.fio_job import fio_job
from poolproof.rules.flow import account, flushed_by_close, late_writes
from poolproof.rules.left_in_ram import why_little_is_left
from poolproof.rules.model import (
    Case,
    Findings,
    Rule,
    finding,
    fio_doc,
    fio_issue,
    fio_source,
    linux_source,
    suspects,
    zfs_source,
)
from poolproof.rules.path import is_direct_on_unknown, may_end_in_ram
from poolproof.rules.quoted import UNQUOTED

_FIX = "set end_fsync=1 and a size of at least twice the dirty limit for throughput, or fdatasync=1 for commit latency"

_FIX_OF_DD = "add conv=fdatasync, so that dd syncs the data before it prints the time"


def _unsynced(case: Case) -> list[LoadPart]:
    """Return the jobs that write without ever syncing, so that their data may remain in RAM."""
    if case.target is not None and (case.target.volatile or _flushes_on_close(case, case.target)):
        return []
    return [job for job in case.jobs if job.writes and not job.syncs and _may_end_in_ram(case, job)]


def _may_end_in_ram(case: Case, job: LoadPart) -> bool:
    """True if the job's writes pass through RAM. The text can show that the file system ignores direct=1."""
    is_ignored = _ignores_direct(case, job) != "" and job.may_use_page_cache
    return is_ignored or may_end_in_ram(job, case.target)


def _ignores_direct(case: Case, job: LoadPart) -> str:
    """Return why the file system ignores the job's direct=1 according to the text, or an empty string."""
    return (case.quoted or UNQUOTED).ignores_direct if is_direct_on_unknown(job, case.target) else ""


def _flushes_on_close(case: Case, target: Target) -> bool:
    """True if closing the file sends its data to the server, and the program stops its clock after closing it.

    On NFS versions 2 and 3, close() waits until the server has the data. Version 4 may not wait if it has a delegation.
    dd closes its output before it prints the time.
    """
    return case.generator == "dd" and target.file_system in ("nfs", "nfs2", "nfs3")


def _in_job(case: Case) -> Findings:
    if jobs := _unsynced(case):
        why = "direct=1 may not be honoured here" if jobs[0].direct else "buffered"
        ignored = _ignores_direct(case, jobs[0])
        writes = "writes" if ignored else f"writes ({why})"
        ranged = fio_job(jobs[0]).text("sync_file_range")
        syncs = (
            "only calls sync_file_range, which flushes no drive cache and writes no metadata"
            + ("" if "write" in ranged else " (and starts no writes without `write`)")
            if ranged
            else "never syncs"
        )
        little = why_little_is_left(case)
        is_moment = (case.quoted or UNQUOTED).is_moment
        yield finding(
            "notes" if little or is_moment else "suspects",
            f"{case.who(jobs)} {writes} and {syncs}: {case.generator} stops its clock while data is still in RAM"
            + (f". {ignored}" if ignored else "")
            + (f". Only a small part of the data can have been left there: {little}" if little else ""),
            weight=75,
            fix=_FIX_OF_DD if case.generator == "dd" else _FIX,
        )


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
    elif account(case) is not None and (jobs := flushed_by_close(case)):
        yield suspects(
            f"{case.who(jobs)} writes to a block device through the page cache and ends without a sync. "
            f"{case.generator} stops its clock before it closes the device, and only then does the kernel write what "
            "is still in RAM. The counters include this data, but the rates do not include the time that it took",
            weight=75,
            metrics=rates_of("all", "write"),
        )


RULE = Rule(
    title="Writes that are never synced",
    wrong="Buffered writes return as soon as the data is in RAM. Without a sync, fio ends before the disks have the "
    "data.",
    shows="In a job: unsynced buffered writes (sync_file_range is not a sync). The finding is only a note if at "
    "most 15% of the written data can be dirty: by default, 20% of RAM, and on ZFS at most 4 GiB. If the "
    "limit is unknown, the finding is a note if at least 85 GiB (15% of which can be dirty with 64 GiB of "
    "RAM) were written for at least 2 minutes at less than 750 MB/s per clone. It is also a note if a job "
    "that only writes, without a rate limit, wrote at less than 5 MB/s, and either wrote at least 16 blocks and at "
    "most 128 MiB, because RAM would have accepted this data at once, or wrote new data in order for at least 4 "
    "minutes, because the kernel writes data that is 35 s old. dd on NFS versions 2 and 3 is not reported: it closes "
    "the file before it stops its clock, and close() waits until the server has the data. In a text, the rate of a "
    "moment while fio ran gets only a note, and writes with direct=1 count as buffered on zvols, and on ZFS if the "
    "releases or the dates in the text are before OpenZFS 2.3. In the counters: "
    "when fio ended, more than 10% of the bytes had not been written yet. Or the job writes to a block device, and "
    "more than 5% of its writes were not synced, or written by sync_file_range with `write` and a wait. The kernel "
    "writes them when fio closes the device. fio's clock has already stopped at that time, so the counters are in "
    "order although the rates are too high. The limits for notes apply here too.",
    error="Too high by a factor of 2 to more than 100. Measured: 4,052 MB/s without end_fsync=1, 2,110 MB/s with it. "
    "On an emulated hard disk without a file system: 521 MiB/s without end_fsync=1, 114 MiB/s with it.",
    fix=_FIX + " (the bandwidth includes the time of end_fsync, the clat percentiles do not)",
    sources=(
        "measured cases L05, L06",
        fio_source("3.42", "backend.c", "do_io (end_fsync, fsync_on_close)"),
        linux_source("6.12", "fs/sync.c", "ksys_sync_file_range (`disk caches are not flushed by this call`)"),
        fio_source("3.42", "backend.c", "thread_main (close_and_free_files, after the last do_io)"),
        linux_source("6.12", "mm/page-writeback.c", "balance_dirty_pages"),
        linux_source("6.12", "block/bdev.c", "blkdev_put_whole (the last close writes dirty pages)"),
        linux_source("6.12", "fs/nfs/file.c", "nfs_file_flush (dd on NFS versions 2 and 3)"),
        linux_source("6.12", "fs/nfs/nfs4file.c", "nfs4_file_flush (may not wait with a delegation)"),
        zfs_source("2.3.0", "module/zfs/arc.c", "arc_init (zfs_dirty_data_max_max)"),
        zfs_source("2.2.0", "module/os/linux/zfs/zpl_file.c", "zpl_open (ignores O_DIRECT)"),
        fio_doc("end_fsync"),
        fio_issue(470),
    ),
    in_job=_in_job,
    options=("direct", "buffered", "rw"),
    fixed_options={"end_fsync": "1"},
    in_result=_in_result,
    commands="fio --rw=write --bs=1m --size=512m",
)
