"""A pool that is nearly full or fragmented."""

from poolproof.rules.model import Case, Findings, Rule, notes, zfs_source

_FULL_PERCENT = 85
_FRAGMENTED_PERCENT = 50


def _in_job(case: Case) -> Findings:
    zfs = case.zfs
    if zfs is None or not case.load.writes:
        return
    signs = []
    if (zfs.capacity_percent or 0) >= _FULL_PERCENT:
        signs.append(f"{zfs.capacity_percent}% full (CAP)")
    if (zfs.fragmentation_percent or 0) >= _FRAGMENTED_PERCENT:
        signs.append(f"{zfs.fragmentation_percent}% fragmented (FRAG)")
    if signs:
        yield notes(
            f"the pool is {' and '.join(signs)}: ZFS has to search for unused space and may use gang blocks, so writes "
            "are slower than on a pool with plenty of unfragmented free space",
            weight=45,
        )


RULE = Rule(
    title="A full or fragmented pool",
    wrong="A copy-on-write file system writes to free space. If little free space is left, or if it consists of small "
    "pieces, writes become random, and large blocks are split.",
    shows="Before the run: writes to a pool whose CAP is at least 85% or whose FRAG is at least 50% (`zpool list`).",
    error="The result is correct for this pool, but lower than what the disks can deliver.",
    fix="free up space or add a vdev, and report CAP and FRAG with the result",
    sources=(
        zfs_source("2.3.0", "module/zfs/metaslab.c", "metaslab_weight, metaslab_should_allocate"),
        zfs_source("2.3.0", "module/zfs/zio.c", "zio_write_gang_block"),
    ),
    in_job=_in_job,
    options=("filename", "directory"),
    cleared_by_byte_count=False,
    needs="Run this on a ZFS pool that is nearly full.",
    commands="zpool list -o name,cap,frag; fio --rw=write --bs=1m --size=1g --end_fsync=1",
)
