"""Workloads that use existing test files (`fill: false`): where they can run, and what they need."""

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
    """Return the user's own directory under a layout, whose files can be used unchanged; None if there is none."""
    return next(iter(directories(node)), None)


def found_paths(load: Load, directory: str) -> tuple[str, ...]:
    """The files of that directory which the load uses."""
    return tuple(_reach(load, directory))


def check_found(layout: str, node: Node, cells: Iterable[CellJobs], host: Host) -> None:
    """Check that every workload with `fill: false` can run on this layout.

    A layout that ends in a block device can be measured unwritten, as long as no workload fills it.

    Raises:
        CampaignError: the layout is built empty, the workload could change a file, or one is not there or too short.
    """
    every = tuple(cells)
    if is_block(node):
        _check_device(layout, every)
        return
    for cell in every:
        if not cell.workload.fill:
            with located_in(cell.workload):
                _check_cell(layout, found_directory(node), cell, host)


def _check_device(layout: str, cells: tuple[CellJobs, ...]) -> None:
    as_made = [cell.workload.name for cell in cells if not cell.workload.fill]
    filling = [cell.workload.name for cell in cells if cell.workload.fill]
    if as_made and filling:
        raise CampaignError(
            f"workload {as_made[0]}: `fill: false` takes {layout} as it was made, and {filling[0]} fills it",
            "put the one that takes it unwritten into a campaign of its own",
        )


def _check_cell(layout: str, directory: str | None, cell: CellJobs, host: Host) -> None:
    name = cell.workload.name
    if directory is None:
        raise CampaignError(
            f"workload {name}: `fill: false` takes files as they are found, and {layout} is built empty",
            "use it with a layout such as: dir /srv/data",
        )
    if any(part.writes or part.trims for part in cell.load.parts):
        raise CampaignError(
            f"workload {name}: `fill: false` takes files as they are found, and this workload would overwrite them",
            "leave `fill: false` out: poolproof then writes to files of its own",
        )
    for part in cell.load.parts:
        _check_part(name, generator_of(cell.load).danger(part))
    for path, end in _reach(cell.load, directory).items():
        _check_file(name, path, end, host)


def _check_part(workload: str, danger: str) -> None:
    if danger:
        raise CampaignError(
            f"workload {workload}: `fill: false` takes files as they are found; `{danger}` may change or remove them",
            "leave it out; psync, libaio and io_uring only read",
        ).concerning(danger.partition("=")[0])


def _reach(load: Load, directory: str) -> dict[str, float]:
    """How far into each file the load goes, bytes."""
    reach: dict[str, float] = {}
    for part in generator_of(load).in_directory(load, directory).parts:
        for extent in part.extents:
            reach[extent.file] = max(reach.get(extent.file, 0.0), extent.end)
    return reach


def _check_file(workload: str, path: str, end: float, host: Host) -> None:
    """The file is there, a file, and as long as the job: fio lays a shorter one out anew, over what it holds."""
    asked = ["stat", "--dereference", "--format=%s %F", "--", path]
    found = host.run(asked, timeout_s=_LIMIT_S, check=False)
    size, _, kind = found.stdout.strip().partition(" ")
    if found.returncode != 0 or not kind.startswith("regular"):
        raise CampaignError(f"workload {workload}: {path} is not there", "name a file of that directory: filename=…")
    if end > int(size):
        raise CampaignError(
            f"workload {workload}: {path} has {format_size(int(size))}, and the job goes to {_told(end)}: "
            "fio would write the file anew, as long as that",
            f"write size={size}, or less",
        ).concerning("size")


def _told(end: float) -> str:
    return "an end that is not known" if math.isinf(end) else format_size(int(end))
