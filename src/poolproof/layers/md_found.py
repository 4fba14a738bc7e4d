"""Reads md arrays that poolproof did not build, as sysfs shows them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from poolproof.evidence.model import Expected, Target
from poolproof.hosts.base import Host
from poolproof.layers.existing_storage import FoundReader, FoundStorage

_LIMIT_S = 20.0
PARITY: Mapping[str, int] = {"raid4": 1, "raid5": 1, "raid6": 2}
"""The number of parity blocks in a stripe of each level."""

_NAME = re.compile(r"md\w+")
SYSFS = """
cd "/sys/block/$1/md" 2>/dev/null || exit 0
for file in level raid_disks layout degraded sync_action bitmap/location; do
  [ -r "$file" ] && echo "$file $(cat "$file")"
done
for member in dev-*; do
  [ -r "$member/state" ] && echo "member ${member#dev-} $(cat "$member/state")"
done
exit 0
"""
"""A shell script that prints the state of the md array with the given kernel name (Linux
Documentation/admin-guide/md.rst)."""


@dataclass(frozen=True)
class FoundArray:
    """The state of an md array.

    `members`: the kernel names of the devices that hold current data, without spares and failed devices.
    `raid_disks`: the number of devices in the complete array.
    `copies`: the number of copies of each block in a raid10, otherwise 1.
    `has_bitmap`: True if the write-intent bitmap is on the members.
    """

    level: str
    members: tuple[str, ...]
    raid_disks: int
    copies: int
    has_bitmap: bool


def level_factor(level: str, copies: int, members: Sequence[float]) -> float:
    """Return the write amplification of a complete array, assuming full stripes for raid4 to raid6.

    `members`: the write amplification of each member.
    `copies`: the number of copies in a raid10.
    """
    if level == "raid1":
        return sum(members)
    if level == "raid10":
        return copies * min(members)
    return min(members) * len(members) / (len(members) - PARITY.get(level, 0))


def find_array(host: Host, device: str) -> FoundArray | None:
    """Return the md array with this kernel name, or None if the device is not an md array.

    Also returns None if the level alone does not determine what is written to the members: for a container, an array
    with a write journal, and an array that is being rebuilt or reshaped.
    """
    if not _NAME.fullmatch(device):
        return None
    printed = host.run(["sh", "-c", SYSFS, "sh", device], timeout_s=_LIMIT_S, check=False).stdout
    lines = [line.split() for line in printed.splitlines()]
    facts = {words[0]: words[1] for words in lines if len(words) == 2}
    states = {words[1]: words[2].split(",") for words in lines if words[:1] == ["member"] and len(words) == 3}
    level = facts.get("level", "")
    layout = facts.get("layout", "") if level == "raid10" else "0"  # a raid0 may print -1
    numbers = [facts.get("raid_disks", ""), facts.get("degraded", "0"), layout]
    if not all(number.isdecimal() for number in numbers) or facts.get("sync_action") in ("recover", "reshape"):
        return None
    raid_disks, missing, chosen = map(int, numbers)
    members = tuple(sorted(name for name, state in states.items() if "in_sync" in state))
    has_journal = any("journal" in state for state in states.values())
    if has_journal or not members or len(members) != raid_disks - missing or raid_disks <= PARITY.get(level, 0):
        return None
    has_bitmap = facts.get("bitmap/location", "none") not in ("none", "file")
    return FoundArray(level, members, raid_disks, _copies(level, chosen), has_bitmap)


def _copies(level: str, layout: int) -> int:
    """Return the number of copies in a raid10: its near copies times its far copies (raid10.c, setup_geo)."""
    return (layout & 255) * (layout >> 8 & 255) if level == "raid10" else 1


class ArrayReader(FoundReader):
    """Queries about arrays that poolproof did not build, answered by md."""

    def members_of(self, device: str, host: Host) -> tuple[str, ...] | None:
        """Return the members of an array, or None for any other device.

        A member that is itself an array is replaced with its own members.
        """
        array = find_array(host, device)
        if array is None:
            return None
        return tuple(disk for member in array.members for disk in self.members_of(member, host) or (member,))

    def describe_found(self, found: FoundStorage, host: Host, target: Target) -> Target:
        arrays = [array for device in found.devices if (array := find_array(host, device))]
        return replace(target, md_bitmap=any(array.has_bitmap for array in arrays)) if arrays else target

    def expected_found(self, found: FoundStorage, host: Host) -> Expected | None:
        """Return the write amplification of an array, or None if the storage is not a single array.

        For raid4 to raid6, full stripes are assumed.
        """
        array = find_array(host, found.devices[0]) if len(found.devices) == 1 else None
        return None if array is None else Expected(self._factor_of(array, host))

    def _factor_of(self, array: FoundArray, host: Host) -> float:
        below = [find_array(host, member) for member in array.members]
        factors = [1.0 if member is None else self._factor_of(member, host) for member in below]
        complete = [*factors, *[min(factors)] * (array.raid_disks - len(factors))]
        return level_factor(array.level, array.copies, complete) * len(factors) / array.raid_disks
