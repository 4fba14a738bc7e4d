"""Shingled magnetic recording (SMR) disks."""

from poolproof.rules.model import Case, Findings, Rule, linux_source, notes


def _in_job(case: Case) -> Findings:
    jobs = [job for job in case.jobs if job.writes and job.is_random]
    if case.target and case.target.zoned and jobs:
        yield notes(
            f"{case.who(jobs)} writes at random to a shingled (SMR) disk, whose zones can only be written in order: "
            "tens of GiB are buffered at full speed, then the rate drops to a few writes/s"
        )


RULE = Rule(
    title="A shingled disk",
    wrong="A shingled disk first stores about 32 GiB of random writes in a cache area. A short test measures only this "
    "cache.",
    shows="Before the run: the job writes at random, and the kernel reports a disk as host-managed (before Linux "
    "6.8 also host-aware), or `--devices` lists an `smr` disk. The kernel cannot identify a drive-managed SMR disk or, "
    "since 6.8, a host-aware one: look up its model.",
    error="Too high by a factor of up to 80. Observed: 120 writes/s, then 1.5 writes/s after 92 minutes.",
    fix="write more than 64 GiB at random, and leave the disk idle for hours between runs",
    sources=(
        linux_source("6.8", "block/blk-sysfs.c", "queue_zoned_show (only none and host-managed; commit 7437bb73f087)"),
        linux_source("6.1", "block/blk-sysfs.c", "queue_zoned_show (also host-aware)"),
        "https://github.com/aicodix/smr",
    ),
    in_job=_in_job,
    options=("rw",),
    cleared_by_byte_count=False,
    needs="Run this on an SMR disk. It takes two hours.",
    commands="fio --rw=randwrite --bs=4k --size=64g --direct=1 --time_based --runtime=7200",
)
