"""The target of a job as a user states it: `--fs zfs-2.2 --ram 64G --recordsize 128k --compression lz4 --devices …`."""

from collections.abc import Sequence
from dataclasses import dataclass

from poolproof.errors import UsageError
from poolproof.evidence.ceilings import Ceiling, Disks, ceiling_of, parse_disks
from poolproof.evidence.model import Target, Zfs
from poolproof.units import parse_size

UNKNOWN = "unknown"
"""The file system of a target of which something is known, but not that."""

_IN_RAM = ("tmpfs", "ramfs")
_ZFS = ("zfs", "zvol")
_BTRFS_COMPRESSED_EXTENT_BYTES = 128 * 1024
_NOT_COMPRESSED = ("", "off", "none", "no")


@dataclass(frozen=True)
class Stated:
    """What the flags said. `ceiling` is that of `disks`; a record size or RAM that was not named is None."""

    file_system: str | None = None
    version: str | None = None
    ram_bytes: int | None = None
    record_bytes: int | None = None
    compression: str | None = None
    disks: tuple[Disks, ...] = ()

    @property
    def ceiling(self) -> Ceiling:
        return ceiling_of(self.disks)

    @property
    def is_anything(self) -> bool:
        return self != Stated()


def stated(
    fs: str | None = None,
    ram: str | None = None,
    recordsize: str | None = None,
    compression: str | None = None,
    devices: Sequence[str] = (),
) -> Stated:
    """The flags as values.

    Raises:
        UsageError: one of them cannot be read; says how it is written.
    """
    name, _, version = (fs or "").strip().lower().partition("-")
    return Stated(
        file_system=name or None,
        version=version or None,
        ram_bytes=_size("--ram", ram),
        record_bytes=_size("--recordsize", recordsize),
        compression=compression,
        disks=tuple(disk for text in devices for disk in _disks(text)),
    )


def target_of(said: Stated) -> Target | None:
    """What the rules want to know of a target, as far as it was said; None when nothing was."""
    if not said.is_anything:
        return None
    name = said.file_system or UNKNOWN
    is_compressed = (said.compression or "").lower() not in _NOT_COMPRESSED
    implied = _BTRFS_COMPRESSED_EXTENT_BYTES if name == "btrfs" and is_compressed else None
    return Target(
        file_system=name,
        ram_bytes=said.ram_bytes,
        volatile=name in _IN_RAM,
        compression=said.compression if is_compressed else None,
        record_bytes=said.record_bytes or implied,
        zfs=Zfs(version=said.version, is_zvol=name == "zvol") if name in _ZFS else None,
        rotational=_all_turn(said.disks),
        disks=sum(group.count for group in said.disks) or None,
        ceiling_read_bytes_per_s=said.ceiling.read_bytes_per_s,
        ceiling_write_bytes_per_s=said.ceiling.write_bytes_per_s,
    )


def _all_turn(disks: Sequence[Disks]) -> bool | None:
    turns = [group.rotational for group in disks]
    return None if not turns or None in turns else all(turns)


def _size(flag: str, text: str | None) -> int | None:
    try:
        return None if text is None else parse_size(text)
    except ValueError as error:
        raise UsageError(f"{flag}: {error}") from None


def _disks(text: str) -> tuple[Disks, ...]:
    try:
        return parse_disks(text)
    except ValueError as error:
        raise UsageError(f"--devices: {error}") from None
