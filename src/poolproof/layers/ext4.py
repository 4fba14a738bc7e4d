"""ext4 on one block device: `rust | ext4`, `rust | ext4 noatime data=writeback inode_ratio=65536`.

mke2fs is told by the names of its own configuration file, mke2fs.conf(5): `blocksize`, `cluster_size`, `inode_size`,
`inode_ratio`, `reserved_ratio`, `features`, `flex_bg_size`, and the extended options of `-E` (`stride`,
`stripe_width`, `lazy_itable_init` …). Everything else is a mount option, by its name in ext4(5).

Lazy initialisation is off unless the layout turns it on: it would write behind the benchmark's back.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from poolproof.devices.model import Site, Volume
from poolproof.evidence.model import Target
from poolproof.hosts.base import Host
from poolproof.layers import arguments, mount
from poolproof.layers.arguments import words
from poolproof.layers.base import Layer, LayerNode, LayerPlan, StageReader
from poolproof.layers.options import ANY_MOUNT_FLAGS, Vocabulary, choose
from poolproof.layers.signatures import wipe
from poolproof.layers.trimmed import after_mkfs
from poolproof.steps import Step

_FLAGS: Mapping[str, str] = MappingProxyType(
    {
        "blocksize": "-b",
        "cluster_size": "-C",
        "features": "-O",
        "flex_bg_size": "-G",
        "inode_ratio": "-i",
        "inode_size": "-I",
        "reserved_ratio": "-m",
    }
)
_EXTENDED = words(
    "lazy_itable_init lazy_journal_init packed_meta_blocks num_backup_sb stride stripe_width resize orphan_file_size "
    "assume_storage_prezeroed mmp_update_interval"
)
_WORDS = Vocabulary(
    "ext4",
    make_keys=frozenset(_FLAGS) | _EXTENDED,
    open_keys=words(
        "barrier commit data data_err errors inode_readahead_blks init_itable journal_ioprio max_batch_time "
        "max_dir_size_kb min_batch_time stripe fc_debug_max_replay mb_optimize_scan dax"
    ),
    open_flags=ANY_MOUNT_FLAGS
    | words(
        "acl noacl auto_da_alloc noauto_da_alloc barrier nobarrier block_validity noblock_validity delalloc nodelalloc "
        "dioread_lock dioread_nolock discard nodiscard init_itable noinit_itable journal_async_commit journal_checksum "
        "nojournal_checksum nombcache no_mbcache norecovery noload no_prefetch_block_bitmaps user_xattr nouser_xattr "
        "quota noquota usrquota grpquota prjquota bsddf minixdf dax"
    ),
)
_LAZY_OFF = MappingProxyType({"lazy_itable_init": "0", "lazy_journal_init": "0"})
_MIB = 1024**2


@dataclass(frozen=True)
class Ext4:
    """Options by name for mke2fs, and as written for mount."""

    format: tuple[tuple[str, str], ...]
    mount: tuple[str, ...]

    @property
    def is_lazy(self) -> bool:
        return any(dict(self.format).get(key, "0") != "0" for key in _LAZY_OFF)


class Ext4Layer(Layer[Ext4]):
    """The file system that most machines have."""

    word = "ext4"
    summary = "the ext4 file system on one device: `hdd1 | ext4 noatime`"
    programs = ("mkfs.ext4",)
    packages = ("e2fsprogs",)
    file_system = "ext4"

    def read(self, reading: StageReader) -> LayerNode:
        device, rest = arguments.one_block(reading, self.word)
        chosen = choose(reading, rest, _WORDS)
        return LayerNode(self, Ext4(chosen.make, chosen.open), (device,))

    def plan(self, spec: Ext4, inputs: Sequence[Volume], site: Site, name: str) -> LayerPlan:
        (device,) = inputs
        point = mount.mount_point(site, name)
        size = None if device.size_bytes is None else self.capacity_bytes(spec, [device.size_bytes])
        return LayerPlan(
            make=(*_format(spec, device.path), mount.make_mount_point(point)),
            open=(mount.mount("ext4", device.path, point, spec.mount),),
            close=(mount.close_mount(point),),
            volume=Volume(point, False, device.leaves, size),
        )

    def describe(self, spec: Ext4, volume: Volume, inputs: Sequence[Volume], host: Host, target: Target) -> Target:
        return after_mkfs(target, inputs, host)

    def write_factor(self, spec: Ext4, inputs: Sequence[float]) -> float:
        # data=journal writes every block to the journal first
        return inputs[0] * (2 if "data=journal" in spec.mount else 1)

    def capacity_bytes(self, spec: Ext4, inputs: Sequence[int]) -> int:
        """The device less the reserve of 5 %, bitmaps, inode tables and journal, as mke2fs 1.47 sizes them by default.

        Below 512 MiB mke2fs makes one inode for 4 KiB, else one for 16 KiB.
        """
        (device,) = inputs
        inode_share = 256 / (4096 if device < 512 * _MIB else 16384)
        return max(0, int(device * (0.92 - inode_share)) - min(1024 * _MIB, max(4 * _MIB, device // 64)))

    def busy_with(self, spec: Ext4, volume: Volume, inputs: Sequence[Volume], host: Host) -> str | None:
        if not spec.is_lazy:
            return None
        threads = host.run(("pgrep", "-x", "ext4lazyinit"), timeout_s=10, check=False)
        return "ext4 still initialises inode tables (ext4lazyinit)" if threads.returncode == 0 else None


def _format(spec: Ext4, device: str) -> tuple[Step, ...]:
    """mke2fs leaves a btrfs superblock at 64 KiB in place, so older signatures are wiped first."""
    chosen = dict(spec.format)
    extended = {key: value for key, value in {**_LAZY_OFF, **chosen}.items() if key in _EXTENDED}
    flags = [part for key, flag in _FLAGS.items() if key in chosen for part in (flag, chosen[key])]
    listed = ",".join(f"{key}={value}" for key, value in extended.items())
    return (
        wipe((device,)),
        Step(
            f"make ext4 on {device}",
            ("mkfs.ext4", "-q", "-F", *flags, "-E", listed, device),
            timeout_s=600,
            overwrites=(device,),
        ),
    )


LAYER = Ext4Layer()
