"""Parse /proc/self/mountinfo: what is mounted where, by device number. Pure; the format is in proc(5)."""

import re
from dataclasses import dataclass

_OCTAL = re.compile(r"\\([0-7]{3})")


@dataclass(frozen=True)
class Mount:
    """One line of /proc/self/mountinfo: device number, mount point, file system, source and its options."""

    number: str
    point: str
    file_system: str
    source: str
    options: tuple[str, ...]


def mount_of(mounts: tuple[Mount, ...], path: str) -> Mount | None:
    """Return the mount of `path`, an absolute path without links; if several match, the last one mounted."""
    matching = [mount for mount in mounts if _is_under(path, mount.point)]
    return max(reversed(matching), key=lambda mount: len(mount.point), default=None)


def parse_mountinfo(text: str) -> tuple[Mount, ...]:
    """Return the mounts in the order of the file."""
    return tuple(_mount(line) for line in text.splitlines() if " - " in line)


def _mount(line: str) -> Mount:
    left, _, right = line.partition(" - ")
    fields = left.split(" ")
    file_system, source, options = right.split(" ", 2)
    return Mount(fields[2], _decoded(fields[4]), file_system, _decoded(source), tuple(_decoded(options).split(",")))


def _decoded(text: str) -> str:
    """Decode octal escapes: mountinfo uses them for spaces and backslashes."""
    return _OCTAL.sub(lambda match: chr(int(match[1], 8)), text)


def _is_under(path: str, point: str) -> bool:
    return path == point or path.startswith(point.rstrip("/") + "/")
