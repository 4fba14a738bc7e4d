"""Writes smaller than a physical sector of the disk."""

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
            message=f"the layout writes in units of {format_size(target.alignment_bytes)} to a disk with sectors of "
            f"{format_size(target.physical_block_bytes)}: the drive reads and rewrites a sector for each write, and "
            "no counter shows it",
            fix="recreate the pool with ashift=12 (or what the disk needs); align partitions to whole MiB",
            weight=50,
        )


RULE = Rule(
    id="misaligned-sectors",
    title="Writes smaller than the disk's sectors",
    wrong="With ashift=9 on a disk with sectors of 4 KiB, or a partition that does not start on a sector boundary, the "
    "drive itself reads and rewrites sectors.",
    shows="Before the run: the smallest write of the layout (1 << ashift) is smaller than the physical sector of the "
    "disk.",
    error="Low by a factor of 2 to 10 on random writes.",
    fix="Use ashift=12 or more, and align partitions to whole MiB.",
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
