"""A ZFS mirror of two files, one on a rotational and one on a non-rotational disk."""

from poolproof.rules.mirror_reads import mirrors_read
from poolproof.rules.model import Case, Findings, Rule, notes, zfs_source


def _in_result(case: Case) -> Findings:
    for mirror in mirrors_read(case):
        if mirror.rotational_are_files:
            yield notes(
                f"{mirror.rotational} is rotational and {mirror.others} is not, but the vdevs are files, and ZFS "
                "treats every file as a non-rotational disk. Therefore, ZFS distributed the reads by queue length "
                f"alone: {mirror.shares}. With the disks themselves as vdevs, ZFS would read from {mirror.others}",
                weight=70,
            )


RULE = Rule(
    title="A mirror of files: ZFS cannot see which disk is rotational",
    wrong=(
        "ZFS reads from the mirror member with the shortest queue, and counts a seek on a rotational disk as several "
        "queued requests. But ZFS cannot see which disk a file is on, so a file on an SSD and a file on a hard disk "
        "each serve half of the reads. With the disks themselves as vdevs, the SSD would serve most reads."
    ),
    shows="In the counters: reads from a mirror whose members are files, some on rotational disks and some not.",
    error=(
        "Too low for a mirror of an SSD and a hard disk. Measured: with files as vdevs, each side served half of the "
        "reads; with disks as vdevs, the SSD served all of them."
    ),
    fix="use the disks themselves as vdevs, or report with the result that the vdevs were files",
    sources=(
        zfs_source("2.1.11", "module/os/linux/zfs/vdev_file.c", "vdev_file_open"),
        zfs_source("2.1.11", "module/zfs/vdev_mirror.c", "vdev_mirror_load"),
        "Jim Salter, ZFS does NOT favor lower latency devices, 2018: files as vdevs",
    ),
    in_result=_in_result,
    cleared_by_byte_count=False,
    needs="Needs a file system on a hard disk, another on an SSD, and a 2 GiB file on each.",
    commands="zpool create trap mirror /on/hdd/file /on/ssd/file; fio --name=trap --directory=/trap --rw=randread "
    "--bs=16k --size=1g; zpool iostat -v trap",
)
