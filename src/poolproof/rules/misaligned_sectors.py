"""Writes smaller than a sector of the medium."""

from collections.abc import Iterable

from poolproof.rules.model import Case, Finding, Rule
from poolproof.rules.reproduction import script
from poolproof.units import format_size


def _in_job(case: Case) -> Iterable[Finding]:
    target = case.target
    if target is None or not target.alignment_bytes or not target.physical_block_bytes or not case.load.writes:
        return
    if target.alignment_bytes < target.physical_block_bytes:
        yield Finding(
            rule="misaligned-sectors",
            effect="notes",
            message=f"the layout writes in units of {format_size(target.alignment_bytes)} to a medium with sectors of "
            f"{format_size(target.physical_block_bytes)}: the drive reads and rewrites a sector for each, unseen by "
            "any counter",
            fix="make the pool anew with ashift=12 (or as the medium needs), partitions on whole MiB",
            weight=50,
        )


RULE = Rule(
    id="misaligned-sectors",
    title="Smaller units than the disk's sectors",
    wrong="ashift=9 on a disk with sectors of 4 KiB, or a partition that does not begin on one, makes the drive itself "
    "read and rewrite sectors.",
    shows="Before the run: the smallest write of the layout (1 << ashift) is below the physical sector of the disk.",
    error="Low, 2 to 10 times on random writes.",
    fix="ashift=12 or more; partitions on whole MiB.",
    sources=("https://github.com/openzfs/zfs/issues/6040",),
    pitfall_numbers="#43",
    in_job=_in_job,
    options=("filename", "directory"),
    cleared_by_byte_count=False,
    reproduce=script(
        "fio --name=trap --filename=trap --rw=randwrite --bs=4k --size=256m --io_size=32m --fdatasync=1",
        needs="On a pool made with -o ashift=9, then on one with ashift=12.",
    ),
)
