"""What a host's disks are busy with by themselves: resync of md arrays, ext4's lazy initialisation."""

import re
from collections.abc import Iterable, Iterator

from poolproof.facts.mountinfo import Mount, parse_mountinfo
from poolproof.hosts.base import FileMissing, Host

_LIMIT_S = 20.0
_LAZY_S = 2 * 86400  # it takes a tenth of the disk's time, and a few GiB on the largest: hours
_ARRAY = re.compile(r"^(md\w+) : ", re.MULTILINE)
_ACTION = re.compile(r"\b(resync|recovery|check|reshape|repair)\s*=\s*([\d.]+%)")


def busy_with(host: Host, devices: Iterable[str]) -> tuple[str, ...]:
    """Work that goes on by itself on those block devices (kernel names)."""
    try:
        mdstat = host.read("/proc/mdstat")
    except FileMissing:
        mdstat = ""
    wanted = set(devices)
    busy = [f"{action} of {array}, {done} done" for array, action, done in parse_mdstat(mdstat) if array in wanted]
    return (*busy, *(["the lazy initialisation of an ext4"] if _fills_inode_tables(host, wanted) else []))


def _fills_inode_tables(host: Host, devices: set[str]) -> bool:
    """One thread serves every ext4 of a machine, so it may be at work elsewhere: it counts where a new one is here."""
    mounts = parse_mountinfo(host.read("/proc/self/mountinfo"))
    here = [mount.point for mount in mounts if mount.file_system == "ext4" and _is_on(mount, devices)]
    if not here:
        return False
    threads = host.run(("ps", "-e", "-o", "comm="), timeout_s=_LIMIT_S, check=False).stdout.split()
    return "ext4lazyinit" in threads and any(_is_new(host, point) for point in here)


def _is_on(mount: Mount, devices: set[str]) -> bool:
    """On one of the devices or on a partition of it."""
    return mount.source.rpartition("/")[2].startswith(tuple(devices))


def _is_new(host: Host, point: str) -> bool:
    """mkfs.ext4 gives the root directory its moment of birth; very old ones told none, 0."""
    born = host.run(("stat", "-c", "%W", "--", point), timeout_s=_LIMIT_S, check=False).stdout.strip()
    now = host.run(("date", "+%s"), timeout_s=_LIMIT_S).stdout.strip()
    return born.isdigit() and int(now) - int(born) < _LAZY_S


def parse_mdstat(text: str) -> Iterator[tuple[str, str, str]]:
    """(array, action, share done) of each array that is at work: `("md0", "resync", "12.6%")`."""
    parts = _ARRAY.split(text)
    for name, rest in zip(parts[1::2], parts[2::2], strict=True):
        for action, done in _ACTION.findall(rest):
            yield name, action, done
