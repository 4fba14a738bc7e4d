"""Buffered writes that are never synced."""

from collections.abc import Iterable

from poolproof.evidence.model import Target
from poolproof.load.model import LoadPart
from poolproof.rules.fixes import always
from poolproof.rules.flow import late_writes
from poolproof.rules.model import Case, Finding, Rule
from poolproof.rules.naming import who
from poolproof.rules.path import is_taken_at_its_word, may_end_in_ram
from poolproof.rules.reproduction import script

_FIX = "end_fsync=1 with a size of at least twice the dirty limit for throughput; fdatasync=1 for commit latency"


def _unsafe(case: Case) -> list[LoadPart]:
    """Return the writing jobs that never sync and whose data stays in RAM for a while."""
    return [job for job in case.load.parts if job.writes and not job.syncs and _stays_in_ram(job, case.target)]


def _stays_in_ram(job: LoadPart, target: Target | None) -> bool:
    return may_end_in_ram(job, target) and not is_taken_at_its_word(job, target)


def _in_job(case: Case) -> Iterable[Finding]:
    jobs = _unsafe(case)
    if not jobs:
        return
    why = "direct=1 may not be honoured here" if jobs[0].direct else "buffered"
    yield Finding(
        rule="write-without-sync",
        effect="suspects",
        message=f"{who(case, jobs)} writes ({why}) and never syncs: fio stops its clock while data is still in RAM",
        fix=_FIX,
        weight=75,
    )


def _in_result(case: Case) -> Iterable[Finding]:
    flow = late_writes(case)
    if flow is None or not _unsafe(case):
        return
    yield Finding(
        rule="write-without-sync",
        effect=flow.effect,
        message=f"fio wrote {flow.moved} and never synced; when it ended, {flow.counted} had reached the disks "
        f"({flow.share} of {flow.wanted}): the result is the speed of copying into RAM",
        fix=_FIX,
        weight=90,
    )


RULE = Rule(
    id="write-without-sync",
    title="Writes that are never synced",
    wrong="Buffered writes return as soon as the data is in RAM. Without a sync fio ends before the disks have it.",
    shows="In a job: writes, direct=0, and none of fsync, fdatasync, sync, end_fsync, fsync_on_close. In the "
    "counters: when fio ended, the disks had written less than 90 % of its bytes.",
    error="High, from 2 to more than 100 times; the latencies are those of a copy in memory. Measured: 4052 MB/s "
    "without and 2110 MB/s with end_fsync=1.",
    fix=_FIX + ". The time of end_fsync is in the bandwidth, not in the clat percentiles.",
    sources=(
        "measured cases L05, L06",
        "https://fio.readthedocs.io/en/latest/fio_doc.html (end_fsync)",
        "https://github.com/axboe/fio/issues/470",
    ),
    pitfall_numbers="#4, A2",
    in_job=_in_job,
    options=("direct", "buffered", "rw"),
    fixed_options=always(end_fsync="1"),
    in_result=_in_result,
    reproduce=script("fio --name=trap --filename=trap --rw=write --bs=1m --size=512m"),
)
