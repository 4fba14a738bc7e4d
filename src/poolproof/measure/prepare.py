"""Lay out the test files of a layout's workloads, once for all that share them, and look at what lies there."""

from collections.abc import Sequence
from dataclasses import dataclass

from poolproof.campaign.model import Workload
from poolproof.errors import CampaignError
from poolproof.evidence.files import inspect, list_files
from poolproof.evidence.model import TestFile
from poolproof.fio.extents import extents_of
from poolproof.fio.job import JobFile
from poolproof.hosts.base import Host
from poolproof.layers.tree import busy_with, stored_per_leaf, write_factor
from poolproof.measure.cool import flush
from poolproof.measure.events import Listener
from poolproof.measure.fio_run import fill_files
from poolproof.measure.jobs import file_set, fill_job, placed
from poolproof.measure.ready import ReadyLayout
from poolproof.measure.trial import Prepared

_LIMIT_S = 60.0


@dataclass(frozen=True)
class CellJobs:
    """A workload with its jobs as this host's fio reads them, not placed on a layout yet."""

    workload: Workload
    jobs: JobFile


def prepare(host: Host, layout: ReadyLayout, cells: Sequence[CellJobs], listener: Listener) -> dict[str, Prepared]:
    """Every workload ready to run on the layout, by its name.

    Raises:
        FioError: fio could not lay the files out.
        CampaignError: `fill: false`, and the files are not there, or the layout has no files of its own.
    """
    places = {cell.workload.name: _place(host, layout, cell) for cell in cells}
    for cell in cells:
        if cell.workload.fill:
            listener.step(f"fill the test files of {cell.workload.name}")
            _fill(host, layout, placed(cell.jobs, places[cell.workload.name]))
    flush(host, layout, layout.top)
    files = {place: _files(host, cell, place) for cell in cells for place in (places[cell.workload.name],)}
    stored = stored_per_leaf(layout.tree, host)
    busy = busy_with(layout.tree, host)
    factor = write_factor(layout.node, stored)
    return {
        cell.workload.name: Prepared(
            workload=cell.workload,
            jobs=placed(cell.jobs, places[cell.workload.name]),
            directory=places[cell.workload.name],
            files=files[places[cell.workload.name]],
            write_factor=factor,
            stored_bytes=stored,
            busy_with=busy,
        )
        for cell in cells
    }


def _place(host: Host, layout: ReadyLayout, cell: CellJobs) -> str:
    if not cell.workload.fill:
        return _found_place(host, layout, cell)
    place = f"{layout.top}/{file_set(cell.workload, cell.jobs)}"
    host.run(["mkdir", "-p", place], timeout_s=_LIMIT_S)
    return place


def _found_place(host: Host, layout: ReadyLayout, cell: CellJobs) -> str:
    """The directory of files that are taken as they are found."""
    name = cell.workload.name
    if layout.found is None:
        raise CampaignError(
            f"workload {name}: `fill: false` takes files as they are found, and {layout.name} is built empty",
            "use it with a layout such as: dir /srv/data",
        )
    if cell.jobs.writes:
        raise CampaignError(
            f"workload {name}: `fill: false` takes files as they are found, and this workload would overwrite them",
            "leave `fill: false` out: poolproof then writes to files of its own",
        )
    for path in _found_paths(cell.jobs, layout.found):
        if host.run(["test", "-f", path], timeout_s=_LIMIT_S, check=False).returncode != 0:
            raise CampaignError(f"workload {name}: {path} is not there", "name a file of that directory: filename=…")
    return layout.found


def _found_paths(jobs: JobFile, directory: str) -> tuple[str, ...]:
    extents = [extent for job in placed(jobs, directory).jobs for extent in extents_of(job)]
    return tuple(dict.fromkeys(extent.file for extent in extents))


def _fill(host: Host, layout: ReadyLayout, jobs: JobFile) -> None:
    size_bytes = jobs.unique_bytes or 0
    fill_files(host, fill_job(jobs), layout.scratch, size_bytes)


def _files(host: Host, cell: CellJobs, place: str) -> tuple[TestFile, ...]:
    if cell.workload.fill:
        return inspect(host, list_files(host, place))
    return inspect(host, _found_paths(cell.jobs, place))
