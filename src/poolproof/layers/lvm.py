"""A logical volume: `lvm striped a b stripesize=64k`, `lvm cache hdd1 cachevol nvme1 cachemode=writeback`.

The first word is the segment type (see lvmraid(7), lvmthin(7) and lvmcache(7)). For `cache` and `writecache`, the fast
device follows the word `cachevol`. Options have the long names that lvcreate and lvconvert use. The volume fills its
devices unless `size=` is smaller. poolproof waits until a RAID volume is in sync, unless the layout has `nosync`.

A cache keeps its contents while the layout is closed. With cachemode=writeback, filling the test files also fills the
cache, so reads start with a warm cache. With writethrough, they start with a cold one. Before it closes a layout,
poolproof waits until a writeback cache has been flushed to the slow device. The flush would otherwise slow down the
next trial.

A filter restricts LVM to the run's devices, so that it neither touches other devices nor waits for them. This filter
also replaces the one in the host's lvm.conf, which could hide the run's devices. The setting `types` allows zvols as
physical volumes. LVM writes no backup to /etc/lvm and does not start dmeventd, because both would still be there after
the run.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TypeVar

from poolproof.campaign.expression import Option, Word
from poolproof.devices.model import Site, Volume
from poolproof.errors import CommandError
from poolproof.evidence.target_facts import Target
from poolproof.facts.machine import ProgramVersion
from poolproof.layers import arguments
from poolproof.layers.arguments import Vocabulary, bytes_with_unit, words
from poolproof.layers.base import Layer, LayerNode, LayerPlan, OpenLayer, StageReader, stored_by_size, survives
from poolproof.layers.lvm_commands import UndoGroup, label, lvm, only
from poolproof.layers.option_values import SETTINGS
from poolproof.layers.shared_steps import kernel_name, long_options, wipe
from poolproof.steps import LET_GO_S, Step, await_block
from poolproof.units import format_number_of

_FEWEST: Mapping[str, int] = {
    **dict.fromkeys(("linear", "thin", "cache", "writecache"), 1),
    **dict.fromkeys(("striped", "raid0", "raid1"), 2),
    "raid5": 3,
    "raid6": 5,
    "raid10": 4,
}
_PARITY: Mapping[str, int] = {"raid5": 1, "raid6": 2}
_CACHED = frozenset({"cache", "writecache"})
_WORDS = Vocabulary(
    "lvm",
    make_keys=words(
        "cachemode cachepolicy cachesettings chunksize discards mirrors physicalextentsize poolmetadatasize regionsize "
        "size stripes stripesize virtualsize writecache-settings zero"
    ),
    open_keys=frozenset(),
    open_flags=words("nosync cachevol"),
)
_CHECKED: Mapping[str, frozenset[str]] = {
    "cachemode": words("writethrough writeback passthrough"),
    "cachepolicy": words("smq cleaner mq"),
    "discards": words("ignore nopassdown passdown"),
    "zero": words("y n"),
}
_MODULES: Mapping[str, tuple[str, ...]] = {
    "linear": (),
    "striped": (),
    "thin": ("dm_thin_pool",),
    "cache": ("dm_cache", "dm_cache_smq"),
    "writecache": ("dm_writecache",),
}
_SHAPE = frozenset({"mirrors", "stripes"})
_OF_CACHE = words("cachemode cachepolicy cachesettings chunksize writecache-settings")
_NOT_OF_VOLUME = _SHAPE | words("physicalextentsize virtualsize size")
_METADATA_BYTES = 8 * 1024**2
_EXTENT_BYTES = 4 * 1024**2
_LONGEST_NAME = 60  # a mapping is called GROUP-VOLUME with each dash doubled, at most 127 characters
_VOLUME = "volume"
_INACTIVE = ("--activate", "n", "--zero", "n", "--wipesignatures", "n")  # lvconvert requires this for a writecache
_SLOWEST_SYNC_BYTES_PER_S = 5e6
_AWAIT_SYNC = (
    'until synced=$(lvm lvs --noheadings -o sync_percent "$@" 2>&1) && [ "$(echo $synced)" = 100.00 ]; do sleep 2; done'
)
# An idle cache writes back everything: clean_target_met() in the kernel's drivers/md/dm-cache-policy-smq.c (Linux 6.1).
_AWAIT_CLEAN = (
    'while dirty=$(lvm lvs --noheadings -o cache_dirty_blocks "$@") && dirty=$(echo $dirty) '
    '&& [ -n "$dirty" ] && [ "$dirty" != 0 ]; do sleep 1; done'
)
_LIMIT_S = 30.0

T = TypeVar("T")


@dataclass(frozen=True)
class Lvm:
    """The segment type, the number of fast devices (they are the last inputs), the options, and the bare words."""

    kind: str
    fast: int = 0
    options: tuple[tuple[str, str], ...] = ()
    flags: tuple[str, ...] = ()

    def slow(self, inputs: Sequence[T]) -> Sequence[T]:
        """Return the inputs that are not fast devices of a cache."""
        return inputs[: len(inputs) - self.fast]

    def value(self, key: str, default: str) -> str:
        return dict(self.options).get(key, default)

    def copies_of(self, count: int) -> int:
        """Return the number of copies that a raid1 or raid10 on `count` devices keeps, i.e. `mirrors=` plus one."""
        return int(self.value("mirrors", "1" if self.kind == "raid10" else str(count - 1))) + 1

    def stripes_of(self, count: int) -> int:
        """Return the number of data stripes on `count` devices. Parity does not count."""
        return int(self.value("stripes", str(count - _PARITY.get(self.kind, 0))))

    @property
    def needs_sync(self) -> bool:
        """True if the volume must be synced after it is created."""
        return self.kind in ("raid1", "raid5", "raid6", "raid10") and "nosync" not in self.flags


class LvmLayer(Layer[Lvm]):
    """A logical volume, created with LVM."""

    word = "lvm"
    summary = "a logical volume on one or more devices: `lvm raid1 a b`, `lvm cache hdd1 cachevol nvme1`"
    programs = ("lvm",)
    packages = ("lvm2", "thin-provisioning-tools")
    module_packages = ("linux-image-amd64",)
    image_packages = ("dmsetup",)
    version = ProgramVersion("lvm", ("lvm", "version"))
    undos = (UndoGroup,)
    offers_block = True
    smallest_device_bytes = 16 * 1024**2
    values = MappingProxyType({"cachesettings": SETTINGS, "writecache-settings": SETTINGS})

    def read(self, reading: StageReader) -> LayerNode:
        first = arguments.first_word(reading, self.word, "segment type", _FEWEST, "lvm linear a b")
        kind, rest = first.text, replace(reading, arguments=reading.arguments[1:])
        found = arguments.sort(rest, self.word, flags=_WORDS.open_flags)
        cachevols = [argument for argument in found.rest if argument == Word("cachevol")]
        if cachevols and (kind not in _CACHED or len(cachevols) > 1):
            raise reading.mistake(cachevols[-1], "cachevol is allowed only for cache and writecache, and only once")
        arguments.check_values(reading, found.rest, _CHECKED)
        chosen = arguments.choose(reading, found.rest, _WORDS, last_wins=True)
        slow = found.marks.get("cachevol", len(found.inputs))
        flags = tuple(flag for flag in chosen.open if flag != "cachevol")
        spec = Lvm(kind, len(found.inputs) - slow, chosen.make, flags)
        if slow < _FEWEST[kind]:
            fewest = format_number_of(_FEWEST[kind], "device")
            raise reading.mistake(first, f"lvm {kind} needs at least {fewest}, found {slow}")
        _check_shape(reading, spec, slow)
        if kind in _CACHED and not spec.fast:
            raise reading.mistake(first, f"lvm {kind} needs a fast device: lvm {kind} hdd1 cachevol nvme1")
        arguments.check_blocks(reading, found.inputs, self.word)
        return LayerNode(self, spec, found.nodes)

    def modules(self, spec: Lvm) -> tuple[str, ...]:
        return ("dm_mod", *_MODULES.get(spec.kind, ("dm_raid",)))

    def plan(self, spec: Lvm, inputs: Sequence[Volume], site: Site, name: str) -> LayerPlan:
        paths = [device.path for device in inputs]
        group = kernel_name(site, name, longest=_LONGEST_NAME)
        node = f"/dev/{group}/{_VOLUME}"
        volume = self.volume(spec, node, inputs)
        limit_s = 300 + max(device.size_bytes or 0 for device in inputs) / _SLOWEST_SYNC_BYTES_PER_S
        await_sync = ("sh", "-c", _AWAIT_SYNC, "sh", "--config", only(paths), f"{group}/{_VOLUME}")
        sync = Step(f"wait until {group}/{_VOLUME} has synced its devices", await_sync, timeout_s=limit_s)
        synced = (sync,) if spec.needs_sync else ()
        await_clean = ("sh", "-c", _AWAIT_CLEAN, "sh", "--config", only(paths), f"{group}/{_VOLUME}")
        write_back = Step(f"wait until {group}/{_VOLUME} has written back its cache", await_clean, timeout_s=limit_s)
        clean = (write_back,) if spec.kind == "cache" and spec.value("cachemode", "") == "writeback" else ()
        activate, deactivate = (lvm("vgchange", paths, "--quiet", "--activate", to, group) for to in ("y", "n"))
        return LayerPlan(
            make=(
                wipe(paths),
                *label(paths, site, name),
                *_group(spec, group, paths),
                *_volumes(spec, group, paths, volume.size_bytes),
                *synced,
            ),
            open=(Step(f"activate {group}", activate), await_block(node)),
            close=(*clean, Step(f"deactivate {group}", deactivate, timeout_s=300, patience_s=LET_GO_S)),
            volume=volume,
        )

    def writes_everything(self, spec: Lvm) -> bool:
        """True if the new volume is synced, which writes to the free space too."""
        return spec.needs_sync

    def write_factor(self, spec: Lvm, inputs: Sequence[float]) -> float:
        """Return the write amplification, assuming full stripes for raid5 and raid6.

        A cache is assumed to write each block once, but may write more. In writeback mode, it writes each block once or
        twice. In writethrough mode, it always writes to the slow device, and also to the fast device if the block is
        cached.
        """
        slow = spec.slow(inputs)
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

    def factor_where_written(self, spec: Lvm, inputs: Sequence[float], written: Sequence[int]) -> float:
        """Return the write amplification, given the bytes written to each device.

        For a cache, these bytes are ignored. A cache writes a block to the fast device, to the slow device or to both,
        so they do not show the amount of data.
        """
        if spec.fast:
            return self.write_factor(spec, inputs)
        return super().factor_where_written(spec, inputs, written)

    def capacity_bytes(self, spec: Lvm, inputs: Sequence[int]) -> int:
        """Return the volume's capacity in bytes. 8 MiB per device are set aside for labels and for rounding to extents.

        The capacity of a thin volume is `virtualsize=` or, by default, 98% of the space. `size=` limits that of any
        other volume.
        """
        slow = [max(0, size - _METADATA_BYTES) for size in spec.slow(inputs)]
        space = sum(slow)
        match spec.kind:
            case "thin":
                return bytes_with_unit(spec.value("virtualsize", "")) or space * 98 // 100
            case "raid1" | "raid10":
                space = min(slow) * (len(slow) // spec.copies_of(len(slow)))
            case "striped" | "raid0" | "raid5" | "raid6":
                space = min(slow) * spec.stripes_of(len(slow))
        most = bytes_with_unit(spec.value("size", ""))
        return space if most is None else min(space, most)

    def redundancy(self, spec: Lvm, inputs: Sequence[int]) -> int:
        """Return the number of disks that may fail without data loss.

        A cache's fast device counts only if it may contain data that the slow device lacks. With writethrough, the
        default in lvmcache(7), it never does.
        """
        slow = spec.slow(inputs)
        match spec.kind:
            case "raid1" | "raid10":
                return survives(slow, spec.copies_of(len(slow)) - 1)
            case "raid5" | "raid6":
                return survives(slow, _PARITY[spec.kind])
            case "cache" if spec.value("cachemode", "writethrough") != "writeback":
                return min(slow)
        return min(inputs)

    def stored(self, built: OpenLayer[Lvm], total_bytes: int) -> tuple[int, ...]:
        """Return the number of bytes that each device stores.

        With RAID and stripes, all devices store the same number. Otherwise, the numbers are proportional to the device
        sizes. The fast devices of a cache store 0 bytes, because cached copies do not count.
        """
        spec, slow = built.spec, built.spec.slow(built.inputs)
        each = int(total_bytes * self.write_factor(spec, [1.0] * len(slow)) / len(slow))
        by_size = spec.kind in ("linear", "thin", *_CACHED)
        return (*(stored_by_size(slow, total_bytes) if by_size else [each] * len(slow)), *[0] * spec.fast)

    def describe(self, built: OpenLayer[Lvm], target: Target) -> Target:
        spec = built.spec
        fast = [leaf.name for below in built.inputs[len(built.inputs) - spec.fast :] for leaf in below.leaves]
        copies = fast if spec.kind == "cache" and spec.value("cachemode", "writethrough") != "writeback" else []
        return replace(
            target,
            has_parity=target.has_parity or spec.kind in _PARITY,
            cache_devices=(*target.cache_devices, *fast),
            copy_devices=(*target.copy_devices, *copies),
        )

    def busy_with(self, built: OpenLayer[Lvm]) -> str | None:
        """Describe the sync of a RAID volume, or return None if it has finished or its progress is unknown."""
        if not built.spec.needs_sync:
            return None
        volume, paths = built.volume.path.removeprefix("/dev/"), [device.path for device in built.inputs]
        argv = lvm("lvs", paths, "--noheadings", "-o", "sync_percent", volume)
        try:
            percent = built.host.run(argv, timeout_s=_LIMIT_S).stdout.strip()
        except CommandError:
            return None
        is_syncing = re.fullmatch(r"\d+(\.\d+)?", percent) and float(percent) != 100
        return f"a sync of the LVM volume {built.volume.path}" if is_syncing else None


def _check_shape(reading: StageReader, spec: Lvm, count: int) -> None:
    """Check that `mirrors=` and `stripes=` are valid numbers, and that enough devices are given for them."""
    given = {option.key: option for option in reading.arguments if isinstance(option, Option) and option.key in _SHAPE}
    for key, option in given.items():
        if not re.fullmatch("[0-9]+", option.value) or int(option.value) < 1:
            raise reading.mistake(option, f"`{option.value}` is not a valid number of {key}; example: {key}=1")
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
    """Return the step that creates the volume group. The undo removes the group and the labels of its devices."""
    size = spec.value("physicalextentsize", "")
    create = lvm("vgcreate", paths, "--quiet", *(("--physicalextentsize", size) if size else ()), group, *paths)
    undo = UndoGroup(group, tuple(paths))
    return (Step(f"create the volume group {group}", create, undo, overwrites=tuple(paths)),)


def _volumes(spec: Lvm, group: str, paths: Sequence[str], size_bytes: int | None) -> tuple[Step, ...]:
    slow = spec.slow(paths)
    fast = paths[len(slow) :]
    if spec.kind == "thin":
        return _thin(spec, group, paths, size_bytes)
    if spec.kind in _CACHED:
        inactive = _INACTIVE if spec.kind == "writecache" else ()
        return (
            _create(spec, group, paths, _VOLUME, ("--type", "linear"), slow),
            _create(Lvm("linear"), group, paths, "fast", ("--type", "linear", *inactive), fast),
            _attach(spec, group, paths),
        )
    return (_create(spec, group, paths, _VOLUME, _shape(spec, len(slow)), slow),)


def _shape(spec: Lvm, count: int) -> tuple[str, ...]:
    """Return the lvcreate options for the segment type, the number of stripes and the number of mirrors."""
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
    """Return the step that creates a volume on the devices `on`. The volume fills them unless `size=` is set."""
    size = spec.value("size", "")
    space = ("--size", size) if size else ("--extents", "100%PVS")
    others = _NOT_OF_VOLUME | (_OF_CACHE if spec.kind in _CACHED else frozenset())
    named = long_options((key, value) for key, value in spec.options if key not in others)
    flags = [f"--{flag}" for flag in spec.flags]
    return Step(
        f"create the {shape[1]} volume {group}/{name}",
        lvm("lvcreate", devices, "--yes", "--quiet", "--name", name, *shape, *space, *named, *flags, group, *on),
        timeout_s=300,
    )


def _thin(spec: Lvm, group: str, paths: Sequence[str], size_bytes: int | None) -> tuple[Step, ...]:
    """Return the steps that create a thin pool on all devices and a thin volume in the pool.

    The thin volume's size is `virtualsize=` or, by default, `size_bytes` rounded down to a whole number of extents.
    """
    rounded = (size_bytes or _EXTENT_BYTES) // _EXTENT_BYTES * _EXTENT_BYTES
    virtual = spec.value("virtualsize", f"{rounded}b")
    volume = ("--type", "thin", "--virtualsize", virtual, "--thinpool", f"{group}/pool")
    create = lvm("lvcreate", paths, "--yes", "--quiet", "--name", _VOLUME, *volume)
    return (
        _create(spec, group, paths, "pool", ("--type", "thin-pool", "--poolmetadataspare", "n"), paths),
        Step(f"create the thin volume {group}/{_VOLUME}", create, timeout_s=120),
    )


def _attach(spec: Lvm, group: str, paths: Sequence[str]) -> Step:
    """Return the step that attaches the fast device as a cache."""
    # lvconvert's name for `writecache-settings` is `cachesettings`
    options = [(key.replace("writecache-", "cache"), value) for key, value in spec.options if key in _OF_CACHE]
    named = long_options(options)
    kind = ("--type", spec.kind, "--cachevol", "fast")
    return Step(
        f"attach the {spec.kind} to {group}/{_VOLUME}",
        lvm("lvconvert", paths, "--yes", "--quiet", *kind, *named, f"{group}/{_VOLUME}"),
        timeout_s=300,
    )


LAYER = LvmLayer()
