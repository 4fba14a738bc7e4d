"""Check workloads that use existing test files (`fill: false`): where they can run, and which files they need."""

import math
from collections.abc import Iterable

from poolproof.campaign.error_location import located_in
from poolproof.errors import CampaignError
from poolproof.hosts.base import Host
from poolproof.layers.arguments import is_block
from poolproof.layers.base import Node
from poolproof.layers.tree import directories
from poolproof.load.generator import generator_of
from poolproof.load.model import Load
from poolproof.measure.model import CellJobs
from poolproof.units import format_size

_LIMIT_S = 60.0


def found_directory(node: Node) -> str | None:
    """Return the first existing directory that the layout uses, or None if it uses none.

    Files in it can be measured as they are.
    """
    return next(iter(directories(node)), None)


def found_paths(load: Load, directory: str) -> tuple[str, ...]:
    return tuple(_ends(load, directory))


def check_found(layout: str, node: Node, cells: Iterable[CellJobs], host: Host) -> None:
    """Check that every workload with `fill: false` can run on this layout.

    A block device can be measured without being written to first, as long as no workload of the campaign fills it.

    Raises a CampaignError if the layout contains no files at first, if a workload could change a file, if a file is
    missing or too short, or if another workload would fill the block device.
    """
    every = tuple(cells)
    unfilled = [cell for cell in every if not cell.workload.fill]
    filled = [cell for cell in every if cell.workload.fill]
    if not is_block(node):
        for cell in unfilled:
            with located_in(cell.workload):
                _check_cell(layout, found_directory(node), cell, host)
    elif unfilled and filled:
        raise CampaignError(
            f"workload {unfilled[0].workload.name} has `fill: false`, so {layout} must stay unwritten, but workload "
            f"{filled[0].workload.name} fills it",
            f"move workload {unfilled[0].workload.name} to another campaign",
        )


def _check_cell(layout: str, directory: str | None, cell: CellJobs, host: Host) -> None:
    name, load = cell.workload.name, cell.load
    if directory is None:
        raise CampaignError(
            f"workload {name}: `fill: false` uses existing files, but {layout} is built empty",
            "use `fill: false` with a layout such as: dir /srv/data",
        )
    if any(part.writes or part.trims for part in load.parts):
        raise CampaignError(
            f"workload {name}: `fill: false` uses existing files, and this workload would overwrite them",
            "remove `fill: false`; poolproof then creates its own test files",
        )
    for danger in filter(None, map(generator_of(load).danger, load.parts)):
        is_engine = danger.startswith("ioengine=")
        raise CampaignError(
            f"workload {name}: `fill: false` uses existing files, and `{danger}` may change or remove them",
            "use an engine whose reads change no files: psync, libaio or io_uring"
            if is_engine
            else f"remove `{danger}`",
        ).concerning(danger.partition("=")[0])
    for path, end in _ends(load, directory).items():
        _check_file(name, path, end, host)


def _ends(load: Load, directory: str) -> dict[str, float]:
    """Return the minimum length of each file in bytes, keyed by path: the end of the load's last I/O in the file."""
    ends: dict[str, float] = {}
    for part in generator_of(load).in_directory(load, directory).parts:
        for extent in part.extents:
            ends[extent.file] = max(ends.get(extent.file, 0.0), extent.end)
    return ends


def _check_file(workload: str, path: str, end: float, host: Host) -> None:
    """Raise a CampaignError if the file does not exist or is too short: a load would overwrite a short file."""
    argv = ["stat", "--dereference", "--format=%s %F", "--", path]
    found = host.run(argv, timeout_s=_LIMIT_S, check=False)
    size, _, kind = found.stdout.strip().partition(" ")
    if found.returncode != 0 or not kind.startswith("regular"):
        hint = "specify a file in that directory: filename=…"
        raise CampaignError(f"workload {workload}: {path} does not exist or is not a regular file", hint)
    if end > int(size):
        end_text = "an unknown position" if math.isinf(end) else format_size(int(end))
        raise CampaignError(
            f"workload {workload}: {path} is {format_size(int(size))} long, but the job reads up to {end_text}: it "
            "would extend and overwrite the file",
            f"set size={size} or less",
        ).concerning("size")
