"""Writes that never reached a disk at all."""

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
        message=f"fio wrote {flow.moved}; with everything flushed the disks had written {flow.counted} "
        f"({flow.share} of {flow.wanted}): the rest was overwritten in RAM, compressed, deduplicated or never stored",
        fix="a file per job (directory= instead of filename=), refill_buffers=1, compression and dedup off, "
        "one pass over the file",
    )


RULE = Rule(
    id="write-vanished",
    title="Written bytes that no disk ever got",
    wrong="Even after a full flush the disks hold less than fio wrote: blocks were overwritten while still in RAM, or "
    "they shrank on the way.",
    shows="After the drain the leaves have written less than 90 % of what fio wrote times the write factor; under 50 % "
    "is proof.",
    error="High, up to the number of jobs that share a file (measured: 6 times with 8), or the compression ratio "
    "(measured: 15 times).",
    fix="Give each job its own blocks, and write data that does not compress.",
    sources=("measured cases L02, L11",),
    pitfall_numbers="A3",
    in_result=_in_result,
    reproduce=script(
        "fio --name=trap --filename=trap --rw=write --bs=1m --size=128m --numjobs=8 --end_fsync=1 --group_reporting"
    ),
)
