"""Volumes (block devices and directories), the leaf devices under them, and the site where a run builds."""

from dataclasses import dataclass

from poolproof.facts.block import Below
from poolproof.steps import Step


@dataclass(frozen=True)
class Leaf:
    """A disk of the campaign at the bottom of a layout, where bytes are counted.

    `name` is its name in the campaign, `path` its device node (/dev/loop40), `counter` its sysfs `stat` file
    (/sys/class/block/loop40/stat). `host`: the name of the host that has it; empty: the run's main host.
    """

    name: str
    path: str
    counter: str
    below: Below | None = None
    host: str = ""


@dataclass(frozen=True)
class Volume:
    """What a device or a layer offers to the layer above it. `size_bytes` None: only the host knows.

    `host`: the name of the host that has it; empty: the run's main host.
    """

    path: str
    is_block: bool
    leaves: tuple[Leaf, ...]
    size_bytes: int | None = None
    host: str = ""


@dataclass(frozen=True)
class DevicePlan:
    """The steps that set a device up, each with its undo, and the volume that they provide.

    `identity_check` is a command that succeeds if the volume is still the right disk; empty if no other disk can take
    its place.
    """

    steps: tuple[Step, ...]
    volume: Volume
    identity_check: tuple[str, ...] = ()


@dataclass(frozen=True)
class Site:
    """Where one run builds, and what its host can do.

    No two runs share the directories: `state_dir` on a real file system (images, sockets, pid files), `ram_dir` on
    tmpfs (images of emulated disks), and `mount_dir`. The host has these `programs`, `file_systems` and kernel
    `modules` (of those that some layer asked for). `is_root`: commands run as root. `is_here`: the host is the machine
    that runs poolproof. `label` has at most 12 letters and digits. It is unique to the run, for names that the kernel
    keeps (pools, arrays).
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
