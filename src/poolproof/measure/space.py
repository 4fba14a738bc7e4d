"""Check the free space on the host's own file systems before a run, and monitor it during the run."""

import contextlib
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager

from poolproof.campaign.model import Device, Disk
from poolproof.devices.model import DevicePlan
from poolproof.errors import BuildError, CommandError, HostError, PoolproofError
from poolproof.hosts.base import Host
from poolproof.layers.tree import devices, write_factor
from poolproof.measure.health_check import checked_every
from poolproof.provision.layout_plan import LayoutPlan
from poolproof.units import format_size

FREE = 'stat --file-system --format="%a %S" -- "$1"'
"""A shell script that prints the number of free blocks on the directory's file system, and the size of a block."""

EVERY_S = 2.0
SPARE_BYTES = 256 * 1024**2
"""The space, in bytes, that a run leaves free for its logs and for other programs on the host."""

_LEAST_BYTES = 64 * 1024**2
_LIMIT_S = 20.0
_METADATA_BYTES = 64 * 1024**2


def free_bytes(host: Host, directory: str) -> int | None:
    """Return the number of free bytes on the directory's file system, or None if unknown."""
    try:
        printed = host.run(["sh", "-c", FREE, "sh", directory], timeout_s=_LIMIT_S, check=False).stdout.split()
    except CommandError:
        return None
    return int(printed[0]) * int(printed[1]) if len(printed) == 2 and all(map(str.isdecimal, printed)) else None


def image_bytes(planned: LayoutPlan, sources: Collection[Device], state_dir: str, data_bytes: int) -> int:
    """Return the maximum number of bytes that the layout's images in `state_dir` can occupy.

    This is the size of the test files (`data_bytes`) with all their copies and parity, plus the file systems' metadata.
    It is never more than the total size of the images.
    """
    names = [name for name, plan in zip(devices(planned.node), planned.devices, strict=True) if _is_in(plan, state_dir)]
    sizes = [each.source.size_bytes for each in sources if each.name in names and not isinstance(each.source, Disk)]
    written = int(data_bytes * max(1.0, write_factor(planned.node)))
    return min(sum(sizes), written + sum(min(size, _METADATA_BYTES + size // 64) for size in sizes))


def _is_in(plan: DevicePlan, directory: str) -> bool:
    """True if the image of the device is in the directory."""
    stored = re.compile(rf"(store=)?{re.escape(directory)}/[^/]+\.(img|qcow2|store)")
    return any(stored.fullmatch(part) for step in plan.steps for part in step.argv)


def check_space(layout: str, needed_bytes: int, directory: str, host: Host) -> None:
    """Raise a HostError if the layout's images don't fit on the directory's file system."""
    free = free_bytes(host, directory) if needed_bytes else None
    if free is not None and needed_bytes + SPARE_BYTES > free:
        raise HostError(
            f"not enough space for the images of layout {layout}: they can take {format_size(needed_bytes)}, and "
            f"{format_size(SPARE_BYTES)} must stay free, but {directory} has only {format_size(free)} free",
            "give the workloads a smaller `size`, or store the images on another file system with --work",
        )


def enough_space(
    host: Host, directories: Sequence[str], stop: Callable[[], None]
) -> AbstractContextManager[Callable[[], None]]:
    """Monitor the free space of these directories in the background, and call `stop` if less than 64 MiB is left.

    A directory with less than 128 MiB of free space at the start is ignored, because the run did not use it up. Yields
    a function that raises an error if work was stopped.
    """
    watched = [each for each in directories if (free_bytes(host, each) or 0) >= 2 * _LEAST_BYTES]

    def full() -> Iterator[BuildError]:
        for directory in watched:
            free = free_bytes(host, directory)
            if free is not None and free < _LEAST_BYTES:
                yield BuildError(
                    f"the file system of {directory} has only {format_size(free)} left, so work on the layout was "
                    "stopped",
                    "free some space, then run the campaign again",
                )
                with contextlib.suppress(PoolproofError):
                    stop()

    return checked_every(EVERY_S, full, limit_s=_LIMIT_S) if watched else contextlib.nullcontext(lambda: None)
