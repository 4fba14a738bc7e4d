"""Writes that were still in RAM when fio ended."""

from poolproof.rules.flow import ends_durable, late_writes, lost_writes, writes_at_end
from poolproof.rules.model import Case, Findings, Rule, finding, fio_doc, fio_source, linux_source, suspects
from poolproof.rules.proof import OF_WRITES
from poolproof.rules.tolerances import REFUTED, WRITTEN, WRITTEN_IN_TIME, percent

_AFTER_SYNC = (
    "find out what completes the job's syncs before the data is on a disk, such as sync=disabled on ZFS, eatmydata, or "
    "the cache of a FUSE file system"
)


def _in_result(case: Case) -> Findings:
    flow, at_end = late_writes(case), writes_at_end(case)
    if flow is None:
        return
    written = f"{case.generator} wrote {flow.moved}; when it ended, the disks had written {flow.counted_share}"
    if at_end is not None and at_end.in_order and all(job.syncs for job in case.jobs if job.writes):
        yield suspects(
            f"{written}: its syncs made the data durable, but the disks did the rest of the work later",
            fix="use a larger size, so that the disks do nearly all of the work before the last sync",
            metrics=OF_WRITES,
        )
    else:
        lost = None if flow.of_all_work else lost_writes(case)
        why = "the rest was not on a disk yet"
        if lost is not None:
            why = (
                f"by the end of the final flush, they had written {lost.counted}, so only a part of the rest was late; "
                "the other part was overwritten in RAM, compressed or deduplicated"
            )
        yield finding(
            flow.effect,
            f"{written}: {why}",
            fix=_AFTER_SYNC if ends_durable(case) else "",
            metrics=OF_WRITES,
        )


RULE = Rule(
    title="The data was not on a disk when fio ended",
    wrong="fio stopped its clock while its data was still in RAM, so the result is the speed of copying in memory.",
    shows=f"In the counters: when fio ended, the disks had written less than {percent(WRITTEN)} of the expected bytes, "
    f"or less than {percent(WRITTEN_IN_TIME)} of what they had written by the end of the final flush. The second limit "
    f"excludes background I/O, and does not apply if each write was direct or committed. Below {percent(REFUTED)}, "
    "the result is refuted, unless fio synced at the end.",
    error="Too high by a factor of 2 to 100. Measured: 4,052 MB/s without end_fsync=1, 2,110 MB/s with it, on the same "
    "disk.",
    fix="set end_fsync=1 for throughput, or fdatasync=1 for commit latency",
    sources=(
        "measured cases L05, L06",
        fio_source("3.42", "backend.c", "do_io (end_fsync)"),
        linux_source("6.12", "mm/page-writeback.c", "balance_dirty_pages"),
        fio_doc("end_fsync"),
    ),
    in_result=_in_result,
    commands="fio --rw=write --bs=1m --size=512m",
)
