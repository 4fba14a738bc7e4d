"""A ZFS volume on a pool: `zfs mirror hdd1 hdd2 | zvol 100G volblocksize=16k`; `sparse` reserves no space for it.

The size comes first; options are the volume's properties by their own names, zfsprops(7).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from poolproof.campaign.expression import Option, Word
from poolproof.layers.base import LayerNode, Node, Reading
from poolproof.layers.unbuilt import UnbuiltLayer
from poolproof.layers.zfs import ZfsLayer
from poolproof.layers.zfs_properties import VOLUME, check_property
from poolproof.units import parse_size


@dataclass(frozen=True)
class Zvol:
    """Size in bytes, whether it is sparse, and properties by name."""

    size_bytes: int
    sparse: bool
    properties: tuple[tuple[str, str], ...]


class ZvolLayer(UnbuiltLayer[Zvol]):
    """A block device out of a pool."""

    word = "zvol"
    summary = "a volume of a pool: `zfs mirror a b | zvol 100G volblocksize=16k`"
    programs = ("zfs",)
    packages = ("zfsutils-linux",)
    file_system = "zfs"
    offers_block = True
    not_built = "the kernel module zfs and the program zfs"

    def read(self, reading: Reading) -> LayerNode:
        pool = _pool(reading)
        size, *rest = reading.arguments or (None,)
        if not isinstance(size, Word):
            raise reading.mistake(size, "zvol needs a size: zvol 100G")
        properties: dict[str, str] = {}
        sparse = False
        for argument in rest:
            match argument:
                case Word("sparse"):
                    sparse = True
                case Option(key, value):
                    check_property(reading, argument, VOLUME)
                    properties[key] = value
                case _:
                    raise reading.mistake(argument, "expected `sparse` or a property: zvol 100G volblocksize=16k")
        return LayerNode(self, Zvol(_size_bytes(reading, size), sparse, tuple(properties.items())), (pool,))

    def write_factor(self, spec: Zvol, inputs: Sequence[float]) -> float:
        return inputs[0] * int(dict(spec.properties).get("copies", "1"))

    def capacity_bytes(self, spec: Zvol, inputs: Sequence[int]) -> int:
        return min(spec.size_bytes, inputs[0])


def _pool(reading: Reading) -> Node:
    if reading.below is None:
        raise reading.mistake(None, "zvol stands on a pool: zfs mirror a b | zvol 100G")
    if not (isinstance(reading.below, LayerNode) and isinstance(reading.below.layer, ZfsLayer)):
        raise reading.mistake(None, "zvol stands on a pool, and left of the `|` is none")
    return reading.below


def _size_bytes(reading: Reading, size: Word) -> int:
    try:
        size_bytes = parse_size(size.text)
    except ValueError:
        raise reading.mistake(size, f"`{size.text}` is no size; zvol needs one: zvol 100G") from None
    if size_bytes == 0:
        raise reading.mistake(size, "a zvol of size 0 holds nothing")
    return size_bytes


LAYER = ZvolLayer()
