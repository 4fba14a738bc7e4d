"""XFS on one block device: `ssd1 | xfs`, `ssd1 | xfs metadata.reflink=0 data.agcount=8 logbsize=256k`.

A key with a dot is an option of mkfs.xfs: `block.size`, `metadata.reflink`, `data.su`, `log.size` and so on. The part
before the dot is the section of its configuration file, mkfs.xfs(8). Words, and keys without a dot, are mount options
from xfs(5).
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from poolproof.facts.block import Mount, mounted_device
from poolproof.facts.machine import ProgramVersion
from poolproof.hosts.base import Host
from poolproof.layers.arguments import ANY_MOUNT_FLAGS, Chosen, Vocabulary, words
from poolproof.layers.file_system import FileSystemLayer
from poolproof.layers.option_values import SIZE
from poolproof.steps import Step

_SECTIONS: Mapping[str, tuple[str, str]] = {
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
_LIMIT_S = 20.0


class XfsLayer(FileSystemLayer):
    """XFS, a journaling file system for large files and many threads."""

    word = "xfs"
    summary = "an XFS file system on one device of at least 300 MiB: `ssd1 | xfs`"
    programs = ("mkfs.xfs",)
    packages = ("xfsprogs",)
    version = ProgramVersion("xfsprogs", ("mkfs.xfs", "-V"))
    file_system = "xfs"
    mkfs_discards = True  # mkfs.xfs(8) `-K`
    smallest_device_bytes = 300 * _MIB  # mkfs.xfs refuses smaller devices
    vocabulary = _WORDS
    values = MappingProxyType(dict.fromkeys(_WORDS.make_keys - {"naming.version"}, SIZE))

    def format(self, options: Mapping[str, str], device: str, label: str) -> tuple[Step, ...]:
        chosen: dict[str, list[str]] = {}
        for name, value in options.items():
            section, key = name.split(".", 1)
            chosen.setdefault(_SECTIONS[section][0], []).append(f"{key}={value}")
        flags = [part for letter, pairs in chosen.items() for part in (letter, ",".join(pairs))]
        argv = ("mkfs.xfs", "-q", "-f", "-L", label, *flags, device)
        return (Step(f"create an XFS file system on {device}", argv, timeout_s=600, overwrites=(device,)),)

    def capacity_bytes(self, spec: Chosen, inputs: Sequence[int]) -> int:
        """Return the device's size minus 6% for allocation groups and reserves, and minus the log (64 MiB to 2 GiB).

        Source: mkfs.xfs 6.1.
        """
        (device,) = inputs
        return max(0, int(device * 0.94) - min(2048 * _MIB, max(64 * _MIB, device // 2048)))

    def disks_under(self, mount: Mount, host: Host) -> tuple[str, ...] | None:
        """Return the devices of a mount with a log or realtime data on a device of its own, or None for other mounts.

        The first of them is the data device.
        """
        options = dict(option.partition("=")[::2] for option in mount.options)
        others = [options[key] for key in ("logdev", "rtdev") if key in options]
        if mount.file_system != self.file_system or not others:
            return None
        real = (host.run(("realpath", other), timeout_s=_LIMIT_S, check=False).stdout.strip() for other in others)
        return (*mounted_device(host, mount.number), *(path.rpartition("/")[2] for path in real if path))


LAYER = XfsLayer()
