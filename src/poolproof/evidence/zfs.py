"""ZFS's own counters of the ARC, the log and the cache device in the window of a trial: /proc/spl/kstat/zfs.

The counters of the ARC and the log cover all pools of the host; those of direct I/O (2.3 and later) are per pool.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from poolproof.evidence.model import DatasetUse, ZfsUse
from poolproof.hosts.base import Host

KSTATS = "/proc/spl/kstat/zfs"
_NAME = re.compile(r"^dataset_name[ \t]+[0-9]+[ \t]+(\S.*)$", re.MULTILINE)
_NUMBER = re.compile(r"^(\S+)[ \t]+[0-9]+[ \t]+(-?[0-9]+)[ \t]*$", re.MULTILINE)


@dataclass(frozen=True)
class ZfsCounters:
    """The counters at one time, by ZFS's names; empty if the file does not exist."""

    arc: Mapping[str, int]
    log: Mapping[str, int]
    pools: tuple[Mapping[str, int], ...]
    datasets: Mapping[str, Mapping[str, int]] = field(default_factory=dict)


def read_zfs(host: Host, pools: Sequence[str], objsets: Sequence[str] = ()) -> ZfsCounters | None:
    """Return the counters, read by one command; None for a layout without a pool.

    `objsets`: the kstat files of datasets, below KSTATS.
    """
    if not pools:
        return None
    paths = [f"{KSTATS}/{name}" for name in ("arcstats", "zil", *(f"{pool}/iostats" for pool in pools), *objsets)]
    texts = host.read_files(paths).texts
    arc, log, *rest = (parse_kstat(text) for text in texts)
    named = {_name_of(text): parse_kstat(text) for text in texts[2 + len(pools) :]}
    return ZfsCounters(arc, log, tuple(rest[: len(pools)]), {name: said for name, said in named.items() if name})


def use_between(start: ZfsCounters | None, end: ZfsCounters | None) -> ZfsUse | None:
    """Return the difference of the counters; None for a counter that this release does not have."""
    if start is None or end is None:
        return None
    pools = list(zip(start.pools, end.pools, strict=True))
    return ZfsUse(
        direct_read_bytes=_moved_in_all(pools, "direct_read_bytes"),
        arc_read_bytes=_moved_in_all(pools, "arc_read_bytes"),
        zil_commits=_moved(start.log, end.log, "zil_commit_count"),
        zil_slog_bytes=_moved(start.log, end.log, "zil_itx_metaslab_slog_bytes"),
        zil_normal_bytes=_moved(start.log, end.log, "zil_itx_metaslab_normal_bytes"),
        l2_read_bytes=_moved(start.arc, end.arc, "l2_read_bytes"),
        l2_write_bytes=_moved(start.arc, end.arc, "l2_write_bytes"),
        datasets=tuple(
            DatasetUse(
                name,
                _moved(start.datasets[name], said, "nread") or 0,
                _moved(start.datasets[name], said, "nwritten") or 0,
            )
            for name, said in end.datasets.items()
            if name in start.datasets
        ),
    )


def parse_kstat(text: str) -> Mapping[str, int]:
    """Return the numbers of a kstat file with named values: two header lines, then `name type data`."""
    return {name: int(value) for name, value in _NUMBER.findall(text)}


def _name_of(text: str) -> str:
    """Return the dataset that a kstat file is about; empty if there is none."""
    found = _NAME.search(text)
    return found[1] if found else ""


def _moved(start: Mapping[str, int], end: Mapping[str, int], name: str) -> int | None:
    return end[name] - start[name] if name in start and name in end else None


def _moved_in_all(pools: Sequence[tuple[Mapping[str, int], Mapping[str, int]]], name: str) -> int | None:
    moved = [_moved(start, end, name) for start, end in pools]
    known = [count for count in moved if count is not None]
    return sum(known) if known and len(known) == len(moved) else None
