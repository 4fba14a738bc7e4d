"""Writes that never reached a disk."""

from collections.abc import Iterable

from poolproof.rules.flow import writes
from poolproof.rules.model import Case, Finding, Rule
from poolproof.rules.reproduction import script


def _in_result(case: Case) -> Iterable[Finding]:
    flow = writes(case)
    if flow is None or flow.in_order:
        return
    yield Finding(
        rule="write-vanished",
        effect=flow.effect,
        message=f"fio wrote {flow.moved}; after the final flush, the disks had written {flow.counted} ({flow.share} "
        f"of {flow.wanted}): the rest was overwritten in RAM, compressed, deduplicated or never stored",
        fix="a file per job (directory= instead of filename=), refill_buffers=1, compression and dedup off, "
        "one pass over the file",
    )


RULE = Rule(
    id="write-vanished",
    title="Written bytes that never reached a disk",
    wrong="Even after the final flush, the disks have written less than fio did: blocks were overwritten while still "
    "in RAM, or they shrank on the way.",
    shows="In the counters: after the final flush, the disks have written less than 90 % of what fio wrote times the "
    "expected write amplification; under 50 % is proof.",
    error="High, by up to the number of jobs that share a file (measured: 6 times with 8), or by the compression "
    "ratio (measured: 15 times).",
    fix="Give each job its own blocks, and write data that does not compress.",
    sources=("measured cases L02, L11",),
    pitfall_numbers="A3",
    in_result=_in_result,
    reproduce=script(
        "fio --name=trap --filename=trap --rw=write --bs=1m --size=128m --numjobs=8 --end_fsync=1 --group_reporting"
    ),
)
