"""A dataset that acknowledges syncs without writing."""

from collections.abc import Iterable

from poolproof.rules.model import Case, Finding, Rule
from poolproof.rules.naming import who
from poolproof.rules.reproduction import script


def _in_job(case: Case) -> Iterable[Finding]:
    jobs = [job for job in case.load.parts if job.writes and job.syncs]
    zfs = case.target.zfs if case.target else None
    if jobs and zfs and zfs.sync == "disabled":
        yield Finding(
            rule="zfs-sync-disabled",
            effect="suspects",
            message=f"{who(case, jobs)} syncs, but the dataset has sync=disabled: a sync returns at once, and a power "
            "failure loses up to 5 s of data",
            fix="zfs set sync=standard DATASET",
            weight=80,
        )


RULE = Rule(
    id="zfs-sync-disabled",
    title="sync=disabled on ZFS",
    wrong="With sync=disabled, ZFS acknowledges fsync and O_SYNC at once and writes when the transaction group "
    "closes. The commit latency is that of a call that does nothing; a log device looks infinitely fast.",
    shows="In a job: it syncs, and the dataset has sync=disabled.",
    error="Commit latency is too low by orders of magnitude.",
    fix="zfs set sync=standard, or state sync=disabled with the result.",
    sources=("man zfsprops (sync)",),
    pitfall_numbers="#19, #21",
    in_job=_in_job,
    options=("sync", "fsync", "fdatasync", "end_fsync"),
    cleared_by_byte_count=False,
    reproduce=script(
        "fio --name=trap --filename=trap --rw=write --bs=4k --size=16m --fdatasync=1",
        needs="On a dataset with sync=disabled, then with sync=standard.",
    ),
)
