"""The interface of a storage technology. Each module in this folder that defines `LAYER` implements it."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from poolproof.campaign.expression import Argument
from poolproof.devices.model import Site, Volume
from poolproof.errors import CampaignError
from poolproof.evidence.model import VdevUse
from poolproof.evidence.target_facts import Target
from poolproof.facts.machine import ProgramVersion
from poolproof.hosts.base import Host
from poolproof.layers.existing_storage import FoundReader
from poolproof.layers.option_values import Values
from poolproof.steps import Step
from poolproof.undos import Undo, UndoDaemon, UndoPrograms


@dataclass(frozen=True)
class DeviceNode:
    """A device of the campaign, identified by its name."""

    name: str


@dataclass(frozen=True)
class LayerNode:
    """A layer of a layout, with its inputs. `spec`: the layer's parsed arguments, as an immutable value."""

    layer: "Layer[Any]"
    spec: object
    inputs: tuple["Node", ...]


Node = DeviceNode | LayerNode


@dataclass(frozen=True)
class StageReader:
    """One stage of a layout expression, as passed to its layer's parser.

    `arguments`: the stage's arguments, without the layer's keyword.
    `below`: the node to the left of the `|`, or None in the first stage.
    `node`: resolves a word or a group to an input.
    `is_device`: returns True if one of the campaign's devices has the given name.
    `mistake`: returns an error with a caret under the argument, or under the layer's keyword if the argument is None.
    """

    arguments: tuple[Argument, ...]
    below: Node | None
    node: Callable[[Argument], Node]
    is_device: Callable[[str], bool]
    mistake: Callable[[Argument | None, str], CampaignError]


@dataclass(frozen=True)
class HealthCheck:
    """How to check that a layer's program responds, and how to kill it.

    `ask`: a command that returns immediately if the program is healthy.
    """

    program: str
    ask: tuple[str, ...]
    end: UndoDaemon | UndoPrograms


@dataclass(frozen=True)
class LayerFault:
    """A fault of an open layer, such as a suspended pool, and advice on how to fix it."""

    message: str
    fix: str


@dataclass(frozen=True)
class LayerPlan:
    """The commands that build a layer on its inputs.

    `make`: creates the layer (mkfs, create). Runs once.
    `open`: makes the layer usable (mount, import). Runs after `make`, and again after each `close`.
    `close`: unmounts or exports the layer, but keeps its data.
    `volume`: the directory or block device that the open layer provides.
    `flush`: writes out the data that the layer buffers in RAM. If it is empty, a directory is flushed with syncfs.
    `health_check`: set if the layer's program may hang.

    Each step of `make` and `open` includes an undo for what it changes. After all layers of a layout were closed and
    opened again, none of its data may be in RAM. Of block devices, only the top of a layout is flushed and synced.
    """

    make: tuple[Step, ...]
    open: tuple[Step, ...]
    close: tuple[Step, ...]
    volume: Volume
    flush: tuple[Step, ...] = ()
    health_check: HealthCheck | None = None


@dataclass(frozen=True)
class WriteBack:
    """When a layer writes back the data that it buffers in RAM: every `seconds`, or earlier if `bytes` are dirty.

    `bytes`: None if only the time matters.
    `is_certain`: True if the layout itself sets the period, so that it does not depend on the host.
    """

    seconds: float
    bytes: int | None = None
    is_certain: bool = False

    def cycle_s(self, bytes_per_s: float) -> float:
        """Return the length of one write-back cycle in seconds at this write rate."""
        if self.bytes is None or bytes_per_s <= 0:
            return self.seconds
        return min(self.seconds, self.bytes / bytes_per_s)


Spec = TypeVar("Spec")


@dataclass(frozen=True)
class OpenLayer(Generic[Spec]):
    """A layer that is built and open: its spec, the volume that it provides, its input volumes, and its host."""

    spec: Spec
    volume: Volume
    inputs: Sequence[Volume]
    host: Host


class Layer(FoundReader, ABC, Generic[Spec]):
    """A storage technology. Layer objects are stateless.

    Methods that receive an `OpenLayer` may run commands on its host. In methods that compute a number, `inputs`
    contains the results of the same method for the layer's inputs. For a device, the value is its size (capacity, file
    size), 1 (write factor) or 0 (redundancy).
    """

    word: str
    """The layer's keyword in layout expressions."""

    summary: str
    """A one-line description of the layer, with an example, for the documentation."""

    programs: tuple[str, ...] = ()
    """The programs needed to build the layer. They must be on the PATH."""

    packages: tuple[str, ...] = ()
    """The Debian packages that contain the layer's programs."""

    module_packages: tuple[str, ...] = ()
    """The Debian packages that contain the layer's kernel modules."""

    dkms_modules: tuple[str, ...] = ()
    """The kernel modules that DKMS builds from `module_packages` for the lab's image."""

    image_packages: tuple[str, ...] = ()
    """Additional Debian packages that the lab's image needs."""

    backported: tuple[str, ...] = ()
    """The packages that the lab's image installs from Debian backports, such as a newer kernel."""

    components: tuple[str, ...] = ()
    """The components of the Debian archive, other than `main`, that contain the layer's packages."""

    version: ProgramVersion | None = None
    """The program version to record with each run: its name, and the command that prints it."""

    undos: tuple[type[Undo], ...] = ()
    """The undo classes that only this layer uses. Each of them has a unique tag."""

    file_system: str | None = None
    """The file system type for mounting, as listed in /proc/filesystems and /proc/self/mountinfo."""

    needs_root: bool = True
    """True if building the layer requires root."""

    daemons: tuple[str, ...] = ()
    """The programs that the layer starts. An `UndoDaemon` stops them."""

    offers_block: bool = False
    offers_file: bool = False
    """Whether the layer provides a block device, which may be a `file` that only a pool can use, or a directory."""

    mkfs_discards: bool = False
    """True if mkfs first discards (trims) the entire device."""

    compressed_unit_bytes: int | None = None
    """The file system's compression unit in bytes. None if it is unknown or already in the `Target`."""

    has_own_cache: bool = False
    """True if the file system caches file data in its own cache, such as the ARC of ZFS, not in the page cache."""

    cache_size_command: str = ""
    """A command that shows the user how much data is in the layer's own cache."""

    counts_stored_blocks: bool = False
    """True if the block count that stat reports for a file reflects the compressed size of its data."""

    smallest_device_bytes: int = 0
    """The minimum size of each input device, in bytes."""

    settings: Mapping[str, str] = MappingProxyType({})
    """The kernel settings to record with each run. Each path of a setting's file is mapped to the name to display."""

    values: Mapping[str, Values] = MappingProxyType({})
    """The allowed values, keyed by option. The default is a single word or number (`option_values.WORD`)."""

    @abstractmethod
    def read(self, reading: StageReader) -> LayerNode:
        """Parse a stage of a layout expression into a node. Raises the error that `reading.mistake` returns."""

    @abstractmethod
    def plan(self, spec: Spec, inputs: Sequence[Volume], site: Site, name: str) -> LayerPlan:
        """Return the commands that build the layer, without running them.

        `name`: a name for the layer that is unique within the run. It consists of letters, digits and dashes.

        The steps run on the host of the inputs. If the layer's volume is on another host, each step must name its host.

        Raises a HostError if the host cannot build the layer.
        """

    def modules(self, spec: Spec) -> tuple[str, ...]:
        """Return the names of the kernel modules that the layer needs, in the form that modprobe expects."""
        return ()

    def hosts(self, spec: Spec) -> tuple[str, ...]:
        """Return the names of other hosts that the layer uses, in the format of --on. The run connects to them."""
        return ()

    def writes_everything(self, spec: Spec) -> bool:
        """True if building the layer writes to every block of its inputs."""
        return False

    def write_factor(self, spec: Spec, inputs: Sequence[float]) -> float:
        """Return the expected write amplification: the bytes written to the leaf devices per byte of data.

        The default is right for layers that write each byte to only one input, and for layers without inputs.
        """
        return min(inputs, default=1.0)

    def factor_where_written(self, spec: Spec, inputs: Sequence[float], written: Sequence[int]) -> float:
        """Return the expected write amplification, given the bytes `written` to the leaf devices of each input.

        If the inputs have different write amplifications, the bytes written to each show how the data was divided among
        them. The default is right for layers that may write to any of their inputs.
        """
        alike = len(set(inputs)) <= 1
        return self.write_factor(spec, inputs if alike else [mean_factor(inputs, written)] * len(inputs))

    def commit_factor(self, spec: Spec, inputs: Sequence[float]) -> float | None:
        """Return the bytes written to an intent log per byte of a committed write, or None if as many as for data."""
        return None

    def volume(self, spec: Spec, path: str, inputs: Sequence[Volume]) -> Volume:
        """Return the volume that the layer provides at `path`, with leaves and capacity taken from its inputs."""
        sizes = [each.size_bytes for each in inputs if each.size_bytes is not None]
        size = self.capacity_bytes(spec, sizes) if len(sizes) == len(inputs) else None
        leaves = tuple(leaf for each in inputs for leaf in each.leaves)
        return Volume(path, self.offers_block, leaves, size, inputs[0].host if inputs else "")

    @abstractmethod
    def capacity_bytes(self, spec: Spec, inputs: Sequence[int]) -> int:
        """Return a conservative estimate of the layer's capacity for data, in bytes."""

    def largest_file_bytes(self, spec: Spec, inputs: Sequence[int]) -> int:
        """Return the maximum size of a file on the layer, in bytes."""
        return self.capacity_bytes(spec, inputs)

    def copies_on_write(self, spec: Spec) -> bool:
        """True if overwritten data goes to a new location, which means that random writes fragment a file."""
        return False

    def redundancy(self, spec: Spec, inputs: Sequence[int]) -> int | None:
        """Return the number of leaf devices that may fail in any combination without data loss, or None if unknown.

        The default is right for layers that distribute data without copies, and for layers without inputs.
        """
        return min(inputs, default=0)

    def stored(self, built: OpenLayer[Spec], total_bytes: int) -> tuple[int, ...]:
        """Return the number of bytes stored on each input if the layer contains `total_bytes` of data.

        Layers with several inputs must override this. Empty for a layer without inputs.
        """
        if not built.inputs:
            return ()
        (_,) = built.inputs
        return (total_bytes,)

    def busy_with(self, built: OpenLayer[Spec]) -> str | None:
        """Describe background work in progress (resync, scrub, balance), or return None if there is none."""
        return None

    def fault(self, built: OpenLayer[Spec]) -> LayerFault | None:
        """Return the fault of the open layer, or None if no fault is known. Must not wait for disk I/O."""
        return None

    def describe(self, built: OpenLayer[Spec], target: Target) -> Target:
        """Return a copy of the target, with layout facts filled in that only this layer knows."""
        return target

    def vdevs(self, built: OpenLayer[Spec]) -> tuple[VdevUse, ...]:
        """Return the space usage of each vdev in the layer's pool, or an empty tuple if the layer is not a pool."""
        return ()

    def dataset(self, volume: Volume) -> str | None:
        """Return the name of the dataset that counts the directory's I/O, or None if the layer is not a ZFS pool."""
        return None

    def write_back_forecast(self, spec: Spec) -> WriteBack | None:
        """Return the layer's write-back cycle on a typical host, or None if the layer buffers nothing."""
        return None

    def write_back(self, built: OpenLayer[Spec]) -> WriteBack | None:
        """Return the layer's write-back cycle with this host's settings, or None if the layer buffers nothing.

        This concerns only data that the layer buffers even with direct I/O, not the page cache.
        """
        return self.write_back_forecast(built.spec)

    def uses_page_cache(self, spec: Spec, inputs: Sequence[bool]) -> bool:
        """True if the page cache holds buffered writes. `inputs`: the same for each input, with True for a device."""
        return all(inputs)

    def cached_bytes(self, built: OpenLayer[Spec]) -> int | None:
        """Return the number of bytes in the layer's own cache, or None if unknown. The page cache does not count."""
        return 0

    def deviations(self, built: OpenLayer[Spec]) -> str | None:
        """Describe how the built layer differs from the layout, or return None if it does not.

        The check is needed because a tool may ignore or misread an option without an error.
        """
        return None

    def compression(self, mount_options: Sequence[str]) -> str | None:
        """Return the compression algorithm that the mount options enable, or None if they enable none."""
        return None


class AdaptableLayer(Layer[Spec]):
    """A technology whose inputs can be added and removed after it is built, such as a pool with its vdevs."""

    @abstractmethod
    def core(self, node: LayerNode) -> LayerNode:
        """Return a copy of the node without the inputs that can be added later (log and cache vdevs)."""

    @abstractmethod
    def extend(self, spec: Spec, volume: Volume, inputs: Sequence[Volume], site: Site, name: str) -> tuple[Step, ...]:
        """Return the steps that add the missing inputs to the built core. Each step includes its undo.

        `volume`, `inputs`: the volume and the input volumes of the extended layer.
        """

    @abstractmethod
    def can_become(self, built: LayerNode, target: LayerNode) -> bool:
        """True if adding and removing inputs can convert the built layer into the target."""

    @abstractmethod
    def become(
        self, built: LayerNode, old: Sequence[Volume], target: LayerNode, new: Sequence[Volume], volume: Volume
    ) -> tuple[Step, ...]:
        """Return the steps that convert the built layer into the target.

        `old`: the input volumes of the built layer.
        `new`: the input volumes of the target.
        `volume`: the layer's own volume, which does not change.
        """


def mean_factor(factors: Sequence[float], written: Sequence[int]) -> float:
    """Return the combined write amplification of several parts of a layout, or the smallest one if nothing was written.

    `factors`: the write amplification of each part.
    `written`: the bytes written to the disks of each part, i.e. the part's data times its write amplification.
    """
    data_bytes = sum(count / factor for count, factor in zip(written, factors, strict=True))
    return sum(written) / data_bytes if data_bytes else min(factors, default=1.0)


def survives(inputs: Sequence[int], losses: int) -> int:
    """Return the number of leaf devices that may fail in any combination if `losses` inputs may be lost.

    `inputs`: the number of leaf devices that may fail in each input.

    The weakest inputs decide. For example, a mirror of two two-way mirrors survives the failure of any three disks.
    """
    killing = sorted(count + 1 for count in inputs)
    return sum(killing[: losses + 1]) - 1


def stored_by_size(inputs: Sequence[Volume], total_bytes: int) -> list[int]:
    """Divide `total_bytes` among the inputs in proportion to their sizes. Returns the number of bytes on each input."""
    sizes = [device.size_bytes or 1 for device in inputs]
    return [total_bytes * size // sum(sizes) for size in sizes]
