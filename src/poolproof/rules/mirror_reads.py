"""ZFS mirrors of rotational and non-rotational disks: the share of the reads that each side served."""

from collections.abc import Iterator
from dataclasses import dataclass

from poolproof.evidence.model import MirrorSide
from poolproof.rules.model import Case


@dataclass(frozen=True)
class Mirror:
    """A mirror with rotational and other sides that served reads; `rotational` and `others` name their disks.

    `shares`: the share of the reads that each side served, as text. `rotational_are_files`: ZFS cannot distinguish the
    rotational sides from the others, because they are files.
    """

    rotational: str
    others: str
    shares: str
    rotational_are_files: bool
    all_are_disks: bool


def mirrors_read(case: Case) -> Iterator[Mirror]:
    """Yield the mirrors with both kinds of sides if the case read; none if it is unknown which disks are rotational."""
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
                f"{_name(side)} {100 * count / sum(moved):.0f} %" for side, count in zip(sides, moved, strict=True)
            ),
            rotational_are_files=all(side.is_file for side in rotational),
            all_are_disks=not any(side.is_file for side in sides),
        )


def _name(side: MirrorSide) -> str:
    return "+".join(side.devices)
