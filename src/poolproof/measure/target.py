"""What the test files stand on, as the rules want to know it; asked of the host once a layout is open."""

import re

from poolproof.devices.model import Leaf, Volume
from poolproof.evidence.model import Target
from poolproof.facts.block import Mount, link_bytes_per_s, mount_of, parse_mountinfo
from poolproof.facts.machine import Machine
from poolproof.hosts.base import FileMissing, Host, host_named
from poolproof.layers.catalogue import compressed_unit_bytes, compression_of

_ZONED = ("host-managed", "host-aware")  # an SMR disk that manages itself says "none", as any other
_IN_RAM = ("tmpfs", "ramfs", "devtmpfs")
_BARE = Mount("", "", "block device", "", ())


def target_of(host: Host, volume: Volume, leaves: tuple[Leaf, ...], machine: Machine) -> Target:
    """The facts about an open layout; `volume` is what it offers, a directory by its absolute path without links."""
    mount = None if volume.is_block else mount_of(parse_mountinfo(host.read("/proc/self/mountinfo")), volume.path)
    mount = mount or _BARE
    compression, ceiling = compression_of(mount), _ceiling(host, leaves)
    return Target(
        file_system=mount.file_system,
        ram_bytes=machine.ram_bytes,
        volatile=mount.file_system in _IN_RAM
        or any(leaf.path.startswith(("/dev/zram", "/dev/ram")) for leaf in leaves),
        compression=compression,
        record_bytes=compressed_unit_bytes(mount.file_system) if compression else None,
        loop_without_direct=tuple(leaf.path for leaf in leaves if _queue(host, leaf, "loop/dio") == "0"),
        kernel=_version(machine.kernel),
        rotational=_of_all(host, leaves, "queue/rotational", "1"),
        disks=_countable_disks(leaves, machine),
        write_through=_of_all(host, leaves, "queue/write_cache", "write through"),
        dirty_limit_bytes=_dirty_limit(host, machine),
        physical_block_bytes=_largest(host, leaves, "queue/physical_block_size"),
        mount_options=mount.options,
        in_guest=machine.is_guest if any(_is_of_the_machine(leaf) for leaf in leaves) else None,
        zoned=any(_queue(host, leaf, "queue/zoned") in _ZONED for leaf in leaves) or None,
        ceiling_read_bytes_per_s=ceiling,
        ceiling_write_bytes_per_s=ceiling,
    )


def _is_of_the_machine(leaf: Leaf) -> bool:
    """Whether the leaf lies on a disk that the machine was given; an emulated one has poolproof's own model below."""
    return leaf.below is not None or not leaf.path.startswith("/dev/loop")


def _countable_disks(leaves: tuple[Leaf, ...], machine: Machine) -> int | None:
    """The number of disks whose seek time is known to be that of a disk.

    None in a guest, where `rotational` is a default of the hypervisor and its cache is below the counters, and for
    files on loop devices, which take the flag from a disk that the host may cache.
    """
    own = not machine.is_guest and not any(leaf.path.startswith("/dev/loop") for leaf in leaves)
    return len(leaves) if own else None


def _ceiling(host: Host, leaves: tuple[Leaf, ...]) -> float | None:
    """What the links of all leaves carry together; None where one is not known."""
    rates = [link_bytes_per_s(host_named(host, leaf.host), leaf.counter.split("/")[-2]) for leaf in leaves]
    known = [rate for rate in rates if rate is not None]
    return sum(known) if known and len(known) == len(rates) else None


def _queue(host: Host, leaf: Leaf, name: str) -> str | None:
    """One of the block device's own files in sysfs, which lie beside its counters; None where it has none."""
    try:
        return host_named(host, leaf.host).read(f"{leaf.counter.removesuffix('/stat')}/{name}").strip()
    except FileMissing:
        return None


def _of_all(host: Host, leaves: tuple[Leaf, ...], name: str, wanted: str) -> bool | None:
    """Whether every leaf says so; None where one does not say."""
    said = [_queue(host, leaf, name) for leaf in leaves]
    return all(text == wanted for text in said) if said and None not in said else None


def _largest(host: Host, leaves: tuple[Leaf, ...], name: str) -> int | None:
    """The largest number that a leaf says; None where none does. One disk of large sectors makes small units costly."""
    said = [_queue(host, leaf, name) for leaf in leaves]
    return max((int(text) for text in said if text and text.isdigit()), default=None)


def _version(kernel: str) -> tuple[int, int] | None:
    match = re.search(r"(\d+)\.(\d+)", kernel)
    return (int(match[1]), int(match[2])) if match else None


def _dirty_limit(host: Host, machine: Machine) -> int | None:
    """Dirty bytes at which writers are made to wait: vm.dirty_bytes, else vm.dirty_ratio of the free RAM (vm.rst)."""
    try:
        limit = int(host.read("/proc/sys/vm/dirty_bytes"))
        return limit or int(host.read("/proc/sys/vm/dirty_ratio")) * machine.ram_free_bytes // 100
    except (FileMissing, ValueError):
        return None
