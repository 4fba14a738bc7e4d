"""Names and steps that several layers share: kernel names, mounting, wiping signatures, encryption keys.

Mount options keep the defaults of the kernel and of the program unless the layout sets them, `relatime` included.
"""

import hashlib
from collections.abc import Sequence

from poolproof.devices.model import Site
from poolproof.steps import LET_GO_S, Step, UndoTree, unmount

_HASH_DIGITS = 8
_UNMOUNT_LIMIT_S = 300.0
_MAKE_KEY = 'umask 077 && head -c 32 /dev/urandom >"$0"'


def kernel_name(site: Site, name: str, *, longest: int) -> str:
    """Return `poolproof-LABEL-NAME`, the name of a pool, mapping, array or volume group; unique to the run.

    If it would be longer than `longest`, a hash replaces NAME.
    """
    whole = f"poolproof-{site.label}-{name}"
    if len(whole) <= longest:
        return whole
    return f"poolproof-{site.label}-{hashlib.sha256(name.encode()).hexdigest()[:_HASH_DIGITS]}"


def mount_point(site: Site, name: str) -> str:
    """Return the directory where the layer of that name is mounted."""
    return f"{site.mount_dir}/{name}"


def make_mount_point(point: str) -> Step:
    """Make the directory to mount on; the undo removes it, unless something is mounted there."""
    return Step(f"make the mount point {point}", ("mkdir", "-p", point), undo=UndoTree(point))


def mount(kind: str, source: str, point: str, options: Sequence[str]) -> Step:
    """Mount a kernel file system."""
    chosen = ("-o", ",".join(options)) if options else ()
    return Step(f"mount {kind} on {point}", ("mount", "-t", kind, *chosen, source, point), undo=unmount(point))


def close_mount(point: str) -> Step:
    """Unmount; retried for 5 s while the mount is busy."""
    return Step(f"unmount {point}", ("umount", point), timeout_s=_UNMOUNT_LIMIT_S, patience_s=LET_GO_S)


def wipe(devices: Sequence[str]) -> Step:
    """Wipe all signatures that wipefs knows, so that no technology detects the remains of another."""
    return Step(
        f"wipe old signatures from {', '.join(devices)}",
        ("wipefs", "-a", "-q", *devices),
        overwrites=tuple(devices),
    )


def key_path(site: Site, name: str) -> str:
    """Return the key file of an encrypted layer, next to the run's directory in RAM."""
    return f"{site.ram_dir}.{name}.key"


def make_key(path: str) -> Step:
    """Make a key of 32 random bytes in RAM, on the host, readable only by root.

    So it appears on no command line, in no journal and in no output of `--dry-run`, and planning is a pure function.
    The undo deletes it: nothing that it unlocks is ever opened again.
    """
    return Step(f"make the key {path}", ("sh", "-c", _MAKE_KEY, path), undo=UndoTree(path))
