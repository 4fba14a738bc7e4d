"""Disks that a file system trimmed while it was made: mkfs.ext4, mkfs.xfs and mkfs.btrfs discard all of a device first.

Sources: mke2fs(8) `discard`, mkfs.xfs(8) `-K`, mkfs.btrfs(8) `--nodiscard`.
"""

from collections.abc import Sequence
from dataclasses import replace

from poolproof.devices.model import Leaf, Volume
from poolproof.evidence.model import Target
from poolproof.hosts.base import FileMissing, Host


def after_mkfs(target: Target, inputs: Sequence[Volume], host: Host) -> Target:
    """The target, with `discarded` where a file system was made right on disks that take a discard.

    Only on bare metal: the disks of a virtual machine and those that poolproof emulates have no flash to erase.
    """
    leaves = [leaf for device in inputs for leaf in device.leaves if leaf.path == device.path]
    is_bare = target.in_guest is False and len(leaves) == len(inputs)
    return replace(target, discarded=True) if is_bare and any(_takes_discard(leaf, host) for leaf in leaves) else target


def _takes_discard(leaf: Leaf, host: Host) -> bool:
    try:
        most = host.read(f"{leaf.counter.removesuffix('/stat')}/queue/discard_max_bytes").strip()
    except FileMissing:
        return False
    return not leaf.path.startswith("/dev/loop") and most.isdigit() and int(most) > 0
