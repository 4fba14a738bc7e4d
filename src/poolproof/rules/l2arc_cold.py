"""A ZFS cache device that is still filling."""

from poolproof.evidence.target_facts import ZfsFacts
from poolproof.rules.model import Case, Findings, Rule, notes, zfs_issue, zfs_source
from poolproof.rules.path import release_of
from poolproof.rules.reported import asked_s, ran_s
from poolproof.units import format_duration, format_size

_FILL_BYTES_PER_S = 32 * 1024**2
_OLD_FILL_BYTES_PER_S = 8 * 1024**2
_FASTER_SINCE = (2, 2, 7)
_SHORTEST_S = 0.2  # the default of l2arc_feed_min_ms; l2arc_write_boost is by default as large as l2arc_write_max


def _in_job(case: Case) -> Findings:
    seconds, size = asked_s(case), case.load.unique_bytes
    if case.zfs is None or not case.zfs.has_cache or not case.load.reads or not seconds or not size or _is_warm(case):
        return
    rate = _fill_rate(case.zfs)
    if seconds * rate < size:
        yield notes(
            f"a cache device fills at {format_size(rate)} per second (l2arc_write_max), so filling it with "
            f"{format_size(size)} takes up to {format_duration(size / rate)}, but the run lasts only "
            f"{format_duration(seconds)}; while the ARC is not full and only new blocks are read, it may take only "
            f"{format_duration(size / _fastest(case.zfs))} (l2arc_write_boost, l2arc_feed_again)",
            weight=35,
        )


def _is_warm(case: Case) -> bool:
    """True if the cache device served most of the reads."""
    use, found = (case.evidence.zfs, case.evidence.account) if case.evidence else (None, None)
    return use is not None and found is not None and 2 * (use.l2_read_bytes or 0) > found.fio_read_bytes > 0


def _fill_rate(zfs: ZfsFacts) -> int:
    """Return the current l2arc_write_max in bytes per feed, or the ZFS release's default if it is unknown."""
    if zfs.l2arc_write_bytes_per_s:
        return zfs.l2arc_write_bytes_per_s
    release = release_of(zfs)
    return _OLD_FILL_BYTES_PER_S if release is not None and release < _FASTER_SINCE else _FILL_BYTES_PER_S


def _fastest(zfs: ZfsFacts) -> float:
    """Return the maximum rate at which a cache device can fill, in bytes per second.

    ZFS can use this rate only until the ARC evicts data for the first time.
    """
    write = _fill_rate(zfs)
    boost = write if zfs.l2arc_boost_bytes_per_s is None else zfs.l2arc_boost_bytes_per_s
    return (write + boost) / (zfs.l2arc_shortest_s or _SHORTEST_S)


def _in_result(case: Case) -> Findings:
    evidence = case.evidence
    if evidence is None or evidence.zfs is None or evidence.account is None or not ran_s(case.outcome):
        return
    written, read = evidence.zfs.l2_write_bytes or 0, evidence.zfs.l2_read_bytes or 0
    if written > 0.05 * evidence.account.fio_read_bytes > 0:
        yield notes(
            f"the cache device wrote {format_size(written)} and read {format_size(read)} during the run, so it was "
            "still filling",
            weight=45,
        )


RULE = Rule(
    title="The cache device is still filling",
    wrong=(
        "A ZFS cache device fills slowly: the default of l2arc_write_max is 8 MiB/s before OpenZFS 2.2.7, and 32 MiB/s "
        "since then. By default, sequential reads do not fill the device. A short test therefore measures a cold "
        "cache. Export and import do not empty the cache device, so the next test may measure a warm cache."
    ),
    shows=(
        "In a job: the run ends before the cache device can store all the data that the job accesses. In the counters: "
        "l2_write_bytes grew by more than 5% of the bytes that fio read."
    ),
    error="Too low if the cache is cold, too high if it happens to be warm.",
    fix="read the whole working set repeatedly until l2_write_bytes stops growing, then measure; or remove the cache "
    "device with `zpool remove`",
    sources=(
        zfs_source("2.2.6", "module/zfs/arc.c", "L2ARC_WRITE_SIZE (8 MiB)"),
        zfs_source("2.2.7", "module/zfs/arc.c", "L2ARC_WRITE_SIZE (32 MiB)"),
        zfs_source("2.3.0", "module/zfs/arc.c", "l2arc_write_size, l2arc_write_interval"),
        zfs_issue(10687),
    ),
    in_job=_in_job,
    options=("runtime", "size"),
    in_result=_in_result,
    cleared_by_byte_count=False,
    needs="Run this on a pool with a cache device.",
    commands="for run in 1 2 3; do fio --rw=randread --bs=16k --size=8g --runtime=60; grep l2_ "
    "/proc/spl/kstat/zfs/arcstats; done",
)
