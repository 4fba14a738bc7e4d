"""Group the jobs of a fio call by target."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from posixpath import normpath
from typing import Protocol

from poolproof.evidence.model import Evidence
from poolproof.evidence.target_facts import Target
from poolproof.foreign.lint.earlier_commands import NOTHING_BEFORE, Before
from poolproof.foreign.lint.model import FioCall, RunsIn, WrittenDevice
from poolproof.foreign.lint.variables import UNKNOWN
from poolproof.load.fio.job import Job
from poolproof.load.fio.load import part_of
from poolproof.rules.path import is_zfs, is_zvol

_MOST_NAMED = 64
_BRACED = re.compile(r"\$\{(\w+)\}")


@dataclass(frozen=True)
class JobFiles:
    """The paths of a job's files, and the job's directory (an empty string means fio's working directory).

    `files` is empty if lint cannot determine the file names that fio would generate.
    """

    files: tuple[str, ...]
    directory: str


@dataclass(frozen=True)
class JobGroup:
    """The jobs of a fio call that share a storage target. `jobs`: their indexes. `evidence`: facts about the files."""

    jobs: tuple[int, ...]
    target: Target | None
    evidence: Evidence | None = None


class Targets(Protocol):
    """Looks up the storage targets of jobs, and facts about their files."""

    def target(self, place: JobFiles) -> Target | None:
        """Return the target that contains a job's files, or None if unknown."""

    def described(self) -> Target | None:
        """Return the target that the user's options describe, for a job whose files have unknown paths."""

    def evidence(self, places: Sequence[JobFiles]) -> Evidence | None:
        """Return the known facts about the files before the run, or None if nothing is known.

        All jobs must have the same target.
        """

    def seen_from(self, place: RunsIn) -> "Targets | None":
        """Return what is known about the targets of jobs that run in this place, or None if nothing is known."""

    def written(self, path: str) -> WrittenDevice | None:
        """Look up the file or device at a path to which a job would write, or return None if unknown."""


def group_jobs(unit: FioCall, targets: Targets | None, before: Before = NOTHING_BEFORE) -> tuple[JobGroup, ...]:
    """Group the jobs of a fio call by target. Without `targets`, the targets are known only from earlier commands.

    Jobs that replay a trace are left out, because the trace determines their I/O, and so are jobs that only create
    their files.
    """
    targets = targets.seen_from(unit.runs_in) if targets is not None else None
    groups: dict[Target | None, list[int]] = {}
    places = [files_of(job) for job in unit.jobs]
    for number, place in enumerate(places):
        job = unit.jobs[number]
        if job.text("read_iolog") or job.flag("create_only"):  # a trace contains the I/O, or there is none
            continue
        if place is not None:
            target = _changed(None if targets is None else targets.target(place), place, before)
        else:
            has_files = targets is not None and part_of(job).may_use_page_cache
            target = targets.described() if targets is not None and has_files else None
            if (device := _BRACED.sub(r"$\1", job.filename or "")) in before.cached_loops:
                target = replace(target or Target(file_system=""), loop_without_direct=(device,))
        if target is not None and is_zfs(target) and target.record_bytes is None:
            size = before.record_bytes.get("volblocksize" if is_zvol(target) else "recordsize")
            target = replace(target, record_bytes=size)
        groups.setdefault(target, []).append(number)
    found = []
    for target, jobs in groups.items():
        known = [place for number in jobs if (place := places[number]) is not None]
        found.append(JobGroup(tuple(jobs), target, None if targets is None else targets.evidence(known)))
    return tuple(found)


def _changed(target: Target | None, place: JobFiles, before: Before) -> Target | None:
    """Return the target as the script's earlier commands leave it."""
    folders = [f"{path}/" for path in before.nodatacow]
    paths = [f"{normpath(path)}/" for path in place.files or (place.directory,)]
    mounts = {f"{normpath(path)}/": is_in_ram for path, is_in_ram in before.mounts.items()}
    above = [max((mount for mount in mounts if path.startswith(mount)), key=len, default="") for path in paths]
    if all(mounts.get(mount, False) for mount in above):
        return Target("tmpfs", ram_bytes=target.ram_bytes if target else None, volatile=True)
    for loop in before.cached_loops:
        if all(path.startswith(f"{normpath(loop)}/") for path in paths):
            name = loop if loop.startswith("/dev/") else f"the loop device below {loop}"
            target = replace(target or Target(file_system=""), loop_without_direct=(name,))
    if target is not None and any(path.startswith(folder) for path in paths for folder in folders):
        target = replace(target, mount_options=(*target.mount_options, "nodatacow"))
    if before.snapshot and any(name.startswith("/dev/") and name not in before.was_read for name in place.files):
        target = replace(target or Target(file_system=""), cloud_volume=before.snapshot)
    return target


def files_of(job: Job) -> JobFiles | None:
    """Return a job's files.

    None if the engine uses no files, if the job runs on Windows, or if a path contains an unknown variable.
    """
    part, directory = part_of(job), job.text("opendir") or job.directory or ""
    names = job.filenames
    # fio generates names such as `job.0.0`, unless `filename_format` is given.
    if (
        not names
        and job.text("filename_format") is None
        and job.text("opendir") is None
        and part.clones * part.files <= _MOST_NAMED
    ):
        names = tuple(f"{job.name}.{clone}.{number}" for clone in range(part.clones) for number in range(part.files))
    files = tuple(map(job.path, names))
    if (
        not part.may_use_page_cache
        or job.engine == "windowsaio"
        or job.is_on_windows
        or any(UNKNOWN.search(name) for name in (*files, directory))
    ):
        return None
    return JobFiles(files, directory)
