"""Flush a layout and drop its caches between trials, and check that nothing is cached or in flight."""

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from poolproof.errors import BuildError
from poolproof.evidence.counters import parse_counters
from poolproof.evidence.files import resident_bytes
from poolproof.hosts.base import Host, host_named
from poolproof.layers.open_layout import cached_bytes
from poolproof.measure.model import BuiltLayout
from poolproof.provision.apply import repeat
from poolproof.units import format_size

_QUIET_LIMIT_S = 30.0
_EMPTY_BYTES = 32 * 1024**2
_EMPTY_LIMIT_S = 20.0
_DROP_LIMIT_S = 60.0
_POLL_S = 0.02
_HAS_NO_PAGES = "zfs"


def flush(host: Host, layout: BuiltLayout) -> None:
    """Flush everything the layout holds in RAM to its disks and wait until their queues are empty.

    A `dir` layout is only flushed: its disk is shared and may never be idle.

    Raises:
        BuildError: the flush takes longer than 10 minutes, or requests remain in flight.
    """
    repeat(layout.tree.flush, host)
    if layout.found is not None:
        return
    deadline = time.monotonic() + _QUIET_LIMIT_S
    while any(_in_flight(host_named(host, leaf.host), leaf.counter) for leaf in layout.leaves):
        if time.monotonic() > deadline:
            raise BuildError(
                f"{layout.name}: its disks still have requests in flight {_QUIET_LIMIT_S:g} s after a sync",
                "something else is using these disks; to see what they do: iostat -x 1",
            )
        time.sleep(_POLL_S)


def _in_flight(host: Host, counter: str) -> bool:
    counters = parse_counters(host.read(counter))
    return counters is not None and counters.in_flight > 0


def drop_caches(host: Host, layout: BuiltLayout, paths: Sequence[str]) -> tuple[int, ...] | None:
    """Drop the test files from RAM. Returns how many bytes of each remain cached; None if that is unknown.

    The layout is closed and opened in its own way. Files that are still cached then, such as existing files of the
    user, are dropped one by one. Files on ZFS are not in the page cache and are not checked: fincore maps a file, and
    OpenZFS 2.1 reads a file that was ever mapped page by page (z_is_mapped in zfs_read(), zfs_vnops.c), which with
    primarycache=metadata reads four times as much for 16k reads.

    Raises:
        BuildError: the layout cannot be closed or opened, for example because it is in use, or a cache stays full.
    """
    repeat(layout.tree.close, host)
    repeat(layout.tree.open, host)
    if layout.target.file_system == _HAS_NO_PAGES:
        _await_empty_caches(host, layout)
        return None
    with ThreadPoolExecutor() as pool:
        found = pool.submit(resident_bytes, host, paths)
        _await_empty_caches(host, layout)
    resident = found.result()
    if not resident or not any(resident):
        return resident
    for path in paths:
        # count=0 with nocache is coreutils' way to posix_fadvise(DONTNEED) a whole file.
        host.run(["dd", f"if={path}", "iflag=nocache", "count=0", "status=none"], timeout_s=_DROP_LIMIT_S)
    return resident_bytes(host, paths)


def _await_empty_caches(host: Host, layout: BuiltLayout) -> None:
    """Wait until the layers' own caches (the ARC) are empty, except what opening the layout read: at most 32 MiB."""
    deadline = time.monotonic() + _EMPTY_LIMIT_S
    while (held := cached_bytes(layout.tree, host)) is not None and held > _EMPTY_BYTES:
        if time.monotonic() > deadline:
            raise BuildError(
                f"{layout.name}: a cache in RAM still holds {format_size(held)} of data after the layout was reopened",
                "to see the ARC's data: grep -w data_size /proc/spl/kstat/zfs/arcstats",
            )
        time.sleep(_POLL_S)
