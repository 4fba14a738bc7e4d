"""What the user's flags say about the machine, as a Target. Nothing is guessed."""

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from poolproof.errors import UsageError
from poolproof.evidence.model import Target, ZfsFacts
from poolproof.foreign.audit.stated_disks import Devices, parse_devices
from poolproof.layers.catalogue import compressed_unit_bytes
from poolproof.units import parse_size

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
"""The names that kernels give to file systems (Documentation/filesystems, `man 5 filesystems`)."""

_LONGEST_NAME = 30
_NOT_COMPRESSED = ("off", "none", "no", "0")


@dataclass(frozen=True)
class Context:
    """The parsed flags; None if a flag was not given. `compression` is "" if compression is off."""

    file_system: str | None = None
    zfs: ZfsFacts | None = None
    ram_bytes: int | None = None
    record_bytes: int | None = None
    compression: str | None = None
    devices: Devices | None = None

    @property
    def is_empty(self) -> bool:
        """True if no flag was given."""
        return self == Context()


def read_context(
    *,
    fs: str | None = None,
    ram: str | None = None,
    recordsize: str | None = None,
    compression: str | None = None,
    devices: Sequence[str] = (),
) -> Context:
    """Parse the flags `--fs zfs-2.2 --ram 64G --recordsize 128k --compression lz4 --devices "3x nvme 3.2GB/s"`.

    Raises:
        UsageError: a flag has an invalid value.
    """
    name, zfs = _file_system(fs)
    return Context(
        file_system=name,
        zfs=zfs,
        ram_bytes=_size("--ram", ram),
        record_bytes=_size("--recordsize", recordsize),
        compression="" if compression in _NOT_COMPRESSED else compression,
        devices=parse_devices(devices) if devices else None,
    )


def target_of(context: Context, found: Target | None = None) -> Target | None:
    """Return what was found on the host, overridden by the flags; None if both are empty.

    `--fs` means a different target, so it discards everything that was found.
    """
    if context.is_empty:
        return found
    base = _named(context) if context.file_system is not None or found is None else found
    compression = base.compression if context.compression is None else context.compression or None
    record = context.record_bytes or base.record_bytes
    if record is None and compression:
        record = compressed_unit_bytes(base.file_system)
    target = replace(base, ram_bytes=context.ram_bytes or base.ram_bytes, compression=compression, record_bytes=record)
    return _on_devices(target, context.devices) if context.devices else target


def _named(context: Context) -> Target:
    name = context.file_system or ""
    return Target(file_system=name, zfs=context.zfs, volatile=name in _IN_RAM)


def _on_devices(target: Target, devices: Devices) -> Target:
    return replace(
        target,
        disks=devices.disks,
        rotational=devices.rotational,
        zoned=devices.shingled or target.zoned,
        ceiling_read_bytes_per_s=devices.ceiling_bytes_per_s,
        ceiling_write_bytes_per_s=devices.ceiling_bytes_per_s,
    )


def _file_system(text: str | None) -> tuple[str | None, ZfsFacts | None]:
    """Return the kernel's file system name and the ZFS version, from `zfs-2.2`, `zvol-2.3.1`, `ext4`, `mergerfs`."""
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


def _size(flag: str, text: str | None) -> int | None:
    if text is None:
        return None
    try:
        size_bytes = parse_size(text)
    except ValueError:
        raise UsageError(f"{flag}: {text!r} is not a size", f"use a size such as {flag} 64G") from None
    if size_bytes <= 0:
        raise UsageError(f"{flag}: {text} is not a positive size", f"use a size such as {flag} 64G")
    return size_bytes
