"""Reads that the disks never saw."""

from collections.abc import Iterable

from poolproof.rules.flow import cold_reads
from poolproof.rules.model import Case, Finding, Rule
from poolproof.rules.reproduction import script

_ALL = 0.95


def _in_result(case: Case) -> Iterable[Finding]:
    flow = cold_reads(case)
    if flow is None or flow.ratio >= _ALL:
        return
    yield Finding(
        rule="read-from-cache",
        effect="notes" if flow.in_order else flow.effect,
        message=f"fio read {flow.moved}; the disks read {flow.counted} ({flow.share} of {flow.wanted}): the rest came "
        "from RAM, or from blocks that were never written",
        fix="fill the file to its full length first, drop the caches (export and import a ZFS pool), then direct=1; "
        "or say `cold: false` if RAM is meant to be part of the measurement",
    )


RULE = Rule(
    id="read-from-cache",
    title="The disks read less than fio did",
    wrong="Bytes that fio read came from a cache, from holes or from unwritten extents: the figure measures RAM.",
    shows="The leaves read less than 85 % of what fio read in the same window; under 50 % is proof, from 85 to 95 % is "
    "a note. Where the target compresses and the job asks for compressible data, the bytes wanted of the leaves shrink "
    "by that share.",
    error="High, 2 to 100 times and more. Measured: the leaves read 2.4 %, 25 % and 0.1 % of what fio read.",
    fix="A file that is filled and larger than RAM, cold caches, direct=1 where the file system honours it.",
    sources=("measured cases L01, L04, L07, L09", "https://github.com/openzfs/zfs/issues/6040"),
    pitfall_numbers="A1",
    in_result=_in_result,
    reproduce=script(
        trap="fio --name=trap --filename=trap --rw=read --bs=1m --size=512m --invalidate=0",
        before="fio --name=fill --filename=trap --rw=write --bs=1m --size=512m --refill_buffers --end_fsync=1",
    ),
)
