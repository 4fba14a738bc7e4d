"""Collect the facts about a layout that the rules need, from the hosts on which it is mounted."""

import re
from collections.abc import Iterator

from poolproof.devices.emulated.model import MODELS
from poolproof.devices.model import Leaf, Volume
from poolproof.evidence.backing_files import BackingFiles
from poolproof.evidence.target_facts import Target
from poolproof.facts.block import Mount, mount_of, mounted_device, parse_mountinfo, whole_disk
from poolproof.facts.disk_link import link_bytes_per_s, narrow_link
from poolproof.facts.disk_state import cloud_volume, degraded_arrays, governor
from poolproof.facts.machine import Machine
from poolproof.facts.write_cache import has_write_cache
from poolproof.hosts.base import FileMissing, Host, host_named, text_of
from poolproof.layers.layer_catalogue import compressed_unit_bytes, compression_of
from poolproof.rules.path import is_fuse

_ZONED = ("host-managed", "host-aware")  # a drive-managed SMR disk reports "none", like any other disk
_MOST_LOOPS = 4
_IN_RAM = ("tmpfs", "ramfs", "devtmpfs")
_BARE = Mount("", "", "block device", "", ())


def target_of(host: Host, volume: Volume, leaves: tuple[Leaf, ...], machine: Machine) -> Target:
    """Return the facts about a layout that is ready for use.

    `volume`: the layout's top layer. Its path contains no symbolic links.
    """
    mount = None if volume.is_block else mount_of(parse_mountinfo(host.read("/proc/self/mountinfo")), volume.path)
    mount = mount or _BARE
    compression, ceiling = compression_of(mount), _ceiling(host, leaves)
    cached = [leaf for leaf in leaves if _has_cached_file(host, leaf)]
    volatile = [leaf for leaf in leaves if _is_file_in_ram(host, leaf)]
    without_cache = [_lacks_write_cache(host, leaf) for leaf in leaves] or [None]
    return Target(
        file_system=mount.file_system,
        ram_bytes=machine.ram_bytes,
        volatile=mount.file_system in _IN_RAM
        or _writes_to_ram(host, mount)
        or any(leaf.path.startswith(("/dev/zram", "/dev/ram")) for leaf in leaves)
        or (bool(leaves) and all(leaf in volatile for leaf in leaves)),
        compression=compression,
        record_bytes=compressed_unit_bytes(mount.file_system) if compression else None,
        loop_without_direct=tuple(leaf.path for leaf in leaves if leaf in cached),
        compressed_below=tuple(
            leaf.path for leaf in leaves if any(compression_of(mount) for mount, _ in _files_below(host, leaf))
        ),
        kernel=_version(machine.kernel),
        rotational=_of_all(host, leaves, "queue/rotational", "1"),
        rotational_devices=tuple(
            leaf.name
            for leaf in leaves
            if _countable_disks((leaf,), machine) and _queue(host, leaf, "queue/rotational") == "1"
        ),
        disks=_countable_disks(leaves, machine),
        write_through=None if None in without_cache else bool(leaves) and all(without_cache),
        dirty_limit_bytes=_dirty_limit(host, machine),
        physical_block_bytes=_largest(host, leaves, "queue/physical_block_size"),
        mount_options=mount.options,
        emulated=tuple(leaf.name for leaf in leaves if leaf.model),
        narrow_links=tuple(filter(None, (narrow_link(_host_of(host, leaf), leaf.kernel_name) for leaf in leaves))),
        cloud_volume=next(
            filter(None, (cloud_volume(_host_of(host, leaf), leaf.kernel_name) for leaf in leaves)), None
        ),
        degraded=_degraded(host, leaves),
        governor=governor(host),
        persistent_memory=any(leaf.path.startswith("/dev/pmem") for leaf in leaves) or _maps_memory(mount) or None,
        not_counted=_with(host, leaves, "queue/iostats", "0"),
        backing=BackingFiles(
            not_counted=_not_counted_below(host, leaves),
            served_by_program=tuple(leaf.name for leaf in leaves if _is_served_by_program(host, leaf)),
            mount_options=_mount_options_below(host, leaves),
            unflushed=_unflushed_below(host, leaves),
        ),
        without_write_cache=tuple(leaf.name for leaf, lacks in zip(leaves, without_cache, strict=False) if lacks),
        in_guest=machine.is_guest if any(_is_of_the_machine(leaf) for leaf in leaves) else None,
        zoned=any(_queue(host, leaf, "queue/zoned") in _ZONED for leaf in leaves) or None,
        ceiling_read_bytes_per_s=ceiling,
        ceiling_write_bytes_per_s=ceiling,
    )


def _writes_to_ram(host: Host, mount: Mount) -> bool:
    """True if the mount is an overlay whose upper directory is in RAM. All files are written to this directory."""
    upper = next((option.removeprefix("upperdir=") for option in mount.options if option.startswith("upperdir=")), "")
    if mount.file_system != "overlay" or not upper:
        return False
    below = mount_of(parse_mountinfo(host.read("/proc/self/mountinfo")), upper)
    return below is not None and below.file_system in _IN_RAM


def _is_file_in_ram(host: Host, leaf: Leaf) -> bool:
    """True if the leaf device is a loop device whose file is in RAM, directly or through other loop devices."""
    return any(mount.file_system in _IN_RAM for mount, _ in _files_below(host, leaf))


def _has_cached_file(host: Host, leaf: Leaf) -> bool:
    """True if the leaf device's file is in RAM, or if a loop device uses the page cache of its file.

    The leaf device is checked, and also the loop devices with the file systems that store its file.
    """
    is_cached = any(mount.file_system in _IN_RAM or dio == "0" for mount, dio in _files_below(host, leaf))
    return is_cached or _queue(host, leaf, "loop/dio") == "0"


def _not_counted_below(host: Host, leaves: tuple[Leaf, ...]) -> tuple[str, ...]:
    """Return the disks below loop devices whose counters are switched off."""
    disks = dict.fromkeys((leaf.host, leaf.below) for leaf in leaves if leaf.below is not None)
    return tuple(
        below.device
        for name, below in disks
        if _attribute(host_named(host, name), below.counter, "queue/iostats") == "0"
    )


def _is_served_by_program(host: Host, leaf: Leaf) -> bool:
    """True if the leaf device is a loop device whose file is on a FUSE file system, but not an emulated disk."""
    return not leaf.model and any(is_fuse(Target(mount.file_system)) for mount, _ in _files_below(host, leaf))


def _mount_options_below(host: Host, leaves: tuple[Leaf, ...]) -> tuple[str, ...]:
    """Return the mount options of the file systems that store the files of loop devices.

    File systems on disks without a volatile write cache are left out, and so are emulated disks.
    """
    options: dict[str, None] = {}
    for leaf in leaves:
        its_host = _host_of(host, leaf)
        for mount, _ in () if leaf.model else _files_below(host, leaf):
            disks = map(whole_disk, mounted_device(its_host, mount.number))
            places = [f"/sys/class/block/{disk}/queue/write_cache" for disk in disks]
            if any(text_of(its_host, place).strip() == "write back" for place in places):
                options |= dict.fromkeys(mount.options)
    return tuple(options)


def _unflushed_below(host: Host, leaves: tuple[Leaf, ...]) -> tuple[str, ...]:
    """Return the disks that store the files of loop devices and get no flushes, although they have a write cache."""
    below = dict.fromkeys((leaf.host, leaf.below) for leaf in leaves if leaf.below is not None and not leaf.model)
    return tuple(
        disk.device
        for name, disk in below
        if _attribute(host_named(host, name), disk.counter, "queue/write_cache") == "write through"
        and _has_cache(host_named(host, name), disk.device, disk.counter)
    )


def _lacks_write_cache(host: Host, leaf: Leaf) -> bool | None:
    """True if the leaf device has no volatile write cache, None if unknown.

    An emulated disk, which may also be a loop device, has the cache of its model.
    """
    if leaf.model:
        text = _queue(host, leaf, "queue/write_cache")
        return None if text is None else text == "write through"
    has_cache = _has_cache(_host_of(host, leaf), leaf.kernel_name, leaf.counter)
    return None if has_cache is None else not has_cache


def _has_cache(host: Host, device: str, counter: str) -> bool | None:
    """True if the disk, or the partition's disk, has a volatile write cache, None if unknown."""
    folder = counter.removesuffix("/stat")
    found = (has_write_cache(host, device, queue) for queue in (f"{folder}/queue", f"{folder}/../queue"))
    return next((each for each in found if each is not None), None)


def _files_below(host: Host, leaf: Leaf) -> Iterator[tuple[Mount, str]]:
    """Yield the mount that stores the leaf device's file, and further ones if this mount is on a loop device.

    With each mount, `loop/dio` of the loop device below it is yielded, or an empty string if it is not on one.
    """
    its_host, file = _host_of(host, leaf), _queue(host, leaf, "loop/backing_file")
    mounts = parse_mountinfo(its_host.read("/proc/self/mountinfo")) if file else ()
    for _ in range(_MOST_LOOPS):
        mount = mount_of(mounts, file) if file else None
        if mount is None:
            return
        below = next(map(whole_disk, mounted_device(its_host, mount.number)), "")
        loop = f"/sys/class/block/{below}/loop"
        yield mount, text_of(its_host, f"{loop}/dio").strip() if below else ""
        file = text_of(its_host, f"{loop}/backing_file").strip() if below else ""


def _host_of(host: Host, leaf: Leaf) -> Host:
    return host_named(host, leaf.host)


def _degraded(host: Host, leaves: tuple[Leaf, ...]) -> tuple[str, ...]:
    """Return the degraded arrays that the leaf devices use or belong to.

    Each leaf device is checked on its own host.
    """
    names = dict.fromkeys(leaf.host for leaf in leaves)
    there = {name: [leaf.kernel_name for leaf in leaves if leaf.host == name] for name in names}
    return tuple(array for name in names for array in degraded_arrays(host_named(host, name), there[name]))


def _maps_memory(mount: Mount) -> bool:
    """True if the file system maps persistent memory directly into programs (mount option `dax` or `dax=always`)."""
    return any(option in ("dax", "dax=always") for option in mount.options)


def _is_of_the_machine(leaf: Leaf) -> bool:
    """True if the leaf device is not emulated and keeps its data on a real disk."""
    return not leaf.model and (leaf.below is not None or not leaf.path.startswith("/dev/loop"))


def _countable_disks(leaves: tuple[Leaf, ...], machine: Machine) -> int | None:
    """Return the number of leaf devices if each of them is known to be a separate disk of a known kind, otherwise None.

    An emulated disk counts as one disk, whose model determines its kind. In a virtual machine, all other disks make the
    result None: their `rotational` flag is only the hypervisor's default, and the hypervisor may cache their data where
    the guest's counters don't see it. Loop devices make the result None as well, unless they are emulated disks: they
    inherit the flag from the disk that stores the file, but the host may cache that file.
    """
    is_known = (leaf.model or not (machine.is_guest or leaf.path.startswith("/dev/loop")) for leaf in leaves)
    return len(leaves) if leaves and all(is_known) else None


def _ceiling(host: Host, leaves: tuple[Leaf, ...]) -> float | None:
    """Return the link bandwidth of all leaf devices together in bytes per second. None if one is unknown.

    An emulated disk counts with the link of its kind.
    """
    rates = [
        MODELS[leaf.model].ceiling_bytes_per_s
        if leaf.model in MODELS
        else link_bytes_per_s(host_named(host, leaf.host), leaf.kernel_name)
        for leaf in leaves
    ]
    known = [rate for rate in rates if rate is not None]
    return sum(known) if known and len(known) == len(rates) else None


def _queue(host: Host, leaf: Leaf, name: str) -> str | None:
    """Return a sysfs attribute of a leaf device, such as `queue/rotational`, or None if it is missing or empty.

    A partition does not have its own attributes, so those of its disk are read, one directory up.
    """
    return _attribute(host_named(host, leaf.host), leaf.counter, name)


def _attribute(host: Host, counter: str, name: str) -> str | None:
    """Return a sysfs attribute of the block device with this `stat` file, or of its disk if it is a partition."""
    folder = counter.removesuffix("/stat")
    return text_of(host, f"{folder}/{name}").strip() or text_of(host, f"{folder}/../{name}").strip() or None


def _with(host: Host, leaves: tuple[Leaf, ...], name: str, text: str) -> tuple[str, ...]:
    """Return the names of the leaf devices for which the sysfs attribute `name` has the value `text`."""
    return tuple(leaf.name for leaf in leaves if _queue(host, leaf, name) == text)


def _of_all(host: Host, leaves: tuple[Leaf, ...], name: str, wanted: str) -> bool | None:
    """True if the sysfs attribute `name` has the value `wanted` for all leaf devices.

    None if one lacks the attribute.
    """
    texts = [_queue(host, leaf, name) for leaf in leaves]
    return all(text == wanted for text in texts) if texts and None not in texts else None


def _largest(host: Host, leaves: tuple[Leaf, ...], name: str) -> int | None:
    """Return the largest value of a numeric sysfs attribute, or None if no leaf device has the attribute.

    The largest value matters, because a single disk with large sectors is enough to slow down small I/Os.
    """
    texts = [_queue(host, leaf, name) for leaf in leaves]
    return max((int(text) for text in texts if text and text.isdecimal()), default=None)


def _version(kernel: str) -> tuple[int, int] | None:
    match = re.search(r"(\d+)\.(\d+)", kernel)
    return (int(match[1]), int(match[2])) if match else None


def _dirty_limit(host: Host, machine: Machine) -> int | None:
    """Return the number of dirty bytes at which writers have to wait, or None if unknown.

    It is vm.dirty_bytes or, if that is 0, vm.dirty_ratio percent of the free RAM (vm.rst).
    """
    try:
        limit = int(host.read("/proc/sys/vm/dirty_bytes"))
        return limit or int(host.read("/proc/sys/vm/dirty_ratio")) * machine.ram_free_bytes // 100
    except (FileMissing, ValueError):
        return None
