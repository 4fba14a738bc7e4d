"""Fill the test files of a layout's workloads, once for all workloads that share them, and inspect the result."""

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from poolproof.campaign.model import Workload
from poolproof.evidence.files import inspect, list_files
from poolproof.hosts.base import Host
from poolproof.layers.open_layout import stored_per_leaf
from poolproof.layers.tree import branches, copies_on_write, write_factor
from poolproof.load.generators import generator_of
from poolproof.load.model import Load
from poolproof.measure.drop_caches import flush
from poolproof.measure.events import Listener
from poolproof.measure.found import found_paths
from poolproof.measure.model import BuiltLayout, CellJobs, Fill, PreparedWorkload
from poolproof.provision.apply import check_identity

_LIMIT_S = 60.0
_REMOVE_LIMIT_S = 600.0


def prepare(
    host: Host, layout: BuiltLayout, cells: Sequence[CellJobs], listener: Listener
) -> dict[str, PreparedWorkload]:
    """Return every workload, by name, ready to run on the layout.

    Raises:
        FioError: fio could not write the files.
        GuardError: a disk to fill is no longer the one that was named.
    """
    laid_out = _on_device if layout.is_block else _on_file_system
    placed_cells = laid_out(host, layout, cells, listener)
    flush(host, layout)
    stored = stored_per_leaf(layout.tree, host)
    factor = write_factor(layout.node, stored)
    files = {paths: inspect(host, paths) for paths in {cell.paths for cell in placed_cells}}
    return {
        cell.workload.name: PreparedWorkload(
            workload=cell.workload,
            load=cell.load,
            files=files[cell.paths],
            write_factor=factor,
            stored_bytes=stored,
            fill=cell.fill,
        )
        for cell in placed_cells
    }


@dataclass(frozen=True)
class _Placed:
    """A workload with its jobs where they will run, and the files that they use; none on a block device."""

    workload: Workload
    load: Load
    paths: tuple[str, ...]
    fill: Fill | None


def _on_device(host: Host, layout: BuiltLayout, cells: Sequence[CellJobs], listener: Listener) -> list[_Placed]:
    """Fill the device once, as far as the largest workload reaches; all workloads share it."""
    loads = [_on_block(layout, cell.load) for cell in cells]
    fill = None
    if any(cell.workload.fill for cell in cells):
        listener.step(f"fill {layout.top}")
        check_identity(f"fill {layout.top}", layout.identity_check, host)
        size_bytes = max(load.end_bytes for load in loads)
        fill = _fill(host, layout, generator_of(loads[0]).device_fill_load(layout.top, size_bytes), size_bytes)
    return [_Placed(cell.workload, entry, (), fill) for cell, entry in zip(cells, loads, strict=True)]


def _fill(host: Host, layout: BuiltLayout, load: Load, size_bytes: int) -> Fill:
    begun = time.monotonic()
    generator_of(load).fill(host, load, layout.scratch, size_bytes)
    return Fill(generator_of(load).text(load), time.monotonic() - begun)


def _on_block(layout: BuiltLayout, load: Load) -> Load:
    if layout.is_bare_disk:
        return generator_of(load).on_bare_disk(load, layout.top, layout.tree.volume.size_bytes)
    return generator_of(load).on_device(load, layout.top)


def _on_file_system(host: Host, layout: BuiltLayout, cells: Sequence[CellJobs], listener: Listener) -> list[_Placed]:
    places = [_place(layout, cell) for cell in cells]
    own = {place for cell, place in zip(cells, places, strict=True) if cell.workload.fill}
    _make_places(host, layout, own)
    loads = [generator_of(cell.load).in_directory(cell.load, place) for cell, place in zip(cells, places, strict=True)]
    texts = [fill_text(load) if cell.workload.fill else "" for cell, load in zip(cells, loads, strict=True)]
    filling = {text: entry for text, entry in zip(texts, loads, strict=True) if text}
    fills: dict[str, Fill] = {}
    for number, (text, entry) in enumerate(filling.items(), start=1):
        listener.step(f"fill the test files, {number} of {len(filling)}")
        fills[text] = _fill(host, layout, generator_of(entry).fill_load(entry), entry.unique_bytes or 0)
    laid_out = {place: list_files(host, place) for place in own}
    return [
        _Placed(cell.workload, entry, laid_out[place] if text else found_paths(cell.load, place), fills.get(text))
        for cell, place, entry, text in zip(cells, places, loads, texts, strict=True)
    ]


def fill_text(load: Load) -> str:
    """Return what fills the files of a load, as text."""
    generator = generator_of(load)
    return generator.text(generator.fill_load(load))


def _place(layout: BuiltLayout, cell: CellJobs) -> str:
    if layout.found is not None and not cell.workload.fill:
        return layout.found
    apart = copies_on_write(layout.node)
    return f"{layout.top}/{generator_of(cell.load).file_set(cell.workload, cell.load, writers_apart=apart)}"


def _make_places(host: Host, layout: BuiltLayout, places: Collection[str]) -> None:
    """Make the directories on every branch of a union, so that its create policy can choose a branch for each file."""
    names = sorted(place.removeprefix(f"{layout.top}/") for place in places)
    paths = [f"{branch}/{name}" for branch in branches(layout.tree) for name in names]
    if paths:
        # Files of the previous layout on the same pool are fragmented and would not be written again.
        host.run(["rm", "-rf", "--one-file-system", "--", *paths], timeout_s=_REMOVE_LIMIT_S)
        host.run(["mkdir", "-p", *paths], timeout_s=_LIMIT_S)
