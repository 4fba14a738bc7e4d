"""Build the fio jobs that run a workload or fill its files, from the workload's options and poolproof's defaults."""

import re
from collections.abc import Mapping

from poolproof.campaign.model import JobSpec, Workload
from poolproof.hosts.base import Host
from poolproof.load.fio import permitted
from poolproof.load.fio.installed import check_options
from poolproof.load.fio.job import Job, Jobs, join_filenames, split_filenames
from poolproof.load.fio.load import (
    part_of,
)
from poolproof.load.fio.option_names import resolve
from poolproof.load.fio.quantity import attempt, parse_bytes, parse_range
from poolproof.load.fio.refused_loads import check_hint, check_spin, check_together, refusal
from poolproof.units import format_size

ADDED: Mapping[str, tuple[str, str]] = {
    "ioengine": ("libaio", "so that `iodepth` is the real queue depth"),
    "direct": ("1", "the page cache is not part of the layout"),
    "size": ("256m", "the size of each job's test file; it should be larger than every cache that matters"),
    "refill_buffers": (
        "1",
        "every write gets new data: if fio reuses its buffers, the data can be compressed by a factor of 15",
    ),
    "randrepeat": (
        "0",
        "each trial uses different offsets, so that it does not read data that the previous trial left in RAM",
    ),
    "time_based": ("1", "a trial lasts as long as requested"),
}
"""poolproof's default options, each with its value and the reason for it."""

_NAMES_FILES = ("directory", "filename", "filename_format", "nrfiles", "filesize")
_SHAPE = (*_NAMES_FILES, "size", "numjobs", "offset", "offset_increment", "offset_align")
"""The options that determine a job's files and their sizes."""

_READERS = ("libaio", "io_uring", "psync", "sync", "vsync", "pvsync", "pvsync2", "posixaio", "mmap", "splice")
"""Engines that never modify files in a read-only job. Other engines may delete, truncate or move files."""

_RESHAPES = ("ftruncate", "falloc", "e4defrag", "filecreate", "filedelete", "fileoperations", "dircreate", "dirdelete")
"""Engines that create, delete, resize or rearrange files. Their files must not be shared with other workloads."""

_COMPRESSIBLE = ("zero_buffers", "buffer_compress_percentage", "buffer_pattern", "dedupe_percentage")
_FILL_BLOCK_BYTES = 1 << 20
_SECTOR_BYTES = 512
_PAGE_BYTES = 4096
_GRAIN_BYTES = 1024**2
# the sizes in bs=4k,8k, bsrange=1k-8k and bssplit=4k/40:8k/60; a percentage follows `/`
_SIZE = re.compile(r"(?<![/\w.])[\w.]+")
_REPLACED = frozenset({"directory", "filename", "size", "offset", "offset_increment", "direct", "bs_unaligned"})


def jobs_of(workload: Workload, longest_s: float, host: Host) -> Jobs:
    """Return the jobs for a workload's trials. `placed` adds their `directory` later.

    Raises CampaignError if an option is unknown to the host's fio, or if poolproof does not allow an option or its
    value. Raises FioError if fio is missing on the host, is too old, or does not have the engine. Raises CommandError
    if the host does not answer.
    """
    specs = [_with_engine(spec) for spec in workload.jobs]
    for engine in (value for spec in specs for name, value in spec.options if name == "ioengine"):
        _check_permitted("ioengine", engine, workload)  # checked first, because fio would load it
    given = check_options(specs, host)
    names = ["job"] if len(given) == 1 else [job.name for job in given]
    jobs = tuple(_job(name, job.options, workload, longest_s) for name, job in zip(names, given, strict=True))
    if len(jobs) > 1:
        jobs = _with(jobs, {}, without=("group_reporting",))  # each section is judged by its own report
    check_together(jobs, workload)
    check_spin(jobs, workload, host)
    check_hint(jobs, workload, host)
    return jobs


def check_permitted(workload: Workload) -> None:
    """Raise a CampaignError if poolproof rejects the workload on every host, as `jobs_of` does.

    Unknown options are skipped, because the host's fio may have them.
    """
    jobs = []
    for spec in map(_with_engine, workload.jobs):
        given = {resolve(name) or name: value for name, value in spec.options}
        known = {name: value for name, value in given.items() if permitted.is_known(name)}
        jobs.append(_job(spec.name, known, workload, longest_s=1.0))
    check_together(tuple(jobs), workload)


def placed(jobs: Jobs, directory: str) -> Jobs:
    """Return copies of the jobs with their files in `directory`, a path on the host.

    Jobs keep files that they or other jobs need in the next trial: if a file is missing, fio first writes it, and the
    disks' counters would include these writes.
    """
    inside = _with(jobs, {"directory": join_filenames(directory)})
    return tuple(job if _makes_new_files(job, inside) else _with((job,), {}, ("unlink",))[0] for job in inside)


def _makes_new_files(job: Job, jobs: Jobs) -> bool:
    """True if the job creates all its files in each trial, and no other job uses them."""
    files = {extent.file for extent in part_of(job).extents}
    others = {extent.file for other in jobs if other is not job for extent in part_of(other).extents}
    return part_of(job).makes_new_files and not files & others


def on_device(jobs: Jobs, path: str) -> Jobs:
    """Return copies of the jobs that use a single block device, shared by all clones."""
    return _with(jobs, {"filename": join_filenames(path)}, without=(*_NAMES_FILES, "unlink", "unlink_each_loop"))


def lasting(jobs: Jobs, seconds: float) -> Jobs:
    """Return copies of the jobs with their runtime set to `seconds`."""
    return _with(jobs, {"runtime": _runtime_text(seconds)})


def danger(job: Job) -> str:
    """Return an option that lets a job modify files even with `--readonly`, or an empty string if none does."""
    if job.engine not in _READERS:
        return f"ioengine={job.engine}"
    return next((option for option in ("unlink", "unlink_each_loop") if job.flag(option)), "")


def _with(jobs: Jobs, changes: dict[str, str], without: tuple[str, ...] = ()) -> Jobs:
    def changed(job: Job) -> Job:
        return Job(job.name, {name: value for name, value in job.options.items() if name not in without} | changes)

    return tuple(map(changed, jobs))


def _with_engine(spec: JobSpec) -> JobSpec:
    options = tuple((name, value) for name, value in spec.options if name != "generator")
    default = () if any(name == "ioengine" for name, _ in options) else (("ioengine", ADDED["ioengine"][0]),)
    return JobSpec(spec.name, default + options)


def _job(name: str, given: Mapping[str, str], workload: Workload, longest_s: float) -> Job:
    _check_files(given, workload)
    options = {option: value for option, (value, _) in ADDED.items() if option not in given}
    options.update(given)
    if "time_based" not in given and part_of(Job(name, options)).verifies:
        options["time_based"] = "0"  # fio verifies after the last write, which a time_based job never reaches
    if options["time_based"] != "0":
        options.setdefault("runtime", _runtime_text(longest_s))
    job = Job(name, options)
    _check_size(job, workload)
    return job


def _runtime_text(seconds: float) -> str:
    """Format a value for `runtime`. Fractional seconds are converted to milliseconds, because fio ignores decimals."""
    return f"{seconds:g}s" if float(seconds).is_integer() else f"{max(1, round(seconds * 1000))}ms"


def _check_files(given: Mapping[str, str], workload: Workload) -> None:
    if "directory" in given:
        raise refusal(
            workload,
            "directory",
            "poolproof sets `directory` to put the files on each layout",
            "remove the option; `filename` names a file on the layout",
        )
    for option in ("filename", "filename_format"):
        if any(map(_leaves, split_filenames(given.get(option, "")))):
            raise refusal(
                workload,
                option,
                f"`{option}={given[option]}` is outside the layout",
                "use a bare file name; to measure an existing directory, use the layout `dir PATH`",
            )
    for option, value in given.items():
        _check_permitted(option, value, workload)


def _check_permitted(option: str, value: str, workload: Workload) -> None:
    refused = permitted.refusal(option, value, workload.engines)
    if refused is not None:
        raise refusal(workload, option, *refused)


def _leaves(name: str) -> bool:
    """True if a file with this name would be outside the job's directory. `-` means standard input or output."""
    return name.startswith("/") or name == "-" or ".." in name.split("/")


def _check_size(job: Job, workload: Workload) -> None:
    for option in ("size", "offset"):
        if job.percent(option) is not None:
            message = f"`{option}` is a percentage of a file that does not exist yet"
            raise refusal(workload, option, message, f"give it in bytes: {option}=1g")
    part, size = part_of(job), job.options["size"]
    if part.size_bytes is None:
        raise refusal(workload, "size", f"`size={size}` is not a file size", "write a size such as size=1g")
    if part.size_bytes < part.block_bytes:
        raise refusal(
            workload,
            "size",
            f"fio reads `size={size}` as {format_size(part.size_bytes)}, which is less than one block "
            f"({format_size(part.block_bytes)})",
            "choose a size of many blocks, such as size=1g",
        )


def fill_job(jobs: Jobs) -> Jobs:
    """Return jobs that write all files of `jobs`, with new data in every block, except those that a job creates itself.

    They are read jobs with `create_only`: fio writes missing files before reading them, and then stops (HOWTO).
    """
    layout = {"rw": "read", "create_only": "1", "fallocate": "none", "ioengine": "psync"}

    def filling(job: Job) -> Job:
        shape = {name: job.options[name] for name in _SHAPE if name in job.options}
        return Job(job.name, {**shape, **layout, "bs": _fill_block(job)})

    return tuple(filling(job) for job in jobs if not _makes_new_files(job, jobs))


def device_fill_job(path: str, size_bytes: int) -> Jobs:
    """Return the job that writes the first `size_bytes` of a block device once, with new data in every block."""
    target = {"filename": join_filenames(path), "size": str(size_bytes)}
    options = {"rw": "write", "bs": "1m", "direct": "1", "ioengine": "libaio", "iodepth": "8"}
    return (Job("fill", {**target, **options, "refill_buffers": "1", "end_fsync": "1"}),)


def _fill_block(job: Job) -> str:
    """Return a block size for filling a job's files, no larger than the smallest file."""
    part, filesize = part_of(job), attempt(parse_range, job.options.get("filesize", ""))
    each = (part.size_bytes or part.files * _FILL_BLOCK_BYTES) // part.files  # fio divides `size` by the files
    smallest = min(each, (filesize and filesize.low) or _FILL_BLOCK_BYTES)
    return "1m" if smallest >= _FILL_BLOCK_BYTES else str(max(smallest, 1))


def file_set(workload: Workload, jobs: Jobs, *, writers_apart: bool) -> str:
    """Return the name of the directory for a workload's files. Workloads with the same directory share files.

    A workload gets its own files if it creates, removes or resizes files, or leaves compressible data or holes. With
    `writers_apart`, other workloads that write do not share files with read-only workloads. This matters for
    copy-on-write layouts, where the read speed depends on how a file was written.
    """
    owner = ""
    if any(_changes_data(job) or part_of(job).makes_new_files for job in jobs):
        owner = f"{workload.name},"
    elif writers_apart and any(part_of(job).writes for job in jobs):
        owner = "written,"
    several = len(jobs) > 1
    shapes = sorted({f"{job.name}," * several + _shape_of(job) for job in jobs})
    return re.sub(r"[/:\\]", "_", owner + "+".join(shapes))


def _shape_of(job: Job) -> str:
    """Return the options that define the files, except `numjobs`, because fewer clones use a subset of the files."""
    return ",".join(f"{name}={job.options[name]}" for name in _SHAPE if name in job.options and name != "numjobs")


def _changes_data(job: Job) -> bool:
    if job.engine in _RESHAPES or job.flag("unlink_each_loop"):
        return True
    if job.engine == "mmap" and part_of(job).writes:
        return True  # it discards the range that it maps on a block device (fio_mmap_file() in engines/mmap.c)
    compresses = not job.flag("refill_buffers") or any(option in job.options for option in _COMPRESSIBLE)
    return "trim" in job.rw or (part_of(job).writes and compresses)


def on_bare_disk(jobs: Jobs, path: str, size_bytes: int | None) -> Jobs:
    """Return copies of the jobs that run on a bare disk.

    `size_bytes`: the disk's size, or None to assume that it is large enough.

    Each numjobs clone has its own region of the disk, just as it has its own files on a layout. The regions are
    contiguous from the start of the disk, and are scaled down in proportion if they do not fit. Direct I/O needs whole
    sectors, so any block size that is not a multiple of a sector is rounded up to whole pages (4 KiB), as a file system
    would do.
    """
    aligned = [_in_whole_sectors(job) for job in jobs]
    start, regions = 0, []
    for job, length in zip(aligned, _lengths(aligned, size_bytes), strict=True):
        clones = part_of(job).clones
        region = {"filename": join_filenames(path), "direct": "1", "size": str(length)}
        if start:
            region["offset"] = str(start)
        if clones > 1:
            region["offset_increment"] = str(length)
        other = {name: value for name, value in job.options.items() if name not in _REPLACED}
        regions.append(Job(job.name, other | region))
        start += length * clones
    return tuple(regions)


def _lengths(jobs: list[Job], size_bytes: int | None) -> list[int]:
    """Return the size of each job's regions in bytes: a multiple of 1 MiB, or a single block if that is larger."""
    parts = [part_of(job) for job in jobs]
    needed = [max(part.size_bytes or 0, part.max_block_bytes) for part in parts]
    rounded = [_rounded_up(length, _GRAIN_BYTES) for length in needed]
    total = sum(length * part.clones for length, part in zip(rounded, parts, strict=True))
    if size_bytes is None or total <= size_bytes:
        return rounded
    return [
        max(int(length * size_bytes / total) // _GRAIN_BYTES * _GRAIN_BYTES, part.max_block_bytes)
        for length, part in zip(needed, parts, strict=True)
    ]


def _rounded_up(length: int, unit: int) -> int:
    return -(-length // unit) * unit


def _in_whole_sectors(job: Job) -> Job:
    def aligned(found: "re.Match[str]") -> str:
        length = attempt(parse_bytes, found[0]) or 0
        return found[0] if length % _SECTOR_BYTES == 0 else str(_rounded_up(length, _PAGE_BYTES))

    blocks = {
        name: _SIZE.sub(aligned, value) for name, value in job.options.items() if name in ("bs", "bsrange", "bssplit")
    }
    return Job(job.name, {**job.options, **blocks})
