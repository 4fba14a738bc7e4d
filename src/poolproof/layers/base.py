"""What every storage technology says of itself. One technology is one file in this folder that defines `LAYER`."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from poolproof.campaign.expression import Argument
from poolproof.devices.model import Site, Volume
from poolproof.errors import CampaignError
from poolproof.evidence.model import Target, VdevUse
from poolproof.hosts.base import Host
from poolproof.steps import Step, UndoDaemon


@dataclass(frozen=True)
class DeviceNode:
    """A device of the campaign, by name."""

    name: str


@dataclass(frozen=True)
class LayerNode:
    """One layer of a layout over its inputs. `spec` is the layer's own frozen value, read from its arguments."""

    layer: "Layer[Any]"
    spec: object
    inputs: tuple["Node", ...]


Node = DeviceNode | LayerNode


@dataclass(frozen=True)
class StageReader:
    """One stage of an expression, as a layer reads it: its arguments after the layer's own word.

    `below` is what stands left of the `|`, None at the start. `node(argument)` turns a word or a group into an input;
    `is_device(word)` tells whether the campaign has a device of that name. `mistake(argument, message)` makes the error
    that points a caret at the argument (None: at the stage's first word).
    """

    arguments: tuple[Argument, ...]
    below: Node | None
    node: Callable[[Argument], Node]
    is_device: Callable[[str], bool]
    mistake: Callable[[Argument | None, str], CampaignError]


@dataclass(frozen=True)
class HealthCheck:
    """A program that a layer runs as: the command that it answers at once while it lives, and how it is ended."""

    program: str
    ask: tuple[str, ...]
    end: UndoDaemon


@dataclass(frozen=True)
class LayerPlan:
    """How a layer comes to stand on its inputs.

    `make` runs once (mkfs, create), `open` after it and after each `close` (mount, import); every step of both carries
    its undo. `close` (unmount, export) leaves the data in place; closing and opening all layers of a layout leaves
    nothing of it in RAM. `volume` is what the layer offers once open. `flush` writes out what the layer holds in RAM;
    where it is empty, a directory is flushed by syncfs, and a block device has nothing of its own. `pulse`: for a layer
    that is a program which may hang.
    """

    make: tuple[Step, ...]
    open: tuple[Step, ...]
    close: tuple[Step, ...]
    volume: Volume
    flush: tuple[Step, ...] = ()
    health_check: HealthCheck | None = None


@dataclass(frozen=True)
class WriteBack:
    """A layer's own cycle of writing back what it holds in RAM: a turn ends after `seconds`, or sooner, when `bytes`
    were written to it. None: by time alone.
    """

    seconds: float
    bytes: int | None = None

    def turn_s(self, bytes_per_s: float) -> float:
        """Seconds of one turn at that rate of writes."""
        if self.bytes is None or bytes_per_s <= 0:
            return self.seconds
        return min(self.seconds, self.bytes / bytes_per_s)


Spec = TypeVar("Spec")


class Layer(ABC, Generic[Spec]):
    """One storage technology: how it is written, built, cooled and counted. Instances hold no state."""

    word: str
    """The layer's word in an expression."""

    summary: str
    """One line for the docs: what it is and how it is written."""

    programs: tuple[str, ...] = ()
    """Programs that building needs, as found on the PATH."""

    packages: tuple[str, ...] = ()
    """The Debian packages that bring those programs."""

    module_packages: tuple[str, ...] = ()
    """The Debian packages that bring the kernel modules."""

    file_system: str | None = None
    """The kernel file system that mounting needs, as /proc/filesystems names it."""

    needs_root: bool = True
    """Whether building takes root."""

    offers_block: bool = False
    """Whether the layer offers a block device; otherwise a directory."""

    @abstractmethod
    def read(self, reading: StageReader) -> LayerNode:
        """The stage as a node.

        Raises:
            CampaignError: an unknown word or option, too few or too many inputs; made by `reading.mistake`.
        """

    @abstractmethod
    def plan(self, spec: Spec, inputs: Sequence[Volume], site: Site, name: str) -> LayerPlan:
        """The commands that build the layer; a pure function. `name` is unique in the run, letters, digits, dashes.

        Raises:
            HostError: the host cannot build this layer.
        """

    def modules(self, spec: Spec) -> tuple[str, ...]:
        """The kernel modules that building takes, as modprobe names them."""
        return ()

    @abstractmethod
    def write_factor(self, spec: Spec, inputs: Sequence[float]) -> float:
        """P: bytes written to the leaves for each byte of data, given the factor of each input."""

    @abstractmethod
    def capacity_bytes(self, spec: Spec, inputs: Sequence[int]) -> int:
        """Bytes of data that fit, an estimate from below, given the size of each input in bytes."""

    def largest_file_bytes(self, spec: Spec, inputs: Sequence[int]) -> int:
        """Bytes of the largest single file that fits, given the same of each input, in bytes."""
        return self.capacity_bytes(spec, inputs)

    def moves_what_is_written(self, spec: Spec) -> bool:
        """Whether what is written again goes elsewhere, so that random writes leave a file in pieces: copy on write."""
        del spec
        return False

    def redundancy(self, spec: Spec, inputs: Sequence[int]) -> int:
        """How many leaves may fail, whichever they are, without a byte of data lost, given the same of each input.

        Unless a layer says otherwise each of its inputs holds data that no other has.
        """
        return min(inputs)

    def stored(
        self, spec: Spec, volume: Volume, inputs: Sequence[Volume], total_bytes: int, host: Host
    ) -> tuple[int, ...]:
        """Bytes stored on each input, when the layer holds `total_bytes` of data; asked of the host while open.

        A layer over one input need not say: all of it is there.
        """
        del spec, volume, host
        (_,) = inputs
        return (total_bytes,)

    def busy_with(self, spec: Spec, volume: Volume, inputs: Sequence[Volume], host: Host) -> str | None:
        """What the layer is doing by itself just now (resync, scrub, balance), None when it is quiet."""
        del spec, volume, inputs, host
        return None

    def describe(self, spec: Spec, volume: Volume, inputs: Sequence[Volume], host: Host, target: Target) -> Target:
        """The target of a layout that stands on this layer, with what only this layer knows; asked while open."""
        del spec, volume, inputs, host
        return target

    def vdevs(self, volume: Volume, host: Host) -> tuple[VdevUse, ...]:
        """How full each vdev of a pool is; none for all that is no pool. Asked while open."""
        del volume, host
        return ()

    def dataset(self, volume: Volume) -> str | None:
        """The name by which ZFS counts what passes the layer's directory; None for all that is no pool."""
        del volume
        return None

    def write_back(self, spec: Spec, volume: Volume, host: Host) -> WriteBack | None:
        """The cycle by which the layer writes back what it holds in RAM, direct I/O too; None where it has none."""
        del spec, volume, host
        return None

    def cached_bytes(self, spec: Spec, volume: Volume, host: Host) -> int | None:
        """Bytes of data in a cache of the layer's own, beside the page cache; None where that can't be told."""
        del spec, volume, host
        return 0

    def deviations(self, spec: Spec, volume: Volume, inputs: Sequence[Volume], host: Host) -> str | None:
        """What does not stand as the layout asked for, though nothing failed; None when all does. Asked while open."""
        del spec, volume, inputs, host
        return None


def survives(inputs: Sequence[int], losses: int) -> int:
    """How many leaves may fail where any `losses` inputs may be lost; `inputs` says how many leaves each one survives.

    The inputs that fail first are the weakest: a mirror of two mirrors survives three disks, not one.
    """
    killing = sorted(count + 1 for count in inputs)
    return sum(killing[: losses + 1]) - 1
