"""The fio jobs of a cell: the workload's own options, what poolproof adds to them, and the job that fills the files."""

import re
from collections.abc import Iterator, Mapping

from poolproof.campaign.model import JobSpec, Workload
from poolproof.errors import CampaignError
from poolproof.hosts.base import Host
from poolproof.load.fio.filenames import join_filenames, split_filenames
from poolproof.load.fio.job import Job, JobFile
from poolproof.load.fio.load import load_of, part_of
from poolproof.load.fio.options import check_options, engines_of, known_options
from poolproof.load.fio.quantity import attempt, parse_range
from poolproof.units import format_size

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
_ELSEWHERE = {
    "opendir": "adds files that are not the layout's",
    "read_iolog": "replays a log, which names files and devices of its own",
    "exec_prerun": "starts a program",
    "exec_postrun": "starts a program",
}
_ENGINES_ELSEWHERE = {
    "exec": "starts a program",
    "net": "sends its bytes over a network",
    "netsplice": "sends its bytes over a network",
}
_READERS = ("libaio", "io_uring", "psync", "sync", "vsync", "pvsync", "pvsync2", "posixaio", "mmap", "splice")
"""Engines that only read a file when told to read; others delete, truncate or move it."""

_REMOVES = ("unlink", "unlink_each_loop")
_LOG = re.compile(r"write_\w+")
_COMPRESSIBLE = ("zero_buffers", "buffer_compress_percentage", "buffer_pattern", "dedupe_percentage")
_NAMES_FILES = ("directory", "filename", "filename_format", "nrfiles", "filesize")
_BASE_NAME = "job"
_FILL_BLOCK_BYTES = 1 << 20


def jobs_of(workload: Workload, longest_s: float, host: Host) -> JobFile:
    """The job file of the workload's trials, all but the `directory` that `placed` adds.

    Raises:
        CampaignError: an option that this host's fio does not know, or one that poolproof itself must set.
        FioError: no fio on the host, or too old.
    """
    specs = [_with_engine(spec) for spec in workload.jobs]
    given = check_options(specs, known_options(host, engines_of(specs)))
    alone = len(given.jobs) == 1
    names = [_BASE_NAME if alone else job.name for job in given.jobs]
    jobs = JobFile(
        tuple(_job(name, job.options, workload, longest_s) for name, job in zip(names, given.jobs, strict=True))
    )
    _refuse_hidden_ramp(jobs, workload)
    return jobs


def placed(jobs: JobFile, directory: str) -> JobFile:
    """The same jobs with their files in `directory`, a path on the host."""
    escaped = join_filenames((directory,))
    return JobFile(tuple(Job(job.name, {**job.options, "directory": escaped}) for job in jobs.jobs))


def on_device(jobs: JobFile, path: str) -> JobFile:
    """The same jobs on a block device. There is no file for each clone there: all of them share the device."""
    return JobFile(tuple(Job(job.name, {**_without_files(job), "filename": path}) for job in jobs.jobs))


def lasting(jobs: JobFile, seconds: float) -> JobFile:
    """Return the jobs with this runtime."""
    return JobFile(tuple(Job(job.name, {**job.options, "runtime": _runtime_text(seconds)}) for job in jobs.jobs))


def danger(job: Job) -> str:
    """Return the option by which a job may change files that it only reads, which `--readonly` allows; else empty."""
    if job.engine not in _READERS:
        return f"ioengine={job.engine}"
    return next((option for option in _REMOVES if job.flag(option)), "")


def _without_files(job: Job) -> dict[str, str]:
    return {name: value for name, value in job.options.items() if name not in _NAMES_FILES}


def _with_engine(spec: JobSpec) -> JobSpec:
    options = tuple(option for option in spec.options if option[0] != "generator")
    if any(name == "ioengine" for name, _value in options):
        return JobSpec(spec.name, options)
    return JobSpec(spec.name, (("ioengine", ADDED["ioengine"][0]), *options))


def _job(name: str, given: Mapping[str, str], workload: Workload, longest_s: float) -> Job:
    _refuse_own(given, workload)
    added = {option: value for option, (value, _why) in ADDED.items() if option not in given}
    options = {**added, **given}
    if options["time_based"] != "0":
        options.setdefault("runtime", _runtime_text(longest_s))
    job = Job(name, options)
    _refuse_unmeasurable(job, workload)
    return job


def _runtime_text(seconds: float) -> str:
    """A time as fio's `runtime`: milliseconds where it is not whole, for fio drops what stands behind a point."""
    return f"{seconds:g}s" if float(seconds).is_integer() else f"{max(1, round(seconds * 1000))}ms"


def _refuse_own(given: Mapping[str, str], workload: Workload) -> None:
    if "directory" in given:
        raise CampaignError(
            f"workload {workload.name}: `directory` is for poolproof to set: it puts the files on each layout",
            "leave it out; `filename` names a file there",
        ).concerning("directory")
    for option in ("filename", "filename_format"):
        if any(name.startswith("/") or ".." in name.split("/") for name in split_filenames(given.get(option, ""))):
            raise CampaignError(
                f"workload {workload.name}: `{option}={given[option]}` lies outside the layout",
                "give a bare name; to measure an existing place use the layout: dir /that/place",
            ).concerning(option)
    for option, what in _elsewhere(given):
        raise CampaignError(
            f"workload {workload.name}: `{option}` {what}",
            "leave it out: a workload works on the files of its layout and on nothing else",
        ).concerning(option.partition("=")[0])


def _elsewhere(given: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Options by which a job would do something outside its layout, with what that is."""
    yield from ((option, what) for option, what in _ELSEWHERE.items() if option in given)
    engine = given.get("ioengine", "")
    if engine in _ENGINES_ELSEWHERE:
        yield f"ioengine={engine}", _ENGINES_ELSEWHERE[engine]
    logs = (option for option, value in given.items() if _LOG.fullmatch(option) and "/" in value)
    yield from ((option, f"writes {given[option]}, which lies outside the layout") for option in logs)


def _refuse_unmeasurable(job: Job, workload: Workload) -> None:
    """A share of a file that is not there yet is no size, and one that holds no block can't be read or written."""
    for option in ("size", "offset"):
        if job.percent(option) is not None:
            raise CampaignError(
                f"workload {workload.name}: `{option}` in per cent is of a file that is not there yet",
                f"give it in bytes: {option}=1g",
            ).concerning(option)
    part = part_of(job)
    if part.size_bytes is None:
        raise CampaignError(
            f"workload {workload.name}: `size={job.options['size']}` is no size of a file", "write size=1g"
        ).concerning("size")
    if part.size_bytes < part.block_bytes:
        raise CampaignError(
            f"workload {workload.name}: fio reads `size={job.options['size']}` as {format_size(part.size_bytes)}, "
            f"and a block has {format_size(part.block_bytes)}",
            "write a size of many blocks, such as size=1g",
        ).concerning("size")


def _refuse_hidden_ramp(jobs: JobFile, workload: Workload) -> None:
    """fio leaves out the ramp of each phase; the disks' counters can only be cut at the first."""
    if len(load_of(jobs).phases) > 1 and any(part_of(job).ramp_s for job in jobs.jobs):
        raise CampaignError(
            f"workload {workload.name}: with `stonewall` and `ramp_time` nobody can tell which bytes were the ramp's",
            "leave one of them out, or make two workloads of it",
        ).concerning("stonewall")


def fill_job(jobs: JobFile) -> JobFile:
    """The job that lays out the same files, whole, with fresh data: fio's own layout pass refills every block.

    A reading job makes fio lay out what it would read; `create_only` ends it there (fio's HOWTO).
    """
    return JobFile(tuple(Job(job.name, _fill_options(job)) for job in jobs.jobs))


def device_fill_job(path: str, size_bytes: int) -> JobFile:
    """The job that writes the first `size_bytes` of a block device once, with fresh data."""
    options = {
        "filename": path,
        "size": str(size_bytes),
        "rw": "write",
        "bs": "1m",
        "direct": "1",
        "ioengine": "libaio",
        "iodepth": "8",
        "refill_buffers": "1",
        "end_fsync": "1",
    }
    return JobFile((Job("fill", options),))


def _fill_options(job: Job) -> dict[str, str]:
    shape = {name: job.options[name] for name in _SHAPE if name in job.options}
    layout = {"rw": "read", "bs": _fill_block(job), "create_only": "1", "fallocate": "none", "ioengine": "psync"}
    return {**shape, **layout}


def _fill_block(job: Job) -> str:
    """fio lays out no files of which all together are smaller than a block, nor a size that is."""
    filesize = attempt(parse_range, job.options.get("filesize", ""))
    smallest = min(part_of(job).size_bytes or _FILL_BLOCK_BYTES, (filesize and filesize.low) or _FILL_BLOCK_BYTES)
    return "1m" if smallest >= _FILL_BLOCK_BYTES else str(smallest)


def file_set(workload: Workload, jobs: JobFile, *, writers_apart: bool) -> str:
    """The name of the directory for a workload's files. Workloads of one name share their files, filled once.

    One that spoils its files (reused buffers that compress, trimmed holes) has them for itself. `writers_apart`: the
    layout is copy-on-write, where reads of a file depend on what was written to it before: those that write share
    files that nobody only reads.
    """
    own = f"{workload.name}," if any(_spoils(job) for job in jobs.jobs) else ""
    if writers_apart and not own and any(part_of(job).writes for job in jobs.jobs):
        own = "written,"
    several = len(jobs.jobs) > 1
    shapes = sorted({f"{job.name}," * several + _shape_of(job) for job in jobs.jobs})
    return re.sub(r"[/:\\]", "_", own + "+".join(shapes))


def _shape_of(job: Job) -> str:
    """What the files are, but for how many clones use them: fewer clones use the first of the same files."""
    return ",".join(f"{name}={job.options[name]}" for name in _SHAPE if name in job.options and name != "numjobs")


def _spoils(job: Job) -> bool:
    """Whether it leaves data that compress, or holes, behind."""
    compresses = not job.flag("refill_buffers") or any(option in job.options for option in _COMPRESSIBLE)
    return "trim" in job.rw or (part_of(job).writes and compresses)
