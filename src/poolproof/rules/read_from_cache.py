"""Reads that never reached the disks."""

from poolproof.rules.flow import cold_reads
from poolproof.rules.model import Case, Findings, Rule, fill, finding, linux_source, zfs_issue
from poolproof.rules.proof import OF_READS
from poolproof.rules.reported import may_be_ramp
from poolproof.rules.tolerances import ALL_READ, READ, REFUTED, percent

_FILL = "fill the whole file first, drop the caches (on ZFS, export and import the pool)"
_IF_WARM = "if RAM is part of what you want to measure"


def _in_result(case: Case) -> Findings:
    flow = cold_reads(case)
    if flow and flow.in_order and may_be_ramp(case, 1 - flow.ratio):
        return
    if flow and flow.ratio < ALL_READ:
        yield finding(
            "notes" if flow.in_order else flow.effect,
            f"{case.generator} read {flow.moved}; the disks read {flow.counted_share}: the rest came from RAM, or "
            "from blocks that were never written",
            fix="" if case.quoted is None else _fix_of_text(case),
            metrics=OF_READS,
        )


def _fix_of_text(case: Case) -> str:
    """Return the fix for a result from a text, for which an option replaces the campaign's setting."""
    return f"{_FILL}{'' if case.is_direct else ', then use direct=1'}; or audit with --warm {_IF_WARM}"


RULE = Rule(
    title="The disks read less than fio did",
    wrong="Some bytes that fio read came from a cache, from holes or from unwritten extents, so the result measures "
    "RAM.",
    shows=f"In the counters: the disks read less than {percent(READ)} of what fio read. Below {percent(REFUTED)}, the "
    f"result is refuted; {100 * READ:.0f} to {percent(ALL_READ)} is reported as a note. If the target compresses and "
    "the job's data is compressible, proportionally fewer bytes are expected.",
    error="Too high by a factor of 2 to more than 100. Measured in three cases: the disks read 2.4%, 25% and 0.1% of "
    "what fio read.",
    fix=f"{_FILL}, then use direct=1; or set `cold: false` {_IF_WARM}",
    fix_if_direct=f"{_FILL}; or set `cold: false` {_IF_WARM}",
    sources=(
        "measured cases L01, L04, L07, L09",
        linux_source("6.12", "mm/filemap.c", "filemap_read"),
        linux_source("6.12", "block/genhd.c", "part_stat_show"),
        zfs_issue(6040),
    ),
    in_result=_in_result,
    prepare=fill("512m"),
    commands="fio --rw=read --bs=1m --size=512m --invalidate=0",
)
