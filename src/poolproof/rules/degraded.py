"""An array or pool with a missing disk."""

from poolproof.rules.model import Case, Findings, Rule, linux_source, suspects, zfs_source


def _in_job(case: Case) -> Findings:
    if case.target and case.target.degraded and (case.load.reads or case.load.writes):
        yield suspects(
            f"{'; '.join(case.target.degraded)}: the other disks serve the reads of the missing disk, and writes go to "
            "fewer disks, so the result does not apply to the complete layout",
            weight=82,
        )


RULE = Rule(
    title="The array is missing a disk",
    wrong=(
        "A degraded mirror reads from and writes to fewer disks. A degraded parity RAID or raidz reconstructs missing "
        "data from the other disks. The expected write amplification changes too."
    ),
    shows=(
        "Before the run: `/proc/mdstat` or `dmsetup status` shows an array with missing members, `zpool status` shows "
        "a pool that is not ONLINE, or `/sys/fs/btrfs/*/devinfo/*/missing` is 1. An existing directory (`dir`) on such "
        "an array is reported too."
    ),
    error="Too low for reads from parity RAID; too high or too low for writes.",
    fix="replace the disk and wait for the resync or resilver (cat /proc/mdstat; zpool status), or report that the "
    "array was degraded",
    sources=(
        linux_source("6.12", "drivers/md/md.c", "degraded_show"),
        linux_source("6.12", "fs/btrfs/sysfs.c", "btrfs_devinfo_missing_show"),
        zfs_source("2.3.0", "module/zfs/vdev_raidz.c", "vdev_raidz_io_start_read"),
    ),
    in_job=_in_job,
    options=("filename", "directory"),
    cleared_by_byte_count=False,
    needs="Needs a degraded array.",
    commands="cat /proc/mdstat; fio --rw=randread --bs=4k --size=256m --direct=1 --time_based --runtime=10",
)
