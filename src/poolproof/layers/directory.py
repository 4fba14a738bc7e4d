"""An existing directory: `dir /srv/data`. This is the only layer that does not need root.

The run creates a subdirectory there, removes it at the end, and changes nothing else. Only its owner can enter the
subdirectory. Otherwise, with a default access control list or a umask of 0, another user could put links in the place
of test files. poolproof never unmounts the directory. Instead, it drops caches file by file: dd flushes each file and
then drops it from the page cache (`nocache`, posix_fadvise).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from poolproof.campaign.expression import Option, Word
from poolproof.devices.model import Site, Volume
from poolproof.evidence.target_facts import Target
from poolproof.facts.disk_state import devices_below
from poolproof.layers.base import DeviceNode, Layer, LayerNode, LayerPlan, OpenLayer, StageReader
from poolproof.layers.layer_catalogue import all_layers, describe_found, storage_at
from poolproof.steps import Step
from poolproof.undos import UndoTree

_DROP_LIMIT_S = 600.0
FLUSH = """
sync --file-system "$1" || exit
source=$(findmnt -n -o SOURCE -T "$1")
case $(findmnt -n -o FSTYPE -T "$1"):$source in
  zfs:*) dataset=$source ;;
  *:/dev/zd*) dataset=$(/lib/udev/zvol_id "${source%%[[]*}") || exit ;;
  *) exit 0 ;;
esac
zpool sync "${dataset%%[[/]*}"
"""
"""A shell script that flushes a directory's file system to disk.

On ZFS, syncfs writes only to the intent log (zfs_sync), so the script also waits until the pool has written its
transaction groups. It syncs only this pool, because the script would hang if another pool were suspended.
"""


@dataclass(frozen=True)
class Dir:
    """The absolute path of an existing directory."""

    path: str


class DirLayer(Layer[Dir]):
    """An existing directory.

    The node's only input is a DeviceNode with the directory's path as its name. The planner provides a volume for this
    path.
    """

    word = "dir"
    summary = "an existing directory; needs no root: `dir /srv/data`"
    needs_root = False

    def read(self, reading: StageReader) -> LayerNode:
        if reading.below is not None:
            raise reading.mistake(None, "dir must be the first stage, with nothing to the left of it")
        path, *more = reading.arguments or (None,)
        if not isinstance(path, Word):
            raise reading.mistake(path, "dir needs the path of a directory: dir /srv/data")
        if not path.text.startswith("/"):
            raise reading.mistake(path, "dir needs an absolute path, one that starts with `/`")
        if more:
            found = "option" if isinstance(more[0], Option) else "word"
            raise reading.mistake(more[0], f"dir takes only a path, but there is an extra {found}")
        normal = "/" + "/".join(part for part in path.text.split("/") if part)
        return LayerNode(self, Dir(normal), (DeviceNode(normal),))

    def plan(self, spec: Dir, inputs: Sequence[Volume], site: Site, name: str) -> LayerPlan:
        (directory,) = inputs
        folder = f"{directory.path.rstrip('/')}/poolproof-{site.label}-{name}"
        # with `count=0` and `nocache`, dd drops a whole file; fdatasync comes first, because dirty pages stay
        dd = ("dd", "of={}", "oflag=nocache", "conv=notrunc,fdatasync", "count=0", "status=none")
        argv = ("find", folder, "-xdev", "-type", "f", "-exec", *dd, ";")
        drop = Step(f"write out the files in {folder} and drop them from RAM", argv, timeout_s=_DROP_LIMIT_S)
        return LayerPlan(
            make=(Step(f"create the directory {folder}", ("mkdir", "-m", "0700", folder), undo=UndoTree(folder)),),
            open=(),
            close=(drop,),
            flush=(Step(f"write out {folder}", ("sh", "-c", FLUSH, "sh", folder), timeout_s=_DROP_LIMIT_S),),
            volume=self.volume(spec, folder, inputs),
        )

    def capacity_bytes(self, spec: Dir, inputs: Sequence[int]) -> int:
        return inputs[0]

    def describe(self, built: OpenLayer[Dir], target: Target) -> Target:
        """Return a copy of the target, with facts filled in about the directory's file system, pool or array."""
        found = storage_at(built.host, built.inputs[0].path)
        return describe_found(built.host, found, target) if found else target

    def busy_with(self, built: OpenLayer[Dir]) -> str | None:
        leaves = [leaf.kernel_name for leaf in built.volume.leaves]
        disks = frozenset(devices_below(built.host, leaves))
        known = [layer for layer in all_layers().values() if not layer.guesses_work]
        return "; ".join(text for layer in known for text in layer.busy_on(disks, built.host)) or None

    def redundancy(self, spec: Dir, inputs: Sequence[int]) -> int | None:
        """Return None, because the redundancy of the storage below an existing directory is unknown."""
        return None


LAYER = DirLayer()
