"""Where the jobs of a unit stand: grouped by what is known of it."""

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
    """The files of a job; without any that can be named, its directory ("" for the one where fio runs)."""

    files: tuple[str, ...]
    directory: str


class Where(Protocol):
    """Who knows what stands at a place."""

    def target(self, place: JobFiles) -> Target | None:
        """What the files of a job stand on; None where that is not known."""

    def evidence(self, places: Sequence[JobFiles]) -> Evidence | None:
        """What is known of the files of jobs that stand on one target, before they run."""


class Nowhere:
    """Nothing is known of where the jobs stand."""

    def target(self, _place: JobFiles) -> Target | None:
        return None

    def evidence(self, _places: Sequence[JobFiles]) -> Evidence | None:
        return None


def grounds_of(unit: Unit, where: Where) -> tuple[JobGroup, ...]:
    """The jobs of the unit grouped by the target that they stand on."""
    groups: dict[Target | None, list[int]] = {}
    places = [place_of(job) for job in unit.jobs.jobs]
    for number, place in enumerate(places):
        groups.setdefault(None if place is None else where.target(place), []).append(number)
    return tuple(
        JobGroup(tuple(jobs), target, where.evidence([each for number in jobs if (each := places[number]) is not None]))
        for target, jobs in groups.items()
    )


def place_of(job: Job) -> JobFiles | None:
    """None where a variable in the name can't be known, or where the engine has no files."""
    directory = job.directory or ""
    names = job.filenames or _own_names(job)
    files = tuple(name if name.startswith("/") or not directory else f"{directory}/{name}" for name in names)
    if not part_of(job).may_use_page_cache or any(UNKNOWN.search(name) for name in (*files, directory)):
        return None
    return JobFiles(files, directory)


def _own_names(job: Job) -> tuple[str, ...]:
    """The names that fio gives to files of its own: `job.0.0` (`filename_format`)."""
    if job.text("filename_format") is not None or part_of(job).clones * part_of(job).files > _MOST_NAMED:
        return ()
    name = job.name.replace("/", "_")
    return tuple(
        f"{name}.{clone}.{number}" for clone in range(part_of(job).clones) for number in range(part_of(job).files)
    )
