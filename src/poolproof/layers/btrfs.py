"""btrfs over one or several block devices: `btrfs raid1 nvme ssd`, `rust | btrfs compress=zstd:3 nodesize=32k`.

A word names the data profile (`single` if none is given); `metadata=raid1` the metadata profile, mkfs.btrfs's own
choice if not given. mkfs.btrfs is told by its long option names: `nodesize`, `sectorsize`, `csum`, `features`,
`runtime-features`, `byte-count`. Everything else is a mount option, by its name in btrfs(5).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from poolproof.campaign.expression import Option, Word
from poolproof.devices.model import Site, Volume
from poolproof.errors import HostError
from poolproof.evidence.model import Target
from poolproof.hosts.base import Host
from poolproof.layers import arguments, mount
from poolproof.layers.arguments import words
from poolproof.layers.base import Layer, LayerNode, LayerPlan, StageReader, WriteBack, survives
from poolproof.layers.btrfs_usage import data_bytes_by_device
from poolproof.layers.options import ANY_MOUNT_FLAGS, Vocabulary, choose
from poolproof.layers.trimmed import after_mkfs
from poolproof.steps import Step
from poolproof.units import format_size


@dataclass(frozen=True)
class Profile:
    """How chunks of a profile lie on devices; btrfs_raid_array in the kernel's fs/btrfs/volumes.c.

    `most_devices` None: a chunk spans all devices that have room, in multiples of `step`.
    """

    fewest_devices: int
    most_devices: int | None = None
    step: int = 1
    copies: int = 1
    parity: int = 0

    @property
    def losses(self) -> int:
        """How many devices may be lost, whichever they are; the copies of `dup` lie on one device."""
        return self.parity if self.most_devices == 1 else self.parity + self.copies - 1


# btrfs-progs 5.15 and later take raid0 on one device and raid10 on two
_PROFILES: Mapping[str, Profile] = MappingProxyType(
    {
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
)
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
_SMALLEST_BYTES = 114 * _MIB
_PIECES = 128
_COMMIT_S = 30.0
_MOST_PIECES = 2048


@dataclass(frozen=True)
class Btrfs:
    """The data profile, options by name for mkfs.btrfs, and as written for mount."""

    data: str
    format: tuple[tuple[str, str], ...]
    mount: tuple[str, ...]

    @property
    def profile(self) -> Profile:
        return _PROFILES[self.data]


class BtrfsLayer(Layer[Btrfs]):
    """Copy-on-write file system with its own RAID profiles."""

    word = "btrfs"
    summary = "the btrfs file system, with a data profile, over devices: `btrfs raid1 nvme1 ssd1`"
    programs = ("mkfs.btrfs", "btrfs")
    packages = ("btrfs-progs",)
    file_system = "btrfs"

    def read(self, reading: StageReader) -> LayerNode:
        profile, rest = _split_profile(reading)
        found = arguments.sort(rest, self.word)
        chosen = choose(reading, _checked(reading, found.rest), _WORDS)
        name = profile.text if profile else "single"
        _check_count(reading, profile, name, len(found.inputs))
        arguments.check_blocks(reading, found.inputs, self.word)
        _check_metadata(reading, len(found.inputs))
        return LayerNode(self, Btrfs(name, chosen.make, chosen.open), found.nodes)

    def plan(self, spec: Btrfs, inputs: Sequence[Volume], site: Site, name: str) -> LayerPlan:
        _check_sizes(inputs)
        point = mount.mount_point(site, name)
        paths = [device.path for device in inputs]
        sizes = [device.size_bytes for device in inputs if device.size_bytes is not None]
        # Naming every device spares a scan, which hosts without udev would need
        members = [f"device={path}" for path in paths[1:]]
        return LayerPlan(
            make=(_format(spec, paths), mount.make_mount_point(point)),
            open=(mount.mount("btrfs", paths[0], point, [*members, *spec.mount]),),
            close=(mount.close_mount(point),),
            volume=Volume(
                point,
                False,
                tuple(leaf for device in inputs for leaf in device.leaves),
                self.capacity_bytes(spec, sizes) if len(sizes) == len(inputs) else None,
            ),
        )

    def write_back(self, spec: Btrfs, volume: Volume, host: Host) -> WriteBack | None:
        """The transaction commit (btrfs(5), `commit`): what direct I/O writes goes at once, its metadata then."""
        said = [option.partition("=")[2] for option in spec.mount if option.partition("=")[0] == "commit"]
        return WriteBack(float(said[-1]) if said and said[-1].isdecimal() else _COMMIT_S)

    def describe(self, spec: Btrfs, volume: Volume, inputs: Sequence[Volume], host: Host, target: Target) -> Target:
        return after_mkfs(target, inputs, host)

    def moves_what_is_written(self, spec: Btrfs) -> bool:
        return "nodatacow" not in spec.mount

    def write_factor(self, spec: Btrfs, inputs: Sequence[float]) -> float:
        profile = spec.profile
        if profile.parity:
            return min(inputs) * len(inputs) / (len(inputs) - profile.parity)
        if profile.copies == len(inputs):
            return sum(inputs)
        return min(inputs) * profile.copies

    def capacity_bytes(self, spec: Btrfs, inputs: Sequence[int]) -> int:
        """What data chunks can take, after room for metadata as mkfs.btrfs 6.2 and the kernel allot it.

        That is 15 % of each device, between 48 MiB (twice that on one device, where metadata is dup) and 2 GiB.
        """
        least = (96 if len(inputs) == 1 else 48) * _MIB
        room = [max(least, min(size * 15 // 100, 2048 * _MIB)) for size in inputs]
        return _allocatable(spec.profile, [int(size * 0.99) - less for size, less in zip(inputs, room, strict=True)])

    def redundancy(self, spec: Btrfs, inputs: Sequence[int]) -> int:
        """That of data or of metadata, whichever is less: `raid1c3` with mkfs's own metadata survives one device."""
        metadata = dict(spec.format).get("metadata", "raid1" if len(inputs) > 1 else "dup")
        return survives(inputs, min(spec.profile.losses, _PROFILES[metadata].losses))

    def stored(
        self, spec: Btrfs, volume: Volume, inputs: Sequence[Volume], total_bytes: int, host: Host
    ) -> tuple[int, ...]:
        """By the data chunks that btrfs has allocated on each device.

        Chunks are up to 1 GiB: over several devices with `single`, a share is right within a chunk, no better.
        """
        chunks = data_bytes_by_device(volume.path, host)
        held = [chunks.get(_kernel_path(device.path, host), 0) for device in inputs]
        copies = len(inputs) / (len(inputs) - spec.profile.parity) if spec.profile.parity else spec.profile.copies
        return tuple(int(total_bytes * copies * count / max(1, sum(held))) for count in held)

    def busy_with(self, spec: Btrfs, volume: Volume, inputs: Sequence[Volume], host: Host) -> str | None:
        balance = host.run(("btrfs", "balance", "status", volume.path), timeout_s=30, check=False)
        if "is running" in balance.stdout:
            return f"btrfs balances {volume.path}"
        scrub = host.run(("btrfs", "scrub", "status", volume.path), timeout_s=30, check=False)
        return f"btrfs scrubs {volume.path}" if "running" in scrub.stdout else None


def _split_profile(reading: StageReader) -> tuple[Word | None, StageReader]:
    """The data profile, where the first argument is one, and the reading without it."""
    first = reading.arguments[0] if reading.arguments else None
    if isinstance(first, Word) and first.text in _PROFILES:
        rest = StageReader(reading.arguments[1:], reading.below, reading.node, reading.is_device, reading.mistake)
        return first, rest
    return None, reading


def _checked(reading: StageReader, rest: Sequence[Word | Option]) -> Sequence[Word | Option]:
    """A word that nothing knows is more likely a profile or a device than a mount option: say so."""
    for argument in rest:
        if isinstance(argument, Word) and argument.text in _PROFILES:
            raise reading.mistake(
                argument, "the data profile stands first: btrfs raid1 a b; metadata takes metadata=raid1"
            )
        if isinstance(argument, Word) and argument.text not in _WORDS.names():
            what = "profile, device or mount option of btrfs"
            raise arguments.unknown(reading, argument, what, {*_PROFILES, *_WORDS.names()})
    return rest


def _check_count(reading: StageReader, at: Word | None, name: str, count: int) -> None:
    fewest = _PROFILES[name].fewest_devices
    if count == 0:
        raise reading.mistake(at, "btrfs needs a device: btrfs raid1 a b")
    if count < fewest:
        raise reading.mistake(at, f"btrfs {name} needs at least {fewest} devices, found {count}")


def _check_metadata(reading: StageReader, count: int) -> None:
    for argument in reading.arguments:
        if isinstance(argument, Option) and argument.key == "metadata":
            if argument.value not in _PROFILES:
                raise arguments.unknown(reading, Word(argument.value, argument.span), "profile of btrfs", _PROFILES)
            _check_count(reading, Word(argument.value, argument.span), argument.value, count)


def _check_sizes(inputs: Sequence[Volume]) -> None:
    for device in inputs:
        if device.size_bytes is not None and device.size_bytes < _SMALLEST_BYTES:
            raise HostError(
                f"{device.path} has {format_size(device.size_bytes)}, and btrfs needs 114 MiB on each device",
                "give the device a size of 114M or more in the campaign",
            )


def _format(spec: Btrfs, devices: Sequence[str]) -> Step:
    named = [part for key, value in spec.format for part in (f"--{key}", value)]
    return Step(
        f"make btrfs {spec.data} on {', '.join(devices)}",
        ("mkfs.btrfs", "-q", "-f", "--data", spec.data, *named, *devices),
        timeout_s=600,
        overwrites=tuple(devices),
    )


def _allocatable(profile: Profile, sizes: Sequence[int]) -> int:
    """Bytes of data when chunks are cut as btrfs does: each from the devices with the most room left."""
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
    """btrfs tells devices by their kernel names; a real disk is planned by its by-id name, a link."""
    if not path.startswith("/dev/disk/"):
        return path
    return host.run(("realpath", path), timeout_s=30).stdout.strip()


LAYER = BtrfsLayer()
