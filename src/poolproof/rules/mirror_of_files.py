"""A ZFS mirror of files, one on a rotational disk and one on a non-rotational disk."""

from poolproof.rules.mirror_reads import mirrors_read
from poolproof.rules.model import Case, Findings, Rule, notes


def _in_result(case: Case) -> Findings:
    for mirror in mirrors_read(case):
        if mirror.rotational_are_files:
            yield notes(
                f"{mirror.rotational} is rotational and {mirror.others} is not, but the vdevs are files, and ZFS "
                "treats every file as a non-rotational disk: it distributes the reads by queue length alone, here "
                f"{mirror.shares}. With the disks themselves as vdevs it would read from {mirror.others}",
                weight=70,
            )


RULE = Rule(
    title="A mirror of files: ZFS cannot see which disk is rotational",
    wrong="ZFS reads from the side with the shorter queue, and counts seeks of a rotational disk more. It cannot see "
    "which disk a file is on: an SSD and a hard disk get half of the reads each, unlike in mirrors of disks.",
    shows="In the counters: reads from a mirror whose sides are files, some on rotational disks and some not.",
    error="Too low for SSD and hard disk. Measured: half of the reads from each file; with disks, all from the SSD.",
    fix="give ZFS the disks themselves as vdevs; if you want files, say so with the result",
    sources=(
        "https://github.com/openzfs/zfs/blob/zfs-2.1.11/module/os/linux/zfs/vdev_file.c (vdev_file_open)",
        "https://github.com/openzfs/zfs/blob/zfs-2.1.11/module/zfs/vdev_mirror.c (vdev_mirror_load)",
        "Jim Salter, ZFS does NOT favor lower latency devices, 2018: files as vdevs",
    ),
    in_result=_in_result,
    cleared_by_byte_count=False,
    needs="A file system on a hard disk, one on an SSD, and a file of 2 GiB on each.",
    commands="zpool create trap mirror /on/rust/file /on/ssd/file; fio --name=trap --directory=/trap --rw=randread "
    "--bs=16k --size=1g; zpool iostat -v trap",
)
