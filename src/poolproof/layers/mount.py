"""Mounting and unmounting, as steps.

Mount options stay at the kernel's and the program's defaults unless the layout says otherwise: `relatime` too.
"""

from collections.abc import Sequence

from poolproof.devices.model import Site
from poolproof.steps import LET_GO_S, Step, UndoTree, unmount

_UNMOUNT_LIMIT_S = 300.0


def mount_point(site: Site, name: str) -> str:
    """Where the layer of that name is mounted, in the run's own directory."""
    return f"{site.mount_dir}/{name}"


def make_mount_point(point: str) -> Step:
    """Make the directory to mount on; undoing removes it, unless something is mounted there."""
    return Step(f"make the mount point {point}", ("mkdir", "-p", point), undo=UndoTree(point))


def mount(kind: str, source: str, point: str, options: Sequence[str]) -> Step:
    """Mount a kernel file system."""
    chosen = ("-o", ",".join(options)) if options else ()
    return Step(f"mount {kind} on {point}", ("mount", "-t", kind, *chosen, source, point), undo=unmount(point))


def close_mount(point: str) -> Step:
    """Unmount; tries for 5 s while something still holds the mount."""
    return Step(f"unmount {point}", ("umount", point), timeout_s=_UNMOUNT_LIMIT_S, patience_s=LET_GO_S)
