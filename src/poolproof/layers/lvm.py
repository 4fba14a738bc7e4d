"""A logical volume: `lvm striped a b stripesize=64k`, `lvm cache hdd1 cachevol nvme1 cachemode=writeback`.

The first word is the segment type, lvmraid(7), lvmthin(7) and lvmcache(7). For `cache` and `writecache` the fast device
stands after `cachevol`. Options are those of lvcreate and lvconvert, by their long names.

The volume takes all the room there is unless `size=` says less. A RAID volume is waited for until its copies are alike,
or made with `nosync`. A cache keeps what it holds while the layout is closed: it is warm after it was filled.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from poolproof.campaign.expression import Argument, Option, Word
from poolproof.devices.model import Site, Volume
from poolproof.errors import HostError
from poolproof.hosts.base import Host
from poolproof.layers import arguments
from poolproof.layers.arguments import size_of, words
from poolproof.layers.base import Layer, LayerNode, LayerPlan, Node, StageReader, survives
from poolproof.layers.kernel_names import kernel_name
from poolproof.layers.lvm_commands import await_sync, dismiss, lvm, sync_percent
from poolproof.layers.signatures import wipe
from poolproof.steps import LET_GO_S, Holds, Step, UndoCommand, await_block
from poolproof.units import format_size

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
_MODULES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "linear": (),
        "striped": (),
        "thin": ("dm_thin_pool",),
        "cache": ("dm_cache", "dm_cache_smq"),
        "writecache": ("dm_writecache",),
    }
)
_SHAPE = frozenset({"mirrors", "stripes"})
_OF_GROUP = frozenset({"physicalextentsize"})
_OF_CACHE = words("cachemode cachepolicy cachesettings chunksize writecache-settings")
_OF_THIN = words("virtualsize")
_RENAMED: Mapping[str, str] = MappingProxyType({"writecache-settings": "cachesettings"})
_METADATA_BYTES = 8 * 1024**2
_SMALLEST_BYTES = 16 * 1024**2
_EXTENT_BYTES = 4 * 1024**2
_LONGEST_NAME = 60  # a mapping is called GROUP-VOLUME with each dash doubled, in 127 letters
_VOLUME = "volume"
_INACTIVE = ("--activate", "n", "--zero", "n", "--wipesignatures", "n")  # as lvconvert wants what becomes a writecache
_SLOWEST_SYNC_BYTES_PER_S = 5e6


@dataclass(frozen=True)
class Lvm:
    """The segment type; how many of the inputs, the last ones, are the fast device; options; bare words."""

    kind: str
    fast: int
    options: tuple[tuple[str, str], ...]
    flags: tuple[str, ...]

    def value(self, key: str, default: str) -> str:
        return dict(self.options).get(key, default)

    def copies_of(self, count: int) -> int:
        """How many copies a raid1 or raid10 of so many devices keeps: `mirrors=` and the first."""
        return int(self.value("mirrors", "1" if self.kind == "raid10" else str(count - 1))) + 1

    def stripes_of(self, count: int) -> int:
        """Over how many of so many devices data is striped, parity apart."""
        return int(self.value("stripes", str(count - _PARITY.get(self.kind, 0))))

    @property
    def has_copies(self) -> bool:
        """Whether there is something to sync."""
        return self.kind in ("raid1", "raid5", "raid6", "raid10") and "nosync" not in self.flags


class LvmLayer(Layer[Lvm]):
    """Volumes by the device mapper."""

    word = "lvm"
    summary = "a logical volume over devices: `lvm raid1 a b`, `lvm cache hdd1 cachevol nvme1`"
    programs = ("lvm",)
    packages = ("lvm2", "thin-provisioning-tools")
    module_packages = ("linux-image-amd64",)
    offers_block = True

    def read(self, reading: StageReader) -> LayerNode:
        first = reading.arguments[0] if reading.arguments else None
        if not isinstance(first, Word) or first.text not in _FEWEST:
            if isinstance(first, Word) and not reading.is_device(first.text):
                raise arguments.unknown(reading, first, "segment type of lvm", _FEWEST)
            raise reading.mistake(first, "lvm needs a segment type first: lvm linear a b")
        spec, inputs = _members(reading, first.text)
        slow = len(inputs) - spec.fast
        if slow < _FEWEST[spec.kind]:
            raise reading.mistake(first, f"lvm {spec.kind} needs at least {_FEWEST[spec.kind]} devices, found {slow}")
        _check_shape(reading, spec, slow)
        if spec.kind in _CACHED and not spec.fast:
            raise reading.mistake(first, f"lvm {spec.kind} needs a fast device: lvm {spec.kind} hdd1 cachevol nvme1")
        arguments.check_blocks(reading, inputs, self.word)
        return LayerNode(self, spec, tuple(node for _, node in inputs))

    def modules(self, spec: Lvm) -> tuple[str, ...]:
        return ("dm_mod", *_MODULES.get(spec.kind, ("dm_raid",)))

    def plan(self, spec: Lvm, inputs: Sequence[Volume], site: Site, name: str) -> LayerPlan:
        _check_sizes(inputs)
        paths = [device.path for device in inputs]
        sizes = [device.size_bytes for device in inputs if device.size_bytes is not None]
        size = self.capacity_bytes(spec, sizes) if len(sizes) == len(inputs) else None
        group = kernel_name(site, name, longest=_LONGEST_NAME)
        node = f"/dev/{group}/{_VOLUME}"
        settled = (_await_sync(f"{group}/{_VOLUME}", paths, max(sizes, default=0)),) if spec.has_copies else ()
        activate = lvm("vgchange", paths, "--quiet", "--activate", "y", group)
        return LayerPlan(
            make=(wipe(paths), *_group(spec, group, paths), *_volumes(spec, group, paths, size), *settled),
            open=(Step(f"activate {group}", activate), await_block(node)),
            close=(
                Step(
                    f"deactivate {group}",
                    lvm("vgchange", paths, "--quiet", "--activate", "n", group),
                    timeout_s=300,
                    patience_s=LET_GO_S,
                ),
            ),
            volume=Volume(node, True, tuple(leaf for device in inputs for leaf in device.leaves), size),
        )

    def write_factor(self, spec: Lvm, inputs: Sequence[float]) -> float:
        """raid5, raid6: of a full stripe. A write-back cache may write once or twice: the smaller bound.

        A write-through cache writes the slow device always, and the fast one only for blocks that it holds.
        """
        slow = inputs[: len(inputs) - spec.fast]
        match spec.kind:
            case "raid1" if spec.copies_of(len(slow)) == len(slow):
                return sum(slow)
            case "raid1" | "raid10":
                return spec.copies_of(len(slow)) * min(slow)
            case "raid5" | "raid6":
                data = spec.stripes_of(len(slow))
                return min(slow) * (data + _PARITY[spec.kind]) / data
            case "cache" | "writecache":
                return min(inputs)
        return min(slow)

    def capacity_bytes(self, spec: Lvm, inputs: Sequence[int]) -> int:
        """Less 8 MiB a device for labels and the rounding to extents of 4 MiB; at most `size=` or `virtualsize=`."""
        most = size_of(spec.value("virtualsize" if spec.kind == "thin" else "size", ""))
        room = self._room_bytes(spec, inputs)
        return room if most is None else most if spec.kind == "thin" else min(room, most)

    def _room_bytes(self, spec: Lvm, inputs: Sequence[int]) -> int:
        """What the devices have for data."""
        slow = [max(0, size - _METADATA_BYTES) for size in inputs[: len(inputs) - spec.fast]]
        smallest = min(slow)
        match spec.kind:
            case "raid1" | "raid10":
                return smallest * (len(slow) // spec.copies_of(len(slow)))
            case "striped" | "raid0":
                return smallest * spec.stripes_of(len(slow))
            case "raid5" | "raid6":
                return smallest * spec.stripes_of(len(slow))
            case "thin":
                return sum(slow) * 98 // 100
        return sum(slow)

    def redundancy(self, spec: Lvm, inputs: Sequence[int]) -> int:
        """A write-back cache holds data that the slow device has not; lvmcache(7) writes through unless told."""
        slow = inputs[: len(inputs) - spec.fast]
        match spec.kind:
            case "raid1" | "raid10":
                return survives(slow, spec.copies_of(len(slow)) - 1)
            case "raid5" | "raid6":
                return survives(slow, _PARITY[spec.kind])
            case "cache" if spec.value("cachemode", "writethrough") != "writeback":
                return min(slow)
        return min(inputs)

    def stored(
        self, spec: Lvm, volume: Volume, inputs: Sequence[Volume], total_bytes: int, host: Host
    ) -> tuple[int, ...]:
        """Evenly over the devices of a RAID or striped volume; else by size, as if each were filled alike.

        What a cache holds is there twice and is not counted.
        """
        slow = list(inputs[: len(inputs) - spec.fast])
        if spec.kind in ("linear", "thin", *_CACHED):
            sizes = [device.size_bytes or 1 for device in slow]
            held = [total_bytes * size // sum(sizes) for size in sizes]
        else:
            held = [int(total_bytes * self.write_factor(spec, [1.0] * len(slow)) / len(slow))] * len(slow)
        return (*held, *[0] * spec.fast)

    def busy_with(self, spec: Lvm, volume: Volume, inputs: Sequence[Volume], host: Host) -> str | None:
        if not spec.has_copies:
            return None
        percent = sync_percent(volume.path.removeprefix("/dev/"), [device.path for device in inputs], host)
        return None if percent in (None, 100.0) else f"lvm syncs {volume.path}"


def _check_shape(reading: StageReader, spec: Lvm, count: int) -> None:
    """Mirrors and stripes are numbers, and the devices suffice for them."""
    given = {option.key: option for option in reading.arguments if isinstance(option, Option) and option.key in _SHAPE}
    for key, option in given.items():
        if not option.value.isdecimal() or int(option.value) < 1:
            raise reading.mistake(option, f"`{option.value}` is no number of {key}; write {key}=1")
    needs = {
        "raid1": spec.copies_of(count),
        "raid10": spec.copies_of(count) * int(spec.value("stripes", "1")),
        **dict.fromkeys(("striped", "raid0", "raid5", "raid6"), spec.stripes_of(count) + _PARITY.get(spec.kind, 0)),
    }.get(spec.kind, 0)
    if given and needs > count:
        option = next(iter(given.values()))
        raise reading.mistake(
            option, f"lvm {spec.kind} with {option.key}={option.value} needs {needs} devices, found {count}"
        )


def _group(spec: Lvm, group: str, paths: Sequence[str]) -> tuple[Step, ...]:
    extent = [part for key, value in spec.options if key in _OF_GROUP for part in (f"--{key}", value)]
    return (
        Step(
            f"make physical volumes of {', '.join(paths)}",
            lvm("pvcreate", paths, "--yes", "--quiet", *paths),
            overwrites=tuple(paths),
        ),
        Step(
            f"make the volume group {group}",
            lvm("vgcreate", paths, "--quiet", *extent, group, *paths),
            undo=UndoCommand(dismiss(group, paths), Holds(f"/dev/{group}", ""), timeout_s=60),
            overwrites=tuple(paths),
        ),
    )


def _volumes(spec: Lvm, group: str, paths: Sequence[str], size_bytes: int | None) -> tuple[Step, ...]:
    slow, fast = paths[: len(paths) - spec.fast], paths[len(paths) - spec.fast :]
    if spec.kind == "thin":
        return _thin(spec, group, paths, size_bytes)
    if spec.kind in _CACHED:
        inactive = _INACTIVE if spec.kind == "writecache" else ()
        return (
            _create(spec, group, paths, _VOLUME, ("--type", "linear"), slow),
            _create(Lvm("linear", 0, (), ()), group, paths, "fast", ("--type", "linear", *inactive), fast),
            _attach(spec, group, paths),
        )
    return (_create(spec, group, paths, _VOLUME, _shape(spec, len(slow)), slow),)


def _shape(spec: Lvm, count: int) -> tuple[str, ...]:
    """The segment type with how many stripes and mirrors it takes to use all devices."""
    copies = spec.copies_of(count)
    match spec.kind:
        case "raid1":
            return ("--type", "raid1", "--mirrors", str(copies - 1))
        case "raid10":
            stripes = spec.value("stripes", str(count // copies))
            return ("--type", "raid10", "--mirrors", str(copies - 1), "--stripes", stripes)
        case "striped" | "raid0" | "raid5" | "raid6":
            return ("--type", spec.kind, "--stripes", str(spec.stripes_of(count)))
    return ("--type", spec.kind)


def _create(spec: Lvm, group: str, devices: Sequence[str], name: str, shape: Sequence[str], on: Sequence[str]) -> Step:
    """One logical volume on some devices of the group, as large as they allow unless `size=` says else."""
    size = dict(spec.options).get("size")
    room = ("--size", size) if size else ("--extents", "100%PVS")
    apart = _SHAPE | _OF_GROUP | _OF_THIN | frozenset({"size"}) | (_OF_CACHE if spec.kind in _CACHED else frozenset())
    named = [part for key, value in spec.options if key not in apart for part in (f"--{key}", value)]
    flags = [f"--{flag}" for flag in spec.flags]
    return Step(
        f"make the {shape[1]} volume {group}/{name}",
        lvm("lvcreate", devices, "--yes", "--quiet", "--name", name, *shape, *room, *named, *flags, group, *on),
        timeout_s=300,
    )


def _thin(spec: Lvm, group: str, paths: Sequence[str], size_bytes: int | None) -> tuple[Step, ...]:
    """A thin pool over all devices and one thin volume in it, as large as the pool unless `virtualsize=` says else."""
    whole = (size_bytes or _EXTENT_BYTES) // _EXTENT_BYTES * _EXTENT_BYTES
    virtual = dict(spec.options).get("virtualsize", f"{whole}b")
    volume = ("--type", "thin", "--virtualsize", virtual, "--thinpool", f"{group}/pool")
    return (
        _create(spec, group, paths, "pool", ("--type", "thin-pool", "--poolmetadataspare", "n"), paths),
        Step(
            f"make the thin volume {group}/{_VOLUME}",
            lvm("lvcreate", paths, "--yes", "--quiet", "--name", _VOLUME, *volume),
            timeout_s=120,
        ),
    )


def _attach(spec: Lvm, group: str, paths: Sequence[str]) -> Step:
    named = [part for key, value in spec.options if key in _OF_CACHE for part in (f"--{_RENAMED.get(key, key)}", value)]
    kind = ("--type", spec.kind, "--cachevol", "fast")
    return Step(
        f"attach the {spec.kind} to {group}/{_VOLUME}",
        lvm("lvconvert", paths, "--yes", "--quiet", *kind, *named, f"{group}/{_VOLUME}"),
        timeout_s=300,
    )


def _await_sync(volume: str, paths: Sequence[str], device_bytes: int) -> Step:
    limit_s = 300 + device_bytes / _SLOWEST_SYNC_BYTES_PER_S
    return Step(f"wait until {volume} has synced its devices", await_sync(volume, paths), timeout_s=limit_s)


def _check_sizes(inputs: Sequence[Volume]) -> None:
    for device in inputs:
        if device.size_bytes is not None and device.size_bytes < _SMALLEST_BYTES:
            raise HostError(
                f"{device.path} has {format_size(device.size_bytes)}: too little for LVM's extents of 4 MiB",
                "give the device a size of 16M or more in the campaign",
            )


def _members(reading: StageReader, kind: str) -> tuple[Lvm, list[tuple[Argument | None, Node]]]:
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
