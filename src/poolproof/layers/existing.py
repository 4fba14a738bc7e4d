"""What the layers know about mounts and disks that poolproof did not build: those of `dir` layouts and of lint."""

from collections.abc import Iterable
from typing import Any

from poolproof.facts.block import Below, Mount, block_below, mount_of, mounted_device, parse_mountinfo
from poolproof.hosts.base import Host
from poolproof.layers.base import Layer
from poolproof.layers.catalogue import all_layers

_LIMIT_S = 20.0
_MOST_OVERLAYS = 8


def device_under(host: Host, path: str) -> tuple[Below, ...]:
    """Return the block devices that store the file system of `path`.

    A file system over several devices has several; tmpfs, network and FUSE file systems and ZFS have none. A partition
    is returned as itself, so its counters exclude the other partitions of the disk.

    Raises:
        CommandFailed: the path does not exist.
    """
    real = host.run(["realpath", "--canonicalize-existing", path], timeout_s=_LIMIT_S).stdout.rstrip("\n")
    mounts = parse_mountinfo(host.read("/proc/self/mountinfo"))
    return _stores(host, mounts, real, _MOST_OVERLAYS)


def _stores(host: Host, mounts: tuple[Mount, ...], path: str, hops: int) -> tuple[Below, ...]:
    mount = mount_of(mounts, path)
    if mount is None or hops == 0:
        return ()
    if mount.file_system == "overlay":
        upper = next((option[len("upperdir=") :] for option in mount.options if option.startswith("upperdir=")), None)
        return _stores(host, mounts, upper, hops - 1) if upper else ()
    layer = _layer_of(mount.file_system)
    names = None if layer is None else layer.disks_under(mount, host)
    if names is None:
        names = mounted_device(host, mount.number)
    return tuple(block_below(name) for name in names)


def busy_on(disks: Iterable[str], host: Host) -> tuple[str, ...]:
    """Return the background work of any technology on these disks (kernel names)."""
    wanted = frozenset(disks)
    return tuple(text for layer in all_layers().values() for text in layer.busy_on(wanted, host))


def compression_of(mount: Mount) -> str | None:
    """Return the compression algorithm that a mount uses, by its options, or None."""
    layer = _layer_of(mount.file_system)
    return None if layer is None else layer.compression(mount.options)


def compressed_unit_bytes(file_system: str) -> int | None:
    """Return the bytes that the file system compresses as one unit; None if it does not compress, or is not known."""
    layer = _layer_of(file_system)
    return None if layer is None else layer.compressed_unit_bytes


def _layer_of(file_system: str) -> Layer[Any] | None:
    """Return the layer of a file system, by the name in /proc/self/mountinfo."""
    return next((layer for layer in all_layers().values() if layer.file_system == file_system), None)
