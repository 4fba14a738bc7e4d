"""The guard. It permits overwriting a real disk only if the disk is free and empty and `--wipe` names its identity."""

from collections.abc import Iterable, Sequence

from poolproof.errors import GuardError, as_word
from poolproof.facts.block import BlockFacts
from poolproof.steps import path_on

_SWAP = "[SWAP]"
_BY_ID = "/dev/disk/by-id/"


_USES = {
    "lvm": ("contains the logical volume", "lvchange -an"),
    "crypt": ("is open as", "cryptsetup close"),
    "raid": ("is a member of the array", "mdadm --stop"),
    "linear": ("is a member of the array", "mdadm --stop"),
}


class NotNamed(GuardError):
    """The disk is free and empty, but `--wipe` does not name it.

    `disk`: the disk's identity and path, for messages.
    `name`: the name that `--wipe` needs.
    """

    def __init__(self, where: str, disk: str, name: str) -> None:
        self.disk, self.name = disk, name
        super().__init__(f"{where}{disk} would be overwritten, but --wipe does not name it", f"add {_flags([name])}")


def check_named(refused: Sequence[NotNamed]) -> None:
    """Raise a GuardError that lists all of these disks, if there are any."""
    if len(refused) > 1:
        disks = ", ".join(each.disk for each in refused)
        raise GuardError(
            f"{disks} would be overwritten, but --wipe does not name them",
            f"add {_flags(each.name for each in refused)}",
        )
    if refused:
        raise refused[0]


def bare_identity(identity: str) -> str:
    """Return the identity in the form used for comparison: in lower case and without `/dev/disk/by-id/`.

    `identity`: may start with the name of another host: `nas2:/dev/disk/by-id/NAME`.
    """
    return identity.replace(_BY_ID, "", 1).lower()


def check_disk(disk: BlockFacts, permitted: frozenset[str], host: str = "", disks: Iterable[BlockFacts] = ()) -> None:
    """Check that the disk may be overwritten. A disk that is in use or not empty is always refused.

    `permitted`: the identities given with `--wipe`. For a disk on another host, they start with that host's name:
    `nas2:V1G0DDDD`.
    `host`: the name of the disk's host, or "" for the main host.
    `disks`: all disks of this host. An identity that another disk also has does not permit anything. Some USB adapters
    give the same serial number to each of their disks, so whoever named it may have meant the other disk.

    Raises a GuardError that gives the reason for the refusal and what to do next. It is a NotNamed if only `--wipe` is
    missing.
    """
    where = f"on {host}: " if host else ""
    refused = refusal(disk)
    if refused is not None:
        raise GuardError(f"{where}{refused.message}", refused.hint)
    if not disk.identities:
        raise GuardError(
            f"{where}{_label(disk)} has no by-id name, serial number or WWN, so it cannot be specified with --wipe",
            "use another disk, or give this one a serial number",
        )
    shared = {bare_identity(identity) for other in disks if other.name != disk.name for identity in other.identities}
    unique = [identity for identity in disk.identities if bare_identity(identity) not in shared]
    if not unique:
        raise GuardError(
            f"{where}{_label(disk)} cannot be specified with --wipe, because another disk has the same serial number",
            "disconnect the other disk; to list all disks: poolproof devices",
        )
    if (twin := _second_path(disk, disks)) is not None:
        raise GuardError(
            f"{where}{_label(disk)} is also {twin.path} (same serial number, WWN and size), and a program may use it "
            "through that path",
            "set up multipath, and use another disk",
        )
    named = {bare_identity(identity) for identity in permitted}
    if not named.intersection(bare_identity(path_on(host, identity)) for identity in unique):
        raise NotNamed(where, _label(disk), path_on(host, unique[0]))


def _flags(names: Iterable[str]) -> str:
    return " ".join(f"--wipe {as_word(name)}" for name in names)


def _second_path(disk: BlockFacts, disks: Iterable[BlockFacts]) -> BlockFacts | None:
    """Return another path to the same disk, as in a storage network without multipathd, or None."""
    same = (disk.serial, disk.wwn, disk.size_bytes)
    others = (other for other in disks if other.name != disk.name)
    return next((other for other in others if all(same) and (other.serial, other.wwn, other.size_bytes) == same), None)


def refusal(disk: BlockFacts) -> GuardError | None:
    """Return the error for a disk that is refused even if `--wipe` names it, or None if the disk is free and empty."""
    message, hint = _obstacle(disk)
    return GuardError(f"{_label(disk)} {message}", hint) if message else None


def known_refusal(disk: BlockFacts) -> GuardError | None:
    """Return the error for a disk if what lsblk shows is enough to refuse it, otherwise None.

    The disk's contents do not need to be examined for this.
    """
    if disk.kind == "disk" and not disk.read_only and not _content(disk)[0]:
        return None
    return refusal(disk)


def state(disk: BlockFacts) -> str:
    """Describe the disk's state in a few words, such as `free and empty` or `mounted at /srv/media`."""
    return _obstacle(disk)[0].removeprefix("is ") or "free and empty"


def found_on(device: BlockFacts) -> str:
    """Describe the contents or the use of a block device, e.g. "is mounted at /". Empty if it has neither."""
    return _content(device)[0]


def _obstacle(disk: BlockFacts) -> tuple[str, str]:
    """Return the reason for refusing the disk and the command to run next. Both are empty if it is free and empty."""
    if disk.kind != "disk":
        return f"is not a whole disk: its type is {disk.kind}", "poolproof devices"
    if disk.read_only:
        return "is read-only", f"blockdev --report {disk.path}"
    if (found := _content(disk))[0] or disk.signatures is not None:
        return found
    return "has not been checked for signatures", f"sudo wipefs --no-act {disk.path}"


def _content(disk: BlockFacts) -> tuple[str, str]:
    """Return the disk's contents or use, and the command that erases or releases it. Empty if it has neither."""
    in_use = next((found for device in disk.tree() if (found := _usage(disk, device)) is not None), None)
    if in_use is not None:
        return in_use
    pool = next((device for device in disk.tree() if device.file_system == "zfs_member"), None)
    if pool is not None:
        hint = f"zpool export {as_word(pool.label or 'POOL')}; if its data can be deleted: zpool labelclear {pool.path}"
        return f"is a member of {f'the ZFS pool {pool.label}' if pool.label else 'a ZFS pool'}", hint
    for use in disk.uses:
        return use.what, use.hint
    if disk.children:
        return f"has partitions: {', '.join(child.path for child in disk.children)}", _erase_hint(disk)
    content = disk.signatures or tuple(text for text in (disk.file_system, disk.partition_table) if text)
    return (f"is not empty: it contains {', '.join(content)}", _erase_hint(disk)) if content else ("", "")


def _usage(disk: BlockFacts, device: BlockFacts) -> tuple[str, str] | None:
    """Return how a device is used and the command that releases it, or None if it is not in use.

    `device`: the disk itself, or a device on top of the disk.
    """
    where = "" if device is disk else f": {device.path}"
    point = next(iter(device.mount_points), None)
    if point == _SWAP:
        return f"is in use as swap{where}", f"swapoff {device.path}"
    if point is not None:
        return f"is mounted at {point}{where}", f"umount {as_word(point)}"
    if device is disk or device.kind == "part":
        return None
    kind = "raid" if device.kind.startswith("raid") else device.kind
    if kind in _USES:
        words, command = _USES[kind]
        return f"{words} {device.path}", f"{command} {device.path}"
    return f"is in use by {device.path} ({device.kind})", f"lsblk {disk.path}"


def _erase_hint(disk: BlockFacts) -> str:
    paths = " ".join(device.path for device in (*disk.children, disk))
    return f"to see what it contains: lsblk -f {disk.path}; if its data can be deleted: wipefs --all {paths}"


def _label(disk: BlockFacts) -> str:
    return f"{disk.identity or disk.name} ({disk.path})"
