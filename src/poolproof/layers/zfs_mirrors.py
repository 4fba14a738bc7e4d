"""The leaves of a pool's mirrors come and go while it stands: from `zfs a` over `zfs mirror a b` to `zfs b`.

zpool-attach(8) makes a mirror of a single disk and a wider one of a mirror; zpool-detach(8) does the reverse. Each
vdev keeps one of its leaves at least, which holds the data while the others come and go.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from poolproof.layers.base import Node
from poolproof.layers.zfs_vdevs import Vdev, VdevTree

_MIRRORED = frozenset({"disk", "mirror"})


@dataclass(frozen=True)
class Exchange:
    """What one vdev gets and loses. `anchor` and `detached` count the inputs of the pool that stands, `attached` those
    of the one that is wanted, from 0.
    """

    anchor: int
    attached: tuple[int, ...]
    detached: tuple[int, ...]


def exchanges(
    standing: VdevTree, old: Sequence[Node], wanted: VdevTree, new: Sequence[Node]
) -> tuple[Exchange, ...] | None:
    """What makes the wanted pool of the standing one; None where attaching and detaching leaves can't.

    `old` and `new` are the inputs of the two.
    """
    if len(standing.data) != len(wanted.data):
        return None
    if _beside_data(standing, old) != _beside_data(wanted, new):
        return None
    pairs = zip(standing.data, wanted.data, strict=True)
    found = [_exchange(before, old, after, new) for before, after in pairs]
    known = [exchange for exchange in found if exchange is not None]
    return tuple(known) if len(known) == len(found) else None


def _exchange(before: Vdev, old: Sequence[Node], after: Vdev, new: Sequence[Node]) -> Exchange | None:
    had, gets = [old[member] for member in before.members], [new[member] for member in after.members]
    kept = [member for member in before.members if old[member] in gets]
    if not kept or (had != gets and not {before.kind, after.kind} <= _MIRRORED):
        return None
    if had == gets and before.kind != after.kind:
        return None
    return Exchange(
        anchor=kept[0],
        attached=tuple(member for member in after.members if new[member] not in had),
        detached=tuple(member for member in before.members if old[member] not in gets),
    )


def _beside_data(vdevs: VdevTree, nodes: Sequence[Node]) -> object:
    """All but the data vdevs, by what they are made of; they must be alike."""
    sections = (vdevs.special, vdevs.dedup, vdevs.log)
    named = [[(vdev.kind, [nodes[member] for member in vdev.members]) for vdev in section] for section in sections]
    return named, [nodes[member] for member in (*vdevs.cache, *vdevs.spare)], vdevs.force
