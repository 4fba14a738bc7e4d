"""Prepare a layout for its workloads: fill the test files (shared ones only once), flush, and drop caches."""

import time
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import NamedTuple

from poolproof.campaign.model import Workload
from poolproof.errors import BuildError
from poolproof.evidence.counters import parse_counters
from poolproof.evidence.model import TestFile
from poolproof.evidence.target_facts import Target
from poolproof.evidence.test_files import inspect, list_files, resident_bytes
from poolproof.hosts.base import Host, host_named
from poolproof.layers.layer_catalogue import layer_of
from poolproof.layers.open_layout import cache_size_commands, cached_bytes, stored_per_leaf
from poolproof.layers.tree import branches, copies_on_write, write_factor
from poolproof.load.generator import generator_of
from poolproof.load.model import Load
from poolproof.measure.existing_files import found_paths
from poolproof.measure.model import BuiltLayout, CellJobs, Fill, Listener, PreparedWorkload
from poolproof.provision.apply import repeat
from poolproof.units import format_size

_LIMIT_S = 60.0
_REMOVE_LIMIT_S = 600.0
_QUIET_LIMIT_S = 30.0
_EMPTY_BYTES = 32 * 1024**2
_EMPTY_LIMIT_S = 20.0
_POLL_S = 0.02
_LEAST_SHARE = 0.01


def prepare(
    host: Host, layout: BuiltLayout, cells: Sequence[CellJobs], listener: Listener
) -> dict[str, PreparedWorkload]:
    """Prepare all workloads for running on the layout, and return them, keyed by name.

    Raises:
        FioError: the load generator could not write the files.
        GuardError: the storage to be filled no longer belongs to the run, or a disk was replaced.
        BuildError: the data could not be flushed to the disks.
        CommandError: a command that inspects the files or the layout failed.
    """
    place = _on_device if layout.is_block else _on_file_system
    placed = place(host, layout, cells, listener)
    flush(host, layout)
    stored = stored_per_leaf(layout.tree, host)
    files = {paths: inspect(host, paths) for paths in {each.paths for each in placed}}
    return {
        cell.workload.name: PreparedWorkload(
            cell.workload,
            each.load,
            files[each.paths],
            stored,
            stored_share(layout.target, files[each.paths], each.fill),
            each.fill,
        )
        for cell, each in zip(cells, placed, strict=True)
    }


class _Placed(NamedTuple):
    """A cell's load after it was assigned to a directory or device, and the paths of its test files.

    On a device, there are no test files.
    """

    load: Load
    paths: tuple[str, ...]
    fill: Fill | None


def _on_device(host: Host, layout: BuiltLayout, cells: Sequence[CellJobs], listener: Listener) -> list[_Placed]:
    """Fill the device once, up to the last byte that any workload uses. All workloads share this data.

    If all workloads have `fill: false`, nothing is written.
    """
    loads = [_on_block(layout, cell.load) for cell in cells]
    fill = None
    if any(cell.workload.fill for cell in cells):
        listener.activity_begins(f"fill {layout.top}")
        size_bytes = max(load.end_bytes for load in loads)
        fill = _fill(host, layout, generator_of(loads[0]).device_fill_load(layout.top, size_bytes), size_bytes)
    return [_Placed(load, (), fill) for load in loads]


def _fill(host: Host, layout: BuiltLayout, load: Load, size_bytes: int) -> Fill:
    before = _written(host, layout) if layout.target.compression else {}
    layout.own.check(f"fill {layout.top}", host, [load])
    begun = time.monotonic()
    generator_of(load).fill(host, load, layout.scratch, size_bytes)
    filled = Fill(generator_of(load).text(load), time.monotonic() - begun)
    if not before or not size_bytes:
        return filled
    flush(host, layout)
    after = _written(host, layout)
    grown = {name: after[name] - count for name, count in before.items()}
    data_bytes = sum(grown.values()) / write_factor(layout.node, grown, layout.below)
    return replace(filled, stored_share=min(1.0, data_bytes / size_bytes))


def _written(host: Host, layout: BuiltLayout) -> dict[str, int]:
    """Return the total number of bytes written to each leaf device, excluding log and cache vdevs.

    If a leaf device has no counters, the result is empty.
    """
    zfs = layout.target.zfs
    left_out = (*zfs.log_devices, *zfs.cache_devices) if zfs else ()
    leaves = [leaf for leaf in layout.leaves if leaf.name not in left_out]
    counters = [parse_counters(host_named(host, leaf.host).read(leaf.counter)) for leaf in leaves]
    found = {leaf.name: count.write_bytes for leaf, count in zip(leaves, counters, strict=True) if count}
    return found if len(found) == len(leaves) and not layout.target.not_counted else {}


def stored_share(target: Target, files: Sequence[TestFile], fill: Fill | None) -> float | None:
    """Return the fraction of the files' bytes that the disks store, but at least 1%.

    Return None if the fraction is unknown, or if the layout does not compress.

    There are two ways to compute it: from the bytes that the disks wrote during the fill, including metadata, or from
    the number of blocks that the files occupy, if the file system reports it. The smaller result is used. With
    deduplication, only the blocks count: duplicate blocks are not written during the fill, but cold reads of them still
    come from the disks.
    """
    size = sum(file.size_bytes for file in files)
    if not target.compression:
        return None
    deduplicates = target.zfs is not None and target.zfs.dedup not in (None, "off")
    shares = [fill.stored_share] if fill and fill.stored_share is not None and not deduplicates else []
    layer = layer_of(target.file_system)
    if layer is not None and layer.counts_stored_blocks and size:
        shares.append(1 - sum(file.hole_bytes or 0 for file in files) / size)
    return max(min(shares), _LEAST_SHARE) if shares else None


def _on_block(layout: BuiltLayout, load: Load) -> Load:
    if layout.is_bare_disk:
        return generator_of(load).on_bare_disk(load, layout.top, layout.tree.volume.size_bytes)
    return generator_of(load).on_device(load, layout.top)


def _on_file_system(host: Host, layout: BuiltLayout, cells: Sequence[CellJobs], listener: Listener) -> list[_Placed]:
    directories = [_directory_of(layout, cell) for cell in cells]
    pairs = list(zip(cells, directories, strict=True))
    own = {directory for cell, directory in pairs if cell.workload.fill}
    layout.own.check(f"create the directories of {layout.name}", host)
    _make_directories(host, layout, own)
    layout.own.add(host, own | {path for path in directories if path == layout.found})
    loads = [generator_of(cell.load).in_directory(cell.load, directory) for cell, directory in pairs]
    texts = [fill_text(cell.workload, load) for cell, load in zip(cells, loads, strict=True)]
    filling = {text: entry for text, entry in zip(texts, loads, strict=True) if text}
    fills: dict[str, Fill] = {}
    for number, (text, entry) in enumerate(filling.items(), start=1):
        listener.activity_begins(f"fill the test files (set {number} of {len(filling)})")
        fills[text] = _fill(host, layout, generator_of(entry).fill_load(entry), entry.created_bytes)
    laid_out = {directory: list_files(host, directory) for directory in own}
    return [
        _Placed(load, laid_out[directory] if text else _unfilled(cell, directory), fills.get(text))
        for (cell, directory), load, text in zip(pairs, loads, texts, strict=True)
    ]


def _unfilled(cell: CellJobs, directory: str) -> tuple[str, ...]:
    """Return the paths of the user's files. If the load creates its own files in each trial, the result is empty."""
    return () if cell.load.makes_new_files else found_paths(cell.load, directory)


def fill_text(workload: Workload, load: Load) -> str:
    """Return the job that fills the load's files, as text.

    Empty if the load uses existing files, or creates new ones in each trial.
    """
    if not workload.fill or load.makes_new_files:
        return ""
    generator = generator_of(load)
    return generator.text(generator.fill_load(load))


def _directory_of(layout: BuiltLayout, cell: CellJobs) -> str:
    if layout.found is not None and not cell.workload.fill:
        return layout.found
    apart = copies_on_write(layout.node)
    return f"{layout.top}/{generator_of(cell.load).file_set(cell.workload, cell.load, writers_apart=apart)}"


def _make_directories(host: Host, layout: BuiltLayout, directories: Collection[str]) -> None:
    """Create these directories on every branch of a union, so that the union can choose a branch for each file.

    Directories that already exist are emptied.
    """
    names = sorted(path.removeprefix(f"{layout.top}/") for path in directories)
    paths = [f"{branch}/{name}" for branch in branches(layout.tree) for name in names]
    if paths:
        # Files of the previous layout on the same pool are fragmented and would not be written again.
        host.run(["rm", "-rf", "--one-file-system", "--", *paths], timeout_s=_REMOVE_LIMIT_S)
        host.run(["mkdir", "-p", *paths], timeout_s=_LIMIT_S)


def flush(host: Host, layout: BuiltLayout) -> None:
    """Flush all data that the layout buffers in RAM to its disks, and wait until the disks' queues are empty.

    For a `dir` layout, this does not wait, because other programs also use its disk, which may never be idle.

    Raises a BuildError if a flush fails or takes longer than 10 minutes, or if requests remain in flight.
    """
    repeat(layout.tree.flush, host)
    if layout.found is not None:
        return
    deadline = time.monotonic() + _QUIET_LIMIT_S
    while any(_in_flight(host_named(host, leaf.host), leaf.counter) for leaf in layout.leaves):
        if time.monotonic() > deadline:
            raise BuildError(
                f"{layout.name}: its disks still have requests in flight {_QUIET_LIMIT_S:g} s after a sync",
                "another program may be using these disks; to watch them: iostat -x 1",
            )
        time.sleep(_POLL_S)


def _in_flight(host: Host, counter: str) -> bool:
    counters = parse_counters(host.read(counter))
    return counters is not None and counters.in_flight > 0


def drop_caches(host: Host, layout: BuiltLayout, paths: Sequence[str]) -> tuple[int, ...] | None:
    """Drop the test files from RAM. Return how many bytes of each file are still cached, or None if unknown.

    To drop the files, the layout is remounted, or exported and imported. Files that are still cached after that, such
    as the user's existing files, are dropped individually.

    For ZFS, the result is None. Its files are not in the page cache, and checking would even do harm: fincore maps a
    file, and OpenZFS 2.1 reads any file that has ever been mapped page by page (z_is_mapped in zfs_read(),
    zfs_vnops.c). With primarycache=metadata, 16k reads would then make the disks read four times as much.

    Raises:
        BuildError: the layout can't be remounted, for example because it is in use, or a cache does not become empty.
        GuardError: a disk was replaced, or something else is mounted in place of the layout.
    """
    layout.own.check(f"remount {layout.name}", host)
    repeat(layout.tree.close, host)
    repeat(layout.tree.open, host, layout.identity_checks)
    layout.own.renew(host)
    layer = layer_of(layout.target.file_system)
    if layer is not None and layer.has_own_cache:
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
        host.run(["dd", f"if={path}", "iflag=nocache", "count=0", "status=none"], timeout_s=_LIMIT_S)
    return resident_bytes(host, paths)


def _await_empty_caches(host: Host, layout: BuiltLayout) -> None:
    """Wait until the layers' own caches contain at most 32 MiB in total.

    Mounting or importing the layout may already read that much. Raises a BuildError if the caches still contain more
    after 20 s.
    """
    deadline = time.monotonic() + _EMPTY_LIMIT_S
    while (cached := cached_bytes(layout.tree, host)) is not None and cached > _EMPTY_BYTES:
        if time.monotonic() > deadline:
            raise BuildError(
                f"{layout.name}: a cache in RAM still contains {format_size(cached)} after the caches were dropped",
                f"to check its size: {'; '.join(cache_size_commands(layout.tree, host))}",
            )
        time.sleep(_POLL_S)
