"""btrfs mounted without copy-on-write or checksums."""

from poolproof.rules.model import Case, Findings, Rule, linux_source, notes

_OPTIONS = ("nodatacow", "nodatasum")


def _in_job(case: Case) -> Findings:
    target = case.target
    if target is None or target.file_system != "btrfs" or not (case.load.reads or case.load.writes):
        return
    given = [option for option in _OPTIONS if option in target.mount_options]
    if "nodatacow" in given:
        yield notes(
            "copy-on-write is turned off for the files (mount option nodatacow, or chattr +C): they have no checksums "
            "and are never compressed, and writes overwrite them in place. The result does not apply to btrfs with its "
            "default options",
            weight=35,
        )
    elif given:
        yield notes(
            "btrfs is mounted with nodatasum: new files have no checksums, so reads verify nothing. The result does "
            "not apply to btrfs with its default options",
            weight=35,
        )


RULE = Rule(
    title="btrfs without checksums",
    wrong=(
        "With nodatacow (or chattr +C), btrfs overwrites data in place, without checksums or compression, and direct "
        "writes remain direct (since Linux 6.12.75, only if the data profile is single or RAID0). The I/O reaches the "
        "disks, so the byte accounting confirms the rates. However, these rates say nothing about btrfs with "
        "checksums, and a comparison with ZFS would compare different guarantees."
    ),
    shows=(
        "Before the run: the target is a btrfs file system mounted with nodatacow or nodatasum, or the script runs "
        "chattr +C. poolproof does not check whether existing files already have the C attribute (see lsattr)."
    ),
    error="Usually too high for small writes: no extent is copied, no checksum is computed, and less metadata is "
    "written.",
    fix="mount without nodatacow and nodatasum to get the default guarantees, or report the option with the result",
    sources=(
        linux_source("6.15", "fs/btrfs/direct-io.c", "btrfs_direct_write (BTRFS_INODE_NODATASUM)"),
        linux_source("6.12.75", "fs/btrfs/direct-io.c", "btrfs_direct_write (data_profile)"),
        "man 5 btrfs (nodatacow, nodatasum)",
    ),
    in_job=_in_job,
    options=("rw",),
    cleared_by_byte_count=False,
    needs="Needs root and btrfs. nodatacow applies to files that are created after the remount.",
    commands="for option in datacow nodatacow; do mount -o remount,$option .; rm -f trap; fio --rw=randwrite --bs=4k "
    "--size=256m --direct=1 --fdatasync=1; done",
)
