"""Writes that never reached a disk."""

from poolproof.rules.flow import lost_writes
from poolproof.rules.model import Case, Findings, Rule, finding


def _in_result(case: Case) -> Findings:
    if flow := lost_writes(case):
        yield finding(
            flow.effect,
            f"fio wrote {flow.moved}; after the final flush, the disks had written {flow.counted_share}: the rest was "
            "overwritten in RAM, compressed, deduplicated or never stored",
            fix="a file per job (directory= instead of filename=), refill_buffers=1, compression and dedup off, one "
            "pass over the file",
        )


RULE = Rule(
    id="write-vanished",
    title="Written bytes that never reached a disk",
    wrong="Even after the final flush, the disks have written less than fio did: blocks were overwritten while still "
    "in RAM, or they shrank on the way.",
    shows="In the counters: after the final flush, the disks have written less than 90 % of what fio wrote times the "
    "expected write amplification; under 50 % is proof.",
    error="Too high, by up to the number of jobs that share a file (measured: 6 times with 8), or by the compression "
    "ratio (measured: 15 times).",
    fix="Give each job its own blocks, and write data that does not compress.",
    sources=("measured cases L02, L11",),
    in_result=_in_result,
    commands="fio --rw=write --bs=1m --size=128m --numjobs=8 --end_fsync=1 --group_reporting",
)
