"""Volumes (block devices and directories), the leaf devices under them, and the site where a run builds its layouts."""

from dataclasses import dataclass
from typing import NamedTuple

from poolproof.facts.block import Below, counted_device
from poolproof.steps import Step


@dataclass(frozen=True)
class Leaf:
    """A disk at the bottom of a layout, where bytes are counted.

    `name` is the disk's name in the campaign. `path` is its device node (/dev/loop40). `counter` is its sysfs `stat`
    file (/sys/class/block/loop40/stat). `host` is the name of the host that has the disk, or an empty string for the
    run's main host. `model` is the disk model of an emulated disk (`hdd-7200`) and empty for any other disk.
    """

    name: str
    path: str
    counter: str
    below: Below | None = None
    host: str = ""
    model: str = ""

    @property
    def kernel_name(self) -> str:
        """Return the kernel name of the device that owns the counters: `loop40`, or `sda1` for a partition."""
        return counted_device(self.counter)


@dataclass(frozen=True)
class Volume:
    """A block device or a directory that a device or a layer offers to the layer above.

    `size_bytes` is None if only the host knows the size. `host` is the name of the volume's host, or an empty string
    for the run's main host.
    """

    path: str
    is_block: bool
    leaves: tuple[Leaf, ...]
    size_bytes: int | None = None
    host: str = ""


class IdentityCheck(NamedTuple):
    """A command that fails if the disk at `path` on `host` is not the one that the campaign names."""

    path: str
    argv: tuple[str, ...]
    host: str = ""


@dataclass(frozen=True)
class DevicePlan:
    """The steps that set up a device, each with its undo, and the volume that they provide.

    `identity_check` is a command that succeeds if the volume is still the right disk. It is empty if no other disk can
    take the device's place.
    """

    steps: tuple[Step, ...]
    volume: Volume
    identity_check: tuple[str, ...] = ()


@dataclass(frozen=True)
class Site:
    """The directories in which a run builds its layouts, and what the host can do.

    Each run has its own directories: `state_dir` on a real file system (images, sockets, pid files), `ram_dir` on tmpfs
    (images of emulated disks) and `mount_dir`. `programs`, `file_systems` and kernel `modules` are available on the
    host. Only programs and modules that layers and devices may need are listed. `is_root`: commands run as root.
    `is_here`: the host is the machine that poolproof runs on. `label` has at most 12 letters and digits and is unique
    to the run. The label is part of names that are global in the kernel (pools, arrays).
    """

    label: str
    state_dir: str
    ram_dir: str
    mount_dir: str
    is_root: bool
    programs: frozenset[str]
    file_systems: frozenset[str]
    ram_bytes: int
    ram_free_bytes: int
    is_here: bool = True
    modules: frozenset[str] = frozenset()
