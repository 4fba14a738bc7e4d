"""Names and steps that several layers share: kernel names, wiping signatures, encryption keys."""

import hashlib
from collections.abc import Iterable, Sequence

from poolproof.devices.model import Site
from poolproof.steps import Step, UndoTree

_HASH_DIGITS = 8
_MAKE_KEY = 'umask 077 && head -c 32 /dev/urandom >"$0"'


def kernel_name(site: Site, name: str, *, longest: int) -> str:
    """Return `poolproof-LABEL-NAME`, unique to the run, for a pool, mapping, array or volume group.

    If the name would be longer than `longest`, a hash replaces NAME.
    """
    whole = f"poolproof-{site.label}-{name}"
    if len(whole) <= longest:
        return whole
    return f"poolproof-{site.label}-{hashlib.sha256(name.encode()).hexdigest()[:_HASH_DIGITS]}"


def long_options(pairs: Iterable[tuple[str, str]]) -> list[str]:
    """Return key and value pairs as `--key value` on a command line."""
    return [part for key, value in pairs for part in (f"--{key}", value)]


def wipe(devices: Sequence[str]) -> Step:
    """Wipe all signatures that wipefs knows, so that no technology detects the remains of another."""
    title = f"wipe old signatures from {', '.join(devices)}"
    return Step(title, ("wipefs", "-a", "-q", *devices), overwrites=tuple(devices))


def key_path(site: Site, name: str) -> str:
    """Return the key file of an encrypted layer, next to the run's directory in RAM."""
    return f"{site.ram_dir}.{name}.key"


def make_key(path: str) -> Step:
    """Make a key of 32 random bytes in RAM, on the host, readable only by root. The undo deletes it.

    It appears on no command line, in no journal and in no output of `--dry-run`, and planning stays a pure function.
    """
    return Step(f"make the key {path}", ("sh", "-c", _MAKE_KEY, path), undo=UndoTree(path))
