"""Steps that mount file systems in the run's directory, and a base class for file systems on one block device.

Mount options, including `relatime`, keep the defaults of the kernel and the mount program unless the layout sets them.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence

from poolproof.devices.model import Site, Volume
from poolproof.hosts.base import Host
from poolproof.layers.arguments import Chosen, Vocabulary, choose, one_block
from poolproof.layers.base import Layer, LayerNode, LayerPlan, StageReader
from poolproof.steps import LET_GO_S, Step
from poolproof.undos import UNMOUNT_LIMIT_S, UndoMount, UndoTree

_BLOCK_BYTES = 512
_FIND_LIMIT_S = 60.0


def mount_point(site: Site, name: str) -> str:
    """Return the directory where the layer with this name is mounted."""
    return f"{site.mount_dir}/{name}"


def make_mount_point(point: str) -> Step:
    """Return the step that creates a mount point. The undo removes the directory unless something is mounted there."""
    return Step(f"create the mount point {point}", ("mkdir", "-p", point), undo=UndoTree(point))


def mount(kind: str, source: str, point: str, options: Sequence[str]) -> Step:
    """Return the step that mounts a kernel file system of the type `kind`."""
    chosen = ("-o", ",".join(options)) if options else ()
    return Step(f"mount {kind} on {point}", ("mount", "-t", kind, *chosen, source, point), undo=UndoMount(point))


def mounted(volume: Volume, make: Sequence[Step], mounting: Step) -> LayerPlan:
    """Return the plan of a file system. The step `mounting` mounts it at the path of `volume`.

    Unmounting is retried for 5 s while the mount is busy.
    """
    point = volume.path
    close = Step(f"unmount {point}", ("umount", point), timeout_s=UNMOUNT_LIMIT_S, patience_s=LET_GO_S)
    return LayerPlan((*make, make_mount_point(point)), (mounting,), (close,), volume)


def file_bytes(path: str, host: Host) -> int:
    """Return how many bytes the regular files under `path` take up on disk, excluding other file systems mounted there.

    The search may take at most 60 s.
    """
    # directories (lost+found) contain no benchmark data
    found = host.run(("find", path, "-xdev", "-type", "f", "-printf", "%b\\n"), timeout_s=_FIND_LIMIT_S)
    return sum(int(line) for line in found.stdout.split()) * _BLOCK_BYTES


def stored_as_files(inputs: Sequence[Volume], total_bytes: int, host: Host) -> tuple[int, ...]:
    """Divide `total_bytes` among the directories in proportion to the sizes of their files.

    If all directories are empty, each gets 0.
    """
    counts = [file_bytes(each.path, host) for each in inputs]
    return tuple(total_bytes * count // max(1, sum(counts)) for count in counts)


class FileSystemLayer(Layer[Chosen]):
    """A kernel file system on one block device. The layer's word also serves as the file system type for mounting."""

    vocabulary: Vocabulary
    """The options for mkfs and for mounting."""

    @abstractmethod
    def format(self, options: Mapping[str, str], device: str, label: str) -> tuple[Step, ...]:
        """Return the steps that make the file system with these mkfs options.

        The file system must get the label `label`. If the run crashes, `poolproof clean` erases only what has this
        label.
        """

    def read(self, reading: StageReader) -> LayerNode:
        device, rest = one_block(reading, self.word)
        return LayerNode(self, choose(reading, rest, self.vocabulary), (device,))

    def plan(self, spec: Chosen, inputs: Sequence[Volume], site: Site, name: str) -> LayerPlan:
        (device,) = inputs
        volume = self.volume(spec, mount_point(site, name), inputs)
        mounting = mount(self.word, device.path, volume.path, spec.open)
        return mounted(volume, self.format(dict(spec.make), device.path, site.label), mounting)
