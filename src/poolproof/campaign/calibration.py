"""The additional cells for `measure: {calibrate: true}`, which measure each disk individually, without any layers.

From the results of the bare disks, poolproof computes limits for the layouts that use them. Bare disks are never
ranked. Their names are not valid names for a campaign's layouts.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from poolproof.campaign.cell_key import HEALTHY, CellKey
from poolproof.campaign.expression import Expression, Stage, Word
from poolproof.campaign.layout import devices_of
from poolproof.campaign.model import Campaign, JobSpec, Layout, Workload

PREFIX = "bare:"

_BLOCK_ENGINES = frozenset(
    {"libaio", "linuxaio", "aio", "io_uring", "posixaio", "sync", "psync", "vsync", "pvsync", "pvsync2"}
)
_OF_FILES = frozenset(
    {
        "filename", "filename_format", "nrfiles", "filesize", "file_service_type", "file_append", "openfiles",
        "fallocate", "fadvise_hint", "create_serialize", "create_fsync", "create_on_open", "unlink",
        "unlink_each_loop", "overwrite", "pre_read", "offset", "offset_increment", "offset_align",
    }
)  # fmt: skip
_OF_RAM = frozenset({"direct", "buffered", "invalidate"})
_OF_CONTENT = frozenset(
    {
        "refill_buffers", "scramble_buffers", "zero_buffers", "buffer_pattern", "buffer_compress_percentage",
        "buffer_compress_chunk", "dedupe_percentage", "dedupe_mode", "dedupe_working_set_percentage", "dedupe_global",
    }
)  # fmt: skip
_DROPPED = _OF_FILES | _OF_RAM | _OF_CONTENT
"""The fio options that are removed for bare disks: those that concern files, the page cache or the data's contents.

They either do not apply to a bare disk or do not affect its results.
"""


@dataclass(frozen=True)
class Calibration:
    """The bare disks to measure, and the workloads to run on each of them.

    `layouts`: the bare disks, named `bare:NAME`, in the order of the campaign's devices.
    `workloads`: the workloads to run on each bare disk.
    `measured_as`: the name of the workload that runs on bare disks in place of a workload of the campaign, keyed by the
    campaign's workload.
    `left_out`: the reason why a workload cannot run on a bare disk, keyed by workload. Each reason is phrased to follow
    the workload's name.
    """

    layouts: tuple[Layout, ...] = ()
    workloads: tuple[Workload, ...] = ()
    measured_as: Mapping[str, str] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)


def calibration_of(campaign: Campaign) -> Calibration:
    """Return the bare disks and their workloads, which are empty unless the campaign has `calibrate: true`.

    Workloads that differ only in options that concern files, the page cache or the data's contents are measured once,
    under the name of the first.
    """
    if not campaign.measure.calibrate:
        return Calibration()
    names = {device.name for device in campaign.devices}
    used = frozenset().union(*(devices_of(layout, names) for layout in campaign.layouts))
    shapes: dict[tuple[JobSpec, ...], Workload] = {}
    measured_as, left_out = {}, {}
    for workload in campaign.workloads:
        why = _unfit(workload)
        if why:
            left_out[workload.name] = why
            continue
        jobs = _shape(workload)
        first = shapes.setdefault(jobs, replace(workload, jobs=jobs, cold=True))
        measured_as[workload.name] = first.name
    layouts = tuple(
        Layout(bare_name(device.name), Expression((Stage((Word(device.name),)),), device.name, device.origin))
        for device in campaign.devices
        if device.name in used
    )
    return Calibration(layouts, tuple(shapes.values()), measured_as, left_out)


def cell_keys(
    layouts: Iterable[Layout], workloads: Sequence[Workload], states: Sequence[str] = (HEALTHY,)
) -> list[CellKey]:
    """Return the keys of all cells, ordered by layout, then by state, then by workload, each as in the campaign."""
    return [CellKey(layout.name, each.name, state) for layout in layouts for state in states for each in workloads]


def campaign_cells(campaign: Campaign) -> list[CellKey]:
    """Return the keys of all cells in a run. Bare disks come first, followed by the layouts in build order."""
    calibration = calibration_of(campaign)
    bare = cell_keys(calibration.layouts, calibration.workloads)
    return [*bare, *cell_keys(campaign.layouts, campaign.workloads, campaign.states)]


def builds_of(campaign: Campaign, layout: str) -> int:
    """Return the number of times that a run builds this layout, which is 1 for bare disks."""
    return campaign.measure.builds if calibrated_device(layout) is None else 1


def bare_name(device: str) -> str:
    """Return a bare disk's layout name, which is `bare:` followed by the device's name."""
    return f"{PREFIX}{device}"


def calibrated_device(layout: str) -> str | None:
    """Return the device's name if `layout` names a bare disk, otherwise None."""
    return layout.removeprefix(PREFIX) if layout.startswith(PREFIX) else None


def _shape(workload: Workload) -> tuple[JobSpec, ...]:
    names = [job.name for job in workload.jobs] if len(workload.jobs) > 1 else ["job"]
    return tuple(
        JobSpec(name, tuple(sorted((key, value) for key, value in job.options if key not in _DROPPED)))
        for name, job in zip(names, workload.jobs, strict=True)
    )


def _unfit(workload: Workload) -> str:
    """Return the reason why the workload cannot run on a bare disk, or an empty string if it can.

    The reason is phrased to follow the workload's name.
    """
    if not workload.fill:
        return "uses existing files (fill: false)"
    for job in workload.jobs:
        options = dict(job.options)
        engine = options.get("ioengine", "libaio")
        if engine not in _BLOCK_ENGINES:
            return f"uses ioengine={engine}, which does not perform block I/O on a disk"
        if "trim" in options.get("rw", options.get("readwrite", "")):
            return "trims the disk, which then returns zeros to later workloads"
    return ""
