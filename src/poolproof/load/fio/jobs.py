"""The fio jobs of a workload: its own options, what poolproof adds, and the job that fills the files."""

import re
from collections.abc import Iterator, Mapping

from poolproof.campaign.model import JobSpec, Workload
from poolproof.errors import CampaignError
from poolproof.hosts.base import Host
from poolproof.load.fio.filenames import join_filenames, split_filenames
from poolproof.load.fio.job import Job, JobFile
from poolproof.load.fio.load import load_of, part_of
from poolproof.load.fio.options import check_options, engines_of, known_options
from poolproof.load.fio.quantity import attempt, parse_bytes, parse_range
from poolproof.units import format_size

ADDED: Mapping[str, tuple[str, str]] = {
    "ioengine": ("libaio", "so that iodepth means what it says"),
    "direct": ("1", "the page cache is not part of the layout"),
    "size": ("256m", "bytes of test file for each job; name your own, larger than any cache that counts"),
    "refill_buffers": ("1", "fresh data for every write: fio's reused buffers compress 15 times"),
    "randrepeat": ("0", "other offsets in each trial, so that none rereads what the last one left in RAM"),
    "time_based": ("1", "a trial lasts as long as it was asked to"),
}
"""What poolproof adds to every job that does not set the option itself: option, value, reason."""

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
_SECTOR_BYTES = 512
_PAGE_BYTES = 4096
_GRAIN_BYTES = 1024**2
_SIZE = re.compile(r"(?<![/\w.])[\w.]+")  # in bs=4k,8k, bsrange=1k-8k, bssplit=4k/40:8k/60; what follows `/` is a share
_BLOCKS = ("bs", "bsrange", "bssplit")
_REPLACED = frozenset({"directory", "filename", "size", "offset", "offset_increment", "direct", "bs_unaligned"})


def jobs_of(workload: Workload, longest_s: float, host: Host) -> JobFile:
    """Return the jobs of the workload's trials, without the `directory` that `placed` adds.

    Raises:
        CampaignError: this host's fio does not know an option, or only poolproof may set it.
        FioError: the host has no fio, or it is too old.
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
    """Return the jobs with their files in `directory`, a path on the host."""
    escaped = join_filenames((directory,))
    return JobFile(tuple(Job(job.name, {**job.options, "directory": escaped}) for job in jobs.jobs))


def on_device(jobs: JobFile, path: str) -> JobFile:
    """Return the jobs on a block device. There are no files for clones: all of them share the device."""
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
    """Return a time as fio's `runtime`, in milliseconds if it is not whole: fio ignores what follows a point."""
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
    """Yield the options that affect something outside the layout, with what they do."""
    yield from ((option, what) for option, what in _ELSEWHERE.items() if option in given)
    engine = given.get("ioengine", "")
    if engine in _ENGINES_ELSEWHERE:
        yield f"ioengine={engine}", _ENGINES_ELSEWHERE[engine]
    logs = (option for option, value in given.items() if _LOG.fullmatch(option) and "/" in value)
    yield from ((option, f"writes {given[option]}, which lies outside the layout") for option in logs)


def _refuse_unmeasurable(job: Job, workload: Workload) -> None:
    """Raise CampaignError for a size in percent of a file that does not exist yet, or one smaller than a block."""
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
    """Raise CampaignError for a ramp in several phases: the disks' counters can exclude only the first ramp."""
    if len(load_of(jobs).phases) > 1 and any(part_of(job).ramp_s for job in jobs.jobs):
        raise CampaignError(
            f"workload {workload.name}: with `stonewall` and `ramp_time` nobody can tell which bytes were the ramp's",
            "leave one of them out, or make two workloads of it",
        ).concerning("stonewall")


def fill_job(jobs: JobFile) -> JobFile:
    """Return the job that writes the same files completely, with new data: fio's layout pass refills every block.

    A reading job makes fio lay out the files that it would read; `create_only` stops it there (fio's HOWTO).
    """
    return JobFile(tuple(Job(job.name, _fill_options(job)) for job in jobs.jobs))


def device_fill_job(path: str, size_bytes: int) -> JobFile:
    """Return the job that writes the first `size_bytes` of a block device once, with new data."""
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
    """Return the block size of a fill job. fio does not lay out files or a total size smaller than a block."""
    filesize = attempt(parse_range, job.options.get("filesize", ""))
    smallest = min(part_of(job).size_bytes or _FILL_BLOCK_BYTES, (filesize and filesize.low) or _FILL_BLOCK_BYTES)
    return "1m" if smallest >= _FILL_BLOCK_BYTES else str(smallest)


def file_set(workload: Workload, jobs: JobFile, *, writers_apart: bool) -> str:
    """Return the name of the directory for a workload's files. Workloads with the same name share files, filled once.

    A workload that leaves compressible data or holes has its own files. `writers_apart` is for a copy-on-write layout,
    where reads depend on how the file was written: workloads that write share files that no reading workload uses.
    """
    own = f"{workload.name}," if any(_changes_data(job) for job in jobs.jobs) else ""
    if writers_apart and not own and any(part_of(job).writes for job in jobs.jobs):
        own = "written,"
    several = len(jobs.jobs) > 1
    shapes = sorted({f"{job.name}," * several + _shape_of(job) for job in jobs.jobs})
    return re.sub(r"[/:\\]", "_", own + "+".join(shapes))


def _shape_of(job: Job) -> str:
    """Return what defines the files, except the number of clones: fewer clones use the first of the same files."""
    return ",".join(f"{name}={job.options[name]}" for name in _SHAPE if name in job.options and name != "numjobs")


def _changes_data(job: Job) -> bool:
    """True if the job leaves compressible data or holes in its files."""
    compresses = not job.flag("refill_buffers") or any(option in job.options for option in _COMPRESSIBLE)
    return "trim" in job.rw or (part_of(job).writes and compresses)


def on_bare_disk(jobs: JobFile, path: str, size_bytes: int | None) -> JobFile:
    """Return the jobs on a disk of that size in bytes. None: the size is not known and assumed to be large enough.

    Like the files of a layout, the regions of all clones are separate, one after the other from the start of the disk.
    If they do not fit, all of them shrink in proportion. A block that is not a whole number of sectors, which only the
    page cache can write, becomes the whole pages (4 KiB) that a file system would write for it.
    """
    fitted = [_in_whole_sectors(job) for job in jobs.jobs]
    lengths = _lengths(fitted, size_bytes)
    start, placed = 0, []
    for job, length in zip(fitted, lengths, strict=True):
        placed.append(Job(job.name, {**_kept(job), **_region(job, path, start, length)}))
        start += length * part_of(job).clones
    return JobFile(tuple(placed))


def _kept(job: Job) -> Mapping[str, str]:
    return {name: value for name, value in job.options.items() if name not in _REPLACED}


def _region(job: Job, path: str, start: int, length: int) -> Mapping[str, str]:
    region = {"filename": path, "direct": "1", "size": str(length)}
    if start:
        region["offset"] = str(start)
    if part_of(job).clones > 1:
        region["offset_increment"] = str(length)
    return region


def _lengths(jobs: list[Job], size_bytes: int | None) -> list[int]:
    """Bytes of each clone's region, by section: whole MiB, and never less than a block."""
    wanted = [max(part_of(job).size_bytes or 0, part_of(job).max_block_bytes) for job in jobs]
    total = sum(length * part_of(job).clones for job, length in zip(jobs, map(_up, wanted), strict=True))
    if size_bytes is None or total <= size_bytes:
        return [_up(length) for length in wanted]
    return [
        max(int(length * size_bytes / total) // _GRAIN_BYTES * _GRAIN_BYTES, part_of(job).max_block_bytes)
        for job, length in zip(jobs, wanted, strict=True)
    ]


def _up(length: int) -> int:
    return -(-length // _GRAIN_BYTES) * _GRAIN_BYTES


def _in_whole_sectors(job: Job) -> Job:
    blocks = {name: _SIZE.sub(_whole, job.options[name]) for name in _BLOCKS if name in job.options}
    return Job(job.name, {**job.options, **blocks})


def _whole(found: "re.Match[str]") -> str:
    length = attempt(parse_bytes, found[0])
    if not length or length % _SECTOR_BYTES == 0:
        return found[0]
    return str(-(-length // _PAGE_BYTES) * _PAGE_BYTES)
