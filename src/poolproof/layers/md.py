"""Linux software RAID: `md raid1 nvme ssd bitmap=none`, `md raid10 a b c d layout=f2 chunk=256k`.

The first word is the level, as mdadm names it. Options are those of `mdadm --create`, by their long names; bare words
are its flags. After the word `write-mostly`, devices are write-mostly, as on mdadm's own command line.

A new array is waited for until all its copies are alike; `assume-clean` says that they are. It is cooled by stopping
and assembling it: raid4 to raid6 keep stripes in RAM.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from poolproof.campaign.expression import Argument, Option, Word
from poolproof.devices.model import Site, Volume
from poolproof.errors import CampaignError, HostError
from poolproof.evidence.model import Target
from poolproof.hosts.base import Host
from poolproof.layers import arguments, md_commands
from poolproof.layers.arguments import size_of, words
from poolproof.layers.base import Layer, LayerNode, LayerPlan, Node, StageReader, survives
from poolproof.layers.kernel_names import kernel_name
from poolproof.layers.signatures import wipe
from poolproof.steps import Holds, Step, UndoCommand, await_block
from poolproof.units import format_size

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
    "bitmap bitmap-chunk chunk consistency-policy data-offset layout metadata size spare-devices write-behind"
)
_SIZES = words("bitmap-chunk chunk data-offset size")  # mdadm knows K, M and G, but no small ones
_FLAGS = words("assume-clean failfast")
_CHECKED: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "bitmap": words("none internal clustered lockless"),
        "metadata": words("0.90 1.0 1.1 1.2 default"),
        "consistency-policy": words("resync bitmap journal ppl"),
    }
)
_MODULES: Mapping[str, str] = MappingProxyType(
    {"linear": "linear", "raid4": "raid456", "raid5": "raid456", "raid6": "raid456"}
)
_SUPERBLOCK_BYTES = 128 * 1024**2
_SMALLEST_BYTES = 2 * 1024**2
_LONGEST_NAME = 32  # of a superblock of version 1, md_p.h
_SLOWEST_SYNC_BYTES_PER_S = 5e6


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
    def has_copies(self) -> bool:
        """Whether there is something to sync: all levels but linear and raid0."""
        return self.level not in ("linear", "raid0")

    @property
    def spares(self) -> int:
        return int(self.value("spare-devices", "0"))


class MdLayer(Layer[Md]):
    """RAID by the kernel, over block devices."""

    word = "md"
    summary = "Linux software RAID over devices: `md raid1 nvme1 ssd1 bitmap=none`"
    programs = ("mdadm",)
    packages = ("mdadm",)
    module_packages = ("linux-image-amd64",)
    offers_block = True

    def read(self, reading: StageReader) -> LayerNode:
        first = reading.arguments[0] if reading.arguments else None
        if not isinstance(first, Word) or first.text not in _LEVELS:
            raise _no_level(reading, first)
        if reading.below is not None:
            raise reading.mistake(first, "md joins several devices; name them after the level: md raid1 a b")
        spec, inputs = _members(reading, _LEVELS[first.text])
        _check(reading, first, spec, len(inputs))
        arguments.check_blocks(reading, inputs, self.word)
        return LayerNode(self, spec, tuple(node for _, node in inputs))

    def modules(self, spec: Md) -> tuple[str, ...]:
        return ("md_mod", _MODULES.get(spec.level, spec.level))

    def plan(self, spec: Md, inputs: Sequence[Volume], site: Site, name: str) -> LayerPlan:
        _check_sizes(inputs)
        node = f"/dev/md/{kernel_name(site, name, longest=_LONGEST_NAME)}"
        members = [device.path for device in inputs]
        sizes = [device.size_bytes for device in inputs if device.size_bytes is not None]
        settled = (_await_sync(node, max(sizes, default=0)),) if spec.has_copies else ()
        return LayerPlan(
            make=(wipe(members), _create(spec, node, members), await_block(node), *settled),
            open=(
                Step(
                    f"assemble {node}",
                    ("mdadm", "--assemble", "--quiet", node, *members),
                    await_file=node,
                    unless=node,
                ),
            ),
            close=(Step(f"stop {node}", md_commands.stop(node)),),
            volume=Volume(
                node,
                True,
                tuple(leaf for device in inputs for leaf in device.leaves),
                self.capacity_bytes(spec, sizes) if len(sizes) == len(inputs) else None,
            ),
        )

    def write_factor(self, spec: Md, inputs: Sequence[float]) -> float:
        """raid4 to raid6: of a full stripe; a smaller write costs more."""
        active = len(inputs) - spec.spares
        if spec.level == "raid1":
            return sum(inputs[:active])
        if spec.level == "raid10":
            return spec.copies * min(inputs)
        return min(inputs) * active / (active - _PARITY.get(spec.level, 0))

    def capacity_bytes(self, spec: Md, inputs: Sequence[int]) -> int:
        """Less 128 MiB a device for superblock, bitmap and the room that mdadm leaves for a reshape, or 1 % if less.

        Of each device `size=` is used, where that is given.
        """
        used = size_of(spec.value("size", ""))
        active = [max(0, size - min(_SUPERBLOCK_BYTES, size // 100 + 1024**2)) for size in inputs]
        active = active if used is None else [min(size, used) for size in active]
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

    def redundancy(self, spec: Md, inputs: Sequence[int]) -> int:
        """A spare helps only once it has taken over, so it does not count."""
        active = inputs[: len(inputs) - spec.spares]
        copies = {"raid1": len(active), "raid10": spec.copies}.get(spec.level, 1)
        return survives(active, _PARITY.get(spec.level, copies - 1))

    def stored(
        self, spec: Md, volume: Volume, inputs: Sequence[Volume], total_bytes: int, host: Host
    ) -> tuple[int, ...]:
        """Evenly on all active devices, by md(4); an array of level linear is taken as filled evenly by size."""
        active = len(inputs) - spec.spares
        sizes = [device.size_bytes or 1 for device in inputs]
        if spec.level == "linear":
            return tuple(total_bytes * size // sum(sizes) for size in sizes)
        each = int(total_bytes * self.write_factor(spec, [1.0] * len(inputs)) / active)
        return (*[each] * active, *[0] * spec.spares)

    def busy_with(self, spec: Md, volume: Volume, inputs: Sequence[Volume], host: Host) -> str | None:
        action = md_commands.sync_action(volume.path, host) if spec.has_copies else None
        return None if action in (None, "idle", "frozen") else f"md does a {action} of {volume.path}"

    def describe(self, spec: Md, volume: Volume, inputs: Sequence[Volume], host: Host, target: Target) -> Target:
        if not spec.has_copies:
            return target
        location = md_commands.bitmap_location(volume.path, host)
        return replace(target, md_bitmap=None if location is None else location not in ("none", "file"))


def _create(spec: Md, node: str, members: Sequence[str]) -> Step:
    """`--run`: mdadm asks nothing. Flags for devices stand before those that they are for."""
    named = [f"--{key}={value.upper() if key in _SIZES else value}" for key, value in spec.options]
    first = min(spec.write_mostly, default=len(members))
    marked = ("--write-mostly", *members[first:]) if spec.write_mostly else ()
    return Step(
        f"make {spec.level} of {', '.join(members)}",
        (
            *("mdadm", "--create", node, "--run", "--quiet", f"--level={spec.level}"),
            *(f"--raid-devices={len(members) - spec.spares}", *named, *[f"--{flag}" for flag in spec.flags]),
            *(*members[:first], *marked),
        ),
        undo=UndoCommand(md_commands.dismiss(node, members), Holds(node, "")),
        timeout_s=120,
        overwrites=tuple(members),
    )


def _await_sync(node: str, device_bytes: int) -> Step:
    limit_s = 300 + device_bytes / _SLOWEST_SYNC_BYTES_PER_S
    return Step(f"wait until {node} has synced its devices", md_commands.await_sync(node), timeout_s=limit_s)


def _check_sizes(inputs: Sequence[Volume]) -> None:
    for device in inputs:
        if device.size_bytes is not None and device.size_bytes < _SMALLEST_BYTES:
            raise HostError(
                f"{device.path} has {format_size(device.size_bytes)}, too little for the superblock of md",
                "give the device a size of 2M or more in the campaign",
            )


def _no_level(reading: StageReader, first: Argument | None) -> CampaignError:
    if isinstance(first, Word) and not reading.is_device(first.text):
        return arguments.unknown(reading, first, "level of md", words("linear raid0 raid1 raid4 raid5 raid6 raid10"))
    return reading.mistake(first, "md needs a level first: md raid1 a b")


def _members(reading: StageReader, level: str) -> tuple[Md, list[tuple[Argument | None, Node]]]:
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


def _check(reading: StageReader, level: Word, spec: Md, count: int) -> None:
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
