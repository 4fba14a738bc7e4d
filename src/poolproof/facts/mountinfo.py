"""/proc/self/mountinfo: what is mounted where, by device number. Pure; proc(5) has the format."""

import re
from dataclasses import dataclass

_OCTAL = re.compile(r"\\([0-7]{3})")


@dataclass(frozen=True)
class Mount:
    """One line of /proc/self/mountinfo: device number, where it is mounted, file system, source, its own options."""

    number: str
    point: str
    file_system: str
    source: str
    options: tuple[str, ...]


def mount_of(mounts: tuple[Mount, ...], path: str) -> Mount | None:
    """The mount that `path`, an absolute path without links, lies on; the last one mounted wins."""
    holding = [mount for mount in mounts if _lies_under(path, mount.point)]
    return max(reversed(holding), key=lambda mount: len(mount.point), default=None)


def parse_mountinfo(text: str) -> tuple[Mount, ...]:
    """The lines of the file, in its order."""
    return tuple(_mount(line) for line in text.splitlines() if " - " in line)


def _mount(line: str) -> Mount:
    left, _, right = line.partition(" - ")
    fields = left.split(" ")
    file_system, source, options = right.split(" ", 2)
    return Mount(fields[2], _plain(fields[4]), file_system, _plain(source), tuple(_plain(options).split(",")))


def _plain(text: str) -> str:
    """mountinfo writes blanks and backslashes as octal."""
    return _OCTAL.sub(lambda match: chr(int(match[1], 8)), text)


def _lies_under(path: str, point: str) -> bool:
    return path == point or path.startswith(point.rstrip("/") + "/")
