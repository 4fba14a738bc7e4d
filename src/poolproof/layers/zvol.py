"""A ZFS volume on a pool: `zfs mirror hdd1 hdd2 | zvol 100G volblocksize=16k`; `sparse` reserves no space for it.

The size comes first; options are the volume's properties by their own names, zfsprops(7). The volume goes with its
pool: it is closed, opened and destroyed with it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from poolproof.campaign.expression import Option, Word
from poolproof.devices.model import Site, Volume
from poolproof.errors import HostError
from poolproof.evidence.model import Target
from poolproof.evidence.model import ZfsFacts as ZfsFacts
from poolproof.hosts.base import Host
from poolproof.layers.base import Layer, LayerNode, LayerPlan, StageReader
from poolproof.layers.zfs import Zfs, ZfsLayer, compression_of, pool_of, read_properties
from poolproof.layers.zfs_commands import flush_pool
from poolproof.layers.zfs_properties import VOLUME, check_property
from poolproof.steps import Step, await_block
from poolproof.units import format_size, parse_size

_DEVICES = "/dev/zvol/"


@dataclass(frozen=True)
class Zvol:
    """Size in bytes, whether it is sparse, properties by name, and how many copies its pool keeps of everything."""

    size_bytes: int
    sparse: bool
    properties: tuple[tuple[str, str], ...]
    pool_copies: int = 1

    @property
    def copies_over_pool(self) -> float:
        """How many times as many copies as its pool: a volume inherits `copies`, and its own takes the place of it."""
        own = dict(self.properties).get("copies")
        return 1.0 if own is None else int(own) / self.pool_copies


class ZvolLayer(Layer[Zvol]):
    """A block device out of a pool."""

    word = "zvol"
    summary = "a volume of a pool: `zfs mirror a b | zvol 100G volblocksize=16k`"
    programs = ("zfs",)
    packages = ("zfsutils-linux",)
    module_packages = ("zfs-dkms",)
    offers_block = True

    def read(self, reading: StageReader) -> LayerNode:
        pool = _pool(reading)
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
        copies = pool.spec.copies if isinstance(pool.spec, Zfs) else 1
        return LayerNode(self, Zvol(_size_bytes(reading, size), sparse, tuple(properties.items()), copies), (pool,))

    def modules(self, spec: Zvol) -> tuple[str, ...]:
        return ("zfs",)

    def plan(self, spec: Zvol, inputs: Sequence[Volume], site: Site, name: str) -> LayerPlan:
        (pool,) = inputs
        _check_room(spec, pool)
        dataset = f"{pool_of(pool)}/{name}"
        node = f"{_DEVICES}{dataset}"
        return LayerPlan(
            make=(_create(spec, dataset),),
            open=(await_block(node),),
            close=(),
            # without this, syncing the device would write what is dirty to the log first
            flush=(flush_pool(pool_of(pool)),),
            volume=Volume(node, True, pool.leaves, spec.size_bytes),
        )

    def write_factor(self, spec: Zvol, inputs: Sequence[float]) -> float:
        return inputs[0] * spec.copies_over_pool

    def capacity_bytes(self, spec: Zvol, inputs: Sequence[int]) -> int:
        return min(spec.size_bytes, int(inputs[0] / spec.copies_over_pool))

    def stored(
        self, spec: Zvol, volume: Volume, inputs: Sequence[Volume], total_bytes: int, host: Host
    ) -> tuple[int, ...]:
        """In bytes of the pool's own data, which multiplies them by the copies that it keeps itself."""
        return (int(total_bytes * spec.copies_over_pool),)

    def describe(self, spec: Zvol, volume: Volume, inputs: Sequence[Volume], host: Host, target: Target) -> Target:
        properties = read_properties(volume.path.removeprefix(_DEVICES), host)
        return replace(
            target,
            record_bytes=int(properties["volblocksize"]),
            compression=compression_of(properties),
            zfs=replace(
                target.zfs or ZfsFacts(),
                is_zvol=True,
                direct=None,
                sync=properties.get("sync"),
                logbias=properties.get("logbias"),
                primarycache=properties.get("primarycache"),
                dedup=properties.get("dedup"),
            ),
        )


def _create(spec: Zvol, dataset: str) -> Step:
    """Its undo is that of its pool."""
    sparse = ("-s",) if spec.sparse else ()
    named = [part for key, value in spec.properties for part in ("-o", f"{key}={value}")]
    return Step(
        f"create the volume {dataset}",
        ("zfs", "create", *sparse, "-V", str(spec.size_bytes), *named, dataset),
        timeout_s=120,
    )


def _check_room(spec: Zvol, pool: Volume) -> None:
    """The estimate of the pool is from below by 5 %: only what surely does not fit is refused."""
    reserved = spec.size_bytes * spec.copies_over_pool
    if not spec.sparse and pool.size_bytes is not None and reserved > pool.size_bytes * 100 // 95:
        raise HostError(
            f"a zvol of {format_size(spec.size_bytes)} does not fit its pool, which holds "
            f"about {format_size(pool.size_bytes)}",
            "make it smaller, or `sparse`, which reserves no space for it",
        )


def _pool(reading: StageReader) -> LayerNode:
    if reading.below is None:
        raise reading.mistake(None, "zvol stands on a pool: zfs mirror a b | zvol 100G")
    if not (isinstance(reading.below, LayerNode) and isinstance(reading.below.layer, ZfsLayer)):
        raise reading.mistake(None, "zvol stands on a pool, and left of the `|` is none")
    return reading.below


def _size_bytes(reading: StageReader, size: Word) -> int:
    try:
        size_bytes = parse_size(size.text)
    except ValueError:
        raise reading.mistake(size, f"`{size.text}` is no size; zvol needs one: zvol 100G") from None
    if size_bytes == 0:
        raise reading.mistake(size, "a zvol of size 0 holds nothing")
    return size_bytes


LAYER = ZvolLayer()
