"""What a storage technology knows about storage that poolproof did not build: a mount or a block device."""

from dataclasses import dataclass

from poolproof.evidence.model import Expected, Target
from poolproof.facts.block import Mount
from poolproof.hosts.base import Host


@dataclass(frozen=True)
class FoundStorage:
    """Storage that poolproof did not build: its mount, and the kernel names of the block devices below it.

    `mount` is None for a block device. `devices` is empty if the file system is not on a block device (tmpfs, NFS).
    """

    mount: Mount | None
    devices: tuple[str, ...]


class FoundReader:
    """Questions about storage that poolproof did not build. By default, a technology has no answers."""

    guesses_work = False
    """True if the work that `busy_on` returns may be on another disk."""

    def disks_under(self, mount: Mount, host: Host) -> tuple[str, ...] | None:
        """Return the kernel names of the disks under a mount of this technology.

        None for other mounts. Also None if, as with most file systems, the mount's device number identifies the disk.
        """
        return None

    def disks_of(self, device: str, host: Host) -> tuple[str, ...] | None:
        """Return the kernel names of the disks under a block device of this technology.

        None for all other devices. Also None if the device's own counters show what the disks do.
        """
        return None

    def describe_found(self, found: FoundStorage, host: Host, target: Target) -> Target:
        """Return the target, completed with facts about storage of this technology."""
        return target

    def expected_found(self, found: FoundStorage, host: Host) -> Expected | None:
        """Return this technology's write amplification, as counted at the disks, or None if unknown."""
        return None

    def busy_on(self, disks: frozenset[str], host: Host) -> tuple[str, ...]:
        """Return the background work that this technology is doing on these disks (kernel names)."""
        return ()
