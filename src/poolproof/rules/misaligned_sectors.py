"""Writes smaller than a physical sector of the disk."""

from poolproof.rules.model import Case, Findings, Rule, linux_source, notes, zfs_issue, zfs_source
from poolproof.units import format_size


def _in_job(case: Case) -> Findings:
    smallest = case.target.alignment_bytes if case.target else None
    sector = case.target.physical_block_bytes if case.target else None
    if smallest and sector and smallest < sector and case.load.writes:
        yield notes(
            f"the layout writes in units of {format_size(smallest)} to a disk with {format_size(sector)} sectors: for "
            "each write, the drive reads and rewrites a whole sector, and no counter shows this"
        )


RULE = Rule(
    title="Writes smaller than the disk's sectors",
    wrong=(
        "With ashift=9 on 4 KiB sectors, or with a partition that starts in the middle of a sector, the drive has to "
        "read and rewrite whole sectors."
    ),
    shows=(
        "Before the run: the smallest write of the layout (2 to the power of ashift) is smaller than a physical sector "
        "of the disk."
    ),
    error="Too low by a factor of 2 to 10 for random writes.",
    fix="recreate the pool with ashift=12 (or the value that the disk needs), and align partitions to whole MiB",
    sources=(
        zfs_source("2.3.0", "module/zfs/vdev.c", "vdev_open (ashift)"),
        linux_source("6.12", "block/blk-settings.c", "blk_set_stacking_limits (physical_block_size)"),
        zfs_issue(6040),
    ),
    in_job=_in_job,
    options=("filename", "directory"),
    cleared_by_byte_count=False,
    needs="Run this on a pool created with -o ashift=9, then on one with ashift=12.",
    commands="fio --rw=randwrite --bs=4k --size=256m --io_size=32m --fdatasync=1",
)
