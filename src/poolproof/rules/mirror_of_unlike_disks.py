"""A ZFS mirror of a rotational and a non-rotational disk: which one serves the reads."""

from poolproof.rules.mirror_reads import mirrors_read
from poolproof.rules.model import Case, Findings, Rule, notes


def _in_result(case: Case) -> Findings:
    for mirror in mirrors_read(case):
        if mirror.all_are_disks:
            yield notes(
                f"ZFS sees that {mirror.rotational} is rotational and {mirror.others} is not, and counts a seek as 5 "
                "requests in the queue of the first and as 1 in that of the second: the reads came from "
                f"{mirror.shares}. Files as vdevs would get equal shares",
                weight=70,
            )


RULE = Rule(
    title="A mirror that reads from its SSD",
    wrong="The result is correct. But reads from a mirror of an SSD and a hard disk are nearly those of the SSD alone. "
    "ZFS adds zfs_vdev_mirror_rotating_seek_inc (5) to the queue of a rotational disk, "
    "zfs_vdev_mirror_non_rotating_seek_inc (1) to that of another, and reads from the disk with the shorter queue.",
    shows="In the counters: reads from a mirror whose sides are disks, some rotational and some not.",
    error="None; too high as a measure of the hard disk.",
    fix="nothing to fix: report that the non-rotational disk serves the reads; writes still wait for both",
    sources=(
        "https://github.com/openzfs/zfs/blob/zfs-2.1.11/module/zfs/vdev_mirror.c (vdev_mirror_load)",
        "https://openzfs.github.io/openzfs-docs/man/master/4/zfs.4.html (zfs_vdev_mirror_rotating_seek_inc)",
    ),
    in_result=_in_result,
    cleared_by_byte_count=False,
    needs="A hard disk and an SSD that may be overwritten.",
    commands="zpool create trap mirror /dev/disk/by-id/RUST /dev/disk/by-id/SSD; fio --name=trap --directory=/trap "
    "--rw=randread --bs=16k --size=1g; zpool iostat -v trap",
)
