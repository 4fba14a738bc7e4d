"""A dataset that acknowledges syncs without writing anything."""

from poolproof.metrics import rates_of
from poolproof.rules.flow import account
from poolproof.rules.model import Case, Findings, Rule, refutes, suspects, zfs_source
from poolproof.rules.proof import LATENCIES_WITH_WRITES, OF_COMMITS, SYNCS


def _in_job(case: Case) -> Findings:
    jobs = [job for job in case.jobs if job.writes and job.syncs]
    if jobs and case.zfs and case.zfs.sync == "disabled":
        yield suspects(
            f"{case.who(jobs)} syncs, but the dataset has sync=disabled: a sync returns at once, and a power failure "
            "loses the open transaction groups, which often contain more data than zfs_txg_timeout (5 s) suggests",
            weight=80,
        )


def _in_result(case: Case) -> Findings:
    if case.quoted is not None and case.quoted.served_without_sync and case.load.writes:
        yield suspects(
            f"{case.quoted.served_without_sync}: the server acknowledges each write while the data is only in its RAM",
            weight=80,
            metrics=rates_of("all", "write"),
        )
    jobs = [job for job in case.jobs if job.writes and job.syncs]
    if not jobs or account(case) is None or case.zfs is None or case.zfs.sync != "disabled":
        return
    metrics = OF_COMMITS if all(job.commits_each_write for job in jobs) else SYNCS
    yield refutes(
        f"{case.who(jobs)} syncs, but the dataset has sync=disabled: a sync returns at once without writing, so its "
        "latency is not that of a commit",
        weight=90,
        metrics=(*metrics, *LATENCIES_WITH_WRITES) if any(job.writes_are_synchronous for job in jobs) else metrics,
    )


RULE = Rule(
    title="sync=disabled on ZFS",
    wrong="With sync=disabled, ZFS acknowledges fsync and O_SYNC at once and writes when the transaction group closes. "
    "The commit latency is that of a call that does nothing, and a log device looks infinitely fast.",
    shows="In a job: writes with syncs on a dataset with sync=disabled. In a result with counters, this refutes the "
    "latency of syncs and, if the job commits each write, also its rates. In a text: the nearest line above the result "
    "about a server's sync says that it is disabled (`NFS, sync=disabled`): the rates of writes are suspect.",
    error="Commit latency is too low by orders of magnitude.",
    fix="run `zfs set sync=standard DATASET`",
    sources=(
        zfs_source("2.3.0", "module/zfs/zil.c", "zil_commit (returns at once if zl_sync is disabled)"),
        zfs_source("2.3.0", "module/zfs/txg.c", "txg_sync_thread (a group may wait for the one before it)"),
        "man zfsprops (sync)",
    ),
    in_job=_in_job,
    in_result=_in_result,
    options=("sync", "fsync", "fdatasync", "end_fsync"),
    cleared_by_byte_count=False,
    needs="Run this on a dataset with sync=disabled, then on one with sync=standard.",
    commands="fio --rw=write --bs=4k --size=16m --fdatasync=1",
)
