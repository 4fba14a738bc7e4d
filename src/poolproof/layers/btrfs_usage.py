"""`btrfs device usage -b`: how many bytes of data chunks lie on each device."""

import re

from poolproof.hosts.base import Host

_DEVICE = re.compile(r"^(/\S+), ID: \d+$")
_DATA = re.compile(r"^\s+Data,[^:]+:\s+(\d+)$")


def data_bytes_by_device(mount_point: str, host: Host) -> dict[str, int]:
    """Bytes of data chunks by device path.

    Raises:
        CommandError: btrfs could not tell.
    """
    return parse_device_usage(host.run(("btrfs", "device", "usage", "-b", mount_point), timeout_s=30).stdout)


def parse_device_usage(text: str) -> dict[str, int]:
    """The output of `btrfs device usage -b` (btrfs-progs 6.2) as bytes of data chunks by device path."""
    held: dict[str, int] = {}
    device = ""
    for line in text.splitlines():
        if match := _DEVICE.match(line):
            device = match[1]
            held[device] = 0
        elif device and (match := _DATA.match(line)):
            held[device] += int(match[1])
    return held
