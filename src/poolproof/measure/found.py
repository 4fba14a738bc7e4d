"""Workloads that take test files as they are found (`fill: false`): where they can run, and what must be there."""

from collections.abc import Iterable

from poolproof.campaign.spots import standing_in
from poolproof.errors import CampaignError
from poolproof.fio.extents import extents_of
from poolproof.fio.job import JobFile
from poolproof.hosts.base import Host
from poolproof.layers.arguments import is_block
from poolproof.layers.base import Node
from poolproof.layers.tree import directories
from poolproof.measure.cells import CellJobs
from poolproof.measure.jobs import placed

_LIMIT_S = 60.0


def found_directory(node: Node) -> str | None:
    """The user's own directory under a layout, whose files can be taken as they are; None where a layout has none."""
    return next(iter(directories(node)), None)


def found_paths(jobs: JobFile, directory: str) -> tuple[str, ...]:
    """The files of that directory which the jobs use."""
    extents = [extent for job in placed(jobs, directory).jobs for extent in extents_of(job)]
    return tuple(dict.fromkeys(extent.file for extent in extents))


def check_found(layout: str, node: Node, cells: Iterable[CellJobs], host: Host) -> None:
    """Return when every workload that takes files as they are can do so on this layout.

    A layout that ends in a block device can be taken as it was made, unwritten, as long as no workload fills it.

    Raises:
        CampaignError: the layout is built empty, the workload writes, or a file is not there.
    """
    every = tuple(cells)
    if is_block(node):
        _check_device(layout, every)
        return
    for cell in every:
        if not cell.workload.fill:
            with standing_in(cell.workload):
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
    if cell.jobs.writes:
        raise CampaignError(
            f"workload {name}: `fill: false` takes files as they are found, and this workload would overwrite them",
            "leave `fill: false` out: poolproof then writes to files of its own",
        )
    for path in found_paths(cell.jobs, directory):
        if host.run(["test", "-f", path], timeout_s=_LIMIT_S, check=False).returncode != 0:
            raise CampaignError(f"workload {name}: {path} is not there", "name a file of that directory: filename=…")
