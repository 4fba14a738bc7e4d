"""XFS on one block device: `ssd1 | xfs`, `ssd1 | xfs metadata.reflink=0 data.agcount=8 logbsize=256k`.

A key with a dot is an option of mkfs.xfs, named by the sections of its configuration file in mkfs.xfs(8): `block.size`,
`metadata.reflink`, `data.su`, `log.size` and so on. A key or word without a dot is a mount option from xfs(5).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from poolproof.devices.model import Site, Volume
from poolproof.facts.machine import ProgramVersion
from poolproof.layers.arguments import ANY_MOUNT_FLAGS, Vocabulary, choose, one_block, words
from poolproof.layers.base import Layer, LayerNode, LayerPlan, StageReader
from poolproof.layers.shared_steps import close_mount, make_mount_point, mount, mount_point
from poolproof.steps import Step

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


@dataclass(frozen=True)
class Xfs:
    """The options of mkfs.xfs by section and name, and the mount options as written."""

    format: tuple[tuple[str, str], ...]
    mount: tuple[str, ...]


class XfsLayer(Layer[Xfs]):
    """XFS, a journaling file system for large files and many threads."""

    word = "xfs"
    summary = "the XFS file system on one device of at least 300 MiB: `ssd1 | xfs`"
    programs = ("mkfs.xfs",)
    packages = ("xfsprogs",)
    version = ProgramVersion("xfsprogs", ("mkfs.xfs", "-V"))
    file_system = "xfs"
    mkfs_discards = True  # mkfs.xfs(8) `-K`
    smallest_device_bytes = 300 * _MIB  # mkfs.xfs refuses less

    def read(self, reading: StageReader) -> LayerNode:
        device, rest = one_block(reading, self.word)
        chosen = choose(reading, rest, _WORDS)
        return LayerNode(self, Xfs(chosen.make, chosen.open), (device,))

    def plan(self, spec: Xfs, inputs: Sequence[Volume], site: Site, name: str) -> LayerPlan:
        (device,) = inputs
        point = mount_point(site, name)
        return LayerPlan(
            make=(_format(spec, device.path), make_mount_point(point)),
            open=(mount("xfs", device.path, point, spec.mount),),
            close=(close_mount(point),),
            volume=self.volume(spec, point, inputs),
        )

    def capacity_bytes(self, spec: Xfs, inputs: Sequence[int]) -> int:
        """The device minus its log (64 MiB to 2 GiB, mkfs.xfs 6.1) and 6 % for allocation groups and reserves."""
        (device,) = inputs
        return max(0, int(device * 0.94) - min(2048 * _MIB, max(64 * _MIB, device // 2048)))


def _format(spec: Xfs, device: str) -> Step:
    chosen: dict[str, list[str]] = {}
    for name, value in spec.format:
        section, key = name.split(".", 1)
        chosen.setdefault(_SECTIONS[section][0], []).append(f"{key}={value}")
    flags = [part for letter, pairs in chosen.items() for part in (letter, ",".join(pairs))]
    return Step(f"make xfs on {device}", ("mkfs.xfs", "-q", "-f", *flags, device), timeout_s=600, overwrites=(device,))


LAYER = XfsLayer()
