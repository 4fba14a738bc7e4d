"""XFS on one block device: `ssd | xfs`, `ssd | xfs metadata.reflink=0 data.agcount=8 logbsize=256k`.

mkfs.xfs is told by the section names of its configuration file, mkfs.xfs(8): `block.size`, `metadata.reflink`,
`data.su`, `inode.size`, `log.size`, `naming.size`, `sector.size` and so on: a key with a dot goes to mkfs. A key or a
word without a dot is a mount option, by its name in xfs(5).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from poolproof.devices.model import Site, Volume
from poolproof.errors import HostError
from poolproof.evidence.model import Target
from poolproof.hosts.base import Host
from poolproof.layers import arguments, mount
from poolproof.layers.arguments import words
from poolproof.layers.base import Layer, LayerNode, LayerPlan, StageReader
from poolproof.layers.options import ANY_MOUNT_FLAGS, Vocabulary, choose
from poolproof.layers.trimmed import after_mkfs
from poolproof.steps import Step
from poolproof.units import format_size

_SECTIONS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "block": ("-b", "size"),
        "metadata": ("-m", "autofsck bigtime crc finobt inobtcount metadir reflink rmapbt"),
        "data": (
            "-d",
            "agcount agsize concurrency cowextsize daxinherit extszinherit noalign sectsize size su sunit sw swidth "
            "unwritten",
        ),
        "inode": ("-i", "align attr exchange maxpct nrext64 perblock projid32bit size sparse"),
        "log": ("-l", "agnum concurrency internal lazy-count sectsize size su sunit version"),
        "naming": ("-n", "ftype parent size version"),
        "realtime": ("-r", "extsize"),
        "sector": ("-s", "size"),
    }
)
_WORDS = Vocabulary(
    "xfs",
    make_keys=frozenset(f"{section}.{key}" for section, (_, keys) in _SECTIONS.items() for key in keys.split()),
    open_keys=words("allocsize dax logbsize logbufs sunit swidth max_atomic_write lifetime"),
    open_flags=ANY_MOUNT_FLAGS
    | words(
        "attr2 noattr2 discard nodiscard grpid nogrpid bsdgroups sysvgroups filestreams ikeep noikeep inode32 inode64 "
        "largeio nolargeio noalign norecovery nouuid noquota uquota usrquota quota uqnoenforce gquota grpquota "
        "gqnoenforce pquota prjquota pqnoenforce swalloc wsync lifetime nolifetime dax"
    ),
)
_MIB = 1024**2
_SMALLEST_BYTES = 300 * _MIB


@dataclass(frozen=True)
class Xfs:
    """Options by section and name for mkfs.xfs, and as written for mount."""

    format: tuple[tuple[str, str], ...]
    mount: tuple[str, ...]


class XfsLayer(Layer[Xfs]):
    """The file system for large files and many threads."""

    word = "xfs"
    summary = "the XFS file system on one device of at least 300 MiB: `ssd1 | xfs`"
    programs = ("mkfs.xfs",)
    packages = ("xfsprogs",)
    file_system = "xfs"

    def read(self, reading: StageReader) -> LayerNode:
        device, rest = arguments.one_block(reading, self.word)
        chosen = choose(reading, rest, _WORDS)
        return LayerNode(self, Xfs(chosen.make, chosen.open), (device,))

    def plan(self, spec: Xfs, inputs: Sequence[Volume], site: Site, name: str) -> LayerPlan:
        (device,) = inputs
        _check_size(device)
        point = mount.mount_point(site, name)
        size = None if device.size_bytes is None else self.capacity_bytes(spec, [device.size_bytes])
        return LayerPlan(
            make=(_format(spec, device.path), mount.make_mount_point(point)),
            open=(mount.mount("xfs", device.path, point, spec.mount),),
            close=(mount.close_mount(point),),
            volume=Volume(point, False, device.leaves, size),
        )

    def write_factor(self, spec: Xfs, inputs: Sequence[float]) -> float:
        return inputs[0]

    def capacity_bytes(self, spec: Xfs, inputs: Sequence[int]) -> int:
        """The device less its log (64 MiB to 2 GiB, mkfs.xfs 6.1) and 6 % for allocation groups and reserves."""
        (device,) = inputs
        return max(0, int(device * 0.94) - min(2048 * _MIB, max(64 * _MIB, device // 2048)))

    def describe(self, spec: Xfs, volume: Volume, inputs: Sequence[Volume], host: Host, target: Target) -> Target:
        return after_mkfs(target, inputs, host)


def _check_size(device: Volume) -> None:
    if device.size_bytes is not None and device.size_bytes < _SMALLEST_BYTES:
        raise HostError(
            f"{device.path} has {format_size(device.size_bytes)}, and mkfs.xfs makes nothing below 300 MiB",
            "give the device a size of 300M or more in the campaign",
        )


def _format(spec: Xfs, device: str) -> Step:
    chosen: dict[str, list[str]] = {}
    for name, value in spec.format:
        section, key = name.split(".", 1)
        chosen.setdefault(_SECTIONS[section][0], []).append(f"{key}={value}")
    flags = [part for letter, pairs in chosen.items() for part in (letter, ",".join(pairs))]
    return Step(f"make xfs on {device}", ("mkfs.xfs", "-q", "-f", *flags, device), timeout_s=600, overwrites=(device,))


LAYER = XfsLayer()
