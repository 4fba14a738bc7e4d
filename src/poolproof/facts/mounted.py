"""Which block devices hold a directory: from the mount table, since overlay and btrfs make up the st_dev of stat(2)."""

import posixpath
import re
from dataclasses import dataclass

from poolproof.devices.model import Below
from poolproof.hosts.base import FileMissing, Host

_LIMIT_S = 20.0
_OCTAL = re.compile(r"\\([0-7]{3})")


@dataclass(frozen=True)
class Mount:
    """One line of /proc/self/mountinfo: device number, where it is mounted, file system, source, its own options."""

    number: str
    point: str
    file_system: str
    source: str
    options: tuple[str, ...]


def devices_under(host: Host, path: str) -> tuple[Below, ...]:
    """The block devices that the file system holding `path` keeps its data on.

    More than one for a btrfs of several devices; none for tmpfs, network and FUSE file systems, and for ZFS. A
    partition stands for itself: its counter leaves out what its neighbours do.

    Raises:
        CommandFailed: no such path.
    """
    real = host.run(["realpath", "--canonicalize-existing", path], timeout_s=_LIMIT_S).stdout.rstrip("\n")
    return _under(host, parse_mountinfo(host.read("/proc/self/mountinfo")), real, hops=8)


def mount_of(mounts: tuple[Mount, ...], path: str) -> Mount | None:
    """The mount that `path`, an absolute path without links, lies on; the last one mounted wins."""
    holding = [mount for mount in mounts if _lies_under(path, mount.point)]
    return max(reversed(holding), key=lambda mount: len(mount.point), default=None)


def parse_mountinfo(text: str) -> tuple[Mount, ...]:
    """/proc/self/mountinfo, in its order; see proc(5)."""
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


def _under(host: Host, mounts: tuple[Mount, ...], path: str, hops: int) -> tuple[Below, ...]:
    mount = mount_of(mounts, path)
    if mount is None or hops == 0:
        return ()
    if mount.file_system == "overlay":
        upper = next((option[len("upperdir=") :] for option in mount.options if option.startswith("upperdir=")), None)
        return _under(host, mounts, upper, hops - 1) if upper else ()
    if mount.file_system == "btrfs":
        return _btrfs_devices(host, mount)
    name = _kernel_name(host, mount.number)
    return (_below(name),) if name else ()


def _btrfs_devices(host: Host, mount: Mount) -> tuple[Below, ...]:
    """btrfs has an anonymous device number; it lists its devices by their kernel names in sysfs."""
    real = host.run(["realpath", mount.source], timeout_s=_LIMIT_S, check=False).stdout.strip()
    listing = host.run(
        ["find", "/sys/fs/btrfs", "-mindepth", "3", "-maxdepth", "3", "-path", "*/devices/*"],
        timeout_s=_LIMIT_S,
        check=False,
    )
    found = [line.split("/") for line in listing.stdout.splitlines()]
    own = next((parts[4] for parts in found if parts[-1] == posixpath.basename(real)), None)
    names = sorted(parts[-1] for parts in found if parts[4] == own)
    return tuple(_below(name) for name in names)


def _kernel_name(host: Host, number: str) -> str | None:
    """The kernel name of a block device number; None for an anonymous one."""
    try:
        text = host.read(f"/sys/dev/block/{number}/uevent")
    except FileMissing:
        return None
    return next((line[len("DEVNAME=") :] for line in text.splitlines() if line.startswith("DEVNAME=")), None)


def _below(name: str) -> Below:
    return Below(name, f"/sys/class/block/{name}/stat")
