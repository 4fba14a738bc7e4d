"""A sparse file that serves as a vdev: `zfs mirror (hdd1 | ext4 | file 2G) (ssd1 | ext4 | file 2G)`.

ZFS accepts files as vdevs, but cannot detect whether the disk below a file is rotational. The file is stored on the
file system to the left of the `|` and disappears with that file system.
"""

from collections.abc import Sequence

from poolproof.campaign.expression import Word
from poolproof.devices.model import Site, Volume
from poolproof.layers.arguments import check_directories, size_of
from poolproof.layers.base import Layer, LayerNode, LayerPlan, StageReader
from poolproof.steps import Step


class FileLayer(Layer[int]):
    """A sparse file that a pool uses as a disk. `spec`: the file's size in bytes."""

    word = "file"
    summary = "a sparse file as a vdev: `hdd1 | ext4 | file 2G`"
    programs = ("truncate",)
    packages = ("coreutils",)
    offers_block = True
    offers_file = True

    def read(self, reading: StageReader) -> LayerNode:
        if reading.below is None:
            raise reading.mistake(None, "file needs a file system: write (hdd1 | ext4 | file 2G)")
        check_directories(reading, [(None, reading.below)], self.word)
        size, *more = reading.arguments or (None,)
        if not isinstance(size, Word):
            raise reading.mistake(size, "file needs a size: file 2G")
        if more:
            raise reading.mistake(more[0], "file takes only a size")
        return LayerNode(self, size_of(reading, size, size.text, "file 2G"), (reading.below,))

    def plan(self, spec: int, inputs: Sequence[Volume], site: Site, name: str) -> LayerPlan:
        (directory,) = inputs
        path = f"{directory.path}/{name}.vdev"
        create = Step(f"create the file {path}", ("truncate", "-s", str(spec), path))
        return LayerPlan((create,), (), (), Volume(path, True, directory.leaves, spec, directory.host))

    def capacity_bytes(self, spec: int, inputs: Sequence[int]) -> int:
        return min(spec, inputs[0])


LAYER = FileLayer()
