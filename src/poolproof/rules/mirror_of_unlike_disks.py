"""A ZFS mirror of a rotational and a non-rotational disk, either of which may serve most of the reads."""

from poolproof.rules.mirror_reads import mirrors_read
from poolproof.rules.model import Case, Findings, Rule, notes, zfs_source


def _in_result(case: Case) -> Findings:
    for mirror in mirrors_read(case):
        if mirror.all_are_disks:
            yield notes(
                f"ZFS sees that {mirror.rotational} is rotational and {mirror.others} is not. ZFS counts a seek as 5 "
                "queued requests on a rotational disk and as 1 on other disks, so it distributed the reads as follows: "
                f"{mirror.shares}. With files as vdevs, the shares would be equal",
                weight=70,
            )


RULE = Rule(
    title="A mirror that reads from its SSD",
    wrong=(
        "The result is correct, but the SSD serves nearly all reads of a mirror of an SSD and a hard disk. For a read "
        "that is not sequential, ZFS adds zfs_vdev_mirror_rotating_seek_inc (5) to the queue length of a rotational "
        "disk, and zfs_vdev_mirror_non_rotating_seek_inc (1) to the queue length of a non-rotational disk. ZFS then "
        "reads from the disk with the lower total."
    ),
    shows="In the counters: reads from a mirror whose members are disks, some rotational and some not.",
    error="The result itself is correct, but too high if it is taken as the speed of the hard disk.",
    fix="change nothing, but report that the non-rotational disk serves the reads; writes still wait for both disks",
    sources=(
        zfs_source("2.1.11", "module/zfs/vdev_mirror.c", "vdev_mirror_load"),
        "https://openzfs.github.io/openzfs-docs/man/master/4/zfs.4.html (zfs_vdev_mirror_rotating_seek_inc)",
    ),
    in_result=_in_result,
    cleared_by_byte_count=False,
    needs="Needs a hard disk and an SSD that may be overwritten.",
    commands="zpool create trap mirror /dev/disk/by-id/HDD /dev/disk/by-id/SSD; fio --name=trap --directory=/trap "
    "--rw=randread --bs=16k --size=1g; zpool iostat -v trap",
)
