"""Volumes (block devices and directories), their leaf devices, and the site on which a run builds its layouts."""

from dataclasses import dataclass
from typing import NamedTuple

from poolproof.facts.block import Below, counted_device
from poolproof.steps import Step


@dataclass(frozen=True)
class Leaf:
    """A disk at the bottom of a layout, whose bytes are counted.

    `name`: the disk's name in the campaign.
    `path`: the disk's device node (/dev/loop40).
    `counter`: the path of the disk's I/O counters in sysfs (/sys/class/block/loop40/stat).
    `below`: the disk that stores the data of a virtual disk, if known.
    `host`: the name of the disk's host, or "" for the run's main host.
    `model`: the disk model of an emulated disk (`hdd-7200`), or "" for any other disk.
    """

    name: str
    path: str
    counter: str
    below: Below | None = None
    host: str = ""
    model: str = ""

    @property
    def kernel_name(self) -> str:
        """The kernel name of the device that has the counters, such as `loop40`, or `sda1` for a partition."""
        return counted_device(self.counter)


@dataclass(frozen=True)
class Volume:
    """A block device or directory that a device or a layer provides to the layer above it.

    `size_bytes`: the size in bytes, or None if only the host knows it.
    `host`: the name of the volume's host, or "" for the run's main host.
    """

    path: str
    is_block: bool
    leaves: tuple[Leaf, ...]
    size_bytes: int | None = None
    host: str = ""


class IdentityCheck(NamedTuple):
    """A command that fails if the device at `path` on `host` is not the one that the campaign names."""

    path: str
    argv: tuple[str, ...]
    host: str = ""


@dataclass(frozen=True)
class DevicePlan:
    """The steps that set up a device, each with its undo, and the volume that they provide.

    `identity_check`: a command that fails if another disk or file has taken the place of this one.
    """

    steps: tuple[Step, ...]
    volume: Volume
    identity_check: tuple[str, ...] = ()


@dataclass(frozen=True)
class Site:
    """The directories in which a run builds its layouts, and what its host can do.

    `label`: the run's label (`owned.new_label`). Names that are global in the kernel (pools, arrays) contain it.
    `state_dir`: the run's directory on a real file system (images, sockets, pid files).
    `ram_dir`: the run's directory on tmpfs (images of emulated disks).
    `mount_dir`: the run's directory for mount points.
    `is_root`: True if commands run as root.
    `is_here`: True if the host is the machine on which poolproof runs.
    `programs`, `modules`: the available programs and kernel modules among those that layers and devices may need.
    `file_systems`: the available file systems.
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
