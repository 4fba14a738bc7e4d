"""The contract of a storage technology. One technology is one file in this folder that defines `LAYER`."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from poolproof.campaign.expression import Argument
from poolproof.devices.model import Site, Volume
from poolproof.errors import CampaignError
from poolproof.evidence.model import Target, VdevUse
from poolproof.facts.block import Mount
from poolproof.facts.machine import ProgramVersion
from poolproof.hosts.base import Host
from poolproof.steps import Step, UndoDaemon


@dataclass(frozen=True)
class DeviceNode:
    """A device of the campaign, by name."""

    name: str


@dataclass(frozen=True)
class LayerNode:
    """One layer of a layout over its inputs. `spec` is the layer's own frozen value, parsed from its arguments."""

    layer: "Layer[Any]"
    spec: object
    inputs: tuple["Node", ...]


Node = DeviceNode | LayerNode


@dataclass(frozen=True)
class StageReader:
    """One stage of an expression as a layer sees it: its arguments, without the layer's own word.

    `below` is the node to the left of the `|`, None for the first stage. `node(argument)` turns a word or a group into
    an input. `is_device(word)` is true if the campaign has a device of that name. `mistake(argument, message)` returns
    an error with a caret under the argument (None: under the layer's word).
    """

    arguments: tuple[Argument, ...]
    below: Node | None
    node: Callable[[Argument], Node]
    is_device: Callable[[str], bool]
    mistake: Callable[[Argument | None, str], CampaignError]


@dataclass(frozen=True)
class HealthCheck:
    """How to check a layer that is a program: a command that a healthy one answers at once, and how to end it."""

    program: str
    ask: tuple[str, ...]
    end: UndoDaemon


@dataclass(frozen=True)
class LayerPlan:
    """The commands that build a layer on its inputs.

    `make` runs once (mkfs, create). `open` runs after it and after each `close` (mount, import). Every step of both
    carries its undo. `close` (unmount, export) keeps the data; after all layers of a layout are closed and opened, none
    of its data is in RAM. `volume` is what the layer offers once open. `flush` writes out what the layer buffers in
    RAM; if it is empty, a directory is flushed with syncfs, and a block device has nothing to flush. `health_check` is
    for a layer that is a program and may hang.
    """

    make: tuple[Step, ...]
    open: tuple[Step, ...]
    close: tuple[Step, ...]
    volume: Volume
    flush: tuple[Step, ...] = ()
    health_check: HealthCheck | None = None


@dataclass(frozen=True)
class WriteBack:
    """How often a layer writes back what it buffers in RAM: after `seconds`, or as soon as `bytes` are dirty.

    `bytes` None: by time only. `is_certain`: the layout sets the period, so it is the same on every host.
    """

    seconds: float
    bytes: int | None = None
    is_certain: bool = False

    def cycle_s(self, bytes_per_s: float) -> float:
        """Return the seconds of one cycle at that rate of writes."""
        if self.bytes is None or bytes_per_s <= 0:
            return self.seconds
        return min(self.seconds, self.bytes / bytes_per_s)


Spec = TypeVar("Spec")


@dataclass(frozen=True)
class OpenLayer(Generic[Spec]):
    """A layer that is built and open: its value, what it offers, the volumes below it, and the host that has it."""

    spec: Spec
    volume: Volume
    inputs: Sequence[Volume]
    host: Host


class Layer(ABC, Generic[Spec]):
    """One storage technology, without state.

    Methods that take an `OpenLayer` may run commands on its host. If a method takes numbers for the inputs, they are
    the method's own results for each input, and for a device its size, 1 byte written or 0 disks survived.
    """

    word: str
    """The layer's word in an expression."""

    summary: str
    """One line for the docs: what the layer is, and an example."""

    programs: tuple[str, ...] = ()
    """Programs on the PATH that building needs."""

    packages: tuple[str, ...] = ()
    """The Debian packages that contain those programs."""

    module_packages: tuple[str, ...] = ()
    """The Debian packages that contain the kernel modules."""

    dkms_modules: tuple[str, ...] = ()
    """The kernel modules that DKMS compiles from `module_packages`. The lab's image gets them."""

    image_packages: tuple[str, ...] = ()
    """Further Debian packages that the lab's image needs."""

    backported: tuple[str, ...] = ()
    """Packages of the lab's image that are taken from Debian's backports, for example a newer kernel."""

    version: ProgramVersion | None = None
    """The version to record with each run: its name and the command that prints it."""

    file_system: str | None = None
    """The file system that mounting needs, as /proc/filesystems and /proc/self/mountinfo name it."""

    needs_root: bool = True
    """True if building needs root."""

    offers_block: bool = False
    """True if the layer offers a block device, false if it offers a directory."""

    mkfs_discards: bool = False
    """True if making the file system discards (trims) the whole device first."""

    compressed_unit_bytes: int | None = None
    """The size in bytes of the unit that the file system compresses; None if the target reports it."""

    smallest_device_bytes: int = 0
    """The smallest device in bytes that the layer accepts as an input."""

    settings: Mapping[str, str] = MappingProxyType({})
    """Kernel settings to record with each run: the name of each, by the path of its file."""

    @abstractmethod
    def read(self, reading: StageReader) -> LayerNode:
        """Parse a stage and return it as a node. Raises a CampaignError made by `reading.mistake`."""

    @abstractmethod
    def plan(self, spec: Spec, inputs: Sequence[Volume], site: Site, name: str) -> LayerPlan:
        """Return the commands that build the layer; a pure function.

        `name` is unique in the run and consists of letters, digits and dashes. If the layer offers its volume on the
        host of its inputs, its steps run there. Otherwise each step names its host. Raises a HostError if the host
        cannot build the layer.
        """

    def modules(self, spec: Spec) -> tuple[str, ...]:
        """Return the kernel modules that building needs, as modprobe names them."""
        return ()

    def hosts(self, spec: Spec) -> tuple[str, ...]:
        """Return the further hosts that the layer builds on, as --on names them; a run connects to all of them."""
        return ()

    def write_factor(self, spec: Spec, inputs: Sequence[float]) -> float:
        """Return the expected write amplification: bytes written to the leaves for each byte of data.

        The default is for a layer that writes each byte to one input.
        """
        return min(inputs)

    def volume(self, spec: Spec, path: str, inputs: Sequence[Volume]) -> Volume:
        """Return what the layer offers at `path`, with the leaves and the capacity that follow from its inputs."""
        sizes = [each.size_bytes for each in inputs if each.size_bytes is not None]
        size = self.capacity_bytes(spec, sizes) if len(sizes) == len(inputs) else None
        leaves = tuple(leaf for each in inputs for leaf in each.leaves)
        return Volume(path, self.offers_block, leaves, size, inputs[0].host if inputs else "")

    @abstractmethod
    def capacity_bytes(self, spec: Spec, inputs: Sequence[int]) -> int:
        """Return a lower estimate of the bytes of data that fit."""

    def largest_file_bytes(self, spec: Spec, inputs: Sequence[int]) -> int:
        """Return the bytes of the largest single file that fits."""
        return self.capacity_bytes(spec, inputs)

    def copies_on_write(self, spec: Spec) -> bool:
        """True if overwritten data goes to a new location, so that random writes fragment a file."""
        return False

    def redundancy(self, spec: Spec, inputs: Sequence[int]) -> int | None:
        """Return how many leaves may fail, no matter which, without losing data; None if this is not known.

        The default is for a layer that spreads data without copies.
        """
        return min(inputs)

    def stored(self, built: OpenLayer[Spec], total_bytes: int) -> tuple[int, ...]:
        """Return the bytes stored on each input when the layer holds `total_bytes` of data.

        A layer over one input does not override this: all data is on that input.
        """
        (_,) = built.inputs
        return (total_bytes,)

    def busy_with(self, built: OpenLayer[Spec]) -> str | None:
        """Return the background work that the layer is doing now (resync, scrub, balance), or None."""
        return None

    def describe(self, built: OpenLayer[Spec], target: Target) -> Target:
        """Return the target of a layout that contains this layer, with the facts that only this layer knows."""
        return target

    def vdevs(self, built: OpenLayer[Spec]) -> tuple[VdevUse, ...]:
        """Return how full each vdev of a pool is; empty if the layer is not a pool."""
        return ()

    def dataset(self, volume: Volume) -> str | None:
        """Return the name under which ZFS counts the I/O of the layer's directory; None if the layer is not a pool."""
        return None

    def write_back_forecast(self, spec: Spec) -> WriteBack | None:
        """Return how often the layer usually writes back what it buffers; None if it buffers nothing."""
        return None

    def write_back(self, built: OpenLayer[Spec]) -> WriteBack | None:
        """Return how often the layer writes back what it buffers on this host, direct I/O included."""
        return self.write_back_forecast(built.spec)

    def uses_page_cache(self, spec: Spec, inputs: Sequence[bool]) -> bool:
        """True if buffered writes wait in the page cache; this is true of a device."""
        return all(inputs)

    def cached_bytes(self, built: OpenLayer[Spec]) -> int | None:
        """Return the bytes of data in the layer's own cache (not the page cache); None if this is not known."""
        return 0

    def deviations(self, built: OpenLayer[Spec]) -> str | None:
        """Return what was built differently from what was asked, although no step failed; None if nothing was."""
        return None

    def compression(self, mount_options: Sequence[str]) -> str | None:
        """Return the compression algorithm that these options of a mount turn on, or None."""
        return None

    def disks_under(self, mount: Mount, host: Host) -> tuple[str, ...] | None:
        """Return the kernel names of the disks under any mount of this file system.

        None if the device number of the mount identifies the disk, as for most file systems.
        """
        return None

    def busy_on(self, disks: frozenset[str], host: Host) -> tuple[str, ...]:
        """Return the background work of this technology on these disks (kernel names), whoever built it."""
        return ()


class AdaptableLayer(Layer[Spec]):
    """A technology whose inputs can be added and removed while it is built, as the vdevs of a pool can."""

    @abstractmethod
    def core(self, node: LayerNode) -> LayerNode:
        """Return the node without the inputs that can be added later (log and cache vdevs)."""

    @abstractmethod
    def extend(self, spec: Spec, volume: Volume, inputs: Sequence[Volume], site: Site, name: str) -> tuple[Step, ...]:
        """Return the steps, with their undo, that add to the built core what it lacks.

        `volume` and `inputs` are those of the whole layer.
        """

    @abstractmethod
    def can_become(self, built: LayerNode, target: LayerNode) -> bool:
        """True if the built layer can become the target by adding and removing inputs."""

    @abstractmethod
    def become(
        self, built: LayerNode, old: Sequence[Volume], target: LayerNode, new: Sequence[Volume], volume: Volume
    ) -> tuple[Step, ...]:
        """Return the steps that turn the built layer into the target.

        `old` and `new` are the inputs of the two; `volume` does not change.
        """


def survives(inputs: Sequence[int], losses: int) -> int:
    """Return how many leaves may fail if any `losses` inputs may be lost; `inputs`: the leaves each input survives.

    The weakest inputs count: a mirror of two mirrors survives three disks, not one.
    """
    killing = sorted(count + 1 for count in inputs)
    return sum(killing[: losses + 1]) - 1


def stored_by_size(inputs: Sequence[Volume], total_bytes: int) -> list[int]:
    """Return the share of `total_bytes` on each input, in proportion to their sizes."""
    sizes = [device.size_bytes or 1 for device in inputs]
    return [total_bytes * size // sum(sizes) for size in sizes]
