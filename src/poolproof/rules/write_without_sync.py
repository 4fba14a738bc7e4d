"""Buffered writes that are never synced."""

from poolproof.load.model import LoadPart
from poolproof.rules.flow import late_writes
from poolproof.rules.model import FIO_DOC, Case, Findings, Rule, finding, suspects
from poolproof.rules.path import is_direct_on_unknown, may_end_in_ram

_FIX = "end_fsync=1 with a size of at least twice the dirty limit for throughput; fdatasync=1 for commit latency"


def _unsynced(case: Case) -> list[LoadPart]:
    """Return the writing jobs that never sync and whose data stays in RAM for a while."""
    jobs = [job for job in case.load.parts if job.writes and not job.syncs and may_end_in_ram(job, case.target)]
    return [job for job in jobs if not is_direct_on_unknown(job, case.target)]


def _in_job(case: Case) -> Findings:
    if jobs := _unsynced(case):
        why = "direct=1 may not be honoured here" if jobs[0].direct else "buffered"
        yield suspects(
            f"{case.who(jobs)} writes ({why}) and never syncs: fio stops its clock while data is still in RAM",
            weight=75,
            fix=_FIX,
        )


def _in_result(case: Case) -> Findings:
    flow = late_writes(case)
    if flow and _unsynced(case):
        yield finding(
            flow.effect,
            f"fio wrote {flow.moved} and never synced; when it ended, {flow.counted} had reached the disks "
            f"({flow.share} of {flow.expected}): the result is the speed of copying into RAM",
            weight=90,
            fix=_FIX,
        )


RULE = Rule(
    id="write-without-sync",
    title="Writes that are never synced",
    wrong="Buffered writes return as soon as the data is in RAM. Without a sync fio ends before the disks have it.",
    shows="In a job: writes, direct=0, and none of fsync, fdatasync, sync, end_fsync, fsync_on_close. In the counters: "
    "when fio ended, the disks had written less than 90 % of its bytes.",
    error="Too high, from 2 to more than 100 times; the latencies are those of a copy in memory. Measured: 4052 MB/s "
    "without and 2110 MB/s with end_fsync=1.",
    fix=_FIX + ". The time of end_fsync is in the bandwidth, not in the clat percentiles.",
    sources=(
        "measured cases L05, L06",
        f"{FIO_DOC} (end_fsync)",
        "https://github.com/axboe/fio/issues/470",
    ),
    in_job=_in_job,
    options=("direct", "buffered", "rw"),
    fixed_options={"end_fsync": "1"},
    in_result=_in_result,
    commands="fio --rw=write --bs=1m --size=512m",
)
