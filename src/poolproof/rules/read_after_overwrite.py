"""Sequential reads of a file that was overwritten at random."""

from poolproof.rules.earlier import writers_of
from poolproof.rules.model import Case, Findings, Rule, linux_source, notes, zfs_source
from poolproof.rules.path import is_zfs


def _in_job(case: Case) -> Findings:
    if case.target is None or not (is_zfs(case.target) or case.target.file_system in ("btrfs", "bcachefs")):
        return
    for job in case.jobs:
        if not job.reads or job.writes or job.is_random:
            continue
        writers = list(writers_of(case, job))
        if writers and writers[-1].is_random:
            yield notes(
                f"{case.who([job])} sequentially reads a file that job `{writers[-1].name}` overwrote at random: on a "
                "copy-on-write file system, the new blocks are elsewhere, so the disks have to seek",
                weight=40,
            )


RULE = Rule(
    title="Sequential reads after random overwrites",
    wrong="Copy-on-write file systems write changed blocks to a new place. A file that has been overwritten in random "
    "order is scattered across the disk, so reading it sequentially requires seeks.",
    shows="In a job file or script: a sequential read on ZFS, btrfs or bcachefs of a file that an earlier job wrote at "
    "random.",
    error="Too low, compared with a file written from start to end.",
    fix="read first and overwrite afterwards, or rewrite the file from start to end before the read",
    sources=(
        zfs_source("2.3.0", "module/zfs/dmu_tx.c", "dmu_tx_hold_write"),
        zfs_source("2.3.0", "module/zfs/zio.c", "zio_dva_allocate"),
        linux_source("6.12", "fs/btrfs/inode.c", "cow_file_range"),
    ),
    in_job=_in_job,
    options=("filename", "directory", "rw"),
    cleared_by_byte_count=False,
    needs="Run this on ZFS or btrfs.",
    prepare="fio --name=w --filename=trap --rw=write --bs=1m --size=256m --end_fsync=1\n"
    "fio --name=o --filename=trap --rw=randwrite --bs=4k --size=256m --end_fsync=1",
    commands="fio --rw=read --bs=1m --size=256m --direct=1",
)
