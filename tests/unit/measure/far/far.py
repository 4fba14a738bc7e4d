"""A layer outside the package that spans two hosts: a disk of the host `nas2` is used by the run's main host."""

from collections.abc import Sequence
from dataclasses import dataclass

from poolproof.devices.loop import UndoLoop
from poolproof.devices.model import Leaf, Site, Volume
from poolproof.layers.arguments import one_block
from poolproof.layers.base import Layer, LayerNode, LayerPlan, StageReader
from poolproof.steps import Step

DISK = "/dev/loop7"
STAT = "/sys/class/block/loop7/stat"


@dataclass(frozen=True)
class Far:
    host: str


class FarLayer(Layer[Far]):
    word = "far"
    summary = "a disk of another host: `hdd1 | far`"
    offers_block = True

    def read(self, reading: StageReader) -> LayerNode:
        device, _rest = one_block(reading, self.word)
        return LayerNode(self, Far("nas2"), (device,))

    def hosts(self, spec: Far) -> tuple[str, ...]:
        return (spec.host,)

    def plan(self, spec: Far, inputs: Sequence[Volume], site: Site, name: str) -> LayerPlan:
        image = f"{site.state_dir}/{name}.img"
        detach = UndoLoop(7, image)
        attach = Step("attach the far disk", ("losetup", DISK, image), undo=detach, host=spec.host)
        drop = Step("drop the far cache", ("blockdev", "--flushbufs", DISK), host=spec.host)
        leaf = Leaf(f"{name}-disk", DISK, STAT, host=spec.host)
        volume = Volume(inputs[0].path, True, (leaf,), inputs[0].size_bytes)
        return LayerPlan((attach,), (), (drop,), volume)

    def capacity_bytes(self, spec: Far, inputs: Sequence[int]) -> int:
        assert spec.host
        return inputs[0]


LAYER = FarLayer()
