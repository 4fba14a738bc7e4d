"""What stands at the paths that jobs name, asked of the host on which they would run."""

from collections.abc import Sequence
from dataclasses import dataclass

from poolproof.hosts.base import Host

_LIMIT_S = 20.0
_DEVICES = "/dev"
_BLOCK = "block special file"
_REGULAR = ("regular file", "regular empty file", "directory")
STANDING = (
    'for path in "$1" "$(dirname -- "$1")"; do '
    '[ -e "$path" ] && { stat -L --format=%F -- "$path"; realpath -- "$path"; exit 0; }; '
    "done; true"
)
"""A shell script: kind and real path of what is there, the path itself or else its directory; nothing for neither."""

FILES = 'for path; do [ -f "$path" ] && printf "%s\\\\0" "$path"; done; true'
"""A shell script: those of its arguments that are files, each with a zero byte after it."""


@dataclass(frozen=True)
class PathTarget:
    """A file, a directory or a block device by its absolute path without links."""

    path: str
    is_block: bool = False


def standing(host: Host, path: str) -> PathTarget | None:
    """What is at the path, or else its directory; None where neither is there, or no disk is behind it.

    A relative path counts from where the host starts commands: here the working directory, over SSH the user's home.

    Raises:
        CommandError: the host does not answer.
    """
    said = host.run(["sh", "-c", STANDING, "sh", path], timeout_s=_LIMIT_S).stdout
    kind, _, real = said.removesuffix("\n").partition("\n")
    if kind == _BLOCK:
        return PathTarget(real, is_block=True)
    # A disk that is not here is not the file that fio would make in its place.
    return PathTarget(real) if kind in _REGULAR and not _is_among_devices(real) else None


def files_there(host: Host, paths: Sequence[str]) -> tuple[str, ...]:
    """Those of the paths that are regular files.

    Raises:
        CommandError: the host does not answer.
    """
    if not paths:
        return ()
    said = host.run(["sh", "-c", FILES, "sh", *paths], timeout_s=_LIMIT_S).stdout
    return tuple(path for path in said.split("\0") if path)


def _is_among_devices(real: str) -> bool:
    """In /dev itself or a folder of links in it; /dev/shm and /dev/hugepages are file systems of their own."""
    return real == _DEVICES or real.startswith((f"{_DEVICES}/disk", f"{_DEVICES}/mapper", f"{_DEVICES}/zvol"))
