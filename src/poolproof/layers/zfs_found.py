"""Pools that poolproof did not build: the pool below an existing directory or zvol, with its state and its vdevs.

`zpool status -P -L` prints the vdevs as a tree. Each line is indented by a tab and by two spaces per level. Leaf vdevs
are printed as paths. Log, cache, special, dedup and spare vdevs come after a heading with the name of their section.
See zpool-status(8).
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from poolproof.evidence.model import Expected
from poolproof.evidence.target_facts import MirrorSide, Target, ZfsFacts
from poolproof.facts.block import Mount
from poolproof.facts.machine import said_by
from poolproof.hosts.base import Host, text_of
from poolproof.layers.existing_storage import FoundReader, FoundStorage
from poolproof.layers.zfs_status import busy_with, module_facts, on_dataset, read_properties

_LIMIT_S = 60.0
STATUS = ("zpool", "status", "-P", "-L", "-i", "-t")
"""The command that prints the state of all pools, or of one pool if its name is appended."""

_POOL = re.compile(r"^\s*pool: (\S+)\n\s*state: (\S+)", re.MULTILINE)
_SCAN = re.compile(r"^\s*scan: (scrub|resilver) in progress", re.MULTILINE)
_ROW = re.compile(r"^\t(?P<indent> *)(?P<name>\S+)\s*(?P<state>[A-Z]+)?")
_SECTIONS = ("logs", "cache", "special", "dedup", "spares")
_KIND = re.compile(r"(?P<kind>mirror|raidz|draid)(?P<parity>\d?)(?::(?P<data>\d+)d)?.*-\d+")
_TYPE = "zfs"
_ZVOL_DEVICES = "/dev/zvol/"
_LACKING = ("OFFLINE", "UNAVAIL", "REMOVED", "FAULTED")

_Item = TypeVar("_Item")


@dataclass(frozen=True)
class FoundVdev:
    """A top-level vdev of a pool.

    `section`: the heading above the vdev, or "" for data vdevs.
    `disks`: the state of each leaf vdev, keyed by path.
    """

    name: str
    section: str
    disks: Mapping[str, str]

    @property
    def parity(self) -> int | None:
        """The number of parity disks of a raidz, or None for any other vdev."""
        found = _KIND.fullmatch(self.name)
        return int(found["parity"] or 1) if found and found["kind"] == "raidz" else None

    @property
    def write_factor(self) -> float:
        """The lowest possible write amplification: the bytes written to the disks per byte of data.

        Full stripes are assumed for raidz and draid. Missing disks do not count, because nothing is written to them.
        """
        found, online = _KIND.fullmatch(self.name), sum(state == "ONLINE" for state in self.disks.values())
        if found is None:
            return 1.0
        if found["kind"] == "mirror":
            return float(max(1, online))
        parity = int(found["parity"] or 1)
        if found["kind"] == "draid":
            data = int(found["data"] or 1)
            return (data + parity) / data if online == len(self.disks) else 1.0
        return max(1.0, online / max(1, len(self.disks) - parity))


@dataclass(frozen=True)
class FoundPool:
    """A pool that poolproof did not build. `busy_with`: the pool's background work in progress, or None."""

    name: str
    state: str
    vdevs: tuple[FoundVdev, ...]
    busy_with: str | None

    @property
    def degraded(self) -> tuple[str, ...]:
        """A clause that describes the pool's state and its missing disks, or an empty tuple if the state is ONLINE."""
        lacking = [path for vdev in self.vdevs for path, state in vdev.disks.items() if state in _LACKING]
        which = f" ({', '.join(lacking)})" if lacking else ""
        return () if self.state == "ONLINE" else (f"the pool {self.name} is {self.state}{which}",)

    @property
    def disks(self) -> tuple[str, ...]:
        """The kernel names of the leaf vdevs, without spares and missing disks. Empty if any leaf vdev is a file."""
        used = [vdev for vdev in self.vdevs if vdev.section != "spares"]
        there = [path for vdev in used for path, state in vdev.disks.items() if state not in _LACKING]
        is_counted = all(path.startswith("/dev/") for path in there)
        return tuple(dict.fromkeys(map(_kernel_name, there))) if is_counted else ()

    def of(self, *sections: str) -> tuple[FoundVdev, ...]:
        """Return the pool's vdevs in these sections."""
        return tuple(vdev for vdev in self.vdevs if vdev.section in sections)

    def devices_of(self, section: str) -> tuple[str, ...]:
        """Return the kernel names of the leaf vdevs in this section."""
        return tuple(_kernel_name(path) for vdev in self.of(section) for path in vdev.disks)


@dataclass(frozen=True)
class FoundDataset:
    """A dataset or volume that poolproof did not build, with its properties as exact values, and with its pool."""

    properties: Mapping[str, str]
    zfs: ZfsFacts
    pool: FoundPool

    def expected(self) -> Expected:
        """Return the write amplification of the dataset and, as `commit_factor`, that of its intent log.

        The log is on the pool's log vdevs or, without these, on its data vdevs, where `copies` does not apply to it.
        """
        given = self.properties.get("copies", "1")
        copies = int(given) if given.isdecimal() else 1
        stored = min((vdev.write_factor for vdev in self.pool.of("", "special")), default=1.0)
        logs = self.pool.of("logs") or (self.pool.of("") if copies > 1 else ())
        logged = min((vdev.write_factor for vdev in logs), default=None)
        return Expected(stored * copies, commit_factor=logged)


def find_dataset(host: Host, name: str, *, is_zvol: bool) -> FoundDataset | None:
    """Return the dataset or volume with this name, or None if it does not exist or the host has no `zpool` program."""
    pool_name = name.partition("/")[0]
    pool = find_pool(host, pool_name)
    properties = read_properties(name, host) if pool else None
    if pool is None or properties is None:
        return None
    vdevs, number = pool.vdevs, properties.get("objsetid", "")
    capacity, fragmentation = _use_of(host, pool_name)
    zfs = replace(
        module_facts(host),
        is_zvol=is_zvol,
        has_log=any(vdev.section == "logs" for vdev in vdevs),
        has_cache=any(vdev.section == "cache" for vdev in vdevs),
        raidz_parity=max((vdev.parity for vdev in vdevs if vdev.parity is not None), default=None),
        capacity_percent=capacity,
        fragmentation_percent=fragmentation,
        pools=(pool_name,),
        objsets=(f"{pool_name}/objset-{int(number):#x}",) if number.isdecimal() else (),
        mirrors=tuple(_sides(host, vdev) for vdev in vdevs if vdev.name.startswith("mirror-") and not vdev.section),
        log_devices=pool.devices_of("logs"),
        cache_devices=pool.devices_of("cache"),
    )
    return FoundDataset(properties, zfs, pool)


def find_pool(host: Host, name: str) -> FoundPool | None:
    """Return the pool with this name, or None if `zpool status` does not list it or the host has no `zpool` program."""
    return next((pool for pool in _pools(host, name) if pool.name == name), None)


def all_pools(host: Host) -> tuple[FoundPool, ...]:
    """Return all imported pools. Empty if the kernel module is not loaded or the host has no `zpool` program."""
    return _pools(host) if text_of(host, "/sys/module/zfs/version") else ()


def _pools(host: Host, *names: str) -> tuple[FoundPool, ...]:
    return parse_status(said_by(host, (*STATUS, *names), timeout_s=_LIMIT_S))


def parse_status(text: str) -> tuple[FoundPool, ...]:
    """Parse the output of `zpool status -P -L -i -t` (OpenZFS 2.1 to 2.3)."""
    found = list(_POOL.finditer(text))
    ends = [each.start() for each in found[1:]]
    return tuple(_pool(each, text[each.start() : end]) for each, end in zip(found, [*ends, len(text)], strict=False))


def _pool(found: re.Match[str], text: str) -> FoundPool:
    scan, work = _SCAN.search(text), busy_with(text)
    busy = f"a ZFS {scan[1]}" if scan else work and f"background work on the pool {found[1]}: {work}"
    return FoundPool(found[1], found[2], tuple(_vdevs(text.partition("config:")[2])), busy)


def _vdevs(config: str) -> Iterator[FoundVdev]:
    """Yield the top-level vdevs from the table that `zpool status` prints.

    Lines without indentation are pools or sections.
    """
    section, vdev = "", None
    for line in config.splitlines():
        row = _ROW.match(line)
        if row is None:
            continue
        depth = len(row["indent"]) // 2
        if depth == 0:
            section = row["name"] if row["name"] in _SECTIONS else ""
            continue
        if depth == 1:
            if vdev is not None:
                yield vdev
            vdev = FoundVdev(row["name"], section, {})
        if vdev is not None and (row["name"].startswith("/") or _is_missing(row)):
            vdev = replace(vdev, disks={**vdev.disks, row["name"]: row["state"] or ""})
    if vdev is not None:
        yield vdev


def _is_missing(row: re.Match[str]) -> bool:
    """True if the leaf vdev's device is missing. zpool then prints a number in place of the path."""
    return row["name"].isdecimal()


def _sides(host: Host, mirror: FoundVdev) -> tuple[MirrorSide, ...]:
    return tuple(
        MirrorSide((_kernel_name(path),), _is_rotational(host, _kernel_name(path)), not path.startswith("/dev/"))
        for path, state in mirror.disks.items()
        if state not in _LACKING
    )


def _is_rotational(host: Host, name: str) -> bool | None:
    """Return the kernel's rotational flag for a disk, or for the disk of a partition. None if it is missing."""
    folder = f"/sys/class/block/{name}"
    text = text_of(host, f"{folder}/queue/rotational") or text_of(host, f"{folder}/../queue/rotational")
    return text.strip() == "1" if text.strip() else None


def _kernel_name(path: str) -> str:
    return path.rpartition("/")[2]


class PoolReader(FoundReader):
    """Queries about pools that poolproof did not build, answered by ZFS."""

    def disks_under(self, mount: Mount, host: Host) -> tuple[str, ...] | None:
        """Return the leaf vdevs of the dataset's pool, or None if the mount is not a ZFS dataset.

        The result is empty if the pool is unknown or one of its vdevs is a file.
        """
        if mount.file_system != _TYPE:
            return None
        pool = find_pool(host, mount.source.partition("/")[0])
        return pool.disks if pool else ()

    def disks_of(self, device: str, host: Host) -> tuple[str, ...] | None:
        """Return the leaf vdevs below a zvol, or None if the device is not a zvol or its pool is unknown.

        The zvol's own counters are not used, because they include reads that the ARC served.
        """
        volume = volume_of(host, f"/dev/{device}")
        pool = find_pool(host, volume.partition("/")[0]) if volume else None
        return pool.disks if pool else None

    def describe_found(self, found: FoundStorage, host: Host, target: Target) -> Target:
        is_zfs = found.mount is not None and found.mount.file_system == _TYPE
        dataset = _dataset_at(found, host)
        if dataset is None:
            return replace(target, zfs=module_facts(host)) if is_zfs else target
        known = tuple(dict.fromkeys((*target.degraded, *dataset.pool.degraded)))
        return on_dataset(replace(target, degraded=known), dataset.properties, joined(target.zfs, dataset.zfs))

    def expected_found(self, found: FoundStorage, host: Host) -> Expected | None:
        dataset = _dataset_at(found, host)
        return dataset.expected() if dataset else None

    def busy_on(self, disks: frozenset[str], host: Host) -> tuple[str, ...]:
        pools = all_pools(host)
        return tuple(dict.fromkeys(pool.busy_with for pool in pools if pool.busy_with and disks & {*pool.disks}))


def _dataset_at(found: FoundStorage, host: Host) -> FoundDataset | None:
    """Return the mounted dataset or, if another file system on a zvol is mounted, the zvol. None if it is neither."""
    if found.mount is not None and found.mount.file_system == _TYPE:
        return find_dataset(host, found.mount.source, is_zvol=False)
    volume = next(filter(None, (volume_of(host, f"/dev/{device}") for device in found.devices)), None)
    return find_dataset(host, volume, is_zvol=True) if volume else None


def joined(others: ZfsFacts | None, zfs: ZfsFacts) -> ZfsFacts:
    """Combine the facts about a pool with those about other pools below the same layout."""
    if others is None:
        return zfs
    return replace(
        zfs,
        has_log=others.has_log or zfs.has_log,
        has_cache=others.has_cache or zfs.has_cache,
        mirrors=_union(others.mirrors, zfs.mirrors),
        pools=_union(others.pools, zfs.pools),
        objsets=_union(others.objsets, zfs.objsets),
        log_devices=_union(others.log_devices, zfs.log_devices),
        cache_devices=_union(others.cache_devices, zfs.cache_devices),
    )


def _union(first: tuple[_Item, ...], second: tuple[_Item, ...]) -> tuple[_Item, ...]:
    return tuple(dict.fromkeys((*first, *second)))


def _use_of(host: Host, pool: str) -> tuple[int | None, int | None]:
    """Return the used capacity and the fragmentation of a pool, in percent. A value that `zpool list` omits is None."""
    argv = ("zpool", "list", "-H", "-p", "-o", "capacity,fragmentation", pool)
    cells = [cell.rstrip("%") for cell in host.run(argv, timeout_s=_LIMIT_S, check=False).stdout.split()]
    numbers = [int(cell) if cell.isdecimal() else None for cell in cells]
    return (numbers[0], numbers[1]) if len(numbers) == 2 else (None, None)


def volume_of(host: Host, device: str) -> str | None:
    """Return the name of the volume behind a device, or None if the device is not a zvol.

    Zvols have paths like `/dev/zd0` or `/dev/zvol/tank/vol`.
    """
    if device.startswith(_ZVOL_DEVICES):
        return device.removeprefix(_ZVOL_DEVICES)
    if not re.fullmatch(r"/dev/zd\d+", device):
        return None
    found = host.run(["/lib/udev/zvol_id", device], timeout_s=_LIMIT_S, check=False)
    return found.stdout.strip() or None if found.returncode == 0 else None
