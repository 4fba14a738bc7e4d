"""Writes that were still in RAM when fio ended."""

from collections.abc import Iterable

from poolproof.rules.flow import late_writes
from poolproof.rules.model import Case, Finding, Rule
from poolproof.rules.reproduction import script


def _in_result(case: Case) -> Iterable[Finding]:
    flow = late_writes(case)
    if flow is None:
        return
    yield Finding(
        rule="write-not-on-disk",
        effect=flow.effect,
        message=f"fio wrote {flow.moved}; when it ended, the disks had written {flow.counted} ({flow.share} of "
        f"{flow.wanted}): the rest was not on a disk yet",
        fix="end_fsync=1 for throughput, fdatasync=1 for commit latency",
    )


RULE = Rule(
    id="write-not-on-disk",
    title="The data was not on a disk when fio ended",
    wrong="fio stopped its clock while its data was still in RAM: the result is the speed of copying in memory.",
    shows="In the counters: when fio ended, the disks had written less than 90 % of what fio wrote times the "
    "expected write amplification; under 50 % is proof.",
    error="High, 2 to 100 times. Measured: 4052 MB/s without end_fsync=1, 2110 MB/s with it, on the same disk.",
    fix="end_fsync=1, or fdatasync=1 to measure commit latency; enough data to exceed the dirty limit.",
    sources=("measured cases L05, L06", "https://fio.readthedocs.io/en/latest/fio_doc.html (end_fsync)"),
    pitfall_numbers="A2",
    in_result=_in_result,
    reproduce=script("fio --name=trap --filename=trap --rw=write --bs=1m --size=512m"),
)
