"""A logical volume: `lvm striped a b stripesize=64k`, `lvm cache hdd1 cachevol nvme1 cachemode=writeback`.

The first word is the segment type: lvmraid(7), lvmthin(7), lvmcache(7). For `cache` and `writecache` the fast device
follows `cachevol`. Options have the long names of lvcreate and lvconvert.

The volume uses all the space unless `size=` is smaller. poolproof waits until a RAID volume is in sync, unless it is
made with `nosync`. A cache keeps its content while the layout is closed, so it is warm after the test files are filled.

A filter limits LVM to the run's own devices: it neither touches other devices nor waits for them, and the filter in the
host's lvm.conf does not hide ours. `types` allows it to use a zvol. It writes no backup to /etc/lvm and starts no
dmeventd, because both would outlive the run.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from poolproof.campaign.expression import Option, Word
from poolproof.devices.model import Site, Volume
from poolproof.errors import CommandError
from poolproof.facts.machine import ProgramVersion
from poolproof.hosts.base import Host
from poolproof.layers import arguments
from poolproof.layers.arguments import Input, size_of, words
from poolproof.layers.base import Layer, LayerNode, LayerPlan, StageReader, survives
from poolproof.layers.shared_steps import kernel_name, wipe
from poolproof.steps import LET_GO_S, Holds, Step, UndoCommand, await_block

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
_EXTENT_BYTES = 4 * 1024**2
_LONGEST_NAME = 60  # a mapping is called GROUP-VOLUME with each dash doubled, at most 127 characters
_VOLUME = "volume"
_INACTIVE = ("--activate", "n", "--zero", "n", "--wipesignatures", "n")  # lvconvert requires this of a writecache
_SLOWEST_SYNC_BYTES_PER_S = 5e6
_AWAIT_SYNC = (
    'until said=$(lvm lvs --noheadings -o sync_percent "$@" 2>&1) && [ "$(echo $said)" = 100.00 ]; do sleep 2; done'
)
_REMOVE = 'config=$1; shift; lvm vgremove --yes --force "$config" "$0" && lvm pvremove --yes "$config" "$@"'
_LIMIT_S = 30.0


@dataclass(frozen=True)
class Lvm:
    """The segment type; the number of inputs, at the end, that are the fast device; options; bare words."""

    kind: str
    fast: int
    options: tuple[tuple[str, str], ...]
    flags: tuple[str, ...]

    def value(self, key: str, default: str) -> str:
        return dict(self.options).get(key, default)

    def copies_of(self, count: int) -> int:
        """Return the number of copies that a raid1 or raid10 of `count` devices keeps: `mirrors=` plus one."""
        return int(self.value("mirrors", "1" if self.kind == "raid10" else str(count - 1))) + 1

    def stripes_of(self, count: int) -> int:
        """Return over how many of `count` devices data is striped, not counting parity."""
        return int(self.value("stripes", str(count - _PARITY.get(self.kind, 0))))

    @property
    def has_copies(self) -> bool:
        """True if the volume must be synced after it is created."""
        return self.kind in ("raid1", "raid5", "raid6", "raid10") and "nosync" not in self.flags


class LvmLayer(Layer[Lvm]):
    """Logical volumes of the device mapper."""

    word = "lvm"
    summary = "a logical volume over devices: `lvm raid1 a b`, `lvm cache hdd1 cachevol nvme1`"
    programs = ("lvm",)
    packages = ("lvm2", "thin-provisioning-tools")
    module_packages = ("linux-image-amd64",)
    image_packages = ("dmsetup",)
    version = ProgramVersion("lvm", ("lvm", "version"))
    offers_block = True
    smallest_device_bytes = 16 * 1024**2

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
        paths = [device.path for device in inputs]
        largest = max(device.size_bytes or 0 for device in inputs)
        group = kernel_name(site, name, longest=_LONGEST_NAME)
        node = f"/dev/{group}/{_VOLUME}"
        volume = self.volume(spec, node, inputs)
        synced = (_await_sync(f"{group}/{_VOLUME}", paths, largest),) if spec.has_copies else ()
        activate = lvm("vgchange", paths, "--quiet", "--activate", "y", group)
        return LayerPlan(
            make=(wipe(paths), *_group(spec, group, paths), *_volumes(spec, group, paths, volume.size_bytes), *synced),
            open=(Step(f"activate {group}", activate), await_block(node)),
            close=(
                Step(
                    f"deactivate {group}",
                    lvm("vgchange", paths, "--quiet", "--activate", "n", group),
                    timeout_s=300,
                    patience_s=LET_GO_S,
                ),
            ),
            volume=volume,
        )

    def write_factor(self, spec: Lvm, inputs: Sequence[float]) -> float:
        """For raid5 and raid6, that of a full stripe. For a write-back cache, which writes once or twice, once.

        A write-through cache always writes to the slow device, and to the fast one only for blocks that it caches.
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
        """Minus 8 MiB per device for labels and rounding to extents of 4 MiB; at most `size=` or `virtualsize=`."""
        most = size_of(spec.value("virtualsize" if spec.kind == "thin" else "size", ""))
        space = self._space_bytes(spec, inputs)
        return space if most is None else most if spec.kind == "thin" else min(space, most)

    def _space_bytes(self, spec: Lvm, inputs: Sequence[int]) -> int:
        """Return the bytes for data on the devices."""
        slow = [max(0, size - _METADATA_BYTES) for size in inputs[: len(inputs) - spec.fast]]
        smallest = min(slow)
        match spec.kind:
            case "raid1" | "raid10":
                return smallest * (len(slow) // spec.copies_of(len(slow)))
            case "striped" | "raid0" | "raid5" | "raid6":
                return smallest * spec.stripes_of(len(slow))
            case "thin":
                return sum(slow) * 98 // 100
        return sum(slow)

    def redundancy(self, spec: Lvm, inputs: Sequence[int]) -> int:
        """A write-back cache holds data that the slow device lacks; by default lvmcache(7) writes through."""
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
        """Evenly over the devices of a RAID or striped volume, otherwise in proportion to their sizes.

        The copies in a cache are not counted.
        """
        slow = list(inputs[: len(inputs) - spec.fast])
        if spec.kind in ("linear", "thin", *_CACHED):
            sizes = [device.size_bytes or 1 for device in slow]
            shares = [total_bytes * size // sum(sizes) for size in sizes]
        else:
            shares = [int(total_bytes * self.write_factor(spec, [1.0] * len(slow)) / len(slow))] * len(slow)
        return (*shares, *[0] * spec.fast)

    def busy_with(self, spec: Lvm, volume: Volume, inputs: Sequence[Volume], host: Host) -> str | None:
        if not spec.has_copies:
            return None
        percent = _sync_percent(volume.path.removeprefix("/dev/"), [device.path for device in inputs], host)
        return None if percent in (None, 100.0) else f"lvm is syncing {volume.path}"


def _check_shape(reading: StageReader, spec: Lvm, count: int) -> None:
    """Check that mirrors and stripes are numbers, and that there are enough devices for them."""
    given = {option.key: option for option in reading.arguments if isinstance(option, Option) and option.key in _SHAPE}
    for key, option in given.items():
        if not option.value.isdecimal() or int(option.value) < 1:
            raise reading.mistake(option, f"`{option.value}` is not a number of {key}; write {key}=1")
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
            undo=UndoCommand(_remove(group, paths), Holds(f"/dev/{group}", ""), timeout_s=60),
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
    """Return the segment type with the numbers of stripes and mirrors that use all devices."""
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
    """Create a logical volume on some devices of the group, as large as they allow unless `size=` is given."""
    size = dict(spec.options).get("size")
    space = ("--size", size) if size else ("--extents", "100%PVS")
    apart = _SHAPE | _OF_GROUP | _OF_THIN | frozenset({"size"}) | (_OF_CACHE if spec.kind in _CACHED else frozenset())
    named = [part for key, value in spec.options if key not in apart for part in (f"--{key}", value)]
    flags = [f"--{flag}" for flag in spec.flags]
    return Step(
        f"make the {shape[1]} volume {group}/{name}",
        lvm("lvcreate", devices, "--yes", "--quiet", "--name", name, *shape, *space, *named, *flags, group, *on),
        timeout_s=300,
    )


def _thin(spec: Lvm, group: str, paths: Sequence[str], size_bytes: int | None) -> tuple[Step, ...]:
    """Create a thin pool over all devices, and a thin volume in it of the pool's size or `virtualsize=`."""
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
    argv = ("sh", "-c", _AWAIT_SYNC, "sh", "--config", _only(paths), volume)
    return Step(f"wait until {volume} has synced its devices", argv, timeout_s=limit_s)


def lvm(command: str, devices: Sequence[str], *arguments: str) -> tuple[str, ...]:
    """Return an LVM command line that is limited to these devices."""
    return ("lvm", command, "--config", _only(devices), *arguments)


def _remove(group: str, devices: Sequence[str]) -> tuple[str, ...]:
    """Return the command that removes the volume group with all its volumes, and the labels of its devices."""
    return ("sh", "-c", _REMOVE, group, f"--config={_only(devices)}", *devices)


def _sync_percent(volume: str, devices: Sequence[str], host: Host) -> float | None:
    """Return how much of a RAID volume is in sync, 0 to 100; None if LVM does not report it."""
    try:
        printed = host.run(lvm("lvs", devices, "--noheadings", "-o", "sync_percent", volume), timeout_s=_LIMIT_S)
    except CommandError:
        return None
    return float(printed.stdout) if re.fullmatch(r"\s*\d+(\.\d+)?\s*", printed.stdout) else None


def _only(devices: Sequence[str]) -> str:
    """Return LVM's configuration. Each regular-expression metacharacter of a path becomes `.`, which matches it too."""
    accepted = ",".join('"a|^' + re.sub(r"[^\w/-]", ".", path) + '$|"' for path in devices)
    only_ours = f'devices{{filter=[{accepted},"r|.*|"]types=["zvol",16]}}'
    return only_ours + "backup{backup=0 archive=0}activation{monitoring=0}"


def _members(reading: StageReader, kind: str) -> tuple[Lvm, list[Input]]:
    inputs: list[Input] = [(None, reading.below)] if reading.below is not None else []
    options: dict[str, str] = {}
    flags: list[str] = []
    slow: int | None = None
    for argument in reading.arguments[1:]:
        match argument:
            case Word("cachevol") if kind in _CACHED and slow is None:
                slow = len(inputs)
            case Word("cachevol"):
                raise reading.mistake(argument, "cachevol is only for cache and writecache, and only once")
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
