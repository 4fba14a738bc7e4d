"""ZFS mirrors of rotational and non-rotational disks, and each member's share of the reads."""

from collections.abc import Iterator
from dataclasses import dataclass

from poolproof.evidence.target_facts import MirrorSide
from poolproof.rules.model import Case


@dataclass(frozen=True)
class Mirror:
    """A mirror that served reads and has both rotational and non-rotational members.

    `rotational`, `others`: the names of the disks, joined for a message.
    `shares`: each member's share of the reads, as text.
    `rotational_are_files`: True if the rotational members are files, whose kind of disk ZFS cannot detect.
    """

    rotational: str
    others: str
    shares: str
    rotational_are_files: bool
    all_are_disks: bool


def mirrors_read(case: Case) -> Iterator[Mirror]:
    """Yield the mirrors that served reads and have both rotational and non-rotational members.

    A mirror is skipped if it is unknown whether some member is rotational.
    """
    if (
        case.zfs is None
        or case.evidence is None
        or not (case.evidence.account and case.evidence.account.fio_read_bytes)
    ):
        return
    read = {leaf.device: leaf.read_bytes for leaf in case.leaves}
    for sides in case.zfs.mirrors:
        moved = [sum(read.get(device, 0) for device in side.devices) for side in sides]
        if {side.turns for side in sides} != {True, False} or sum(moved) <= 0:
            continue
        rotational = [side for side in sides if side.turns]
        yield Mirror(
            rotational=" and ".join(_name(side) for side in rotational),
            others=" and ".join(_name(side) for side in sides if not side.turns),
            shares=", ".join(
                f"{_name(side)} {100 * count / sum(moved):.0f}%" for side, count in zip(sides, moved, strict=True)
            ),
            rotational_are_files=all(side.is_file for side in rotational),
            all_are_disks=not any(side.is_file for side in sides),
        )


def _name(side: MirrorSide) -> str:
    return "+".join(side.devices)
