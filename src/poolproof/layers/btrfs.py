"""btrfs on one or more block devices: `btrfs raid1 nvme1 ssd1`, `hdd1 | btrfs compress=zstd:3 nodesize=32k`.

The bare name of a profile selects the profile for data (default: `single`). `metadata=raid1` selects the profile for
metadata, which is otherwise left to mkfs.btrfs. Options of mkfs.btrfs are written with their long names: `nodesize`,
`sectorsize`, `csum`, `features`, `runtime-features`, `byte-count`. All other options are mount options from btrfs(5).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from poolproof.campaign.expression import Option, Word
from poolproof.devices.model import Site, Volume
from poolproof.evidence.model import Expected
from poolproof.evidence.target_facts import Target
from poolproof.facts.block import Mount
from poolproof.facts.machine import ProgramVersion
from poolproof.hosts.base import Host
from poolproof.layers import arguments
from poolproof.layers.arguments import ANY_MOUNT_FLAGS, Vocabulary, choose, words
from poolproof.layers.base import Layer, LayerNode, LayerPlan, OpenLayer, StageReader, WriteBack, survives
from poolproof.layers.existing_storage import FoundStorage
from poolproof.layers.file_system import mount, mount_point, mounted
from poolproof.layers.option_values import BTRFS_ERRORS, FEATURES
from poolproof.layers.shared_steps import long_options
from poolproof.steps import Step
from poolproof.units import parse_size


@dataclass(frozen=True)
class Profile:
    """How a profile places chunks on devices, according to btrfs_raid_array in the kernel's fs/btrfs/volumes.c.

    `most_devices`: the maximum number of devices per chunk, or None if a chunk uses all devices with free space.
    `step`: the number of devices per chunk is rounded down to a multiple of this number.
    """

    fewest_devices: int
    most_devices: int | None = None
    step: int = 1
    copies: int = 1
    parity: int = 0

    @property
    def losses(self) -> int:
        """The number of devices that may fail without data loss. 0 for `dup`, which keeps both copies on one device."""
        return self.parity if self.most_devices == 1 else self.parity + self.copies - 1


# btrfs-progs 5.15 and later accept raid0 on one device and raid10 on two
_PROFILES: Mapping[str, Profile] = {
    "single": Profile(1, most_devices=1),
    "dup": Profile(1, most_devices=1, copies=2),
    "raid0": Profile(1),
    "raid1": Profile(2, most_devices=2, step=2, copies=2),
    "raid1c3": Profile(3, most_devices=3, step=3, copies=3),
    "raid1c4": Profile(4, most_devices=4, step=4, copies=4),
    "raid10": Profile(2, step=2, copies=2),
    "raid5": Profile(2, parity=1),
    "raid6": Profile(3, parity=2),
}
_WORDS = Vocabulary(
    "btrfs",
    make_keys=words("metadata nodesize sectorsize csum checksum features runtime-features byte-count"),
    open_keys=words(
        "commit compress compress-force discard max_inline metadata_ratio space_cache thread_pool fatal_errors "
        "read_policy subvol rescue fragment"
    ),
    open_flags=ANY_MOUNT_FLAGS
    | words(
        "acl noacl autodefrag noautodefrag barrier nobarrier clear_cache compress compress-force datacow nodatacow "
        "datasum nodatasum discard nodiscard enospc_debug noenospc_debug flushoncommit noflushoncommit nologreplay "
        "norecovery skip_balance space_cache nospace_cache ssd ssd_spread nossd nossd_spread treelog notreelog "
        "user_subvol_rm_allowed degraded"
    ),
)
_MIB = 1024**2
_PIECES = 128
_COMMIT_S = 30.0
_MOST_PIECES = 2048
_LIMIT_S = 30.0
SYSFS = """
for device in /sys/fs/btrfs/*/devices/"$1"; do
  [ -e "$device" ] || continue
  folder=${device%/devices/*}
  echo "uuid ${folder##*/}"
  for path in "$folder"/devices/*; do echo "disk ${path##*/}"; done
  for path in "$folder"/devinfo/*/missing; do [ -r "$path" ] && echo "missing $(cat "$path")"; done
  [ -r "$folder/nodesize" ] && echo "nodesize $(cat "$folder/nodesize")"
  for path in "$folder"/allocation/data/*/; do path=${path%/}; echo "profile ${path##*/}"; done
  exit 0
done
"""
"""A shell script that prints what sysfs shows about the btrfs file system on a device (fs/btrfs/sysfs.c)."""

_NODE_SIZE = "16k"  # the default of mkfs.btrfs(8)
_COMPRESSES = ("compress", "compress-force")
_DEFAULT_COMPRESSION = "zlib"  # if `compress` names no algorithm, btrfs(5)
_USAGE_DEVICE = re.compile(r"^(/\S+), ID: \d+$")
_USAGE_DATA = re.compile(r"^\s+Data,[^:]+:\s+(\d+)$")


@dataclass(frozen=True)
class Btrfs:
    """The data profile, the options for mkfs.btrfs as (name, value) pairs, and the mount options as given."""

    data: str
    format: tuple[tuple[str, str], ...]
    mount: tuple[str, ...]

    @property
    def profile(self) -> Profile:
        return _PROFILES[self.data]


class BtrfsLayer(Layer[Btrfs]):
    """btrfs, a copy-on-write file system with its own RAID profiles."""

    word = "btrfs"
    summary = "a btrfs file system with a data profile, on one or more devices: `btrfs raid1 nvme1 ssd1`"
    programs = ("mkfs.btrfs", "btrfs")
    packages = ("btrfs-progs",)
    version = ProgramVersion("btrfs-progs", ("btrfs", "--version"))
    file_system = "btrfs"
    mkfs_discards = True  # mkfs.btrfs(8) `--nodiscard`
    compressed_unit_bytes = 128 * 1024
    smallest_device_bytes = 114 * _MIB
    values = MappingProxyType({"fatal_errors": BTRFS_ERRORS, "features": FEATURES, "runtime-features": FEATURES})

    def read(self, reading: StageReader) -> LayerNode:
        first = reading.arguments[0] if reading.arguments else None
        profile = first if isinstance(first, Word) and first.text in _PROFILES else None
        rest = replace(reading, arguments=reading.arguments[1:]) if profile else reading
        found = arguments.sort(rest, self.word)
        for argument in found.rest:
            _check_word(reading, argument)
        chosen = choose(reading, found.rest, _WORDS)
        name = profile.text if profile else "single"
        _check_count(reading, profile, name, len(found.inputs))
        arguments.check_blocks(reading, found.inputs, self.word)
        _check_metadata(reading, len(found.inputs))
        return LayerNode(self, Btrfs(name, chosen.make, chosen.open), found.nodes)

    def plan(self, spec: Btrfs, inputs: Sequence[Volume], site: Site, name: str) -> LayerPlan:
        point = mount_point(site, name)
        paths = [device.path for device in inputs]
        # if every device is named, a host without udev does not need to scan for devices
        members = [f"device={path}" for path in paths[1:]]
        mounting = mount("btrfs", paths[0], point, [*members, *spec.mount])
        options = ("--label", site.label, "--data", spec.data, *long_options(spec.format))
        argv = ("mkfs.btrfs", "-q", "-f", *options, *paths)
        make = Step(
            f"create a btrfs {spec.data} file system on {', '.join(paths)}",
            argv,
            timeout_s=600,
            overwrites=tuple(paths),
        )
        return mounted(self.volume(spec, point, inputs), (make,), mounting)

    def write_back_forecast(self, spec: Btrfs) -> WriteBack | None:
        """Return the commit period (see btrfs(5)).

        It matters even for direct I/O, because direct writes store data immediately, but metadata only at the next
        commit.
        """
        values = [option.partition("=")[2] for option in spec.mount if option.partition("=")[0] == "commit"]
        return WriteBack(float(values[-1]) if values and values[-1].isdecimal() else _COMMIT_S, is_certain=True)

    def compression(self, mount_options: Sequence[str]) -> str | None:
        for option in mount_options:
            key, _, value = option.partition("=")
            if key in _COMPRESSES and value not in ("no", "none"):
                return value or _DEFAULT_COMPRESSION
        return None

    def disks_under(self, mount: Mount, host: Host) -> tuple[str, ...] | None:
        """Return the disks that sysfs lists for a btrfs mount, or None for any other mount.

        The mount itself does not identify any disk, because its device number is anonymous.
        """
        if mount.file_system != self.file_system:
            return None
        found = _in_sysfs(mount, host)
        return found.disks if found else ()

    def describe_found(self, found: FoundStorage, host: Host, target: Target) -> Target:
        state = _in_sysfs(found.mount, host) if found.mount else None
        if state is None:
            return target
        has_parity = target.has_parity or any(_PROFILES[name].parity for name in state.profiles if name in _PROFILES)
        target = replace(target, tree_block_bytes=state.tree_block_bytes, has_parity=has_parity)
        if not state.missing:
            return target
        lacks = "a disk" if state.missing == 1 else f"{state.missing} disks"
        degraded = f"the btrfs file system {state.uuid} is missing {lacks}"
        return replace(target, degraded=tuple(dict.fromkeys((*target.degraded, degraded))))

    def describe(self, built: OpenLayer[Btrfs], target: Target) -> Target:
        target = replace(target, has_parity=target.has_parity or built.spec.profile.parity > 0)
        try:
            size = parse_size(dict(built.spec.format).get("nodesize", _NODE_SIZE))
        except ValueError:  # mkfs.btrfs accepts more spellings
            return target
        return replace(target, tree_block_bytes=size)

    def expected_found(self, found: FoundStorage, host: Host) -> Expected | None:
        """Return the lowest write amplification of the profiles that data chunks use, or None if they are unknown."""
        state = _in_sysfs(found.mount, host) if found.mount else None
        profiles = [_PROFILES[name] for name in state.profiles if name in _PROFILES] if state else []
        if state is None or not profiles:
            return None
        return Expected(min(_factor_of(profile, len(state.disks), state.missing) for profile in profiles))

    def copies_on_write(self, spec: Btrfs) -> bool:
        return "nodatacow" not in spec.mount

    def write_factor(self, spec: Btrfs, inputs: Sequence[float]) -> float:
        profile = spec.profile
        if profile.parity:
            return min(inputs) * len(inputs) / (len(inputs) - profile.parity)
        if profile.copies == len(inputs):
            return sum(inputs)
        return min(inputs) * profile.copies

    def capacity_bytes(self, spec: Btrfs, inputs: Sequence[int]) -> int:
        """Return the number of bytes left for data once mkfs.btrfs 6.2 and the kernel have allocated metadata.

        Metadata takes 15% of each device, but at most 2 GiB. It takes at least 48 MiB, or 96 MiB on a single device,
        because metadata is then stored twice. Another 1% of each device is set aside.
        """
        least = (96 if len(inputs) == 1 else 48) * _MIB
        metadata = [max(least, min(size * 15 // 100, 2048 * _MIB)) for size in inputs]
        sizes = [int(size * 0.99) - taken for size, taken in zip(inputs, metadata, strict=True)]
        return _allocatable(spec.profile, sizes)

    def redundancy(self, spec: Btrfs, inputs: Sequence[int]) -> int:
        """Return the redundancy of the data or of the metadata, whichever is lower.

        For example, `raid1c3` without `metadata=` survives only one failure, because the default for metadata is raid1.
        """
        metadata = dict(spec.format).get("metadata", "raid1" if len(inputs) > 1 else "dup")
        return survives(inputs, min(spec.profile.losses, _PROFILES[metadata].losses))

    def stored(self, built: OpenLayer[Btrfs], total_bytes: int) -> tuple[int, ...]:
        """Return the number of bytes on each device, in proportion to the data chunks that btrfs has allocated there.

        For `single` on several devices, the error can be as large as one chunk, i.e. up to 1 GiB.
        """
        usage = built.host.run(("btrfs", "device", "usage", "-b", built.volume.path), timeout_s=_LIMIT_S).stdout
        chunks = parse_device_usage(usage)
        counts = [chunks.get(_kernel_path(device.path, built.host), 0) for device in built.inputs]
        profile, width = built.spec.profile, len(counts)
        copies = width / (width - profile.parity) if profile.parity else profile.copies
        return tuple(int(total_bytes * copies * count / max(1, sum(counts))) for count in counts)

    def busy_with(self, built: OpenLayer[Btrfs]) -> str | None:
        path = built.volume.path
        for command, sign in (("balance", "is running"), ("scrub", "running")):
            status = built.host.run(("btrfs", command, "status", path), timeout_s=_LIMIT_S, check=False)
            if sign in status.stdout:
                return f"a {command} of the btrfs file system {path}"
        return None


@dataclass(frozen=True)
class _InSysfs:
    """The state of a mounted btrfs file system, according to sysfs.

    `disks`: the disks that are present.
    `missing`: the number of missing disks.
    `profiles`: the profiles that data chunks use.
    """

    uuid: str
    disks: tuple[str, ...]
    missing: int
    profiles: tuple[str, ...]
    tree_block_bytes: int | None


def _in_sysfs(mount: Mount, host: Host) -> _InSysfs | None:
    """Return the state of the file system, or None if the mount is not btrfs or sysfs does not list its device."""
    if mount.file_system != BtrfsLayer.file_system:
        return None
    real = host.run(["realpath", mount.source], timeout_s=_LIMIT_S, check=False).stdout.strip()
    printed = host.run(["sh", "-c", SYSFS, "sh", real.rpartition("/")[2]], timeout_s=_LIMIT_S, check=False).stdout
    lines = [line.partition(" ")[::2] for line in printed.splitlines()]

    def of(key: str) -> tuple[str, ...]:
        return tuple(sorted(text for word, text in lines if word == key))

    uuids, sizes = of("uuid"), [int(text) for text in of("nodesize") if text.isdecimal()]
    if not uuids:
        return None
    return _InSysfs(uuids[0], of("disk"), of("missing").count("1"), of("profile"), sizes[0] if sizes else None)


def _factor_of(profile: Profile, there: int, missing: int) -> float:
    """Return the lowest possible write amplification of a profile.

    `there`: the number of disks that are present.
    `missing`: the number of missing disks. Nothing is written to them.
    """
    if profile.parity:
        return there / (there - profile.parity) if not missing and there > profile.parity else 1.0
    return float(max(1, profile.copies - missing))


def _check_word(reading: StageReader, argument: Word | Option) -> None:
    """Raise a CampaignError if the argument is a second data profile or an unknown word."""
    if isinstance(argument, Word) and argument.text in _PROFILES:
        raise reading.mistake(
            argument,
            "the data profile must come first: btrfs raid1 a b; for the metadata profile, write metadata=raid1",
        )
    if isinstance(argument, Word) and argument.text not in _WORDS.names():
        what = "profile, device or mount option of btrfs"
        raise arguments.unknown(reading, argument, what, {*_PROFILES, *_WORDS.names()})


def _check_count(reading: StageReader, at: Word | None, name: str, count: int) -> None:
    fewest = _PROFILES[name].fewest_devices
    if count == 0:
        raise reading.mistake(at, "btrfs needs a device: btrfs raid1 a b")
    if count < fewest:
        raise reading.mistake(at, f"btrfs {name} needs at least {fewest} devices, found {count}")


def _check_metadata(reading: StageReader, count: int) -> None:
    for argument in reading.arguments:
        if isinstance(argument, Option) and argument.key == "metadata":
            profile = Word(argument.value, argument.span)
            if profile.text not in _PROFILES:
                raise arguments.unknown(reading, profile, "profile of btrfs", _PROFILES)
            _check_count(reading, profile, profile.text, count)


def _allocatable(profile: Profile, sizes: Sequence[int]) -> int:
    """Return the number of bytes of data that fit on the devices.

    Like btrfs, this allocates each chunk on the devices with the most free space.
    """
    free = [max(0, size) for size in sizes]
    piece = max(max(free) // _MOST_PIECES, min(free) // _PIECES, 1)
    data = 0
    while True:
        room = sorted((at for at in range(len(free)) if free[at] >= piece), key=lambda at: -free[at])
        width = min(len(room), profile.most_devices or len(room)) // profile.step * profile.step
        taken = piece * (profile.copies if profile.most_devices == 1 else 1)
        if width < profile.fewest_devices or any(free[at] < taken for at in room[:width]):
            return data
        for at in room[:width]:
            free[at] -= taken
        data += piece * (width - profile.parity) // (1 if profile.most_devices == 1 else profile.copies)


def _kernel_path(path: str, host: Host) -> str:
    """Return the device's path in the form that btrfs prints: with the kernel name, not a name from /dev/disk."""
    if not path.startswith("/dev/disk/"):
        return path
    return host.run(("realpath", path), timeout_s=_LIMIT_S).stdout.strip()


def parse_device_usage(text: str) -> dict[str, int]:
    """Parse the output of `btrfs device usage -b` (btrfs-progs 6.2) into bytes of data chunks, keyed by device path."""
    counts: dict[str, int] = {}
    device = ""
    for line in text.splitlines():
        if match := _USAGE_DEVICE.match(line):
            device = match[1]
            counts[device] = 0
        elif device and (match := _USAGE_DATA.match(line)):
            counts[device] += int(match[1])
    return counts


LAYER = BtrfsLayer()
