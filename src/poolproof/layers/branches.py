"""Facts about the directories that a FUSE file system combines, which its own mount does not show.

The file system passes I/O on to these branches, so their compression and their mount options apply to the test files.
"""

from dataclasses import replace

from poolproof.evidence.target_facts import Target
from poolproof.facts.block import mount_of, parse_mountinfo
from poolproof.hosts.base import text_of
from poolproof.layers.base import OpenLayer, Spec
from poolproof.layers.layer_catalogue import compressed_unit_bytes, compression_of

_OF_ANY = ("data=journal", "nobarrier", "barrier=0", "barrier=none")
_OF_ALL = ("sync",)


def with_facts_of_branches(built: OpenLayer[Spec], target: Target) -> Target:
    """Return a copy of the target with the compression and the mount options of the layer's inputs.

    One branch is enough for options that make a result worse than it seems, because any test file may be on it.
    Options that make writes durable must be set on all branches.
    """
    table = parse_mountinfo(text_of(built.host, "/proc/self/mountinfo"))
    found = [mount_of(table, branch.path) for branch in built.inputs]
    mounts = [mount for mount in found if mount is not None]
    options = [frozenset(mount.options) for mount in mounts]
    added = [name for name in _OF_ANY if any(name in each for each in options)]
    if len(mounts) == len(found):
        added += [name for name in _OF_ALL if all(name in each for each in options)]
    target = replace(target, mount_options=tuple(dict.fromkeys((*target.mount_options, *added))))
    compressed = [(name, mount.file_system) for mount in mounts if (name := compression_of(mount)) is not None]
    if not compressed:
        return target
    compression, file_system = compressed[0]
    return replace(target, compression=compression, record_bytes=compressed_unit_bytes(file_system))
