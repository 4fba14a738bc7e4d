"""Facts about storage that poolproof did not build (a mount or a block device), as reported by its technology."""

from dataclasses import dataclass

from poolproof.evidence.model import Expected
from poolproof.evidence.target_facts import Target
from poolproof.facts.block import Mount
from poolproof.hosts.base import Host


@dataclass(frozen=True)
class FoundStorage:
    """Storage that poolproof did not build.

    `mount`: the mount of the storage, or None for a block device.
    `devices`: the kernel names of the block devices below it. Empty for a mount without a block device (tmpfs, NFS).
    """

    mount: Mount | None
    devices: tuple[str, ...]


class FoundReader:
    """Queries about storage that poolproof did not build. The default implementations return no information."""

    guesses_work = False
    """True if the work that `busy_on` reports may be running on another disk."""

    def disks_under(self, mount: Mount, host: Host) -> tuple[str, ...] | None:
        """Return the kernel names of the disks below a mount of this technology.

        Returns None for any other mount. Also returns None if the mount's device number identifies the disk, as for
        most file systems.
        """
        return None

    def disks_of(self, device: str, host: Host) -> tuple[str, ...] | None:
        """Return the kernel names of the disks below a block device of this technology.

        Returns None for any other device. Also returns None if the device's own counters reflect the I/O of its disks.
        """
        return None

    def members_of(self, device: str, host: Host) -> tuple[str, ...] | None:
        """Return the kernel names of the devices among which a block device of this technology distributes its I/O.

        Returns None for any other device. Unlike the device itself, its members may count their flushes.
        """
        return None

    def describe_found(self, found: FoundStorage, host: Host, target: Target) -> Target:
        """Return a copy of the target, with facts filled in about storage of this technology."""
        return target

    def expected_found(self, found: FoundStorage, host: Host) -> Expected | None:
        """Return the expected write amplification of the storage at its disks, or None if unknown."""
        return None

    def busy_on(self, disks: frozenset[str], host: Host) -> tuple[str, ...]:
        """Describe background work of this technology that is in progress on the given disks.

        `disks`: the disks' kernel names.
        """
        return ()
