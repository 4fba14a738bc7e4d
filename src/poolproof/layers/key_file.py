"""The key of an encrypted layer: 32 random bytes that the host makes for itself, in a file in RAM.

So it stands on no command line, in no journal and in no output of `--dry-run`, it never leaves the host, and planning
stays a pure function. It is gone with the layout: what it opens is only ever built anew.
"""

from poolproof.devices.model import Site
from poolproof.steps import Step, UndoTree

_MAKE = 'umask 077 && head -c 32 /dev/urandom >"$0"'


def key_path(site: Site, name: str) -> str:
    """Beside the run's directory in RAM, which stands only where disks are kept in it."""
    return f"{site.ram_dir}.{name}.key"


def make_key(path: str) -> Step:
    """Make the key; only root can read it."""
    return Step(f"make the key {path}", ("sh", "-c", _MAKE, path), undo=UndoTree(path))
