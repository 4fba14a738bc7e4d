"""The sides of a pool's mirrors: which disks lie below each, whether they turn, and whether ZFS was given a file."""

from collections.abc import Sequence

from poolproof.devices.model import Leaf, Volume
from poolproof.evidence.model import MirrorSide
from poolproof.hosts.base import FileMissing, Host
from poolproof.layers.zfs_vdevs import Vdev

_DEVICES = "/dev/"


def mirror_sides(vdevs: Sequence[Vdev], inputs: Sequence[Volume], host: Host) -> tuple[tuple[MirrorSide, ...], ...]:
    """Each mirror among the vdevs, side by side; `inputs` are those of the pool."""
    mirrors = (vdev for vdev in vdevs if vdev.kind == "mirror")
    return tuple(tuple(_side(inputs[member], host) for member in vdev.members) for vdev in mirrors)


def _side(volume: Volume, host: Host) -> MirrorSide:
    said = [_turns(leaf, host) for leaf in volume.leaves]
    return MirrorSide(
        devices=tuple(leaf.name for leaf in volume.leaves),
        turns=any(said) if said and None not in said else None,
        is_file=not volume.path.startswith(_DEVICES),
    )


def _turns(leaf: Leaf, host: Host) -> bool | None:
    """By the kernel's word, which is what ZFS asks for too."""
    try:
        return host.read(f"{leaf.counter.removesuffix('/stat')}/queue/rotational").strip() == "1"
    except FileMissing:
        return None
