"""Linux software RAID: `md raid1 nvme ssd bitmap=none`, `md raid10 a b c d layout=f2 chunk=256k`.

The first word is the level, as mdadm names it. Options are those of `mdadm --create`, by their long names; bare words
are its flags. After the word `write-mostly`, devices are write-mostly, as on mdadm's own command line.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from poolproof.campaign.expression import Argument, Option, Word
from poolproof.errors import CampaignError
from poolproof.layers import arguments
from poolproof.layers.arguments import words
from poolproof.layers.base import LayerNode, Node, Reading
from poolproof.layers.unbuilt import UnbuiltLayer

_LEVELS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("raid0", "0", "stripe"), "raid0"),
        **dict.fromkeys(("raid1", "1", "mirror"), "raid1"),
        **dict.fromkeys(("raid4", "4"), "raid4"),
        **dict.fromkeys(("raid5", "5"), "raid5"),
        **dict.fromkeys(("raid6", "6"), "raid6"),
        **dict.fromkeys(("raid10", "10"), "raid10"),
        "linear": "linear",
    }
)
# mdadm would make raid4 and raid5 of two devices too: that is a mirror, and nobody means it
_FEWEST: Mapping[str, int] = MappingProxyType(
    {"linear": 2, "raid0": 2, "raid1": 2, "raid4": 3, "raid5": 3, "raid6": 4, "raid10": 2}
)
_PARITY: Mapping[str, int] = MappingProxyType({"raid4": 1, "raid5": 1, "raid6": 2})
_KEYS = words(
    "bitmap bitmap-chunk chunk consistency-policy data-offset layout metadata size spare-devices write-behind "
    "write-journal"
)
_FLAGS = words("assume-clean failfast")
_CHECKED: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "bitmap": words("none internal clustered lockless"),
        "metadata": words("0.90 1.0 1.1 1.2 default"),
        "consistency-policy": words("resync bitmap journal ppl"),
    }
)
_SUPERBLOCK_BYTES = 128 * 1024**2


@dataclass(frozen=True)
class Md:
    """The level; which inputs, counted from 0, are write-mostly; options with a value; bare ones."""

    level: str
    write_mostly: tuple[int, ...]
    options: tuple[tuple[str, str], ...]
    flags: tuple[str, ...]

    def value(self, key: str, default: str) -> str:
        return dict(self.options).get(key, default)

    @property
    def copies(self) -> int:
        """How many copies raid10 keeps: the digits of its layout, n2 unless given."""
        return int(self.value("layout", "n2")[1:])

    @property
    def spares(self) -> int:
        return int(self.value("spare-devices", "0"))


class MdLayer(UnbuiltLayer[Md]):
    """RAID by the kernel, over block devices."""

    word = "md"
    summary = "Linux software RAID over devices: `md raid1 nvme ssd bitmap=none`"
    programs = ("mdadm",)
    packages = ("mdadm",)
    offers_block = True
    not_built = "the kernel module md_mod and the program mdadm"

    def read(self, reading: Reading) -> LayerNode:
        first = reading.arguments[0] if reading.arguments else None
        if not isinstance(first, Word) or first.text not in _LEVELS:
            raise _no_level(reading, first)
        if reading.below is not None:
            raise reading.mistake(first, "md joins several devices; name them after the level: md raid1 a b")
        spec, inputs = _members(reading, _LEVELS[first.text])
        _check(reading, first, spec, len(inputs))
        arguments.check_blocks(reading, inputs, self.word)
        return LayerNode(self, spec, tuple(node for _, node in inputs))

    def write_factor(self, spec: Md, inputs: Sequence[float]) -> float:
        """raid4 to raid6: of a full stripe; a smaller write costs more."""
        active = len(inputs) - spec.spares
        if spec.level == "raid1":
            return sum(inputs[:active])
        if spec.level == "raid10":
            return spec.copies * min(inputs)
        return min(inputs) * active / (active - _PARITY.get(spec.level, 0))

    def capacity_bytes(self, spec: Md, inputs: Sequence[int]) -> int:
        """Less 128 MiB a device for superblock, bitmap and the room that mdadm leaves for a reshape, or 1 % if less."""
        active = [max(0, size - min(_SUPERBLOCK_BYTES, size // 100 + 1024**2)) for size in inputs]
        active = active[: len(active) - spec.spares]
        smallest = min(active)
        match spec.level:
            case "linear" | "raid0":
                return sum(active)
            case "raid1":
                return smallest
            case "raid10":
                return smallest * len(active) // spec.copies
        return smallest * (len(active) - _PARITY[spec.level])


def _no_level(reading: Reading, first: Argument | None) -> CampaignError:
    if isinstance(first, Word) and not reading.is_device(first.text):
        return arguments.unknown(reading, first, "level of md", words("linear raid0 raid1 raid4 raid5 raid6 raid10"))
    return reading.mistake(first, "md needs a level first: md raid1 a b")


def _members(reading: Reading, level: str) -> tuple[Md, list[tuple[Argument | None, Node]]]:
    inputs: list[tuple[Argument | None, Node]] = []
    write_mostly: list[int] = []
    options: dict[str, str] = {}
    flags: list[str] = []
    is_write_mostly = False
    for argument in reading.arguments[1:]:
        match argument:
            case Word("write-mostly"):
                is_write_mostly = True
            case Word(text) if text in _FLAGS:
                flags.append(text)
            case Option(key, value) if key in _KEYS:
                arguments.check_values(reading, [argument], _CHECKED)
                options[key] = value
            case Option():
                raise arguments.unknown(reading, argument, "option of md", _KEYS)
            case _:
                write_mostly += [len(inputs)] if is_write_mostly else []
                inputs.append((argument, reading.node(argument)))
    return Md(level, tuple(write_mostly), tuple(options.items()), tuple(flags)), inputs


def _check(reading: Reading, level: Word, spec: Md, count: int) -> None:
    options = {option.key: option for option in reading.arguments if isinstance(option, Option)}
    if "spare-devices" in options and not spec.value("spare-devices", "").isdigit():
        raise reading.mistake(options["spare-devices"], "spare-devices is a number")
    if "layout" in options and spec.level == "raid10" and not _is_raid10_layout(spec.value("layout", "")):
        raise reading.mistake(options["layout"], "a layout of raid10 is n, f or o and a number of copies: n2, f2, o3")
    fewest = max(_FEWEST[spec.level], spec.copies if spec.level == "raid10" else 0)
    if count - spec.spares < fewest:
        raise reading.mistake(level, f"md {spec.level} needs at least {fewest} devices, found {count - spec.spares}")
    if spec.write_mostly and spec.level != "raid1":
        raise reading.mistake(level, "write-mostly is for raid1 only")


def _is_raid10_layout(text: str) -> bool:
    return len(text) >= 2 and text[0] in "nfo" and text[1:].isdigit() and int(text[1:]) >= 2


LAYER = MdLayer()
