"""Look up on a host which block device is behind a path, and what is on it."""

from dataclasses import dataclass

from poolproof.devices.guard import found_on
from poolproof.errors import CommandError
from poolproof.facts.block import BlockFacts, block_devices, examine
from poolproof.hosts.base import Host

_LIMIT_S = 20.0
_REAL_DEVICE = r"""
[ -e "$1" ] || exit 0
path=$(realpath -- "$1"); name=${path##*/}
if [ -c "$path" ]; then
  case $name in
    ng*n*) path=/dev/nvme${name#ng} ;;
    sg*) set -- /sys/class/scsi_generic/"$name"/device/block/*; path=/dev/${1##*/} ;;
  esac
fi
if [ -b "$path" ]; then echo "block $(realpath -- "$path")"; else echo other; fi
"""
"""A shell script that prints the block device behind a path, even for NVMe and SCSI generic character devices."""


@dataclass(frozen=True)
class WrittenDevice:
    """A path that a job writes to, as seen from a host.

    `exists` is False if there is nothing at the path. `is_block` is True for a block device. `found` says what is on
    the device, as the end of a sentence (`is mounted at /`). It is empty if nothing was found.
    """

    exists: bool
    is_block: bool = False
    found: str = ""


class DeviceLookup:
    """Looks up on a host what is on block devices. The list of devices is read once.

    Raises:
        HostUnreachable: the connection to the host is lost.
    """

    def __init__(self, host: Host) -> None:
        self._host = host
        self._devices: tuple[BlockFacts, ...] | None = None

    def at(self, path: str) -> WrittenDevice:
        """Ask the host what is at the path.

        Raises a PoolproofError if the host does not list the path's device.
        """
        printed = self._host.run(["sh", "-c", _REAL_DEVICE, "sh", path], timeout_s=_LIMIT_S).stdout.strip()
        kind, _, real = printed.partition(" ")
        if kind != "block":
            return WrittenDevice(bool(kind))
        if self._devices is None:
            self._devices = block_devices(self._host, ())
        for disk in self._devices:
            for device in disk.tree():
                if real in (device.path, f"/dev/{device.name}"):
                    return WrittenDevice(True, True, found_on(examine(self._host, [device])[0]))
        raise CommandError(f"lsblk does not show {real}")
