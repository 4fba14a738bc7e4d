"""Shingled disks."""

from collections.abc import Iterable

from poolproof.rules.model import Case, Finding, Rule
from poolproof.rules.naming import who
from poolproof.rules.reproduction import script


def _in_job(case: Case) -> Iterable[Finding]:
    jobs = [job for job in case.load.parts if job.writes and job.is_random]
    if case.target is not None and case.target.zoned and jobs:
        yield Finding(
            rule="smr",
            effect="notes",
            message=f"{who(case, jobs)} writes at random on a shingled (SMR) disk: its cache absorbs some tens of GiB "
            "at full speed, and then the disk drops to a few writes a second",
            fix="write more than 64 GiB at random, and leave the disk idle for hours between runs",
            weight=50,
        )


RULE = Rule(
    id="smr",
    title="A shingled disk",
    wrong="A shingled disk first stores random writes in a cache of about 32 GiB and rewrites its bands later. A short "
    "test measures only the cache.",
    shows="Before the run: the job writes at random, and the kernel reports a disk as host-aware or host-managed, or "
    "`--devices` names an `smr`. The kernel cannot identify a drive-managed SMR disk: look up its model.",
    error="Too high, by a factor of up to 80. Observed: 120 writes a second, then 1.5 after 92 minutes.",
    fix="Test beyond the cache, or use another disk for such a workload.",
    sources=("https://github.com/aicodix/smr",),
    pitfall_numbers="#40",
    in_job=_in_job,
    options=("rw",),
    cleared_by_byte_count=False,
    reproduce=script(
        "fio --name=trap --filename=trap --rw=randwrite --bs=4k --size=64g --direct=1 --time_based --runtime=7200",
        needs="On an SMR disk; takes two hours.",
    ),
)
