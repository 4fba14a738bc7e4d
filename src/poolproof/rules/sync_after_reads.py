"""Sync latencies that include syncs with nothing to write."""

from poolproof.load.outcome import PartOutcome
from poolproof.rules.model import Case, Finding, Rule, finding, fio_source, notes
from poolproof.rules.path import writes_are_synchronous
from poolproof.rules.proof import SYNCS
from poolproof.rules.reported import each_job, each_sync_has_data
from poolproof.units import format_count

_MORE = 1.1
_FEW = 0.01  # even the p99 is then that of a sync with nothing to write


def _in_reported_job(case: Case, reported: PartOutcome) -> Finding | None:
    job = case.job_named(reported.name)
    if job is None or not job.sync_every or each_sync_has_data(case, job) or reported.write is None:
        return None
    syncs = (reported.sync.samples if reported.sync else None) or reported.syncs
    due = (reported.write.ios or 0) / job.sync_every
    if not syncs or not due or (syncs <= _MORE * due and not writes_are_synchronous(case, job)):
        return None
    if writes_are_synchronous(case, job):
        return notes(
            f"{case.generator} timed {format_count(syncs)} syncs, but every write was synchronous: the syncs had "
            "nothing to write, so their latency is not that of a commit",
            weight=50,
        )
    return finding(
        "refutes" if due < _FEW * syncs else "suspects",
        f"{case.generator} timed {format_count(syncs)} syncs, but only {format_count(due)} of them followed a write "
        "that was not yet synced (this release also syncs after other I/Os): the others had nothing to write, so the "
        "percentiles of the syncs are too low",
        weight=50,
        metrics=SYNCS,
    )


RULE = Rule(
    title="Syncs with nothing to write",
    wrong="Up to fio 3.37, a mixed job with fsync or fdatasync also syncs after reads, and a job with several I/Os in "
    "flight syncs more often than requested. These extra syncs find nothing to write and return at once. The same is "
    "true of every sync after synchronous writes: O_SYNC, O_DSYNC or the mount option sync.",
    shows="In a result: more than 1.1 times as many syncs as fsync=N or fdatasync=N calls for (writes / N), or syncs "
    "after synchronous writes (a note). The latency of the syncs is suspect. If less than 1% of the syncs had "
    "something to write, it is refuted.",
    error="The sync latency is too low. With fio 3.33, a job that syncs after each write issued 1,020 syncs for 317 "
    "writes and 707 reads, and a job with several I/Os in flight issued 254 syncs instead of 128.",
    fix="use fio 3.38 or later, or measure commits in a separate job that only writes, with iodepth=1, without "
    "sync= and without the mount option sync",
    sources=(
        fio_source("3.37", "io_u.c", "get_rw_ddir (syncs after reads, up to this release)"),
        fio_source("3.38", "io_u.c", "get_rw_ddir (commit 704a8cfe)"),
        fio_source("3.33", "fio.h", "should_fsync"),
    ),
    in_result=each_job(_in_reported_job),
    cleared_by_byte_count=False,
    commands="fio --rw=randrw --rwmixread=70 --bs=4k --size=64m --io_size=4m --fdatasync=1",
)
