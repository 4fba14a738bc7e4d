"""The guard: a real disk may be overwritten only if it is free, empty and permitted by its identity."""

from poolproof.errors import GuardError
from poolproof.facts.block import BlockFacts

_SWAP = "[SWAP]"


def check_disk(disk: BlockFacts, permitted: frozenset[str]) -> None:
    """Check that the disk may be overwritten; `permitted` has the identities given with `--wipe`.

    A disk that is in use or not empty is always refused.

    Raises:
        GuardError: the disk may not be overwritten; the error says why, and what to type next.
    """
    _refuse_used(disk)
    _refuse_unpermitted(disk, permitted)


def refusal(disk: BlockFacts) -> GuardError | None:
    """Return the error for a disk that would be refused even if permitted; None if it is free and empty."""
    try:
        _refuse_used(disk)
    except GuardError as error:
        return error
    return None


def state(disk: BlockFacts) -> str:
    """Return the state of the disk in a few words: `free and empty`, `mounted at /srv/media: /dev/sda1`."""
    refused = refusal(disk)
    return (
        "free and empty" if refused is None else refused.message.removeprefix(f"{_called(disk)} ").removeprefix("is ")
    )


def _refuse_used(disk: BlockFacts) -> None:
    _refuse_unless_disk(disk)
    for device in disk.tree():
        _refuse_mounted(disk, device)
        _refuse_held(disk, device)
    _refuse_content(disk)


def _refuse_unless_disk(disk: BlockFacts) -> None:
    if disk.kind != "disk":
        raise GuardError(f"{_called(disk)} is not a whole disk but a {disk.kind}", "poolproof devices")
    if disk.read_only:
        raise GuardError(f"{_called(disk)} is read-only", f"blockdev --report {disk.path}")


def _refuse_mounted(disk: BlockFacts, device: BlockFacts) -> None:
    for point in device.mount_points:
        where = "" if device is disk else f": {device.path}"
        if point == _SWAP:
            raise GuardError(f"{_called(disk)} is in use as swap{where}", f"swapoff {device.path}")
        raise GuardError(f"{_called(disk)} is mounted at {point}{where}", f"umount {point}")


def _refuse_held(disk: BlockFacts, device: BlockFacts) -> None:
    """Refuse a disk that a mapping uses, directly or through a partition."""
    if device is disk or device.kind == "part":
        return
    if device.kind.startswith("raid") or device.kind == "linear":
        raise GuardError(f"{_called(disk)} is a member of the array {device.path}", f"mdadm --stop {device.path}")
    if device.kind == "lvm":
        raise GuardError(f"{_called(disk)} holds the logical volume {device.path}", f"lvchange -an {device.path}")
    if device.kind == "crypt":
        raise GuardError(f"{_called(disk)} is open as {device.path}", f"cryptsetup close {device.path}")
    raise GuardError(f"{_called(disk)} is held by {device.path} ({device.kind})", f"lsblk {disk.path}")


def _refuse_content(disk: BlockFacts) -> None:
    for device in disk.tree():
        if device.file_system == "zfs_member":
            pool = device.label or "its pool"
            raise GuardError(
                f"{_called(disk)} is a member of the ZFS pool {pool}",
                f"zpool export {device.label or 'POOL'}; if its data can be deleted: zpool labelclear {device.path}",
            )
    if disk.children:
        names = ", ".join(child.path for child in disk.children)
        raise GuardError(f"{_called(disk)} has partitions: {names}", _erase(disk))
    if disk.signatures is None:
        raise GuardError(f"{_called(disk)} has not been checked for signatures", f"sudo wipefs --no-act {disk.path}")
    held = disk.signatures or tuple(text for text in (disk.file_system, disk.partition_table) if text)
    if held:
        raise GuardError(f"{_called(disk)} is not empty: it contains {', '.join(held)}", _erase(disk))


def _refuse_unpermitted(disk: BlockFacts, permitted: frozenset[str]) -> None:
    if not permitted.intersection(disk.identities):
        raise GuardError(
            f"{_called(disk)} would be overwritten, which is not permitted",
            f"poolproof run … --wipe {disk.identity}",
        )


def _erase(disk: BlockFacts) -> str:
    paths = " ".join(device.path for device in (*disk.children, disk))
    return f"to see what it contains: lsblk -f {disk.path}; if its data can be deleted: wipefs --all {paths}"


def _called(disk: BlockFacts) -> str:
    return f"{disk.identity or disk.name} ({disk.path})"
