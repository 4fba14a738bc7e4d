"""ZFS mirrors of rotational and non-rotational disks: the share of the reads that each side served."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from poolproof.evidence.model import MirrorSide
from poolproof.rules.model import Case


@dataclass(frozen=True)
class Mirror:
    """A mirror with rotational and non-rotational sides that served reads; `turning` and `still` name these disks.

    `shares`: the share of the reads of each side, as text. `hides_what_turns`: the rotational sides are files, and ZFS
    cannot distinguish them from the others. `shows_what_turns`: no side is a file.
    """

    turning: str
    still: str
    shares: str
    hides_what_turns: bool
    shows_what_turns: bool


def mirrors_read(case: Case) -> Iterator[Mirror]:
    """Yield the mirrors with both kinds of sides if the case read; none if it is unknown which disks are rotational."""
    zfs, evidence = case.target.zfs if case.target else None, case.evidence
    if zfs is None or evidence is None or evidence.account is None or not evidence.account.fio_read_bytes:
        return
    read = {leaf.device: leaf.read_bytes for leaf in evidence.leaves}
    for sides in zfs.mirrors:
        moved = [sum(read.get(device, 0) for device in side.devices) for side in sides]
        if {side.turns for side in sides} == {True, False} and sum(moved) > 0:
            yield _mirror(sides, moved)


def _mirror(sides: Sequence[MirrorSide], moved: Sequence[int]) -> Mirror:
    turning = [side for side in sides if side.turns]
    parts = [f"{_name(side)} {100 * count / sum(moved):.0f} %" for side, count in zip(sides, moved, strict=True)]
    return Mirror(
        turning=" and ".join(_name(side) for side in turning),
        still=" and ".join(_name(side) for side in sides if not side.turns),
        shares=", ".join(parts),
        hides_what_turns=all(side.is_file for side in turning),
        shows_what_turns=not any(side.is_file for side in sides),
    )


def _name(side: MirrorSide) -> str:
    return "+".join(side.devices)
