"""ZFS's counters of the ARC, the log and the cache devices during a trial, from /proc/spl/kstat/zfs.

The counters of the ARC and the log include all pools on the host. Those of direct I/O are kept for each pool (ZFS 2.3
and later).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from poolproof.evidence.model import DatasetUse, ZfsUse
from poolproof.hosts.base import Host

KSTATS = "/proc/spl/kstat/zfs"
_NAME = re.compile(r"^dataset_name[ \t]+[0-9]+[ \t]+(\S.*)$", re.MULTILINE)
_NUMBER = re.compile(r"^(\S+)[ \t]+[0-9]+[ \t]+(-?[0-9]{1,20})[ \t]*$", re.MULTILINE)
Kstat = Mapping[str, int]


@dataclass(frozen=True)
class ZfsCounters:
    """A sample of ZFS's counters, keyed by ZFS's own names. The mapping for a missing file is empty."""

    arc: Kstat
    log: Kstat
    pools: tuple[Kstat, ...]
    datasets: Mapping[str, Kstat] = field(default_factory=dict)


def read_zfs(host: Host, pools: Sequence[str], objsets: Sequence[str] = ()) -> ZfsCounters | None:
    """Return ZFS's counters, all read at the same time, or None if no pools are given.

    `objsets`: the datasets' kstat files, as paths relative to KSTATS.

    Raises HostUnreachable if the connection was lost.
    """
    if not pools:
        return None
    paths = [f"{KSTATS}/{name}" for name in ("arcstats", "zil", *(f"{pool}/iostats" for pool in pools), *objsets)]
    texts = host.read_files(paths).texts
    arc, log, *rest = (parse_kstat(text) for text in texts)
    names = [_NAME.search(text) for text in texts[2 + len(pools) :]]
    datasets = {name[1]: counters for name, counters in zip(names, rest[len(pools) :], strict=True) if name}
    return ZfsCounters(arc, log, tuple(rest[: len(pools)]), datasets)


def use_between(start: ZfsCounters | None, end: ZfsCounters | None) -> ZfsUse | None:
    """Return the increase in the counters between two samples, or None if a sample is missing.

    A counter that the ZFS release does not have is None.
    """
    if start is None or end is None:
        return None
    pools = list(zip(start.pools, end.pools, strict=True))
    datasets = [(name, start.datasets[name], later) for name, later in end.datasets.items() if name in start.datasets]
    return ZfsUse(
        direct_read_bytes=_growth(pools, "direct_read_bytes"),
        arc_read_bytes=_growth(pools, "arc_read_bytes"),
        data_hits=_growth([(start.arc, end.arc)], "demand_data_hits"),
        data_misses=_data_misses(start, end, pools),
        zil_commits=_growth([(start.log, end.log)], "zil_commit_count"),
        zil_slog_bytes=_growth([(start.log, end.log)], "zil_itx_metaslab_slog_bytes"),
        zil_normal_bytes=_growth([(start.log, end.log)], "zil_itx_metaslab_normal_bytes"),
        l2_read_bytes=_growth([(start.arc, end.arc)], "l2_read_bytes"),
        l2_write_bytes=_growth([(start.arc, end.arc)], "l2_write_bytes"),
        direct_write_bytes=_growth(pools, "direct_write_bytes"),
        datasets=tuple(
            DatasetUse(name, _growth([(earlier, later)], "nread") or 0, _growth([(earlier, later)], "nwritten") or 0)
            for name, earlier, later in datasets
        ),
    )


def _data_misses(start: ZfsCounters, end: ZfsCounters, pools: Sequence[tuple[Kstat, Kstat]]) -> int | None:
    """Return the number of data blocks that were not in the ARC when read, or None if the ARC's counters are missing.

    Direct reads bypass the ARC's counters, so the separate counter of direct reads is added. Releases before 2.3
    have no direct reads and no such counter.
    """
    arc = [(start.arc, end.arc)]
    demanded, prefetched = _growth(arc, "demand_data_misses"), _growth(arc, "prefetch_data_misses")
    if demanded is None or prefetched is None:
        return None
    return demanded + prefetched + (_growth(pools, "direct_read_count") or 0)


def parse_kstat(text: str) -> Kstat:
    """Parse a kstat file into numbers, keyed by name.

    After two header lines, the file has lines of the form `name type data`.
    """
    return {name: int(value) for name, value in _NUMBER.findall(text)}


def _growth(readings: Sequence[tuple[Kstat, Kstat]], name: str) -> int | None:
    """Return the increase in a counter, summed over all pairs of samples, or None if any sample lacks the counter."""
    if not readings or not all(name in earlier and name in later for earlier, later in readings):
        return None
    return sum(later[name] - earlier[name] for earlier, later in readings)
