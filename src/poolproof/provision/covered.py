"""Finds mounts of other programs that hide a mount of the run, are inside it or have taken its place.

`umount` removes the topmost mount at a path, no matter who mounted it, and `umount -l` also removes all mounts inside.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from poolproof.errors import as_word
from poolproof.facts.block import decoded_path, parse_mountinfo
from poolproof.hosts.base import Host, lines_of, text_of

_LIMIT_S = 20.0
_SHORTEST = 5  # mount -t TYPE DEVICE POINT
_FUSE = re.compile(r"fuse(\..*)?")  # `fuse` or, with the program's name, such as `fuse.mergerfs`
_SEVERAL = "device="
_IS_SAME = '[ ! -e "$1" ] || [ "$1" -ef "$2" ]'


def covered(point: str, host: Host) -> str | None:
    """Return an error message if something is mounted over the mount at `point` or inside it, otherwise None.

    A mount over another one at the same path has that other mount as its parent. If a parent directory is mounted
    twice, the kernel lists each mount below it twice, with different parents.
    """
    mounts = tuple(_mounts(text_of(host, "/proc/self/mountinfo")))
    own = {each.number for each in mounts if each.point == point}
    if any(each.point == point and each.parent in own for each in mounts):
        return f"something else is mounted over it; if you don't need that: umount {as_word(point)}"
    inside = [each.point for each in mounts if each.point.startswith(f"{point}/")]
    if inside:
        return f"something else is mounted at {inside[-1]}; if you don't need it: umount {as_word(inside[-1])}"
    return None


def replaced(point: str, argv: Sequence[str], host: Host, *, is_fuse: bool) -> str | None:
    """Return an error message if the mount at `point` is not the one that the run made, otherwise None.

    If someone has unmounted the run's file system, another one may be mounted there instead.

    `argv`: the command that mounted the run's file system. If it is `mount`, it shows the type and the block device.
    The device is not compared if the kernel may show another one, because the file system has several, or if it no
    longer exists.
    `is_fuse`: True if the run's file system is a FUSE file system.

    Raises a CommandError if the host does not respond.
    """
    here = [each for each in parse_mountinfo(text_of(host, "/proc/self/mountinfo")) if each.point == point]
    if not here:
        return None
    found = here[-1]
    if is_fuse:
        is_own = _FUSE.fullmatch(found.file_system) is not None
    elif tuple(argv[:2]) == ("mount", "-t") and len(argv) >= _SHORTEST:
        is_own = found.file_system == argv[2] and _is_device(argv, found.source, host)
    else:
        return None
    if is_own:
        return None
    other = f"{found.source} ({found.file_system})"
    return f"{other} is mounted there instead; if you don't need it: umount {as_word(point)}"


def _is_device(argv: Sequence[str], source: str, host: Host) -> bool:
    device = argv[-2]
    if source == device or any(_SEVERAL in part for part in argv):
        return True
    same = ("sh", "-c", _IS_SAME, "sh", device, source)
    return host.run(same, timeout_s=_LIMIT_S, check=False).returncode == 0


@dataclass(frozen=True)
class _PlacedMount:
    """The IDs of a mount and of its parent mount, and its mount point."""

    number: str
    parent: str
    point: str


def _mounts(mountinfo: str) -> Iterator[_PlacedMount]:
    for line in lines_of(mountinfo):
        fields = line.split(" ", 5)
        if len(fields) == 6:
            yield _PlacedMount(fields[0], fields[1], decoded_path(fields[4]))
