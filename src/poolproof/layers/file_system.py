"""Steps that mount file systems in the run's directory, and a base class for file systems on one block device.

Mount options that the layout does not set keep the defaults of the kernel and of mount(8), for example `relatime`.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence

from poolproof.devices.model import Site, Volume
from poolproof.hosts.base import Host
from poolproof.hosts.numbers import whole_numbers
from poolproof.layers.arguments import Chosen, Vocabulary, choose, one_block
from poolproof.layers.base import Layer, LayerNode, LayerPlan, StageReader
from poolproof.steps import LET_GO_S, Step
from poolproof.undos import UNMOUNT_LIMIT_S, UndoMount, UndoTree

_BLOCK_BYTES = 512
_FIND_LIMIT_S = 60.0


def mount_point(site: Site, name: str) -> str:
    return f"{site.mount_dir}/{name}"


def make_mount_point(point: str) -> Step:
    """Return the step that creates a mount point. Its undo removes the directory unless something is mounted on it."""
    return Step(f"create the mount point {point}", ("mkdir", "-p", point), undo=UndoTree(point))


def mount(kind: str, source: str, point: str, options: Sequence[str]) -> Step:
    """Return the step that mounts a file system. `kind`: the file system's type, as for `mount -t`."""
    chosen = ("-o", ",".join(options)) if options else ()
    return Step(f"mount {kind} on {point}", ("mount", "-t", kind, *chosen, source, point), undo=UndoMount(point))


def mounted(volume: Volume, make: Sequence[Step], mounting: Step) -> LayerPlan:
    """Return the plan for a file system that is mounted at the path of `volume`.

    `mounting`: the step that mounts the file system.

    If the file system is busy, unmounting is retried for 5 s.
    """
    point = volume.path
    argv = ("umount", point)
    close = Step(f"unmount {point}", argv, timeout_s=UNMOUNT_LIMIT_S, patience_s=LET_GO_S, unmounts=point)
    return LayerPlan((*make, make_mount_point(point)), (mounting,), (close,), volume)


def file_bytes(path: str, host: Host) -> int:
    """Return the disk space that the regular files under `path` use, in bytes.

    Other file systems that are mounted there are excluded. The search has a time limit of 60 s. Raises a HostError if
    the host prints something other than numbers.
    """
    # directories (lost+found) contain no benchmark data
    found = host.run(("find", path, "-xdev", "-type", "f", "-printf", "%b\\n"), timeout_s=_FIND_LIMIT_S)
    return sum(whole_numbers(found.stdout, f"find {path}")) * _BLOCK_BYTES


def stored_as_files(inputs: Sequence[Volume], total_bytes: int, host: Host) -> tuple[int, ...]:
    """Divide `total_bytes` among the directories in proportion to the disk space that their files use.

    If there are no files, every share is 0.
    """
    counts = [file_bytes(each.path, host) for each in inputs]
    return tuple(total_bytes * count // max(1, sum(counts)) for count in counts)


class FileSystemLayer(Layer[Chosen]):
    """A kernel file system on one block device. The layer's keyword is also the file system type for mounting."""

    vocabulary: Vocabulary
    """The options for mkfs and for mounting."""

    @abstractmethod
    def format(self, options: Mapping[str, str], device: str, label: str) -> tuple[Step, ...]:
        """Return the steps that create the file system with these mkfs options.

        The steps must set the file system's label to `label`. After a crash, `poolproof clean` erases only devices with
        this label.
        """

    def read(self, reading: StageReader) -> LayerNode:
        device, rest = one_block(reading, self.word)
        return LayerNode(self, choose(reading, rest, self.vocabulary), (device,))

    def plan(self, spec: Chosen, inputs: Sequence[Volume], site: Site, name: str) -> LayerPlan:
        (device,) = inputs
        volume = self.volume(spec, mount_point(site, name), inputs)
        mounting = mount(self.word, device.path, volume.path, spec.open)
        return mounted(volume, self.format(dict(spec.make), device.path, site.label), mounting)
