"""How messages name the jobs of a run: a run of one job has no need of names."""

from collections.abc import Sequence

from poolproof.load.model import LoadPart
from poolproof.rules.model import Case

_MOST_NAMES = 6


def who(case: Case, jobs: Sequence[LoadPart]) -> str:
    """The subject of a sentence, singular: `the job`, "job `a`", "each of the jobs `a`, `b`"."""
    if len(case.load.parts) == 1:
        return "the job"
    names = ", ".join(f"`{job.name}`" for job in jobs[:_MOST_NAMES])
    if len(jobs) > _MOST_NAMES:
        names += f" and {len(jobs) - _MOST_NAMES} more"
    return f"job {names}" if len(jobs) == 1 else f"each of the jobs {names}"


def count(number: int, noun: str) -> str:
    """`1 job`, `8 jobs`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
