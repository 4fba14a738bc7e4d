"""Buffered writes that are never synced."""

from poolproof.load.model import LoadPart
from poolproof.rules.flow import late_writes
from poolproof.rules.model import Case, Findings, Rule, finding, fio_doc, fio_issue, suspects
from poolproof.rules.path import is_direct_on_unknown, may_end_in_ram

_FIX = "set end_fsync=1 and a size of at least twice the dirty limit for throughput, or fdatasync=1 for commit latency"


def _unsynced(case: Case) -> list[LoadPart]:
    """Return the jobs that write, never sync, and whose data may stay in RAM for a while."""
    jobs = [job for job in case.jobs if job.writes and not job.syncs and may_end_in_ram(job, case.target)]
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
    title="Writes that are never synced",
    wrong="Buffered writes return as soon as the data is in RAM. Without a sync, fio ends before the disks have the "
    "data.",
    shows="In a job: unsynced buffered writes. In the counters: when fio ended, more than 10 % of the bytes were "
    "missing.",
    error="Too high, by a factor of 2 to more than 100. Measured: 4052 MB/s without end_fsync=1, 2110 MB/s with it.",
    fix=_FIX + " (the bandwidth includes the time of end_fsync, the clat percentiles do not)",
    sources=("measured cases L05, L06", fio_doc("end_fsync"), fio_issue(470)),
    in_job=_in_job,
    options=("direct", "buffered", "rw"),
    fixed_options={"end_fsync": "1"},
    in_result=_in_result,
    commands="fio --rw=write --bs=1m --size=512m",
)
