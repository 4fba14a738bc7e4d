"""Everything that is needed to repeat a run: versions, machine, disks, campaign, and the exact jobs."""

from collections.abc import Iterator
from dataclasses import dataclass

from poolproof.campaign.calibration import calibrated_device
from poolproof.campaign.grammar import format_expression
from poolproof.campaign.model import Device, Disk, Emulated, LoopFile
from poolproof.presentation.html_report.reading import LoadedRun
from poolproof.units import format_size

_MOST_JOBS = 100


@dataclass(frozen=True)
class RepeatJob:
    """The job file of one workload, as fio ran it on one layout."""

    workload: str
    text: str


@dataclass(frozen=True)
class Repeat:
    """`facts` are (what, value); `jobs` one for each workload, `jobs_more` how many are not shown."""

    facts: tuple[tuple[str, str], ...]
    disks: tuple[tuple[str, str], ...]
    layouts: tuple[tuple[str, str], ...]
    campaign: str
    jobs: tuple[RepeatJob, ...]
    jobs_more: int
    jobs_missing: int


def repeat(seen: LoadedRun) -> Repeat:
    """What run.json, the campaign and the job files say."""
    names = list(dict.fromkeys(workload for _, workload in seen.run.cells))
    jobs = [_job(seen, name) for name in names[:_MOST_JOBS]]
    return Repeat(
        facts=tuple(_facts(seen)),
        disks=tuple((device.name, _source(device)) for device in seen.campaign.devices),
        layouts=tuple((layout.name, format_expression(layout.expression)) for layout in seen.campaign.layouts),
        campaign=seen.given,
        jobs=tuple(job for job in jobs if job is not None),
        jobs_more=max(0, len(names) - _MOST_JOBS),
        jobs_missing=sum(job is None for job in jobs),
    )


def _facts(seen: LoadedRun) -> Iterator[tuple[str, str]]:
    record = seen.record
    if not seen.has_record:
        return
    yield "run", str(seen.path.name)
    yield "begun", record.begun_at
    yield "host", record.host
    for name, value in record.facts.items():
        yield name.removesuffix("_bytes"), format_size(int(value)) if name == "ram_bytes" and value.isdigit() else value
    for name, value in record.versions.items():
        yield f"version of {name}", value
    yield "seed of the order", str(record.seed)
    if record.lab is not None:
        yield (
            "lab",
            f"OpenZFS {record.lab.zfs}, {format_size(record.lab.ram_bytes)} RAM, {record.lab.processors} processors",
        )


def _source(device: Device) -> str:
    match device.source:
        case Disk(identity):
            return f"the disk {identity}"
        case Emulated(model, size_bytes):
            return f"emulated {model}, {format_size(size_bytes)}"
        case LoopFile(size_bytes):
            return f"a file of {format_size(size_bytes)} on a loop device"
        case qcow2:
            return f"a qcow2 image of {format_size(qcow2.size_bytes)}"


def _job(seen: LoadedRun, workload: str) -> RepeatJob | None:
    """The job file of the first trial of a workload that has kept one; on a layout, not on a disk alone."""
    for trial in seen.trials:
        if trial.workload == workload and calibrated_device(trial.layout) is None:
            path = seen.trial_file(trial, "job.fio")
            if path.is_file():
                return RepeatJob(workload, path.read_text(encoding="utf-8", errors="replace"))
    return None
