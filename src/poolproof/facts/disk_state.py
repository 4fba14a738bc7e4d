"""Conditions that slow a disk down: a missing array member, a cloud volume."""

import re
from collections.abc import Iterator, Sequence

from poolproof.facts.machine import said_by
from poolproof.hosts.base import Host, text_of

_LIMIT_S = 20.0
_CLOUD = (
    "Amazon Elastic Block Store",
    "nvme_card-pd",
    "PersistentDisk",
    "MSFT NVMe Accelerator",
    "BlockVolume",
)
"""Model names of network volumes: Amazon EBS, Google Persistent Disk, Azure managed disks, Oracle block volumes."""

_ARRAY = re.compile(r"^(?P<name>md\S+) : (?P<members>.*)\n.*\[(?P<due>\d{1,9})/(?P<there>\d{1,9})\]", re.MULTILINE)
_RAID_STATUS = re.compile(r"^(?P<name>\S+): \d+ \d+ raid \S+ \d+ (?P<members>[AaDd-]+) ", re.MULTILINE)
BELOW = """
walk() {
  echo "$1"
  for path in /sys/class/block/"$1"/slaves/*; do [ -e "$path" ] && walk "${path##*/}"; done
  if [ -e /sys/class/block/"$1"/partition ]; then
    disk=$(readlink -f /sys/class/block/"$1"); disk=${disk%/*}; walk "${disk##*/}"
  elif [ -r /sys/class/block/"$1"/loop/backing_file ]; then
    number=$(findmnt -n -o MAJ:MIN -T "$(cat /sys/class/block/"$1"/loop/backing_file)")
    disk=$(readlink -f /sys/dev/block/"${number:-none}") && [ -e "$disk" ] && walk "${disk##*/}"
  fi
}
for device; do walk "$device"; done
exit 0
"""
"""A shell script that prints the given kernel names, and those of all block devices below these devices."""

MDSTAT_MEMBER = re.compile(r"(?<!\S)([^\s\[]+)\[\d+\]")
"""A member of an array in a line of /proc/mdstat, such as `sda1[0]`."""


def cloud_volume(host: Host, device: str) -> str | None:
    """Return the disk's model name if the disk is a cloud provider's network volume, otherwise None."""
    folder = f"/sys/class/block/{device}"
    model = text_of(host, f"{folder}/device/model").strip() or text_of(host, f"{folder}/../device/model").strip()
    return model if any(name in model for name in _CLOUD) else None


def devices_below(host: Host, devices: Sequence[str]) -> tuple[str, ...]:
    """Return the devices and every block device below them.

    These include an array's members, a partition's disk, and the disk that stores a loop device's backing file.
    """
    if not devices:
        return ()
    printed = host.run(["sh", "-c", BELOW, "sh", *devices], timeout_s=_LIMIT_S, check=False).stdout
    return tuple(dict.fromkeys((*devices, *printed.split())))


def degraded_arrays(host: Host, devices: Sequence[str]) -> tuple[str, ...]:
    """Describe each degraded array to which one of the devices belongs.

    An md array is found whether it is one of the devices, below them or on top of them. An LVM volume is found if it is
    one of the devices or below a device-mapper device. Below other devices, it may be missed.
    """
    mdstat = text_of(host, "/proc/mdstat")
    has_degraded = any(int(found["due"]) > int(found["there"]) for found in _ARRAY.finditer(mdstat))
    if not has_degraded and not any(device.startswith("dm-") for device in devices):
        return ()
    below = devices_below(host, devices)
    return (*_degraded(mdstat, set(below)), *_degraded_volumes(host, below))


def _degraded_volumes(host: Host, devices: Sequence[str]) -> Iterator[str]:
    """Yield a clause about each LVM RAID volume with a missing member.

    The status line of the device-mapper target `raid` contains one character per member: A and a mean alive, D means
    dead, and - means missing (Documentation/admin-guide/device-mapper/dm-raid.rst).
    """
    names = {text_of(host, f"/sys/class/block/{each}/dm/name").strip() for each in devices if each.startswith("dm-")}
    if not names:
        return
    printed = said_by(host, ("dmsetup", "status", "--target", "raid"), timeout_s=_LIMIT_S)
    for found in _RAID_STATUS.finditer(printed):
        missing = sum(state in "D-" for state in found["members"])
        if missing and found["name"] in names:
            yield f"the volume {found['name']} is missing {'a disk' if missing == 1 else f'{missing} disks'}"


def _degraded(mdstat: str, devices: set[str]) -> Iterator[str]:
    """Yield a clause about each md array with missing members, which /proc/mdstat shows as `[due/there]`.

    Source: drivers/md/md.c, md_seq_show.
    """
    for found in _ARRAY.finditer(mdstat):
        missing = int(found["due"]) - int(found["there"])
        members = MDSTAT_MEMBER.findall(found["members"])
        if missing > 0 and devices & {found["name"], *members, *map(_disk_of, members)}:
            yield f"{found['name']} is missing {'a disk' if missing == 1 else f'{missing} disks'}"


def _disk_of(partition: str) -> str:
    return re.sub(r"(?<=\d)p\d+$|(?<=[a-z])\d+$", "", partition)


def governor(host: Host) -> str | None:
    """Return the first processor's frequency governor, or None if it has none, as in most virtual machines."""
    return text_of(host, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor").strip() or None
