"""The interface of a storage technology, implemented by each module in this folder that defines `LAYER`."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from poolproof.campaign.expression import Argument
from poolproof.devices.model import Site, Volume
from poolproof.errors import CampaignError
from poolproof.evidence.model import Target, VdevUse
from poolproof.facts.machine import ProgramVersion
from poolproof.hosts.base import Host
from poolproof.layers.existing_storage import FoundReader
from poolproof.layers.option_values import Values
from poolproof.steps import Step
from poolproof.undos import Undo, UndoDaemon, UndoPrograms


@dataclass(frozen=True)
class DeviceNode:
    """One of the campaign's devices, by name."""

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

    `arguments`: the stage's arguments, without the layer's word.
    `below`: the node to the left of the `|`, or None in the first stage.
    `node`: resolves a word or a group to an input.
    `is_device`: true if one of the campaign's devices has this name.
    `mistake`: returns an error with a caret under the argument, or under the layer's word if the argument is None.
    """

    arguments: tuple[Argument, ...]
    below: Node | None
    node: Callable[[Argument], Node]
    is_device: Callable[[str], bool]
    mistake: Callable[[Argument | None, str], CampaignError]


@dataclass(frozen=True)
class HealthCheck:
    """How to check that a layer's program is responding, and how to kill it.

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
    `open`: makes the layer usable (mount, import). Runs after `make` and after each `close`.
    `close`: unmounts or exports the layer, but keeps its data.
    `volume`: the directory or block device that the open layer provides.
    `flush`: writes out the data that the layer buffers in RAM. If this is empty, a directory is flushed with syncfs.
    `health_check`: set if the layer's program may hang.

    Each step of `make` and `open` contains the undo for its change. Once every layer of a layout has been closed and
    opened again, none of the layout's data is left in RAM. A block device is flushed only at the top of the layout, and
    is then also synced.
    """

    make: tuple[Step, ...]
    open: tuple[Step, ...]
    close: tuple[Step, ...]
    volume: Volume
    flush: tuple[Step, ...] = ()
    health_check: HealthCheck | None = None


@dataclass(frozen=True)
class WriteBack:
    """How often a layer writes back the data that it buffers in RAM: every `seconds`, or earlier if `bytes` are dirty.

    `bytes`: None if only the time limit applies.
    `is_certain`: true if the layout sets the period, so that it does not depend on the host.
    """

    seconds: float
    bytes: int | None = None
    is_certain: bool = False

    def cycle_s(self, bytes_per_s: float) -> float:
        """Return the duration of one write-back cycle in seconds, at the given write rate."""
        if self.bytes is None or bytes_per_s <= 0:
            return self.seconds
        return min(self.seconds, self.bytes / bytes_per_s)


Spec = TypeVar("Spec")


@dataclass(frozen=True)
class OpenLayer(Generic[Spec]):
    """A layer that is built and open: its spec, the volume that it provides, its input volumes and its host."""

    spec: Spec
    volume: Volume
    inputs: Sequence[Volume]
    host: Host


class Layer(FoundReader, ABC, Generic[Spec]):
    """A storage technology. Layer objects are stateless.

    Methods that take an `OpenLayer` may run commands on its host. In methods that compute a number, `inputs` contains
    the same method's results for the layer's inputs. The value for a device is its size (capacity, file size), 1 (write
    factor) or 0 (redundancy).
    """

    word: str
    """The layer's word in an expression."""

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
    """The program version to record with each run: a name, and the command that prints the version."""

    undos: tuple[type[Undo], ...] = ()
    """The undo classes that only this layer uses. Each has a unique tag."""

    file_system: str | None = None
    """The file system type for mounting, as listed in /proc/filesystems and /proc/self/mountinfo."""

    needs_root: bool = True
    """True if building the layer requires root."""

    daemons: tuple[str, ...] = ()
    """The programs that the layer starts and that an `UndoDaemon` stops."""

    offers_block: bool = False
    """True if the layer provides a block device, False if it provides a directory."""

    mkfs_discards: bool = False
    """True if mkfs first discards (trims) the entire device."""

    compressed_unit_bytes: int | None = None
    """The file system's compression unit in bytes, or None if it is unknown or given in the `Target`."""

    has_own_cache: bool = False
    """True if the file system has its own cache for file data, such as the ARC of ZFS, in place of the page cache."""

    cache_size_command: str = ""
    """A command that shows the user how much data is in the layer's own cache."""

    counts_stored_blocks: bool = False
    """True if a file's block count, as returned by stat, reflects the compressed size of its data."""

    smallest_device_bytes: int = 0
    """The minimum size of each input, in bytes."""

    settings: Mapping[str, str] = MappingProxyType({})
    """The kernel settings to record with each run: display names, keyed by the path of the setting's file."""

    values: Mapping[str, Values] = MappingProxyType({})
    """The allowed values, keyed by option. By default, a value is a single word or number (`option_values.WORD`)."""

    @abstractmethod
    def read(self, reading: StageReader) -> LayerNode:
        """Parse a stage into a node. On a mistake, raise the CampaignError that `reading.mistake` returns."""

    @abstractmethod
    def plan(self, spec: Spec, inputs: Sequence[Volume], site: Site, name: str) -> LayerPlan:
        """Return the commands that build the layer, without running them.

        `name`: a name that is unique within the run and consists of letters, digits and dashes.

        The steps run on the inputs' host. If the layer's volume is on another host, each step must name its host
        instead. Raises a HostError if the host cannot build the layer.
        """

    def modules(self, spec: Spec) -> tuple[str, ...]:
        """Return the names of the kernel modules that the layer needs, as modprobe expects them."""
        return ()

    def hosts(self, spec: Spec) -> tuple[str, ...]:
        """Return the other hosts that the layer uses, in the format of --on. The run connects to all of them."""
        return ()

    def write_factor(self, spec: Spec, inputs: Sequence[float]) -> float:
        """Return the expected write amplification: bytes written to the leaf devices per byte of data.

        The default is correct for layers that write each byte to a single input, and for layers without inputs.
        """
        return min(inputs, default=1.0)

    def factor_where_written(self, spec: Spec, inputs: Sequence[float], written: Sequence[int]) -> float:
        """Return the write amplification that follows from the bytes `written` to the leaf devices of each input.

        The default is for layers that may write to any of their inputs. If the inputs have different write
        amplifications, the bytes written to each show how the data was divided between them.
        """
        alike = len(set(inputs)) <= 1
        return self.write_factor(spec, inputs if alike else [mean_factor(inputs, written)] * len(inputs))

    def commit_factor(self, spec: Spec, inputs: Sequence[float]) -> float | None:
        """Return the bytes written to log vdevs per byte of a committed write, or None without log vdevs."""
        return None

    def volume(self, spec: Spec, path: str, inputs: Sequence[Volume]) -> Volume:
        """Return the volume that the layer provides at `path`, with leaves and capacity derived from its inputs."""
        sizes = [each.size_bytes for each in inputs if each.size_bytes is not None]
        size = self.capacity_bytes(spec, sizes) if len(sizes) == len(inputs) else None
        leaves = tuple(leaf for each in inputs for leaf in each.leaves)
        return Volume(path, self.offers_block, leaves, size, inputs[0].host if inputs else "")

    @abstractmethod
    def capacity_bytes(self, spec: Spec, inputs: Sequence[int]) -> int:
        """Return a conservative estimate of the layer's capacity for data, in bytes."""

    def largest_file_bytes(self, spec: Spec, inputs: Sequence[int]) -> int:
        """Return the maximum file size on the layer, in bytes."""
        return self.capacity_bytes(spec, inputs)

    def copies_on_write(self, spec: Spec) -> bool:
        """True if overwritten data goes to a new location, so that random writes fragment a file."""
        return False

    def redundancy(self, spec: Spec, inputs: Sequence[int]) -> int | None:
        """Return the number of leaf devices that may fail in any combination without data loss, or None if unknown.

        The default is for layers that spread data without copies, and for layers without inputs.
        """
        return min(inputs, default=0)

    def stored(self, built: OpenLayer[Spec], total_bytes: int) -> tuple[int, ...]:
        """Divide `total_bytes` of data in the layer among its inputs, and return the number of bytes on each.

        Layers with several inputs must override this.
        """
        if not built.inputs:
            return ()
        (_,) = built.inputs
        return (total_bytes,)

    def busy_with(self, built: OpenLayer[Spec]) -> str | None:
        """Describe the background work in progress (resync, scrub, balance), or return None if there is none."""
        return None

    def fault(self, built: OpenLayer[Spec]) -> LayerFault | None:
        """Return the open layer's fault, or None if no fault is known. Must not block on disk I/O."""
        return None

    def describe(self, built: OpenLayer[Spec], target: Target) -> Target:
        """Return a copy of the target with added facts about the layout that only this layer knows."""
        return target

    def vdevs(self, built: OpenLayer[Spec]) -> tuple[VdevUse, ...]:
        """Return the space usage of each vdev in the pool, or an empty tuple if the layer is not a pool."""
        return ()

    def dataset(self, volume: Volume) -> str | None:
        """Return the dataset whose I/O counters cover the layer's directory, or None if the layer is not a ZFS pool."""
        return None

    def write_back_forecast(self, spec: Spec) -> WriteBack | None:
        """Return the layer's write-back period on a typical host, or None if the layer buffers nothing."""
        return None

    def write_back(self, built: OpenLayer[Spec]) -> WriteBack | None:
        """Return the layer's write-back period with this host's settings, or None if the layer buffers nothing.

        Only data that the layer buffers even for direct I/O counts, not the page cache.
        """
        return self.write_back_forecast(built.spec)

    def uses_page_cache(self, spec: Spec, inputs: Sequence[bool]) -> bool:
        """True if the page cache holds buffered writes. `inputs`: the same for each input, with True for a device."""
        return all(inputs)

    def cached_bytes(self, built: OpenLayer[Spec]) -> int | None:
        """Return the number of bytes in the layer's own cache, excluding the page cache, or None if unknown."""
        return 0

    def deviations(self, built: OpenLayer[Spec]) -> str | None:
        """Describe how the built layer differs from the layout, or return None if it does not.

        This check is needed because a tool may ignore or misread an option without reporting an error.
        """
        return None

    def compression(self, mount_options: Sequence[str]) -> str | None:
        """Return the compression algorithm that the mount options enable, or None if they enable none."""
        return None


class AdaptableLayer(Layer[Spec]):
    """A technology that can add and remove inputs once it is built, such as a pool with its vdevs."""

    @abstractmethod
    def core(self, node: LayerNode) -> LayerNode:
        """Return a copy of the node without the inputs that can be added later (log and cache vdevs)."""

    @abstractmethod
    def extend(self, spec: Spec, volume: Volume, inputs: Sequence[Volume], site: Site, name: str) -> tuple[Step, ...]:
        """Return the steps that add the missing inputs to the built core, each with its undo.

        `volume`, `inputs`: the volume and the inputs of the extended layer.
        """

    @abstractmethod
    def can_become(self, built: LayerNode, target: LayerNode) -> bool:
        """True if the built layer can be converted into the target by adding and removing inputs."""

    @abstractmethod
    def become(
        self, built: LayerNode, old: Sequence[Volume], target: LayerNode, new: Sequence[Volume], volume: Volume
    ) -> tuple[Step, ...]:
        """Return the steps that convert the built layer into the target.

        `old`: the built layer's input volumes.
        `new`: the target's input volumes.
        `volume`: the layer's own volume, which stays the same.
        """


def mean_factor(factors: Sequence[float], written: Sequence[int]) -> float:
    """Return the combined write amplification of several parts of a layout, or the smallest one if nothing was written.

    `factors`: the write amplification of each part.
    `written`: the bytes written to each part. Divided by the part's factor, they give the amount of data in the part.
    """
    data_bytes = sum(count / factor for count, factor in zip(written, factors, strict=True))
    return sum(written) / data_bytes if data_bytes else min(factors, default=1.0)


def survives(inputs: Sequence[int], losses: int) -> int:
    """Return the number of leaf devices that may fail in any combination if the layer tolerates `losses` lost inputs.

    `inputs`: the number of disks that may fail in each input.

    The result depends on the weakest inputs. For example, a mirror of two two-way mirrors tolerates the failure of any
    three disks, not just one.
    """
    killing = sorted(count + 1 for count in inputs)
    return sum(killing[: losses + 1]) - 1


def stored_by_size(inputs: Sequence[Volume], total_bytes: int) -> list[int]:
    """Divide `total_bytes` among the inputs in proportion to their sizes, and return the number of bytes for each."""
    sizes = [device.size_bytes or 1 for device in inputs]
    return [total_bytes * size // sum(sizes) for size in sizes]
