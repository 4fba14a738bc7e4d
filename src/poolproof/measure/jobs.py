"""The fio jobs of a cell: the workload's own options, what poolproof adds to them, and the job that fills the files."""

from collections.abc import Mapping

from poolproof.campaign.model import JobSpec, Measure, Workload
from poolproof.errors import CampaignError
from poolproof.fio.job import Job, JobFile

ADDED: Mapping[str, tuple[str, str]] = {
    "ioengine": ("libaio", "so that iodepth means what it says"),
    "direct": ("1", "the page cache is not what a layout is"),
    "size": ("256m", "bytes of test file for each job; name your own, larger than any cache that counts"),
    "refill_buffers": ("1", "fresh data for every write: fio's reused buffers compress 15 times"),
    "randrepeat": ("0", "other offsets in each trial, so that none rereads what the last one left in RAM"),
    "time_based": ("1", "a trial lasts as long as it was asked to"),
}
"""What poolproof adds to every job that does not say otherwise: option, value, why."""

_SHAPE = (
    "directory",
    "filename",
    "filename_format",
    "nrfiles",
    "filesize",
    "size",
    "numjobs",
    "offset",
    "offset_increment",
    "offset_align",
)  # what decides which files a job has, and how long they are
_OWN = ("directory", "runtime", "group_reporting")
_BASE_NAME = "job"


def jobs_of(workload: Workload, measure: Measure, directory: str) -> JobFile:
    """The job file of one trial. `directory` is where the test files lie, on the host.

    Raises:
        CampaignError: an option that poolproof itself must set, or a file outside the layout.
    """
    return JobFile(tuple(_job(spec, workload, measure, directory) for spec in workload.jobs))


def _job(spec: JobSpec, workload: Workload, measure: Measure, directory: str) -> Job:
    given = dict(spec.options)
    _refuse_own(given, workload)
    added = {name: value for name, (value, _why) in ADDED.items() if name not in given}
    options = {**added, **given, "runtime": given.get("runtime", f"{measure.time_s:g}s"), "directory": directory}
    if options["time_based"] == "0" and "runtime" not in given:
        del options["runtime"]
    return Job(spec.name or _BASE_NAME, options)


def _refuse_own(given: Mapping[str, str], workload: Workload) -> None:
    if "directory" in given:
        raise CampaignError(
            f"workload {workload.name}: `directory` is for poolproof to set: it puts the files on each layout",
            "leave it out; `filename` names a file there",
        )
    filename = given.get("filename", "")
    if filename.startswith("/") or ".." in filename.split("/"):
        raise CampaignError(
            f"workload {workload.name}: `filename={filename}` lies outside the layout",
            "give a bare name; to measure an existing place use the layout: dir /that/place",
        )


def fill_job(jobs: JobFile) -> JobFile:
    """The job that lays out the same files, whole, with fresh data: fio's own layout pass refills every block.

    A reading job makes fio lay out what it would read; `create_only` ends it there (fio's HOWTO).
    """
    return JobFile(tuple(Job(job.name, _fill_options(job)) for job in jobs.jobs))


def _fill_options(job: Job) -> dict[str, str]:
    shape = {name: job.options[name] for name in _SHAPE if name in job.options}
    return {**shape, "rw": "read", "bs": "1m", "create_only": "1", "fallocate": "none", "ioengine": "psync"}


def file_set(workload: Workload) -> str:
    """A name for the files that a workload needs: workloads of the same name can share them, filled once."""
    shapes = sorted({_shape_of(spec) for spec in workload.jobs})
    return "+".join(shapes).replace("/", "_")


def _shape_of(spec: JobSpec) -> str:
    given = {name: value for name, value in spec.options if name in _SHAPE and name != "numjobs"}
    given.setdefault("size", ADDED["size"][0])
    return ",".join(f"{name}={given[name]}" for name in sorted(given))


def spoils_files(jobs: JobFile) -> bool:
    """Whether a trial leaves files that a later one must not read: reused buffers that compress, trimmed holes."""
    return any(
        job.options.get("rw", "").endswith("trim") or (job.writes and not job.refills_buffers) for job in jobs.jobs
    )
