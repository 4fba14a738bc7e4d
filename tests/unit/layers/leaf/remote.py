"""A layer outside the package and without inputs: a volume of the host `nas2`, as an iSCSI target would offer it."""

from collections.abc import Sequence

from poolproof.devices.model import Leaf, Site, Volume
from poolproof.layers.arguments import size_of
from poolproof.layers.base import Layer, LayerNode, LayerPlan, StageReader
from poolproof.steps import Step

_HOST = "nas2"


class RemoteLayer(Layer[int]):
    """A layer for a volume of another host.

    `spec`: the size of the volume in bytes.
    """

    word = "remote"
    summary = "a volume of another host: `remote 2G | ext4`"
    offers_block = True

    def read(self, reading: StageReader) -> LayerNode:
        (size,) = reading.arguments
        return LayerNode(self, size_of(reading, size, str(getattr(size, "text", "")), "remote 2G"), ())

    def hosts(self, spec: int) -> tuple[str, ...]:
        return (_HOST,)

    def plan(self, spec: int, inputs: Sequence[Volume], site: Site, name: str) -> LayerPlan:
        disk = Leaf(f"{name}-disk", "/dev/loop7", "/sys/class/block/loop7/stat", host=_HOST)
        attach = Step("attach the volume", ("attach", str(spec)))
        export = Step("export the volume", ("export", disk.path), host=_HOST)
        return LayerPlan((export, attach), (), (), Volume("/dev/remote0", True, (disk,), spec))

    def capacity_bytes(self, spec: int, inputs: Sequence[int]) -> int:
        return spec


LAYER = RemoteLayer()
