"""Parses what ZFS reports about itself: properties, space, background work, module parameters and mirror members.

`zfs get -H -p -o property,value all` prints each property and its exact value, separated by a tab. Each line of
arcstats contains a name, a type and a value. See zfs-get(8) and zpool-status(8). zfs_found.py reads pools that
poolproof did not build.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from poolproof.devices.model import Volume
from poolproof.evidence.target_facts import MirrorSide, Target, ZfsFacts
from poolproof.evidence.zfs import KSTATS, parse_kstat
from poolproof.hosts.base import Host, host_named, text_of
from poolproof.layers.base import LayerFault, WriteBack
from poolproof.layers.zfs_vdevs import Vdev

_LIMIT_S = 60.0
PARAMETERS = "/sys/module/zfs/parameters"
TXG_TIMEOUT_S = 5.0
_BUSY = re.compile(r"^\s*(?:scan|remove|expand): (.*\bin progress\b.*)$", re.MULTILINE)
_VDEV_BUSY = re.compile(r"\((\d+% (?:initialized|trimmed)), started")


def read_properties(dataset: str, host: Host) -> Mapping[str, str] | None:
    """Return all properties of a dataset or volume, with sizes in bytes, or None if `zfs get` fails."""
    argv = ("zfs", "get", "-H", "-p", "-o", "property,value", "all", dataset)
    printed = host.run(argv, timeout_s=_LIMIT_S, check=False)
    if printed.returncode != 0:
        return None
    return dict(line.split("\t", 1) for line in printed.stdout.splitlines() if "\t" in line)


def on_dataset(target: Target, properties: Mapping[str, str], zfs: ZfsFacts) -> Target:
    """Return a copy of the target, with the properties of its dataset or volume and facts about its pool filled in."""
    unit, compression = (
        properties.get("volblocksize" if zfs.is_zvol else "recordsize", ""),
        properties.get("compression"),
    )
    return replace(
        target,
        record_bytes=int(unit) if unit.isdecimal() else None,
        compression=None if compression == "off" else compression,
        zfs=replace(
            zfs,
            direct=None if zfs.is_zvol else properties.get("direct"),
            sync=properties.get("sync"),
            logbias=properties.get("logbias"),
            primarycache=properties.get("primarycache"),
            dedup=properties.get("dedup"),
        ),
    )


def module_facts(host: Host) -> ZfsFacts:
    """Return the version of the kernel module, the maximum size of the ARC, and the fill rate of cache devices."""
    version = text_of(host, "/sys/module/zfs/version").strip()
    return ZfsFacts(
        version=version or None,
        arc_max_bytes=read_arc(host).get("c_max"),
        l2arc_write_bytes_per_s=_parameter(host, "l2arc_write_max"),
        l2arc_boost_bytes_per_s=_parameter(host, "l2arc_write_boost"),
        l2arc_shortest_s=_shortest_feed_s(host),
    )


def _shortest_feed_s(host: Host) -> float | None:
    """Return the minimum interval in seconds between two writes to a cache device, or None if it is unknown.

    Source: l2arc_write_interval() in OpenZFS (module/zfs/arc.c).
    """
    if _parameter(host, "l2arc_feed_again") == 0:
        seconds = _parameter(host, "l2arc_feed_secs")
        return None if seconds is None else float(seconds)
    milliseconds = _parameter(host, "l2arc_feed_min_ms")
    return None if milliseconds is None else milliseconds / 1000


def read_arc(host: Host) -> Mapping[str, int]:
    """Return the counters of the ARC, keyed by name. Empty if the kernel module is not loaded."""
    return parse_kstat(text_of(host, f"{KSTATS}/arcstats"))


def transaction_groups(host: Host) -> WriteBack:
    """Return the time and the number of dirty bytes after which ZFS writes a transaction group to the pool's disks.

    A group is closed after zfs_txg_timeout seconds, or earlier if zfs_dirty_data_sync_percent of zfs_dirty_data_max is
    dirty (zfs(4)). This includes synchronous writes: the intent log makes them durable earlier, but their data still
    reaches the pool with its transaction group.
    """
    most, percent = _parameter(host, "zfs_dirty_data_max"), _parameter(host, "zfs_dirty_data_sync_percent")
    timeout_s = _parameter(host, "zfs_txg_timeout")
    return WriteBack(
        seconds=TXG_TIMEOUT_S if timeout_s is None else float(timeout_s),
        bytes=most * percent // 100 if most and percent else None,
    )


def _parameter(host: Host, name: str) -> int | None:
    text = text_of(host, f"{PARAMETERS}/{name}").strip()
    return int(text) if text.isdecimal() else None


def busy_with(status: str) -> str | None:
    """Return the background work of a pool from the output of `zpool status -i -t`, or None if there is none."""
    found = _BUSY.search(status) or _VDEV_BUSY.search(status)
    return found[1].strip() if found else None


@dataclass(frozen=True)
class VdevSpace:
    """A row of `zpool list -v`.

    `depth`: the level of indentation; the pool itself has 0.
    `section`: the heading above the row (`logs`, `cache`, `special`, `dedup` or `spare`), or "" for data vdevs.
    """

    depth: int
    name: str
    section: str
    allocated_bytes: int | None
    size_bytes: int | None = None


def fault_of(pool: str, host: Host) -> LayerFault | None:
    """Return the fault of the pool, or None if the pool is online or its state cannot be read.

    The state is read from a file that stays readable while the pool is suspended. It contains one of the names in
    spa_state_to_name() in OpenZFS (module/zfs/spa_misc.c).
    """
    state = text_of(host, f"{KSTATS}/{pool}/state").strip()
    if state in ("", "ONLINE"):
        return None
    if state == "SUSPENDED":
        return LayerFault(
            f"ZFS suspended the pool {pool}, because disks that it needs are gone or return errors: all I/O to the "
            "pool is blocked",
            f"bring the disks back and run `zpool clear {pool}`, or restart the machine",
        )
    return LayerFault(
        f"the pool {pool} is {state}",
        f"run `zpool status -v {pool}` to find the disk, replace it, and run the campaign again",
    )


def space_of(pool: str, host: Host) -> tuple[VdevSpace, ...]:
    """Return the size and the allocated space of a pool and of each of its vdevs."""
    return parse_list(host.run(("zpool", "list", "-v", "-p", pool), timeout_s=_LIMIT_S).stdout)


def parse_list(text: str) -> tuple[VdevSpace, ...]:
    """Parse the output of `zpool list -v -p` (OpenZFS 2.1 to 2.3) into rows. Headings are left out.

    Raises a ValueError if the column SIZE or ALLOC is missing.
    """
    header, *lines = text.splitlines() or [""]
    columns = header.split()
    if not {"ALLOC", "SIZE"} <= set(columns):
        raise ValueError(f"`zpool list -v` did not print both a SIZE and an ALLOC column: {header!r}")
    rows: list[VdevSpace] = []
    section = ""
    for line in lines:
        cells = line.split()
        depth = (len(line) - len(line.lstrip())) // 2
        if depth == 0 and rows:
            section = cells[0]
        else:
            allocated, size = _number(cells, columns.index("ALLOC")), _number(cells, columns.index("SIZE"))
            rows.append(VdevSpace(depth, cells[0], section, allocated, size))
    return tuple(rows)


def _number(cells: Sequence[str], column: int) -> int | None:
    return int(cells[column]) if len(cells) > column and cells[column].isdecimal() else None


def mirror_sides(vdevs: Sequence[Vdev], inputs: Sequence[Volume], host: Host) -> tuple[tuple[MirrorSide, ...], ...]:
    """Return the sides of each mirror in the pool. `inputs`: the volumes of all inputs of the pool."""
    mirrors = (vdev for vdev in vdevs if vdev.kind == "mirror")
    return tuple(tuple(_side(inputs[member], host) for member in vdev.members) for vdev in mirrors)


def _side(volume: Volume, host: Host) -> MirrorSide:
    """Return one side of a mirror. `turns` is None if the rotational flag of any disk is unknown."""
    queues = [(leaf.host, f"{leaf.counter.removesuffix('/stat')}/queue/rotational") for leaf in volume.leaves]
    rotational = [text_of(host_named(host, name), path).strip() for name, path in queues]
    return MirrorSide(
        devices=tuple(leaf.name for leaf in volume.leaves),
        turns="1" in rotational if rotational and "" not in rotational else None,
        is_file=not volume.path.startswith("/dev/"),
    )
