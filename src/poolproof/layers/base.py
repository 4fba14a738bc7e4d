"""The interface of a storage technology. Each module in this folder that defines `LAYER` implements one technology."""

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
    """A layer of a layout and its inputs. `spec` is the immutable value that the layer parsed from its arguments."""

    layer: "Layer[Any]"
    spec: object
    inputs: tuple["Node", ...]


Node = DeviceNode | LayerNode


@dataclass(frozen=True)
class StageReader:
    """One stage of an expression, as its layer sees it: the arguments without the layer's word.

    `below` is the node to the left of the `|`; None in the first stage. `node(argument)` resolves a word or a group to
    an input. `is_device(word)` is true if the word is the name of one of the campaign's devices. `mistake(argument,
    message)` returns an error with a caret under the argument, or under the layer's word if the argument is None.
    """

    arguments: tuple[Argument, ...]
    below: Node | None
    node: Callable[[Argument], Node]
    is_device: Callable[[str], bool]
    mistake: Callable[[Argument | None, str], CampaignError]


@dataclass(frozen=True)
class HealthCheck:
    """How to check whether a layer's program works, and how to end the program.

    If the program is healthy, the command `ask` returns at once.
    """

    program: str
    ask: tuple[str, ...]
    end: UndoDaemon | UndoPrograms


@dataclass(frozen=True)
class LayerFault:
    """A fault of an open layer, such as a suspended pool, and what the user can do about it."""

    message: str
    fix: str


@dataclass(frozen=True)
class LayerPlan:
    """The commands that build a layer on its inputs.

    `make` runs once (mkfs, create). `open` (mount, import) runs after `make` and after each `close`. Each step of
    `make` and `open` contains the undo of its change. `close` (unmount, export) keeps the data. After all layers of a
    layout have been closed and opened again, none of the layout's data is in RAM.

    `volume` is the volume that the open layer offers. `flush` writes out the data that the layer buffers in RAM. If
    `flush` is empty, a directory is flushed with syncfs. A block device is flushed only if it is the top of the layout,
    and it is then also synced. `health_check` is for a layer whose program may hang.
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

    `bytes` is None if only time matters. `is_certain` is true if the layout sets the period, which is then the same on
    every host.
    """

    seconds: float
    bytes: int | None = None
    is_certain: bool = False

    def cycle_s(self, bytes_per_s: float) -> float:
        """Return the length of one write-back cycle, in seconds, at this write rate."""
        if self.bytes is None or bytes_per_s <= 0:
            return self.seconds
        return min(self.seconds, self.bytes / bytes_per_s)


Spec = TypeVar("Spec")


@dataclass(frozen=True)
class OpenLayer(Generic[Spec]):
    """A layer that is built and open: its spec, the volume that it offers, its input volumes and its host."""

    spec: Spec
    volume: Volume
    inputs: Sequence[Volume]
    host: Host


class Layer(FoundReader, ABC, Generic[Spec]):
    """A storage technology. Layer objects are stateless.

    Methods that take an `OpenLayer` may run commands on its host. If `inputs` contains numbers, each is what the same
    method returned for that input. For a device, the number is its size (capacity, file size), 1 (write factor) or 0
    (redundancy).
    """

    word: str
    """The layer's word in an expression."""

    summary: str
    """A one-line description of the layer for the docs, with an example."""

    programs: tuple[str, ...] = ()
    """The programs that must be on the PATH to build the layer."""

    packages: tuple[str, ...] = ()
    """The Debian packages with the layer's programs."""

    module_packages: tuple[str, ...] = ()
    """The Debian packages with the layer's kernel modules."""

    dkms_modules: tuple[str, ...] = ()
    """The kernel modules that DKMS compiles from `module_packages` for the lab's image."""

    image_packages: tuple[str, ...] = ()
    """More Debian packages that the lab's image needs."""

    backported: tuple[str, ...] = ()
    """The packages that the lab's image takes from Debian's backports, such as a newer kernel."""

    components: tuple[str, ...] = ()
    """The components of Debian's archive, besides `main`, that contain the layer's packages."""

    version: ProgramVersion | None = None
    """The version to record with each run: a name, and the command that prints the version."""

    undos: tuple[type[Undo], ...] = ()
    """The kinds of undo that only this layer uses. Each has a tag that no other kind uses."""

    file_system: str | None = None
    """The file system type needed for mounting, as in /proc/filesystems and /proc/self/mountinfo."""

    needs_root: bool = True
    """True if only root can build the layer."""

    daemons: tuple[str, ...] = ()
    """The programs that the layer starts and an `UndoDaemon` stops."""

    offers_block: bool = False
    """True if the layer offers a block device, False if it offers a directory."""

    mkfs_discards: bool = False
    """True if mkfs discards (trims) the entire device first."""

    compressed_unit_bytes: int | None = None
    """The size in bytes of the unit that the file system compresses, or None if unknown or given in the `Target`."""

    has_own_cache: bool = False
    """True if the file system caches file data itself, as ZFS does in the ARC, instead of using the page cache."""

    cache_size_command: str = ""
    """A command that shows a user how much data the layer's own cache contains."""

    counts_stored_blocks: bool = False
    """True if a file's block count (stat) shows the size of its data after compression."""

    smallest_device_bytes: int = 0
    """The minimum size of each input, in bytes."""

    settings: Mapping[str, str] = MappingProxyType({})
    """The kernel settings to record with each run: a name for each setting, by the path of its file."""

    values: Mapping[str, Values] = MappingProxyType({})
    """The values that options accept, by option. An option that is missing here accepts a single word or number
    (`option_values.WORD`).
    """

    @abstractmethod
    def read(self, reading: StageReader) -> LayerNode:
        """Parse a stage into a node. Mistakes are raised as a CampaignError made by `reading.mistake`."""

    @abstractmethod
    def plan(self, spec: Spec, inputs: Sequence[Volume], site: Site, name: str) -> LayerPlan:
        """Return the commands that build the layer, without running any.

        `name` is unique in the run and consists of letters, digits and dashes. If the volume is on the same host as the
        inputs, the steps run on that host. Otherwise, each step must name its host. Raises a HostError if the host
        cannot build the layer.
        """

    def modules(self, spec: Spec) -> tuple[str, ...]:
        """Return the kernel modules that the layer needs, by the names that modprobe uses."""
        return ()

    def hosts(self, spec: Spec) -> tuple[str, ...]:
        """Return the hosts that the layer uses besides the run's main host, written as for --on.

        A run connects to all of them.
        """
        return ()

    def write_factor(self, spec: Spec, inputs: Sequence[float]) -> float:
        """Return the expected write amplification: bytes written to the leaf devices per byte of data.

        The default is for layers that write each byte to one input, and for layers without inputs.
        """
        return min(inputs, default=1.0)

    def factor_where_written(self, spec: Spec, inputs: Sequence[float], written: Sequence[int]) -> float:
        """Return the write amplification, given how many bytes were `written` to the leaf devices below each input.

        The default is for layers that may write to any of their inputs. If the inputs' factors differ, the bytes show
        how much data each input got.
        """
        alike = len(set(inputs)) <= 1
        return self.write_factor(spec, inputs if alike else [mean_factor(inputs, written)] * len(inputs))

    def commit_factor(self, spec: Spec, inputs: Sequence[float]) -> float | None:
        """Return the bytes written to log vdevs per byte of a committed write, or None if there are no log vdevs."""
        return None

    def volume(self, spec: Spec, path: str, inputs: Sequence[Volume]) -> Volume:
        """Return the volume that the layer offers at `path`.

        The volume's leaf devices and capacity are derived from the inputs.
        """
        sizes = [each.size_bytes for each in inputs if each.size_bytes is not None]
        size = self.capacity_bytes(spec, sizes) if len(sizes) == len(inputs) else None
        leaves = tuple(leaf for each in inputs for leaf in each.leaves)
        return Volume(path, self.offers_block, leaves, size, inputs[0].host if inputs else "")

    @abstractmethod
    def capacity_bytes(self, spec: Spec, inputs: Sequence[int]) -> int:
        """Return a conservative estimate of how many bytes of data fit on the layer."""

    def largest_file_bytes(self, spec: Spec, inputs: Sequence[int]) -> int:
        """Return the size in bytes of the largest file that fits on the layer."""
        return self.capacity_bytes(spec, inputs)

    def copies_on_write(self, spec: Spec) -> bool:
        """True if overwrites go to a new place. Random writes then fragment a file."""
        return False

    def redundancy(self, spec: Spec, inputs: Sequence[int]) -> int | None:
        """Return how many leaf devices may fail without data loss, no matter which ones. None if unknown.

        The default is for layers that spread data without copies, and for layers without inputs.
        """
        return min(inputs, default=0)

    def stored(self, built: OpenLayer[Spec], total_bytes: int) -> tuple[int, ...]:
        """Return how many bytes each input stores if the layer stores `total_bytes` of data.

        Layers with several inputs must override this.
        """
        if not built.inputs:
            return ()
        (_,) = built.inputs
        return (total_bytes,)

    def busy_with(self, built: OpenLayer[Spec]) -> str | None:
        """Return the background work that is running right now (resync, scrub, balance), or None."""
        return None

    def fault(self, built: OpenLayer[Spec]) -> LayerFault | None:
        """Return what is wrong with the open layer, or None if no fault is known.

        This check must not wait for the disks.
        """
        return None

    def describe(self, built: OpenLayer[Spec], target: Target) -> Target:
        """Return the target, completed with what only this layer knows about the layout."""
        return target

    def vdevs(self, built: OpenLayer[Spec]) -> tuple[VdevUse, ...]:
        """Return how full each vdev of a pool is, or an empty tuple if the layer is not a pool."""
        return ()

    def dataset(self, volume: Volume) -> str | None:
        """Return the dataset whose I/O counters cover the layer's directory, or None if the layer is not a ZFS pool."""
        return None

    def write_back_forecast(self, spec: Spec) -> WriteBack | None:
        """Return how often the layer writes back data on a typical host, or None if it buffers nothing."""
        return None

    def write_back(self, built: OpenLayer[Spec]) -> WriteBack | None:
        """Return how often the layer writes back data with this host's settings, or None if it buffers nothing.

        This is about data that the layer buffers even for direct I/O, not about the page cache.
        """
        return self.write_back_forecast(built.spec)

    def uses_page_cache(self, spec: Spec, inputs: Sequence[bool]) -> bool:
        """True if buffered writes wait in the page cache.

        `inputs` has the answer for each input, which is True for a device.
        """
        return all(inputs)

    def cached_bytes(self, built: OpenLayer[Spec]) -> int | None:
        """Return how many bytes of data are in the layer's own cache (not the page cache), or None if unknown."""
        return 0

    def deviations(self, built: OpenLayer[Spec]) -> str | None:
        """Return how the built layer differs from the layout, or None if it does not.

        A tool may ignore or misread an option without failing.
        """
        return None

    def compression(self, mount_options: Sequence[str]) -> str | None:
        """Return the compression algorithm that the mount options turn on, or None if they turn on none."""
        return None


class AdaptableLayer(Layer[Spec]):
    """A technology whose inputs can be added and removed after it is built. One example is a pool with its vdevs."""

    @abstractmethod
    def core(self, node: LayerNode) -> LayerNode:
        """Return the node without the inputs that can be added later (log and cache vdevs)."""

    @abstractmethod
    def extend(self, spec: Spec, volume: Volume, inputs: Sequence[Volume], site: Site, name: str) -> tuple[Step, ...]:
        """Return the steps that add the missing inputs to the built core, each with its undo.

        `volume` and `inputs` belong to the extended layer.
        """

    @abstractmethod
    def can_become(self, built: LayerNode, target: LayerNode) -> bool:
        """True if adding and removing inputs can turn the built layer into the target."""

    @abstractmethod
    def become(
        self, built: LayerNode, old: Sequence[Volume], target: LayerNode, new: Sequence[Volume], volume: Volume
    ) -> tuple[Step, ...]:
        """Return the steps that turn the built layer into the target.

        `old` has the built layer's inputs, and `new` has the target's. `volume` stays the same.
        """


def mean_factor(factors: Sequence[float], written: Sequence[int]) -> float:
    """Return the write amplification of several parts of a layout together: all bytes written per byte of data.

    The bytes written to a part, divided by its factor, are the part's data. If nothing was written, the smallest factor
    is returned.
    """
    data_bytes = sum(count / factor for count, factor in zip(written, factors, strict=True))
    return sum(written) / data_bytes if data_bytes else min(factors, default=1.0)


def survives(inputs: Sequence[int], losses: int) -> int:
    """Return how many leaf devices may fail, no matter which ones, if the layer survives the loss of `losses` inputs.

    `inputs` has the number of disks that may fail in each input. The weakest inputs decide: a mirror of two two-way
    mirrors survives the failure of any three disks, not just one.
    """
    killing = sorted(count + 1 for count in inputs)
    return sum(killing[: losses + 1]) - 1


def stored_by_size(inputs: Sequence[Volume], total_bytes: int) -> list[int]:
    """Spread `total_bytes` over the inputs in proportion to their sizes, and return each input's bytes."""
    sizes = [device.size_bytes or 1 for device in inputs]
    return [total_bytes * size // sum(sizes) for size in sizes]
