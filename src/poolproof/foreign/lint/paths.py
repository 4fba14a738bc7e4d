"""Look up the paths that jobs name, on the host that would run them."""

from collections.abc import Sequence
from dataclasses import dataclass

from poolproof.hosts.base import Host

_LIMIT_S = 20.0
_DEVICES = "/dev"
_BLOCK = "block special file"
_REGULAR = ("regular file", "regular empty file", "directory")
TARGET_AT = (
    'for path in "$1" "$(dirname -- "$1")"; do '
    '[ -e "$path" ] && { stat -L --format=%F -- "$path"; realpath -- "$path"; exit 0; }; '
    "done; true"
)
"""A shell script: prints the type and real path of the path, or else of its directory; nothing if neither exists."""

FILES = 'for path; do [ -f "$path" ] && printf "%s\\\\0" "$path"; done; true'
"""A shell script: prints the arguments that are regular files, each followed by a zero byte."""


@dataclass(frozen=True)
class PathTarget:
    """A file, directory or block device. `path` is absolute, with symbolic links resolved."""

    path: str
    is_block: bool = False


def target_at(host: Host, path: str) -> PathTarget | None:
    """Return what exists at the path, or else its directory; None if neither exists, or if no disk backs it.

    A relative path starts where the host starts commands: the working directory here, the user's home over SSH.

    Raises:
        CommandError: the host does not answer.
    """
    printed = host.run(["sh", "-c", TARGET_AT, "sh", path], timeout_s=_LIMIT_S).stdout
    kind, _, real = printed.removesuffix("\n").partition("\n")
    if kind == _BLOCK:
        return PathTarget(real, is_block=True)
    # The path of a missing disk is not a target, although fio would create a file there.
    return PathTarget(real) if kind in _REGULAR and not _is_device_folder(real) else None


def existing_files(host: Host, paths: Sequence[str]) -> tuple[str, ...]:
    """Return the paths that are regular files.

    Raises:
        CommandError: the host does not answer.
    """
    if not paths:
        return ()
    printed = host.run(["sh", "-c", FILES, "sh", *paths], timeout_s=_LIMIT_S).stdout
    return tuple(path for path in printed.split("\0") if path)


def _is_device_folder(real: str) -> bool:
    """True for /dev itself and its folders of links; /dev/shm and /dev/hugepages are separate file systems."""
    return real == _DEVICES or real.startswith((f"{_DEVICES}/disk", f"{_DEVICES}/mapper", f"{_DEVICES}/zvol"))
