"""A ZFS pool with one dataset: `zfs mirror hdd1 hdd2 log (nvme1 | luks) cache nvme2 ashift=12 recordsize=16k`.

After `zfs` comes the vdev tree of `zpool create`, in its order and words (zfs_vdevs.py). Options are properties of the
pool and of the dataset, by their own names (zfs_properties.py): no name is in both. `-f` is zpool's own.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from poolproof.campaign.expression import Option
from poolproof.layers import arguments
from poolproof.layers.base import LayerNode, Reading
from poolproof.layers.unbuilt import UnbuiltLayer
from poolproof.layers.zfs_properties import DATASET, POOL, check_property
from poolproof.layers.zfs_vdevs import VdevReader, VdevTree

_MIB = 1024**2
_GIB = 1024**3


@dataclass(frozen=True)
class Zfs:
    """The vdev tree, properties of the pool (`zpool create -o`) and of its dataset (`-O`)."""

    vdevs: VdevTree
    pool: tuple[tuple[str, str], ...]
    dataset: tuple[tuple[str, str], ...]


class ZfsLayer(UnbuiltLayer[Zfs]):
    """A pool: the dataset is mounted, and `| zvol` makes a block device of it."""

    word = "zfs"
    summary = "a ZFS pool, in zpool's own words: `zfs mirror hdd1 hdd2 log nvme1 ashift=12`"
    programs = ("zpool", "zfs")
    packages = ("zfsutils-linux",)
    file_system = "zfs"
    not_built = "the kernel module zfs and the programs zpool and zfs"

    def read(self, reading: Reading) -> LayerNode:
        reader = VdevReader(reading)
        vdevs = reader.read()
        arguments.check_blocks(reading, reader.inputs, self.word)
        options = [argument for argument in reading.arguments if isinstance(argument, Option)]
        for option in options:
            check_property(reading, option, POOL | DATASET)
        spec = Zfs(
            vdevs,
            tuple((option.key, option.value) for option in options if _is_of_pool(option)),
            tuple((option.key, option.value) for option in options if not _is_of_pool(option)),
        )
        return LayerNode(self, spec, tuple(node for _, node in reader.inputs))

    def write_factor(self, spec: Zfs, inputs: Sequence[float]) -> float:
        """Of the data; what a log vdev takes of synchronous writes comes on top. Of unlike vdevs the smallest."""
        return min(vdev.write_factor(inputs) for vdev in spec.vdevs.data) * _copies(spec)

    def capacity_bytes(self, spec: Zfs, inputs: Sequence[int]) -> int:
        """Less labels and metaslab rounding (32 MiB a device), the slop space, and 5 % for metadata.

        Slop is 1/32 of the pool, at least 128 MiB, at most half the pool or 128 GiB: spa_get_slop_space() of OpenZFS.
        """
        usable = [max(0, size - 32 * _MIB) for size in inputs]
        raw = sum(vdev.capacity_bytes(usable) for vdev in spec.vdevs.data)
        slop = min(128 * _GIB, max(raw // 32, min(raw // 2, 128 * _MIB)))
        return (raw - slop) * 95 // 100 // _copies(spec)


def _is_of_pool(option: Option) -> bool:
    return option.key in POOL or option.key.startswith("feature@")


def _copies(spec: Zfs) -> int:
    return int(dict(spec.dataset).get("copies", "1"))


LAYER = ZfsLayer()
