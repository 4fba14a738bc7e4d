"""Writes that were still in RAM when the figure was taken."""

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
        message=f"fio wrote {flow.moved}; at its end the disks had written {flow.counted} "
        f"({flow.share} of {flow.wanted}): the figure was taken before the rest was on a disk",
        fix="end_fsync=1 for throughput, fdatasync=1 for the latency of commits",
    )


RULE = Rule(
    id="write-not-on-disk",
    title="The data was not on a disk when fio ended",
    wrong="fio stopped its clock while its data was still in RAM: the figure is the speed of copying in memory.",
    shows="At the moment fio ended the leaves had written less than 90 % of what fio wrote times the layout's write "
    "factor; under 50 % is proof.",
    error="High, 2 to 100 times. Measured: 4052 MB/s without, 2110 MB/s with end_fsync=1, on the same disk.",
    fix="end_fsync=1, or fdatasync=1 where the latency of a commit is asked; enough data to pass the dirty limit.",
    sources=("measured cases L05, L06", "https://fio.readthedocs.io/en/latest/fio_doc.html (end_fsync)"),
    pitfall_numbers="A2",
    in_result=_in_result,
    reproduce=script("fio --name=trap --filename=trap --rw=write --bs=1m --size=512m"),
)
