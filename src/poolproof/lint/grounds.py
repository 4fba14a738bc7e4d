"""Where the jobs of a unit stand: their targets, asked of a `Places` or said by flags."""

from collections.abc import Callable
from dataclasses import dataclass

from poolproof.evidence.model import Evidence, Target
from poolproof.fio.job import Job
from poolproof.lint.judged import Ground
from poolproof.lint.model import Unit
from poolproof.lint.variables import UNKNOWN

Standing = tuple[Target | None, Evidence | None]


@dataclass(frozen=True)
class Place:
    """The files of a job as it names them; without any, its directory ("" for the one where fio runs)."""

    files: tuple[str, ...]
    directory: str


def place_of(job: Job) -> Place | None:
    """None where a variable in the name can't be known, or where the engine has no files."""
    directory = job.directory or ""
    named = tuple(name if name.startswith("/") or not directory else f"{directory}/{name}" for name in job.filenames)
    if not job.may_use_page_cache or any(UNKNOWN.search(name) for name in (*named, directory)):
        return None
    return Place(named, directory)


def grounds_of(unit: Unit, standing: Callable[[Place], Standing]) -> tuple[Ground, ...]:
    """The jobs of the unit grouped by the target that they stand on."""
    groups: dict[int, list[int]] = {}
    known: list[Standing] = []
    for number, job in enumerate(unit.jobs.jobs):
        place = place_of(job)
        found: Standing = (None, None) if place is None else standing(place)
        if found not in known:
            known.append(found)
        groups.setdefault(known.index(found), []).append(number)
    return tuple(Ground(tuple(jobs), *known[number]) for number, jobs in groups.items())
