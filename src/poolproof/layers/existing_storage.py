"""Facts that a storage technology can report about storage not built by poolproof: a mount or a block device."""

from dataclasses import dataclass

from poolproof.evidence.model import Expected, Target
from poolproof.facts.block import Mount
from poolproof.hosts.base import Host


@dataclass(frozen=True)
class FoundStorage:
    """Storage that poolproof did not build.

    `mount`: the storage's mount, or None for a block device.
    `devices`: the kernel names of the block devices below it. Empty if a mount has no block device (tmpfs, NFS).
    """

    mount: Mount | None
    devices: tuple[str, ...]


class FoundReader:
    """Queries about storage that poolproof did not build. The default implementations report nothing."""

    guesses_work = False
    """True if the work reported by `busy_on` might be running on a different disk."""

    def disks_under(self, mount: Mount, host: Host) -> tuple[str, ...] | None:
        """Return the kernel names of the disks below a mount of this technology.

        None for any other mount, and also if the mount's device number identifies the disk, as for most file systems.
        """
        return None

    def disks_of(self, device: str, host: Host) -> tuple[str, ...] | None:
        """Return the kernel names of the disks below a block device of this technology.

        None for any other device, and also if the device's own counters reflect the I/O of its disks.
        """
        return None

    def describe_found(self, found: FoundStorage, host: Host, target: Target) -> Target:
        """Return a copy of the target with added facts about storage that uses this technology."""
        return target

    def expected_found(self, found: FoundStorage, host: Host) -> Expected | None:
        """Return the expected write amplification, as measured at the disks, or None if unknown."""
        return None

    def busy_on(self, disks: frozenset[str], host: Host) -> tuple[str, ...]:
        """Describe this technology's background work in progress on the given disks. `disks`: kernel names."""
        return ()
