"""The catalogue of storage technologies (modules that define `LAYER`), and queries to all of them."""

import functools
import importlib
import pkgutil
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from poolproof import layers
from poolproof.evidence.model import Expected
from poolproof.evidence.target_facts import Target
from poolproof.facts.block import Below, Mount, block_below, mount_of, mounted_device, parse_mountinfo
from poolproof.hosts.base import Host
from poolproof.layers.base import Layer
from poolproof.layers.existing_storage import FoundStorage

_LIMIT_S = 20.0
_MOST_OVERLAYS = 8


@functools.cache
def all_layers() -> Mapping[str, Layer[Any]]:
    modules = (
        importlib.import_module(f"{layers.__name__}.{entry.name}") for entry in pkgutil.iter_modules(layers.__path__)
    )
    found = [module.LAYER for module in modules if hasattr(module, "LAYER")]
    return MappingProxyType({layer.word: layer for layer in sorted(found, key=lambda layer: layer.word)})


def recorded_settings() -> Mapping[str, str]:
    """Return the kernel settings to record with each run: the names to display, keyed by the setting's path."""
    return {path: name for layer in all_layers().values() for path, name in layer.settings.items()}


def device_under(host: Host, path: str) -> tuple[Below, ...]:
    """Return the block devices that store the file system of `path`.

    A file system may use several devices, or none (tmpfs, network file systems, FUSE). If it is on a partition, the
    partition is returned rather than its disk, so that the I/O of other partitions is not counted.

    Raises CommandFailed if `path` does not exist.
    """
    found = storage_at(host, path)
    if found is None:
        return ()
    names = dict.fromkeys(disk for device in found.devices for disk in disks_of(host, device))
    return tuple(block_below(name) for name in names)


def leaves_under(host: Host, path: str) -> tuple[Below, ...]:
    """Return the block devices that are counted as the leaves of an existing directory.

    These are the devices of `device_under`, but the members of each array take its place. Empty if no block device is
    known to store the directory.

    Raises CommandFailed if `path` does not exist.
    """
    found = storage_at(host, path)
    return () if found is None else tuple(map(block_below, leaf_names(host, found)))


def leaf_names(host: Host, found: FoundStorage) -> tuple[str, ...]:
    """Return the kernel names of the block devices that are counted as the leaves of existing storage."""
    disks = (disk for device in found.devices for disk in disks_of(host, device))
    return tuple(dict.fromkeys(name for disk in disks for name in _members_of(host, disk)))


def _members_of(host: Host, device: str) -> tuple[str, ...]:
    found = (layer.members_of(device, host) for layer in all_layers().values())
    return next((members for members in found if members is not None), (device,))


def storage_at(host: Host, path: str) -> FoundStorage | None:
    """Return the storage that contains an existing file or directory, or None if its mount is unknown.

    For an overlay, this is the storage of the upper directory, because all writes go there.

    Raises CommandFailed if `path` does not exist.
    """
    real = host.run(["realpath", "--canonicalize-existing", path], timeout_s=_LIMIT_S).stdout.rstrip("\n")
    mounts = parse_mountinfo(host.read("/proc/self/mountinfo"))
    mount = mount_of(mounts, real)
    for _ in range(_MOST_OVERLAYS):
        if mount is not None and mount.file_system == "overlay":
            upper = dict(option.partition("=")[::2] for option in mount.options).get("upperdir")
            mount = mount_of(mounts, upper) if upper else None
    if mount is None or mount.file_system == "overlay":
        return None
    answers = (layer.disks_under(mount, host) for layer in all_layers().values())
    devices = next((disks for disks in answers if disks is not None), None)
    return FoundStorage(mount, mounted_device(host, mount.number) if devices is None else devices)


def disks_of(host: Host, device: str) -> tuple[str, ...]:
    """Return the kernel names of the disks that count the I/O of a block device.

    For a zvol, these are the disks of its pool, because the zvol's own counters include reads that the ARC served. Any
    other device counts its own I/O.
    """
    found = (layer.disks_of(device, host) for layer in all_layers().values())
    return next((disks for disks in found if disks is not None), (device,))


def describe_found(host: Host, found: FoundStorage, target: Target) -> Target:
    """Return a copy of the target, completed with facts about storage that poolproof did not build."""
    for layer in all_layers().values():
        target = layer.describe_found(found, host, target)
    return target


def expected_found(host: Host, found: FoundStorage) -> Expected | None:
    """Return the expected write amplification of storage that poolproof did not build, or None if unknown."""
    known = (layer.expected_found(found, host) for layer in all_layers().values())
    return next((expected for expected in known if expected is not None), None)


def busy_on(disks: Iterable[str], host: Host) -> tuple[str, ...]:
    """Describe background work of any technology that is in progress on the given disks.

    `disks`: the disks' kernel names.
    """
    wanted = frozenset(disks)
    return tuple(text for layer in all_layers().values() for text in layer.busy_on(wanted, host))


def compression_of(mount: Mount) -> str | None:
    """Return the compression algorithm that the options of a mount enable, or None if they enable none."""
    layer = layer_of(mount.file_system)
    return None if layer is None else layer.compression(mount.options)


def compressed_unit_bytes(file_system: str) -> int | None:
    """Return the compression unit of a file system in bytes, or None if it is unknown or the file system has none."""
    layer = layer_of(file_system)
    return None if layer is None else layer.compressed_unit_bytes


def layer_of(file_system: str) -> Layer[Any] | None:
    """Return the layer for a file system type from /proc/self/mountinfo, or None if no layer has this type."""
    return next((layer for layer in all_layers().values() if layer.file_system == file_system), None)
