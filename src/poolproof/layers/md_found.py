"""Reads md arrays that poolproof did not build, as sysfs shows them."""

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from poolproof.evidence.model import Expected
from poolproof.evidence.target_facts import Target
from poolproof.hosts.base import Host
from poolproof.layers.existing_storage import FoundReader, FoundStorage

_LIMIT_S = 20.0
_MOST_DISKS = 4096  # md accepts at most 1920
_WITH_JOURNALS = ("ext4", "xfs")
_MOST_ARRAYS = 64
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
    if raid_disks > _MOST_DISKS:
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
        arrays = _arrays(host, device)
        return _disks(arrays, device) if device in arrays else None

    def describe_found(self, found: FoundStorage, host: Host, target: Target) -> Target:
        arrays = [array for device in found.devices if (array := find_array(host, device))]
        if not arrays:
            return target
        has_parity = target.has_parity or any(array.level in PARITY for array in arrays)
        return replace(target, md_bitmap=any(array.has_bitmap for array in arrays), has_parity=has_parity)

    def expected_found(self, found: FoundStorage, host: Host) -> Expected | None:
        """Return the write amplification of an array, or None if the storage is not a single array.

        For raid4 to raid6, full stripes are assumed. The other devices of ext4 and XFS store the journal.
        """
        is_data = len(found.devices) == 1 or (found.mount is not None and found.mount.file_system in _WITH_JOURNALS)
        device = found.devices[0] if found.devices and is_data else ""
        arrays = _arrays(host, device)
        return Expected(_factor(arrays, device, {})) if device in arrays else None


def _arrays(host: Host, device: str) -> dict[str, FoundArray]:
    """Return the array with this kernel name and the arrays below it, keyed by name. Empty if it is not an array.

    At most 64 devices are examined, because a host can claim anything.
    """
    found: dict[str, FoundArray] = {}
    names = [device]
    for name in itertools.islice(names, _MOST_ARRAYS):  # the loop also visits what it appends
        array = find_array(host, name)
        if array is not None:
            found[name] = array
            names += [member for member in array.members if _NAME.fullmatch(member) and member not in names]
    return found


def _disks(arrays: Mapping[str, FoundArray], device: str) -> tuple[str, ...]:
    """Return the disks of an array. A member that is an array is replaced with its own disks.

    A host can claim that an array is below itself. There, the array counts as a disk.
    """
    disks: list[str] = []
    ahead, replaced = [device], set[str]()
    while ahead:
        name = ahead.pop(0)
        if name in arrays and name not in replaced:
            replaced.add(name)
            ahead = [*arrays[name].members, *ahead]
        else:
            disks.append(name)
    return tuple(disks)


def _factor(arrays: Mapping[str, FoundArray], name: str, known: dict[str, float]) -> float:
    """Return the write amplification of an array or disk. `known`: the results so far, which this function extends."""
    if name in known or name not in arrays:
        return known.get(name, 1.0)
    known[name] = 1.0  # as a disk, if the array is below itself
    array = arrays[name]
    factors = [_factor(arrays, member, known) for member in array.members]
    complete = [*factors, *[min(factors)] * (array.raid_disks - len(factors))]
    known[name] = level_factor(array.level, array.copies, complete) * len(factors) / array.raid_disks
    return known[name]
