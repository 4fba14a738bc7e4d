"""Names and steps that several layers use: kernel names, wiping signatures, encryption keys."""

import hashlib
from collections.abc import Iterable, Sequence

from poolproof.devices.model import Site
from poolproof.steps import Step
from poolproof.undos import UndoTree

_HASH_DIGITS = 8
# With `excl`, dd does not write to an existing file or through a link, which any user can put in /dev/shm.
_MAKE_KEY = 'umask 077 && dd if=/dev/urandom of="$0" bs=32 count=1 conv=excl status=none'


def kernel_name(site: Site, name: str, *, longest: int) -> str:
    """Return `poolproof-LABEL-NAME`: a name for a pool, mapping, array or volume group that is unique to the run.

    If this exceeds `longest` characters, NAME is replaced with a hash.
    """
    full = f"poolproof-{site.label}-{name}"
    if len(full) <= longest:
        return full
    return f"poolproof-{site.label}-{hashlib.sha256(name.encode()).hexdigest()[:_HASH_DIGITS]}"


def signature_uuid(site: Site, name: str) -> str:
    """Return a UUID for a signature that has no label. It begins with the run's label.

    After a crash, `poolproof clean` erases the signature only if it has such a UUID (`devices/disk.py`).
    """
    rest = hashlib.sha256(f"{site.label} {name}".encode()).hexdigest()
    return f"{site.label}-{rest[:4]}-4{rest[4:7]}-8{rest[7:10]}-{rest[10:22]}"


def long_options(pairs: Iterable[tuple[str, str]]) -> list[str]:
    """Return the key-value pairs as a flat list of command-line arguments: `--key`, `value`."""
    return [part for key, value in pairs for part in (f"--{key}", value)]


def wipe(devices: Sequence[str]) -> Step:
    """Return the step that wipes all known signatures, so that no tool finds an earlier technology on the devices."""
    title = f"wipe old signatures from {', '.join(devices)}"
    return Step(title, ("wipefs", "-a", "-q", *devices), overwrites=tuple(devices))


def key_path(site: Site, name: str) -> str:
    """Return the path for the key file of an encrypted layer. The file is in RAM, next to the run's directory."""
    return f"{site.ram_dir}.{name}.key"


def make_key(path: str) -> Step:
    """Return the step that creates a random 32-byte key in the host's RAM. The undo deletes the key.

    Only root can read the key. It is generated on the host, so it never appears on a command line, in the journal or in
    the output of `--dry-run`.
    """
    return Step(f"create the key {path}", ("sh", "-c", _MAKE_KEY, path), undo=UndoTree(path))
