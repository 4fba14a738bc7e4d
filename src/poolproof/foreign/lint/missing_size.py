"""Find jobs that fio refuses because they have no size, and no existing file or device provides one.

A percentage is not a size, because it is a percentage of the existing files. Source: fio 3.33 filesetup.c (setup_files:
`you need to specify size=`) and init.c (add_job).
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from posixpath import dirname

from poolproof.foreign.lint.earlier_commands import Before
from poolproof.foreign.lint.job_groups import Targets, files_of
from poolproof.foreign.lint.model import FioCall, Severity
from poolproof.foreign.lint.variables import UNKNOWN
from poolproof.load.fio.job import Job, Jobs
from poolproof.load.fio.option_names import PAGE_CACHE

SIZE_FIX = "set size= (or filesize=), or create the file first"
_SETS_FILES = ("filesize", "fill_device", "opendir", "read_iolog")
_REFUSED = "so fio refuses the job (`you need to specify size=`)"


@dataclass(frozen=True)
class MissingSize:
    """A job without a size, with its line and the severity and message of the finding."""

    line: int
    severity: Severity
    message: str


def jobs_without_size(unit: FioCall, script: str, targets: Targets | None, before: Before) -> Iterator[MissingSize]:
    """Yield each job that fio refuses because it has no size.

    It is an error if the files do not exist. If lint cannot look for them, it is a warning for the files of a command
    that fio would name after the job, because such files hardly ever exist, and otherwise a note: the file may exist,
    or the command that runs a job file may set the size. A job is left out if an earlier job or another command of the
    script may have created one of its files.

    `script`: the script that contains the call, or an empty string.
    """
    if unit.unknown_words or unit.read_only:
        return
    created = {extent.file for load in before.loads for part in load.parts for extent in part.extents}
    names = {part.name for load in before.loads for part in load.parts}
    for job in unit.jobs:
        place = files_of(job)
        files = set(place.files) if place is not None else set()
        line = job.lines.get("size") or job.line or unit.line
        given = f"size={job.text('size')}" if job.text("size") else "no size"
        given = f"the job {job.name} has {given}, and"
        if _has_size(job):
            created |= files
        elif job.engine == "null":
            yield MissingSize(line, "error", f"{given} the engine null has no files to take a size from, {_REFUSED}")
        elif files & created or job.name in names or any(_is_named_in(script, job, file) for file in files):
            continue
        elif files and targets is not None and not unit.runs_in and _can_look(files, targets):
            if _are_missing(files, job, targets):
                what = f"the file {min(files)} does not exist" if len(files) == 1 else "none of its files exists"
                yield MissingSize(line, "error", f"{given} {what}, {_REFUSED}")
        elif _needs_files(job, files):
            is_certain = job.filename is None and unit.form == "command" and unit.sections is not None
            severity: Severity = "warning" if is_certain else "note"
            what = f"the file {min(files)} already has" if len(files) == 1 else "its files already have"
            unless = f"unless {what} a size, fio refuses the job (`you need to specify size=`)"
            yield MissingSize(line, severity, f"{given} lint cannot look for files: {unless}")


def with_sizes_of_files(jobs: Jobs, before: Before) -> Jobs:
    """Return the jobs with the size of a file that an earlier job created as the size of those that have none."""
    ends: dict[str, float] = {}
    for extent in (each for load in before.loads for part in load.parts for each in part.extents):
        if extent.scale == "bytes" and math.isfinite(extent.end):
            ends[extent.file] = max(extent.end, ends.get(extent.file, 0))
    return tuple(_sized(job, ends) for job in jobs) if ends else jobs


def _sized(job: Job, ends: Mapping[str, float]) -> Job:
    place = files_of(job) if job.filename and job.text("size") is None and not _has_size(job) else None
    end = ends.get(place.files[0]) if place is not None and len(place.files) == 1 else None
    return job if end is None else replace(job, options={**job.options, "size": str(int(end))})


def _has_size(job: Job) -> bool:
    """True if the job may have a size without existing files."""
    size = job.text("size") or ""
    is_size = size and job.number("size") != 0 and job.percent("size") is None
    return bool(is_size or UNKNOWN.search(size)) or any(job.text(name) not in (None, "0") for name in _SETS_FILES)


def _is_named_in(script: str, job: Job, file: str) -> bool:
    """True if the script names the file outside the job's own options, so that another command may create it."""
    name = file.rpartition("/")[2]
    own = rf"filename(?:=|\s+)['\"]?[^\s'\"]*{re.escape(name)}"
    return bool(script) and script.count(name) > (1 if job.filename and re.search(own, script) else 0)


def _needs_files(job: Job, files: set[str]) -> bool:
    """True if the job uses files, none of which may be a device."""
    paths = {*job.filenames, *files, job.name, job.directory or ""}
    is_known = not UNKNOWN.search(job.filename or "") and job.text("filename_format") is None
    is_on_windows = job.is_on_windows or job.engine == "windowsaio"
    is_device = any(path == "-" or "/dev/" in path or path.startswith(("/dev", "\\\\")) for path in paths)
    return job.engine in PAGE_CACHE and is_known and not is_on_windows and not is_device


def _can_look(files: set[str], targets: Targets) -> bool:
    """True if lint can look into the folders of all files."""
    looked = [targets.written(dirname(file) or ".") for file in files]
    return all(each is not None and each.exists for each in looked)


def _are_missing(files: set[str], job: Job, targets: Targets) -> bool:
    """True if nothing that fio would use exists."""
    if job.engine not in PAGE_CACHE or any(file == "-" or file.startswith("/dev/") for file in files):
        return False
    # Without `filename`, fio uses a device or a directory that has the name of the job.
    used = files if job.filename else files | {job.name, job.path(job.name)}
    found = [targets.written(file) for file in used]
    return not any(each is None or each.exists for each in found)
