"""Bring a layout to rest between trials: everything flushed, nothing in RAM, nothing in flight; and check it."""

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from poolproof.errors import BuildError
from poolproof.evidence.counters import parse_counters
from poolproof.evidence.files import resident_bytes
from poolproof.hosts.base import Host
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
    """Write all that the layout holds in RAM to its disks and wait until their queues are empty.

    A directory on somebody else's disk is only flushed: its disk may never be idle.

    Raises:
        BuildError: not done within 10 minutes, or a disk's queue does not empty.
    """
    repeat(layout.tree.flush, host)
    if layout.found is not None:
        return
    deadline = time.monotonic() + _QUIET_LIMIT_S
    while any(_in_flight(host, leaf.counter) for leaf in layout.leaves):
        if time.monotonic() > deadline:
            raise BuildError(
                f"{layout.name}: its disks still have requests in flight {_QUIET_LIMIT_S:g} s after a sync",
                "something else uses these disks; see: iostat -x 1",
            )
        time.sleep(_POLL_S)


def _in_flight(host: Host, counter: str) -> bool:
    counters = parse_counters(host.read(counter))
    return counters is not None and counters.in_flight > 0


def drop_caches(host: Host, layout: BuiltLayout, paths: Sequence[str]) -> tuple[int, ...] | None:
    """Take the test files out of RAM; returns how many bytes of each are still there, None where that can't be told.

    The layout is closed and opened in its own way. Files that are in RAM after that, as those of the user's own that
    are taken as found, are dropped one by one. Of files on ZFS the page cache has nothing, and is not asked: fincore
    maps a file, and what was mapped once OpenZFS 2.1 reads page by page from then on (zfs_read() of its zfs_vnops.c,
    z_is_mapped): with primarycache=metadata four times as much for reads of 16k.

    Raises:
        BuildError: the layout does not close or open, as when something else uses it; or a cache does not empty.
    """
    repeat(layout.tree.close, host)
    repeat(layout.tree.open, host)
    if layout.target.file_system == _HAS_NO_PAGES:
        _await_empty_caches(host, layout)
        return None
    with ThreadPoolExecutor() as aside:
        found = aside.submit(resident_bytes, host, paths)
        _await_empty_caches(host, layout)
    resident = found.result()
    if not resident or not any(resident):
        return resident
    for path in paths:
        # count=0 with nocache is coreutils' way to posix_fadvise(DONTNEED) a whole file.
        host.run(["dd", f"if={path}", "iflag=nocache", "count=0", "status=none"], timeout_s=_DROP_LIMIT_S)
    return resident_bytes(host, paths)


def _await_empty_caches(host: Host, layout: BuiltLayout) -> None:
    """Caches of the layers' own (the ARC) are empty but for what opening the layout read: 32 MiB at most."""
    deadline = time.monotonic() + _EMPTY_LIMIT_S
    while (held := cached_bytes(layout.tree, host)) is not None and held > _EMPTY_BYTES:
        if time.monotonic() > deadline:
            raise BuildError(
                f"{layout.name}: a cache in RAM still holds {format_size(held)} of data after closing and opening it",
                "for the ARC of ZFS see: grep -w data_size /proc/spl/kstat/zfs/arcstats",
            )
        time.sleep(_POLL_S)
