"""A dataset that acknowledges syncs without writing."""

from poolproof.rules.model import Case, Findings, Rule, suspects, zfs_source


def _in_job(case: Case) -> Findings:
    jobs = [job for job in case.jobs if job.writes and job.syncs]
    if jobs and case.zfs and case.zfs.sync == "disabled":
        yield suspects(
            f"{case.who(jobs)} syncs, but the dataset has sync=disabled: a sync returns at once, and a power failure "
            "loses the open transaction groups, which often contain the data of more than zfs_txg_timeout (5 s)",
            weight=80,
        )


RULE = Rule(
    title="sync=disabled on ZFS",
    wrong="With sync=disabled, ZFS acknowledges fsync and O_SYNC at once and writes when the transaction group closes. "
    "The commit latency is that of a call that does nothing, and a log device looks infinitely fast.",
    shows="In a job: writes with syncs on a dataset with sync=disabled.",
    error="Commit latency is too low by orders of magnitude.",
    fix="run zfs set sync=standard DATASET",
    sources=(
        zfs_source("2.3.0", "module/zfs/zil.c", "zil_commit (returns at once if zl_sync is disabled)"),
        zfs_source("2.3.0", "module/zfs/txg.c", "txg_sync_thread (a group may wait for the one before it)"),
        "man zfsprops (sync)",
    ),
    in_job=_in_job,
    options=("sync", "fsync", "fdatasync", "end_fsync"),
    cleared_by_byte_count=False,
    needs="Run on a dataset with sync=disabled, then on one with sync=standard.",
    commands="fio --rw=write --bs=4k --size=16m --fdatasync=1",
)
