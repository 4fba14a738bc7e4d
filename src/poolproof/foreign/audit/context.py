"""The storage target, as described by the user's options. Anything that they leave out is unknown, not guessed."""

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from poolproof.errors import UsageError
from poolproof.evidence.target_facts import Target, ZfsFacts
from poolproof.layers.layer_catalogue import compressed_unit_bytes
from poolproof.units import format_size, parse_size

_ZFS = re.compile(r"^(?P<kind>openzfs|zfs|zvol)(?:[-/ ]?(?P<version>\d+\.\d+\S*))?$")
_IN_RAM = ("tmpfs", "ramfs", "devtmpfs")
_FUSE = {"mergerfs": "fuse.mergerfs", "autotier": "fuse.autotier", "sshfs": "fuse.sshfs"}
_KNOWN = frozenset(
    {
        "9p", "afs", "apfs", "autofs", "bcachefs", "beegfs", "btrfs", "ceph", "cifs", "devtmpfs", "ecryptfs", "erofs",
        "exfat", "ext2", "ext3", "ext4", "f2fs", "fuse", "fuseblk", "gfs2", "gpfs", "hfs", "hfsplus", "hugetlbfs",
        "iso9660", "jffs2", "jfs", "lustre", "minix", "msdos", "nfs", "nfs3", "nfs4", "nilfs2", "ntfs", "ntfs3",
        "ocfs2", "orangefs", "overlay", "ramfs", "refs", "reiserfs", "smb3", "smbfs", "squashfs", "tmpfs",
        "ubifs", "udf", "ufs", "vboxsf", "vfat", "virtiofs", "wekafs", "xfs", "zonefs", *_FUSE,
    }
)  # fmt: skip
"""The names of file systems, as kernels use them (Documentation/filesystems, `man 5 filesystems`)."""

_LONGEST_NAME = 30
_LEAST_RAM_BYTES = 16 * 1024**2  # no machine has less; a size without a unit, such as `64`, is in bytes
_NOT_COMPRESSED = ("off", "none", "no", "0")
_DISKS = re.compile(
    r"^(?:(?P<count>\d{1,6})\s*+(?:[x×*]\s*+|(?=[a-z])))?(?P<kind>[a-z][\w-]*)?"
    r"(?:\s*+[@:]?\s*+(?P<rate>\d{1,12}(?:\.\d+)?)\s*(?P<unit>[kmgt]i?b)(?:/s|ps)?)?$"
)
_CEILINGS = {
    "hdd": 560e6, "smr": 560e6, "ssd": 600e6, "sata": 600e6, "sata-ssd": 600e6, "sas": 4.8e9, "sas-ssd": 4.8e9,
    "nvme": 15.754e9, "nvme3": 3.938e9, "nvme4": 7.877e9, "nvme5": 15.754e9,
}  # fmt: skip
"""The maximum rate of a single disk of each kind, in bytes per second.

The limit of an NVMe disk is that of its four PCIe lanes after encoding: PCIe 4 lanes for `nvme4`, for example. The
limit of `hdd` allows for disks with two actuators, which reach 554 MB/s. The limit of `sas` includes both ports of a
SAS-4 disk.
"""

_ROTATIONAL = ("hdd", "smr")
_DEVICES_HINT = 'use, for example, --devices "3x nvme 3.2GB/s"'


@dataclass(frozen=True)
class Devices:
    """The disks that `--devices` describes, taken together.

    `ceiling_bytes_per_s`: the highest rate that all the disks together can reach.
    `rotational`: True if every disk is rotational, or None if any disk's kind is unknown.
    `shingled`: True if at least one disk is an SMR disk. The kernel cannot recognize drive-managed SMR, so the user has
    to say so.
    """

    disks: int
    ceiling_bytes_per_s: float
    rotational: bool | None
    shingled: bool = False


@dataclass(frozen=True)
class Context:
    """The parsed options that describe the target, with None for each option that was not given.

    `compression`: an empty string if compression is off.
    `cold`: False if the results are meant to include the effect of RAM.
    """

    file_system: str | None = None
    zfs: ZfsFacts | None = None
    ram_bytes: int | None = None
    record_bytes: int | None = None
    compression: str | None = None
    devices: Devices | None = None
    cold: bool = True


def read_context(
    *,
    fs: str | None = None,
    ram: str | None = None,
    recordsize: str | None = None,
    compression: str | None = None,
    devices: Sequence[str] = (),
    cold: bool = True,
) -> Context:
    """Parse the options that describe the target, e.g. `--fs zfs-2.2 --ram 64G --devices "3x nvme 3.2GB/s"`.

    Raises a UsageError if an option has an invalid value.
    """
    name, zfs = _file_system(fs)
    return Context(
        file_system=name,
        zfs=zfs,
        ram_bytes=_size("--ram", ram),
        record_bytes=_size("--recordsize", recordsize),
        compression="" if compression in _NOT_COMPRESSED else compression,
        devices=parse_devices(devices) if devices else None,
        cold=cold,
    )


def target_of(context: Context, found: Target | None = None) -> Target | None:
    """Return the target found on the host, with the user's options taking precedence.

    With `--fs`, the user describes a different target, so the target found on the host is ignored. None if nothing was
    found and the user gave no option.
    """
    if context == Context(cold=context.cold):
        return found
    if context.file_system is not None or found is None:
        name = context.file_system or ""
        found = Target(file_system=name, zfs=context.zfs, volatile=name in _IN_RAM)
    compression = found.compression if context.compression is None else context.compression or None
    record = context.record_bytes or found.record_bytes
    if record is None and compression:
        record = compressed_unit_bytes(found.file_system)
    target = replace(
        found, ram_bytes=context.ram_bytes or found.ram_bytes, compression=compression, record_bytes=record
    )
    devices = context.devices
    if devices is None:
        return target
    return replace(
        target,
        disks=devices.disks,
        rotational=devices.rotational,
        zoned=devices.shingled or target.zoned,
        ceiling_read_bytes_per_s=devices.ceiling_bytes_per_s,
        ceiling_write_bytes_per_s=devices.ceiling_bytes_per_s,
    )


def parse_devices(texts: Sequence[str]) -> Devices:
    """Parse the values of all `--devices` options, e.g. `3x nvme 3.2GB/s, 14x hdd`.

    A disk given without a rate gets the maximum rate of its kind. Raises a UsageError if a value cannot be parsed.
    """
    parts = [part.strip().lower() for text in texts for part in re.split(r"[,+;]", text) if part.strip()]
    each = [_disks(part) for part in parts]
    if not each:
        raise UsageError("--devices: no disk given", _DEVICES_HINT)
    rotational = [devices.rotational for devices in each]
    return Devices(
        disks=sum(devices.disks for devices in each),
        ceiling_bytes_per_s=sum(devices.ceiling_bytes_per_s for devices in each),
        rotational=None if None in rotational else all(rotational),
        shingled=any(devices.shingled for devices in each),
    )


def _disks(part: str) -> Devices:
    found = _DISKS.match(part)
    kind = found["kind"] if found else None
    if found is None or (kind is not None and kind not in _CEILINGS) or (kind is None and found["rate"] is None):
        raise UsageError(f"--devices: cannot parse {part!r}", f"{_DEVICES_HINT}; the kinds are {', '.join(_CEILINGS)}")
    count = int(found["count"] or 1)
    if found["rate"]:
        base = 1024 if "i" in found["unit"] else 1000
        rate = float(found["rate"]) * float(base ** (1 + "kmgt".index(found["unit"][0])))
    else:
        rate = _CEILINGS[kind or ""]
    return Devices(count, count * rate, None if kind is None else kind in _ROTATIONAL, kind == "smr")


def _file_system(text: str | None) -> tuple[str | None, ZfsFacts | None]:
    """Parse a file system such as `zfs-2.2`, `zvol-2.3.1` or `ext4`.

    Return the kernel's name for the file system and, for ZFS, a `ZfsFacts` with its version. Both are None without
    `text`. Raises a UsageError if the file system is unknown.
    """
    if text is None:
        return None, None
    word = text.strip().lower()
    found = _ZFS.match(word)
    if found is not None:
        is_zvol = found["kind"] == "zvol"
        return "zvol" if is_zvol else "zfs", ZfsFacts(version=found["version"], is_zvol=is_zvol)
    if word not in _KNOWN and not re.fullmatch(r"fuse\.[a-z0-9][\w.-]*", word):
        near = difflib.get_close_matches(word.partition("-")[0][:_LONGEST_NAME], sorted(_KNOWN | {"zfs", "zvol"}), n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise UsageError(
            f"--fs: {text!r} is not a known file system",
            f"{hint}use a name such as zfs-2.2, zvol-2.3, ext4, btrfs or nfs4",
        )
    return _FUSE.get(word, word), None


def _size(option: str, text: str | None) -> int | None:
    if text is None:
        return None
    hint = f"use a size such as {option} 64G"
    try:
        size_bytes = parse_size(text)
    except ValueError:
        raise UsageError(f"{option}: {text!r} is not a size", hint) from None
    if size_bytes <= 0:
        raise UsageError(f"{option}: {text} is not a positive size", hint)
    if option == "--ram" and size_bytes < _LEAST_RAM_BYTES:
        raise UsageError(f"{option}: {text} is only {format_size(size_bytes)}", hint)
    return size_bytes
