"""A cache device of LVM or ZFS: the results depend on whether the cache is warm or cold."""

from collections.abc import Sequence

from poolproof.evidence.model import LeafUse
from poolproof.rules.model import Case, Findings, Rule, linux_source, notes, zfs_source
from poolproof.units import format_size


def _in_result(case: Case) -> Findings:
    of_lvm = case.target.cache_devices if case.target else ()
    of_zfs = case.zfs.cache_devices if case.zfs else ()
    fast = [leaf for leaf in case.leaves if leaf.device in (*of_lvm, *of_zfs)]
    read, served = (sum(leaf.read_bytes for leaf in leaves) for leaves in (case.leaves, fast))
    if case.load.reads and fast and read:
        state = "warm" if served > read / 2 else "cold"
        yield notes(
            f"of the {format_size(read)} that the disks read, {format_size(served)} ({100 * served / read:.0f}%) came "
            f"from {_named(fast)}: the cache was mostly {state} for these reads, and the result is valid "
            "for that state only",
            weight=45,
        )
    fast = [leaf for leaf in fast if leaf.device in of_lvm]  # ZFS writes only copies to its cache devices
    written, taken = (sum(leaf.write_bytes for leaf in leaves) for leaves in (case.leaves, fast))
    if case.load.writes and fast and written:
        yield notes(
            f"of the {format_size(written)} that the disks had written when {case.generator} ended, "
            f"{format_size(taken)} ({100 * taken / written:.0f}%) went to {_named(fast)}: the result would "
            "differ if the cache were full or did not hold these blocks",
            weight=45,
        )


def _named(devices: Sequence[LeafUse]) -> str:
    """Return `the cache device a`, or `the cache devices a and b`."""
    names = " and ".join(leaf.device for leaf in devices)
    return f"the cache device{'s' if len(devices) > 1 else ''} {names}"


RULE = Rule(
    title="A warm or cold cache device",
    wrong=(
        "A cache device keeps its contents when the caches in RAM are dropped. With LVM's cachemode=writeback, filling "
        "the file also fills the cache, so reads measure a warm cache. With writethrough, reads measure a cold cache. "
        "A ZFS cache device stores data that the ARC is about to evict, even while the test file is being filled, and "
        "keeps this data across export and import. A warm cache can be ten times as fast as a cold one."
    ),
    shows=(
        "In a result: the target has an LVM cache or a ZFS cache vdev. The finding reports the cache device's share of "
        "the bytes that the disks read or wrote."
    ),
    error="The result is correct for the state that the cache was in, but too high or too low for any other state.",
    fix=(
        "for steady results, use a size larger than the cache device; to measure a warm cache, read the working set "
        "once before the measurement; compare only layouts whose caches are in the same state"
    ),
    sources=(
        linux_source("6.12", "drivers/md/dm-cache-target.c", "cache_status"),
        linux_source("6.12", "drivers/md/dm-cache-policy-smq.c", "clean_target_met"),
        "man lvmcache",
        zfs_source("2.1.11", "module/zfs/arc.c", "l2arc_rebuild_enabled"),
    ),
    in_result=_in_result,
    cleared_by_byte_count=False,
    needs="Run this on an LVM volume with a cache (`lvm cache`), or on a ZFS pool with a cache device.",
    commands="fio --rw=randread --bs=4k --size=256m --direct=1 --time_based --runtime=5; dmsetup status --target "
    "cache; grep l2_ /proc/spl/kstat/zfs/arcstats",
)
