"""A logical volume: `lvm striped a b stripesize=64k`, `lvm cache hdd1 cachevol nvme1 cachemode=writeback`.

The first word is the segment type, lvmraid(7), lvmthin(7) and lvmcache(7). For `cache` and `writecache` the fast device
stands after `cachevol`. Options are those of lvcreate and lvconvert, by their long names.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from poolproof.campaign.expression import Argument, Option, Word
from poolproof.layers import arguments
from poolproof.layers.arguments import words
from poolproof.layers.base import LayerNode, Node, Reading
from poolproof.layers.unbuilt import UnbuiltLayer

_FEWEST: Mapping[str, int] = MappingProxyType(
    {
        "linear": 1,
        "striped": 2,
        "raid0": 2,
        "raid1": 2,
        "raid5": 3,
        "raid6": 5,
        "raid10": 4,
        "thin": 1,
        "cache": 1,
        "writecache": 1,
    }
)
_PARITY: Mapping[str, int] = MappingProxyType({"raid5": 1, "raid6": 2})
_CACHED = frozenset({"cache", "writecache"})
_KEYS = words(
    "cachemode cachepolicy cachesettings chunksize discards mirrors physicalextentsize poolmetadatasize regionsize "
    "size stripes stripesize virtualsize writecache-settings zero"
)
_FLAGS = words("nosync")
_CHECKED: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "cachemode": words("writethrough writeback passthrough"),
        "cachepolicy": words("smq cleaner mq"),
        "discards": words("ignore nopassdown passdown"),
        "zero": words("y n"),
    }
)
_METADATA_BYTES = 8 * 1024**2


@dataclass(frozen=True)
class Lvm:
    """The segment type; how many of the inputs, the last ones, are the fast device; options; bare words."""

    kind: str
    fast: int
    options: tuple[tuple[str, str], ...]
    flags: tuple[str, ...]

    def value(self, key: str, default: str) -> str:
        return dict(self.options).get(key, default)


class LvmLayer(UnbuiltLayer[Lvm]):
    """Volumes by the device mapper."""

    word = "lvm"
    summary = "a logical volume over devices: `lvm raid1 a b`, `lvm cache hdd1 cachevol nvme1`"
    programs = ("lvm",)
    packages = ("lvm2", "thin-provisioning-tools")
    offers_block = True
    not_built = "the kernel module dm_mod and the program lvm"

    def read(self, reading: Reading) -> LayerNode:
        first = reading.arguments[0] if reading.arguments else None
        if not isinstance(first, Word) or first.text not in _FEWEST:
            if isinstance(first, Word) and not reading.is_device(first.text):
                raise arguments.unknown(reading, first, "segment type of lvm", _FEWEST)
            raise reading.mistake(first, "lvm needs a segment type first: lvm linear a b")
        spec, inputs = _members(reading, first.text)
        slow = len(inputs) - spec.fast
        if slow < _FEWEST[spec.kind]:
            raise reading.mistake(first, f"lvm {spec.kind} needs at least {_FEWEST[spec.kind]} devices, found {slow}")
        if spec.kind in _CACHED and not spec.fast:
            raise reading.mistake(first, f"lvm {spec.kind} needs a fast device: lvm {spec.kind} hdd1 cachevol nvme1")
        arguments.check_blocks(reading, inputs, self.word)
        return LayerNode(self, spec, tuple(node for _, node in inputs))

    def write_factor(self, spec: Lvm, inputs: Sequence[float]) -> float:
        """raid5, raid6: of a full stripe. A write-back cache may write once or twice: the smaller bound.

        A write-through cache writes the slow device always, and the fast one only for blocks that it holds.
        """
        slow = inputs[: len(inputs) - spec.fast]
        match spec.kind:
            case "raid1":
                return sum(slow)
            case "raid10":
                return 2 * min(slow)
            case "raid5" | "raid6":
                return min(slow) * len(slow) / (len(slow) - _PARITY[spec.kind])
            case "cache" | "writecache":
                return min(inputs)
        return min(slow)

    def capacity_bytes(self, spec: Lvm, inputs: Sequence[int]) -> int:
        """Less 8 MiB a device for labels and the rounding to extents of 4 MiB."""
        slow = [max(0, size - _METADATA_BYTES) for size in inputs[: len(inputs) - spec.fast]]
        smallest = min(slow)
        match spec.kind:
            case "raid1":
                return smallest
            case "raid10":
                return smallest * (len(slow) // 2)
            case "striped" | "raid0":
                return smallest * len(slow)
            case "raid5" | "raid6":
                return smallest * (len(slow) - _PARITY[spec.kind])
            case "thin":
                return sum(slow) * 98 // 100
        return sum(slow)


def _members(reading: Reading, kind: str) -> tuple[Lvm, list[tuple[Argument | None, Node]]]:
    inputs: list[tuple[Argument | None, Node]] = [(None, reading.below)] if reading.below is not None else []
    options: dict[str, str] = {}
    flags: list[str] = []
    slow: int | None = None
    for argument in reading.arguments[1:]:
        match argument:
            case Word("cachevol") if kind in _CACHED and slow is None:
                slow = len(inputs)
            case Word("cachevol"):
                raise reading.mistake(argument, "cachevol is for cache and writecache, once")
            case Word(text) if text in _FLAGS:
                flags.append(text)
            case Option(key, value) if key in _KEYS:
                arguments.check_values(reading, [argument], _CHECKED)
                options[key] = value
            case Option():
                raise arguments.unknown(reading, argument, "option of lvm", _KEYS)
            case _:
                arguments.check_one_place(reading, argument, "lvm")
                inputs.append((argument, reading.node(argument)))
    fast = 0 if slow is None else len(inputs) - slow
    return Lvm(kind, fast, tuple(options.items()), tuple(flags)), inputs


LAYER = LvmLayer()
