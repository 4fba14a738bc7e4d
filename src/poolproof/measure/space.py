"""Compute how much space a layout can take, and check before a run that this much is free on the host."""

import re
from collections.abc import Collection

from poolproof.campaign.model import Device, Disk
from poolproof.devices.model import DevicePlan
from poolproof.errors import HostError
from poolproof.hosts.base import Host
from poolproof.layers.base import Node
from poolproof.layers.tree import devices, write_factor, writes_everything
from poolproof.measure.free_space import free_space
from poolproof.provision.layout_plan import LayoutPlan
from poolproof.units import format_size

SPARE_BYTES = 256 * 1024**2
"""The space, in bytes, that a run leaves free for its logs and for other programs on the host."""

_METADATA_BYTES = 64 * 1024**2
_SPARE_FILES = 10_000


def image_bytes(planned: LayoutPlan, sources: Collection[Device], state_dir: str, data_bytes: int) -> int:
    """Return the maximum number of bytes that the layout's images in `state_dir` can occupy.

    This is the size of the test files (`data_bytes`) with all their copies and parity, plus the file systems' metadata,
    but at most the total size of the images. If building a layer writes to every block, the result is the total size.
    """
    plans = zip(devices(planned.node), planned.devices, strict=True)
    return _most_bytes(planned.node, sources, {name for name, plan in plans if _is_in(plan, state_dir)}, data_bytes)


def counted_bytes(node: Node, sources: Collection[Device], data_bytes: int) -> int:
    """Return the maximum number of bytes that the images of a layout can occupy, wherever they are stored."""
    return _most_bytes(node, sources, set(devices(node)), data_bytes)


def _most_bytes(node: Node, sources: Collection[Device], names: Collection[str], data_bytes: int) -> int:
    sizes = [each.source.size_bytes for each in sources if each.name in names and not isinstance(each.source, Disk)]
    if writes_everything(node):
        return sum(sizes)
    written = int(data_bytes * max(1.0, write_factor(node)))
    return min(sum(sizes), written + sum(min(size, _METADATA_BYTES + size // 64) for size in sizes))


def _is_in(plan: DevicePlan, directory: str) -> bool:
    """True if the image of the device is in the directory."""
    stored = re.compile(rf"(store=)?{re.escape(directory)}/[^/]+\.(img|qcow2|store)")
    return any(stored.fullmatch(part) for step in plan.steps for part in step.argv)


def check_space(layout: str, needed_bytes: int, directory: str, host: Host) -> None:
    """Raise a HostError if the layout's images don't fit on the directory's file system."""
    found = free_space(host, directory) if needed_bytes else None
    if found is not None and needed_bytes + SPARE_BYTES > (free := found.free_bytes):
        raise HostError(
            f"not enough space for the images of layout {layout}: they can take {format_size(needed_bytes)}, and "
            f"{format_size(SPARE_BYTES)} must stay free, but {directory} has only {format_size(free)} free",
            "give the workloads a smaller `size`, or store the images on another file system with --work",
        )


def check_files(layout: str, needed: int, directory: str, host: Host) -> None:
    """Raise a HostError if the test files of a `dir` layout would take nearly all free inodes of its file system.

    Without a free inode, no program can create a file there. A file system without a limit always has enough. If its
    free inodes cannot be counted, nothing is checked.
    """
    found = free_space(host, directory)
    if found is None or (free := found.free_files) is None:
        return
    spare = min(_SPARE_FILES, free // 4)
    if needed + spare > free:
        raise HostError(
            f"layout {layout} needs {needed} test files, and {spare} inodes must stay free, but the file system of "
            f"{directory} has only {free} free inodes",
            "give the workloads a smaller `nrfiles` or `numjobs`, or use a directory on another file system",
        )
