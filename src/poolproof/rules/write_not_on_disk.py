"""Writes that were still in RAM when fio ended."""

from poolproof.rules.flow import late_writes
from poolproof.rules.model import Case, Findings, Rule, finding, fio_doc, fio_source, linux_source


def _in_result(case: Case) -> Findings:
    if flow := late_writes(case):
        yield finding(
            flow.effect,
            f"fio wrote {flow.moved}; when it ended, the disks had written {flow.counted_share}: the rest was not on a "
            "disk yet",
        )


RULE = Rule(
    title="The data was not on a disk when fio ended",
    wrong="fio stopped its clock while its data was still in RAM: the result is the speed of copying in memory.",
    shows="In the counters: when fio ended, less than 90 % of the expected bytes were written. Less than 50 % is "
    "proof.",
    error="Too high, by a factor of 2 to 100. Measured: 4052 MB/s without end_fsync=1, 2110 MB/s with it, on the same "
    "disk.",
    fix="set end_fsync=1 for throughput, or fdatasync=1 for commit latency",
    sources=(
        "measured cases L05, L06",
        fio_source("3.42", "backend.c", "do_io (end_fsync)"),
        linux_source("6.12", "mm/page-writeback.c", "balance_dirty_pages"),
        fio_doc("end_fsync"),
    ),
    in_result=_in_result,
    commands="fio --rw=write --bs=1m --size=512m",
)
