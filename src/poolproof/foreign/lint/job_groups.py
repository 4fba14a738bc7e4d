"""Group the jobs of a unit by their target."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from poolproof.evidence.model import Evidence, Target
from poolproof.foreign.lint.located_findings import JobGroup
from poolproof.foreign.lint.model import Unit
from poolproof.foreign.lint.variables import UNKNOWN
from poolproof.load.fio.job import Job
from poolproof.load.fio.load import part_of

_MOST_NAMED = 64


@dataclass(frozen=True)
class JobFiles:
    """The files of a job, or its directory if their names are unknown ("" is fio's working directory)."""

    files: tuple[str, ...]
    directory: str


class Targets(Protocol):
    """Finds the targets of jobs, and what is known about their files."""

    def target(self, place: JobFiles) -> Target | None:
        """Return the target of a job's files; None if unknown."""

    def evidence(self, places: Sequence[JobFiles]) -> Evidence | None:
        """Return what is known before the run about the files of jobs with the same target; None if nothing is."""


class NoTargets:
    """No target is known."""

    def target(self, _place: JobFiles) -> Target | None:
        return None

    def evidence(self, _places: Sequence[JobFiles]) -> Evidence | None:
        return None


def group_jobs(unit: Unit, targets: Targets) -> tuple[JobGroup, ...]:
    """Return the jobs of the unit, grouped by target."""
    groups: dict[Target | None, list[int]] = {}
    places = [files_of(job) for job in unit.jobs.jobs]
    for number, place in enumerate(places):
        groups.setdefault(None if place is None else targets.target(place), []).append(number)
    return tuple(
        JobGroup(
            tuple(jobs), target, targets.evidence([each for number in jobs if (each := places[number]) is not None])
        )
        for target, jobs in groups.items()
    )


def files_of(job: Job) -> JobFiles | None:
    """Return the job's files; None if a name contains an unknown variable, or if the engine uses no files."""
    directory = job.directory or ""
    names = job.filenames or _generated_names(job)
    files = tuple(name if name.startswith("/") or not directory else f"{directory}/{name}" for name in names)
    if not part_of(job).may_use_page_cache or any(UNKNOWN.search(name) for name in (*files, directory)):
        return None
    return JobFiles(files, directory)


def _generated_names(job: Job) -> tuple[str, ...]:
    """Return the names that fio generates, such as `job.0.0`; none with `filename_format` or more than 64 files."""
    if job.text("filename_format") is not None or part_of(job).clones * part_of(job).files > _MOST_NAMED:
        return ()
    name = job.name.replace("/", "_")
    return tuple(
        f"{name}.{clone}.{number}" for clone in range(part_of(job).clones) for number in range(part_of(job).files)
    )
