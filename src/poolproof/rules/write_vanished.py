"""Writes that never reached a disk."""

from poolproof.rules.fio_job import is_fio_job
from poolproof.rules.flow import commits_each_write, lost_writes, writes_at_end
from poolproof.rules.model import Case, Findings, Rule, finding, linux_source, zfs_source
from poolproof.rules.proof import OF_WRITES
from poolproof.rules.tolerances import REFUTED, WRITTEN, percent

_ONCE = "a single pass over the file; turn off compression and dedup"
_FIX = f"refill_buffers=1 and {_ONCE}"
_FIX_OF_PATTERN = f"remove buffer_pattern and verify_pattern, and use {_ONCE}"


def _in_result(case: Case) -> Findings:
    flow, at_end = lost_writes(case), writes_at_end(case)
    if flow is None:
        return
    logged = commits_each_write(case) and at_end is not None and at_end.in_order
    where = "the disks had written" if not logged else "apart from log records, the disks had written"
    flushed = case.evidence is not None and case.evidence.account is not None and case.evidence.account.drain_s
    when = "after the final flush" if flushed else "when it ended"
    so = ". The commits were durable in the log, but this is not the throughput of the pool" if logged else ""
    yield finding(
        flow.effect,
        f"{case.generator} wrote {flow.moved}; {when}, {where} {flow.counted_share}: the rest was overwritten in RAM, "
        f"compressed, deduplicated or never stored{so}",
        metrics=("bandwidth", "write_bandwidth") if logged else OF_WRITES,
        fix=_fix(case),
    )


def _fix(case: Case) -> str:
    """Return the fix for jobs that share no file, or an empty string. refill_buffers has no effect on a pattern."""
    if not case.jobs or case.load.shares_one_file:
        return ""
    has_pattern = any(job.writes and job.repeats_pattern and is_fio_job(job) for job in case.jobs)
    return _FIX_OF_PATTERN if has_pattern else f"use {_FIX}"


RULE = Rule(
    title="Written bytes that never reached a disk",
    wrong="Even after the final flush, bytes are missing from the disks: they were overwritten in RAM, or compressed "
    "on the way.",
    shows=f"In the counters: after the final flush, less than {percent(WRITTEN)} of the expected bytes have been "
    f"written. Below {percent(REFUTED)}, the result is refuted.",
    error="Too high. The factor is at most the number of jobs that share a file (measured: 6 with 8 jobs), or the "
    "compression ratio (measured: 15).",
    fix=f"use one file per job (directory= instead of filename=), {_FIX}",
    sources=(
        "measured cases L02, L11",
        linux_source("6.12", "mm/page-writeback.c", "folio_mark_dirty"),
        zfs_source("2.3.0", "module/zfs/dbuf.c", "dbuf_dirty"),
    ),
    in_result=_in_result,
    commands="fio --rw=write --bs=1m --size=128m --numjobs=8 --end_fsync=1 --group_reporting",
)
