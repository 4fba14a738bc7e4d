"""A host's block devices: their identity, contents, use and mounts. This module is read-only."""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from poolproof.errors import HostError
from poolproof.facts.disk_use import DiskUse, disk_uses, diskseq, exclusive_use, has_hidden_gpt
from poolproof.hosts.base import Host, lines_of, text_of

_LIMIT_S = 20.0
_NOT_A_LIST = (ValueError, KeyError, TypeError, AttributeError, RecursionError)  # JSON of another form than expected
_NEEDS = "poolproof needs util-linux 2.27 or newer"
_BY_ID = "/dev/disk/by-id"
_PARTITION = re.compile(r"((?:[hsv]|xv)d[a-z]+(?=\d)|.*\d(?=p))p?\d+")
_WITHOUT_QUEUE = re.compile(r"(md|dm-|zd)\d")
_OCTAL = re.compile(r"\\([0-7]{3})")
_NAMED_BY_NUMBER = ("wwn-", "nvme-eui.", "nvme-uuid.", "nvme-nvme.", "scsi-", "lvm-", "dm-", "md-")


@dataclass(frozen=True)
class BlockFacts:
    """A block device as listed by lsblk, with its names in /dev/disk/by-id.

    `kind`: the device type that lsblk prints (disk, part, loop, raid1, lvm, crypt, rom …).
    `number`: the device number, `major:minor`.
    `mount_points`: the device's mount points, with `[SWAP]` for swap.
    `children`: the devices on top of this one.
    `signatures`: the signature types found by wipefs, or None if they were not read.
    `uses`: uses of the device that lsblk does not show.
    `sequence`: the kernel's `diskseq`, or "" if unknown or not read.
    """

    name: str
    path: str
    size_bytes: int
    kind: str
    number: str = ""
    model: str = ""
    serial: str = ""
    wwn: str = ""
    rotational: bool = False
    read_only: bool = False
    file_system: str = ""
    label: str = ""
    partition_table: str = ""
    mount_points: tuple[str, ...] = ()
    by_id: tuple[str, ...] = ()
    children: tuple["BlockFacts", ...] = ()
    signatures: tuple[str, ...] | None = None
    uses: tuple[DiskUse, ...] = ()
    sequence: str = ""

    @property
    def identity(self) -> str:
        """The disk's name in a campaign: a by-id name, otherwise its serial number or WWN, or "" if it has none."""
        return next(iter(self.identities), "")

    @property
    def identities(self) -> tuple[str, ...]:
        """All names that identify this disk regardless of its slot, most readable first."""
        readable = sorted(self.by_id, key=lambda name: (name.startswith(_NAMED_BY_NUMBER), name))
        return tuple(name for name in (*readable, self.serial, self.wwn) if name)

    @property
    def stable_path(self) -> str:
        """A path that remains valid after a reboot, or the current path if the disk has no by-id name."""
        return f"{_BY_ID}/{self.identity}" if self.by_id else self.path

    @property
    def counter(self) -> str:
        """The sysfs path of the device's I/O counters."""
        return f"/sys/class/block/{self.name}/stat"

    def tree(self) -> Iterator["BlockFacts"]:
        """Yield this device and all devices on top of it, recursively."""
        yield self
        for child in self.children:
            yield from child.tree()


@dataclass(frozen=True)
class Below:
    """The disk that stores a file or directory: its kernel name, and the sysfs path of its I/O counters."""

    device: str
    counter: str


@dataclass(frozen=True)
class LoopFacts:
    """A loop device in use. `backing_file`: its path, or "" if losetup does not print it."""

    number: int
    backing_file: str


def block_devices(host: Host, examined: Collection[str] | None = None) -> tuple[BlockFacts, ...]:
    """Return the lowest-level block devices, each with the devices on top of it. Drives without a medium are left out.

    `examined`: if not None, signatures are read only from disks with one of these identities, in lower case.

    Signatures are read only from disks that appear to be free, because reading them requires root and wakes up a
    sleeping disk. Raises a HostError if lsblk does not support JSON (util-linux before 2.27).
    """
    listing = host.run(["lsblk", "--json", "--bytes", "--output-all"], timeout_s=_LIMIT_S)
    devices = parse_lsblk(listing.stdout, _by_id_names(host))

    def is_examined(device: BlockFacts) -> bool:
        seems_free = device.kind == "disk" and not device.children and not device.mount_points
        return seems_free and (examined is None or any(text.lower() in examined for text in device.identities))

    chosen = iter(examine(host, [device for device in devices if is_examined(device)]))
    return tuple(next(chosen) if is_examined(device) else device for device in devices)


def examine(host: Host, devices: Sequence[BlockFacts]) -> tuple[BlockFacts, ...]:
    """Return copies of the devices with their signatures, uses and sequence numbers added.

    Signatures remain None if wipefs cannot read them, for example without root.
    """
    uses = disk_uses(host, [device.number for device in devices]) if devices else {}
    return tuple(_examined(host, device, uses) for device in devices)


def parse_lsblk(text: str, by_id: Mapping[str, tuple[str, ...]]) -> tuple[BlockFacts, ...]:
    """Parse the output of `lsblk --json --bytes --output-all`, skipping drives without a medium.

    `by_id`: the by-id names of each device, keyed by its kernel name.

    Raises a HostError if the output is not a list of block devices.
    """
    try:
        devices = [_device(row, by_id) for row in json.loads(text)["blockdevices"]]
    except _NOT_A_LIST:
        problem = "lsblk did not print a list of block devices as JSON"
        raise HostError(problem, _NEEDS) from None
    return tuple(device for device in devices if device.size_bytes > 0)


def parse_wipefs(text: str) -> tuple[str, ...]:
    """Return the signature types in the output of `wipefs --no-act --json --output TYPE`, which may be empty.

    Raises a HostError if the output is not a list of signatures.
    """
    try:
        return tuple(str(row["type"]) for row in json.loads(text)["signatures"]) if text.strip() else ()
    except _NOT_A_LIST:
        raise HostError("wipefs did not print a list of signatures as JSON", _NEEDS) from None


def used_loops(host: Host) -> frozenset[int]:
    return frozenset(loop.number for loop in loop_facts(host))


def loop_facts(host: Host) -> tuple[LoopFacts, ...]:
    """Return the loop devices that are in use. Raises a HostError if losetup prints anything but a list of them."""
    listing = host.run(["losetup", "--list", "--json", "--output", "NAME,BACK-FILE,DIO"], timeout_s=_LIMIT_S)
    try:
        rows = json.loads(listing.stdout)["loopdevices"] if listing.stdout.strip() else []
        return tuple(
            LoopFacts(int(str(row["name"]).rpartition("loop")[2]), str(row.get("back-file") or "")) for row in rows
        )
    except _NOT_A_LIST:
        raise HostError("losetup did not print a list of loop devices as JSON", _NEEDS) from None


def free_nbds(host: Host) -> tuple[int, ...]:
    """Return the numbers of the nbd devices that are not in use, or an empty tuple if the nbd module is not loaded."""
    names = host.run(["ls", "/sys/class/block"], timeout_s=_LIMIT_S).stdout.split()
    numbers = sorted(int(name[3:]) for name in names if name.startswith("nbd") and name[3:].isdecimal())
    return tuple(number for number in numbers if not text_of(host, f"/sys/class/block/nbd{number}/pid"))


def mounted_device(host: Host, number: str) -> tuple[str, ...]:
    """Return the kernel name of the block device with this device number, such as `8:1`, as a tuple.

    The tuple is empty if the device does not exist.
    """
    lines = text_of(host, f"/sys/dev/block/{number}/uevent").splitlines()
    return tuple(line.removeprefix("DEVNAME=") for line in lines if line.startswith("DEVNAME="))


def block_below(name: str) -> Below:
    """Return the block device with this kernel name, and the sysfs path of its I/O counters."""
    return Below(name, f"/sys/class/block/{name}/stat")


def whole_disk(name: str) -> str:
    """Return the kernel name of a partition's disk, such as `sda` for `sda1`. A disk's name is returned unchanged."""
    partition = _PARTITION.fullmatch(name)
    return partition[1] if partition else name


def has_counted_flushes(name: str) -> bool:
    """True if the kernel counts the flushes of the device with this kernel name.

    It counts neither those of partitions nor those of devices without a request queue, such as md, device mapper and
    zvols (Linux 6.12 block/blk-flush.c, blk_account_io_flush).
    """
    return whole_disk(name) == name and not _WITHOUT_QUEUE.match(name)


def counted_device(counter: str) -> str:
    """Return the kernel name of the block device whose I/O counters are at this sysfs path: `sda` for `…/sda/stat`."""
    return counter.split("/")[-2]


@dataclass(frozen=True)
class Mount:
    """A line of /proc/self/mountinfo (see proc(5)).

    `number`: the device number.
    `options`: the options of the file system itself.
    """

    number: str
    point: str
    file_system: str
    source: str
    options: tuple[str, ...]


def mount_of(mounts: tuple[Mount, ...], path: str) -> Mount | None:
    """Return the mount that contains `path`, an absolute path without symbolic links, or None if no mount contains it.

    If several file systems are mounted at the same point, the last one is returned.
    """
    matching = [each for each in mounts if path == each.point or path.startswith(each.point.rstrip("/") + "/")]
    return max(reversed(matching), key=lambda mount: len(mount.point), default=None)


def parse_mountinfo(text: str) -> tuple[Mount, ...]:
    """Parse the contents of /proc/self/mountinfo, keeping the order of the mounts."""
    return tuple(filter(None, map(_mount, lines_of(text))))


def mount_points(host: Host) -> tuple[str, ...]:
    """Return the path of every mount point on the host, in the order of the mounts.

    The kernel escapes whitespace and backslashes in its mount table. The returned paths are decoded, so that they can
    be compared with other paths.
    """
    lines = lines_of(host.read("/proc/self/mounts"))
    return tuple(decoded_path(line.split(" ")[1]) for line in lines if line.count(" ") >= 2)


def _mount(line: str) -> Mount | None:
    """Return the mount that a line describes, or None if the line is incomplete."""
    left, _, right = line.partition(" - ")
    fields, of_file_system = left.split(" "), right.split(" ", 2)
    if len(fields) < 6 or len(of_file_system) < 3:
        return None
    file_system, source, options = of_file_system
    return Mount(
        fields[2], decoded_path(fields[4]), file_system, decoded_path(source), tuple(decoded_path(options).split(","))
    )


def decoded_path(text: str) -> str:
    """Decode the octal escape sequences that mountinfo uses for spaces and backslashes."""
    return _OCTAL.sub(lambda match: chr(int(match[1], 8)), text)


def _examined(host: Host, device: BlockFacts, uses: Mapping[str, tuple[DiskUse, ...]]) -> BlockFacts:
    found = uses.get(device.number, ())
    if not found and (use := exclusive_use(host, device.path)) is not None:
        found = (use,)
    device = replace(device, uses=found, sequence=diskseq(host, device.name))
    argv = ["wipefs", "--no-act", "--json", "--output", "TYPE", device.path]
    listing = host.run(argv, timeout_s=_LIMIT_S, check=False)
    if listing.returncode != 0:
        return device
    signatures = parse_wipefs(listing.stdout)
    if "gpt" not in signatures and has_hidden_gpt(host, device.path, device.size_bytes):
        signatures = (*signatures, "gpt")
    return replace(device, signatures=signatures)


def _by_id_names(host: Host) -> dict[str, tuple[str, ...]]:
    """Return each disk's names in /dev/disk/by-id, keyed by kernel name. Empty if udev is not running."""
    argv = ["find", _BY_ID, "-maxdepth", "1", "-type", "l", "-printf", r"%f\t%l\n"]
    listing = host.run(argv, timeout_s=_LIMIT_S, check=False)
    names: dict[str, list[str]] = {}
    for line in lines_of(listing.stdout):
        link, _, target = line.partition("\t")
        names.setdefault(target.rpartition("/")[2], []).append(link)
    return {kernel: tuple(sorted(links)) for kernel, links in names.items()}


def _device(row: dict[str, Any], by_id: Mapping[str, tuple[str, ...]]) -> BlockFacts:
    name = _text(row, "kname") or _text(row, "name")
    return BlockFacts(
        name=name,
        path=_text(row, "path") or f"/dev/{name}",
        size_bytes=int(row.get("size") or 0),
        kind=_text(row, "type"),
        number=_text(row, "maj:min"),
        model=_text(row, "model"),
        serial=_text(row, "serial"),
        wwn=_text(row, "wwn"),
        rotational=_flag(row, "rota"),
        read_only=_flag(row, "ro"),
        file_system=_text(row, "fstype"),
        label=_text(row, "label"),
        partition_table=_text(row, "pttype"),
        mount_points=tuple(filter(None, row.get("mountpoints") or [row.get("mountpoint")])),  # util-linux before 2.37
        by_id=by_id.get(name, ()),
        children=tuple(_device(child, by_id) for child in row.get("children", ())),
    )


def _text(row: dict[str, Any], key: str) -> str:
    return str(row.get(key) or "").strip()


def _flag(row: dict[str, Any], key: str) -> bool:
    return row.get(key) in (True, "1", 1)
