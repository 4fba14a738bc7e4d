"""ext4 on one block device: `hdd1 | ext4`, `hdd1 | ext4 noatime data=writeback inode_ratio=65536`.

For options of mke2fs, use the names in mke2fs.conf(5): `blocksize`, `cluster_size`, `inode_size`, `inode_ratio`,
`reserved_ratio`, `features`, `flex_bg_size`. The extended options of `-E` are supported too (`stride`, `stripe_width`,
`lazy_itable_init` …). All other options are mount options from ext4(5). Lazy initialization is off unless the layout
enables it, because it would write to the disk during the benchmark.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from poolproof.facts.block import Mount, mounted_device, parse_mountinfo
from poolproof.facts.machine import ProgramVersion
from poolproof.hosts.base import Host, text_of
from poolproof.layers.arguments import ANY_MOUNT_FLAGS, Chosen, Vocabulary, words
from poolproof.layers.base import OpenLayer
from poolproof.layers.file_system import FileSystemLayer
from poolproof.layers.option_values import EXT4_ERRORS, FEATURES, SIZE
from poolproof.layers.shared_steps import wipe
from poolproof.steps import Step

_FLAGS: Mapping[str, str] = {
    "blocksize": "-b",
    "cluster_size": "-C",
    "features": "-O",
    "flex_bg_size": "-G",
    "inode_ratio": "-i",
    "inode_size": "-I",
    "reserved_ratio": "-m",
}
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
_LAZY_OFF = {"lazy_itable_init": "0", "lazy_journal_init": "0"}
_MIB = 1024**2
_LIMIT_S = 20.0
# lazy initialization uses a tenth of the disk's time; on the largest disks, it writes a few GiB, which takes hours
_LAZY_S = 2 * 86400


class Ext4Layer(FileSystemLayer):
    """ext4, the default file system of most distributions."""

    word = "ext4"
    summary = "an ext4 file system on one device: `hdd1 | ext4 noatime`"
    programs = ("mkfs.ext4",)
    packages = ("e2fsprogs",)
    version = ProgramVersion("e2fsprogs", ("mkfs.ext4", "-V"))
    file_system = "ext4"
    guesses_work = True
    mkfs_discards = True  # mke2fs(8) `discard`
    vocabulary = _WORDS
    values = MappingProxyType(
        {
            "errors": EXT4_ERRORS,
            "features": FEATURES,
            **dict.fromkeys((*_FLAGS.keys() - {"features"}, *_EXTENDED), SIZE),
        }
    )

    def format(self, options: Mapping[str, str], device: str, label: str) -> tuple[Step, ...]:
        """Return the steps that create the file system.

        The first step wipes old signatures, because mke2fs leaves a btrfs superblock in place.
        """
        flags = [part for key, flag in _FLAGS.items() if key in options for part in (flag, options[key])]
        extended = [f"{key}={value}" for key, value in {**_LAZY_OFF, **options}.items() if key in _EXTENDED]
        argv = ("mkfs.ext4", "-q", "-F", "-L", label, *flags, "-E", ",".join(extended), device)
        return wipe((device,)), Step(
            f"create an ext4 file system on {device}", argv, timeout_s=600, overwrites=(device,)
        )

    def write_factor(self, spec: Chosen, inputs: Sequence[float]) -> float:
        # data=journal writes every block to the journal first
        return inputs[0] * (2 if "data=journal" in spec.open else 1)

    def capacity_bytes(self, spec: Chosen, inputs: Sequence[int]) -> int:
        """Return the device's size minus the 5% reserve, bitmaps, inode tables and journal (defaults of mke2fs 1.47).

        By default, mke2fs creates one inode per 4 KiB on devices smaller than 512 MiB, and one per 16 KiB on larger
        ones.
        """
        (device,) = inputs
        inode_share = 256 / (4096 if device < 512 * _MIB else 16384)
        return max(0, int(device * (0.92 - inode_share)) - min(1024 * _MIB, max(4 * _MIB, device // 64)))

    def disks_under(self, mount: Mount, host: Host) -> tuple[str, ...] | None:
        """Return the data device and the journal's device of a mount with an external journal, or None for others."""
        devices = mounted_device(host, mount.number)
        if mount.file_system != self.file_system or len(devices) != 1:
            return None
        journal = _journal_device(host, devices[0])
        return (*devices, journal) if journal else None

    def busy_with(self, built: OpenLayer[Chosen]) -> str | None:
        is_lazy = any(dict(built.spec.make).get(key, "0") != "0" for key in _LAZY_OFF)
        is_busy = is_lazy and _initializes(built.host)
        return "the initialization of ext4's inode tables (ext4lazyinit)" if is_busy else None

    def busy_on(self, disks: frozenset[str], host: Host) -> tuple[str, ...]:
        """Return lazy initialization as background work if it may be running on these disks.

        One kernel thread initializes all ext4 file systems, and does not show which of them it is working on. Its work
        is therefore reported only if one of the disks contains a recently created file system.
        """
        points = [
            mount.point
            for mount in parse_mountinfo(host.read("/proc/self/mountinfo"))
            if mount.file_system == "ext4" and mount.source.rpartition("/")[2].startswith(tuple(disks))
        ]
        is_busy = points and _initializes(host) and any(_is_new(host, point) for point in points)
        return ("the initialization of ext4's inode tables (ext4lazyinit)",) if is_busy else ()


def _journal_device(host: Host, device: str) -> str | None:
    """Return the kernel name of the device that stores the journal, or None if the journal is in the file system.

    The name of the journal's thread contains it: `jbd2/sdb1`, or `jbd2/sda1-8` for a journal in inode 8. The kernel
    shortens the name to 15 characters (jbd2_journal_init_dev() in fs/jbd2/journal.c, Linux 6.12).
    """
    thread = text_of(host, f"/sys/fs/ext4/{device}/journal_task").strip()
    name = text_of(host, f"/proc/{thread}/comm").strip().removeprefix("jbd2/") if thread.isdecimal() else ""
    is_elsewhere = name and not name.startswith(f"{device}-") and not device.startswith(name)
    return name if is_elsewhere and text_of(host, f"/sys/class/block/{name}/dev") else None


def _initializes(host: Host) -> bool:
    threads = host.run(("ps", "-e", "-o", "comm="), timeout_s=_LIMIT_S, check=False).stdout.split()
    return "ext4lazyinit" in threads


def _is_new(host: Host, point: str) -> bool:
    """True if the file system's root directory is less than two days old. False if its creation time is unknown."""
    born = host.run(("stat", "-c", "%W", "--", point), timeout_s=_LIMIT_S, check=False).stdout.strip()
    now = host.run(("date", "+%s"), timeout_s=_LIMIT_S).stdout.strip()
    return born.isdecimal() and int(now) - int(born) < _LAZY_S


LAYER = Ext4Layer()
