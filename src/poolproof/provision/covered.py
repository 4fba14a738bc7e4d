"""Finds mounts of other programs that hide a mount of the run or are inside it.

`umount` removes the topmost mount at a path, no matter who mounted it, and `umount -l` also removes all mounts inside.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from poolproof.errors import as_word
from poolproof.facts.block import decoded_path
from poolproof.hosts.base import Host, lines_of, text_of


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
