"""An existing directory: `dir /srv/data`. The only layer that needs no root.

It makes a directory of its own for the run in there, and removes it; nothing else is touched. It cannot be unmounted,
so it is cooled file by file: written out, then dropped from the page cache (posix_fadvise, by dd's `nocache`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from poolproof.campaign.expression import Option, Word
from poolproof.devices.model import Site, Volume
from poolproof.layers.base import DeviceNode, Layer, LayerNode, LayerPlan, StageReader
from poolproof.steps import Step, UndoTree

_COOLING_LIMIT_S = 600.0


@dataclass(frozen=True)
class Dir:
    """The directory, absolute."""

    path: str


class DirLayer(Layer[Dir]):
    """A directory that is there already. Its one input bears the path as its name: the planner gives its Volume."""

    word = "dir"
    summary = "an existing directory, no root needed: `dir /srv/data`"
    needs_root = False

    def read(self, reading: StageReader) -> LayerNode:
        if reading.below is not None:
            raise reading.mistake(None, "dir is a layout by itself; nothing can stand left of it")
        path, *more = reading.arguments or (None,)
        if not isinstance(path, Word):
            raise reading.mistake(path, "dir needs the path of a directory: dir /srv/data")
        if not path.text.startswith("/"):
            raise reading.mistake(path, "dir needs an absolute path, one that starts with `/`")
        if more:
            found = "option" if isinstance(more[0], Option) else "word"
            raise reading.mistake(more[0], f"dir takes one path and nothing else, found one more {found}")
        normal = "/" + "/".join(part for part in path.text.split("/") if part)
        return LayerNode(self, Dir(normal), (DeviceNode(normal),))

    def plan(self, spec: Dir, inputs: Sequence[Volume], site: Site, name: str) -> LayerPlan:
        (directory,) = inputs
        own = f"{directory.path.rstrip('/')}/poolproof-{site.label}-{name}"
        return LayerPlan(
            make=(Step(f"make the directory {own}", ("mkdir", own), undo=UndoTree(own)),),
            open=(),
            close=(_drop_pages(own),),
            volume=Volume(own, False, directory.leaves, directory.size_bytes),
        )

    def write_factor(self, spec: Dir, inputs: Sequence[float]) -> float:
        """1: what lies below an existing directory is the host's business; its leaves are where bytes are counted."""
        return inputs[0]

    def capacity_bytes(self, spec: Dir, inputs: Sequence[int]) -> int:
        return inputs[0]


def _drop_pages(path: str) -> Step:
    """`count=0` with `nocache` is coreutils' way to drop a whole file; fdatasync first, for dirty pages stay."""
    dd = ("dd", "of={}", "oflag=nocache", "conv=notrunc,fdatasync", "count=0", "status=none")
    return Step(
        f"write out the files in {path} and drop them from RAM",
        ("find", path, "-xdev", "-type", "f", "-exec", *dd, ";"),
        timeout_s=_COOLING_LIMIT_S,
    )


LAYER = DirLayer()
