"""Writes that never reached a disk."""

from poolproof.rules.flow import lost_writes
from poolproof.rules.model import Case, Findings, Rule, finding


def _in_result(case: Case) -> Findings:
    if flow := lost_writes(case):
        yield finding(
            flow.effect,
            f"fio wrote {flow.moved}; after the final flush, the disks had written {flow.counted_share}: the rest was "
            "overwritten in RAM, compressed, deduplicated or never stored",
        )


RULE = Rule(
    title="Written bytes that never reached a disk",
    wrong="Even after the final flush, bytes are missing on the disks: overwritten in RAM, or shrunk on the way.",
    shows="In the counters: after the final flush, under 90 % of the expected bytes were written; under 50 % is proof.",
    error="Too high, up to the number of sharing jobs (measured: 6 times with 8) or the compression ratio (15 times).",
    fix="a file per job (directory= instead of filename=), refill_buffers=1, compression and dedup off, one pass over "
    "the file",
    sources=("measured cases L02, L11",),
    in_result=_in_result,
    commands="fio --rw=write --bs=1m --size=128m --numjobs=8 --end_fsync=1 --group_reporting",
)
