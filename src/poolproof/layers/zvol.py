"""A ZFS volume on a pool: `zfs mirror hdd1 hdd2 | zvol 100G volblocksize=16k`.

The size comes first. With the word `sparse`, the volume is created without reserving space. Options are properties of
the volume, with their names from zfsprops(7). The volume is exported, imported and destroyed together with its pool.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from poolproof.campaign.expression import Option, Word
from poolproof.devices.model import Site, Volume
from poolproof.errors import HostError
from poolproof.evidence.target_facts import Target, ZfsFacts
from poolproof.layers.arguments import size_of
from poolproof.layers.base import Layer, LayerNode, LayerPlan, OpenLayer, StageReader
from poolproof.layers.zfs import VERSION, Zfs, pool_of, required_properties
from poolproof.layers.zfs_commands import flush_pool
from poolproof.layers.zfs_properties import VALUES, VOLUME, check_property
from poolproof.layers.zfs_status import on_dataset
from poolproof.steps import Step, await_block
from poolproof.units import format_size

_DEVICES = "/dev/zvol/"


@dataclass(frozen=True)
class Zvol:
    """The size in bytes, whether the volume is sparse, its properties, and the property `copies` of its pool."""

    size_bytes: int
    sparse: bool
    properties: tuple[tuple[str, str], ...]
    pool_copies: int = 1

    @property
    def copies_over_pool(self) -> float:
        """The volume's `copies` divided by those of its pool. 1 if the volume inherits the property."""
        copies = dict(self.properties).get("copies")
        return 1.0 if copies is None else int(copies) / self.pool_copies


class ZvolLayer(Layer[Zvol]):
    """A block device that a ZFS pool provides."""

    word = "zvol"
    summary = "a volume of a pool: `zfs mirror a b | zvol 100G volblocksize=16k`"
    programs = ("zfs",)
    packages = ("zfsutils-linux",)
    module_packages = ("zfs-dkms",)
    version = VERSION
    offers_block = True
    values = VALUES

    def read(self, reading: StageReader) -> LayerNode:
        pool = reading.below
        if pool is None:
            raise reading.mistake(None, "zvol needs a pool: zfs mirror a b | zvol 100G")
        if not (isinstance(pool, LayerNode) and isinstance(pool.spec, Zfs)):
            raise reading.mistake(None, "zvol needs a pool, but there is none to the left of the `|`")
        size, *rest = reading.arguments or (None,)
        if not isinstance(size, Word):
            raise reading.mistake(size, "zvol needs a size: zvol 100G")
        properties: dict[str, str] = {}
        sparse = False
        for argument in rest:
            match argument:
                case Word("sparse"):
                    sparse = True
                case Option(key, value):
                    check_property(reading, argument, VOLUME)
                    properties[key] = value
                case _:
                    raise reading.mistake(argument, "expected `sparse` or a property: zvol 100G volblocksize=16k")
        size_bytes = size_of(reading, size, size.text, "zvol 100G")
        if size_bytes == 0:
            raise reading.mistake(size, "the size of a zvol must not be 0")
        return LayerNode(self, Zvol(size_bytes, sparse, tuple(properties.items()), pool.spec.copies), (pool,))

    def modules(self, spec: Zvol) -> tuple[str, ...]:
        return ("zfs",)

    def plan(self, spec: Zvol, inputs: Sequence[Volume], site: Site, name: str) -> LayerPlan:
        (pool,) = inputs
        # the estimate of the pool's capacity may be 5% too low, so only volumes that cannot fit are refused
        reserved = 0 if spec.sparse else spec.size_bytes * spec.copies_over_pool
        if pool.size_bytes is not None and reserved > pool.size_bytes * 100 // 95:
            raise HostError(
                f"a zvol of {format_size(spec.size_bytes)} does not fit in its pool, which has room for "
                f"about {format_size(pool.size_bytes)}",
                "make it smaller, or write `sparse`, which reserves no space",
            )
        dataset = f"{pool_of(pool)}/{name}"
        node = f"{_DEVICES}{dataset}"
        named = [part for key, value in spec.properties for part in ("-o", f"{key}={value}")]
        create = ("zfs", "create", *(("-s",) if spec.sparse else ()), "-V", str(spec.size_bytes), *named, dataset)
        return LayerPlan(
            make=(Step(f"create the volume {dataset}", create, timeout_s=120),),  # the undo of the pool removes it
            open=(await_block(node),),
            close=(),
            # otherwise, syncing the device would first write dirty data to the intent log
            flush=(flush_pool(pool_of(pool)),),
            volume=Volume(node, True, pool.leaves, spec.size_bytes, pool.host),
        )

    def write_factor(self, spec: Zvol, inputs: Sequence[float]) -> float:
        return inputs[0] * spec.copies_over_pool

    def capacity_bytes(self, spec: Zvol, inputs: Sequence[int]) -> int:
        return min(spec.size_bytes, int(inputs[0] / spec.copies_over_pool))

    def stored(self, built: OpenLayer[Zvol], total_bytes: int) -> tuple[int, ...]:
        """Return the number of bytes that the volume stores in the pool, not counting the pool's own `copies`."""
        return (int(total_bytes * built.spec.copies_over_pool),)

    def describe(self, built: OpenLayer[Zvol], target: Target) -> Target:
        properties = required_properties(built.volume.path.removeprefix(_DEVICES), built.host)
        return on_dataset(target, properties, replace(target.zfs or ZfsFacts(), is_zvol=True))

    def uses_page_cache(self, spec: Zvol, inputs: Sequence[bool]) -> bool:
        return True


LAYER = ZvolLayer()
