"""Mounting and unmounting, as steps.

Mount options stay at the kernel's and the program's defaults unless the layout says otherwise: `relatime` too.
"""

from collections.abc import Sequence

from poolproof.devices.model import Site
from poolproof.steps import Step, UndoTree, unmount

_UNMOUNT_LIMIT_S = 300.0

# A program that has just ended may hold the mount for a moment: FUSE releases files after close() has returned.
_PATIENTLY = 'n=0; until umount "$0"; do n=$((n + 1)); [ "$n" -lt 50 ] || exit 1; sleep 0.1; done'


def mount_point(site: Site, name: str) -> str:
    return f"{site.mount_dir}/{name}"


def make_mount_point(point: str) -> Step:
    return Step(f"make the mount point {point}", ("mkdir", "-p", point), undo=UndoTree(point))


def mount(kind: str, source: str, point: str, options: Sequence[str]) -> Step:
    """Mount a kernel file system."""
    chosen = ("-o", ",".join(options)) if options else ()
    return Step(f"mount {kind} on {point}", ("mount", "-t", kind, *chosen, source, point), undo=unmount(point))


def close_mount(point: str) -> Step:
    """Unmount; tries for 5 s while something still holds the mount."""
    return Step(f"unmount {point}", ("sh", "-c", _PATIENTLY, point), timeout_s=_UNMOUNT_LIMIT_S)
