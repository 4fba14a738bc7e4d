"""How messages name the jobs of a run. A run with only one job needs no names."""

from collections.abc import Sequence

from poolproof.load.model import LoadPart
from poolproof.rules.model import Case

_MOST_NAMES = 6


def who(case: Case, jobs: Sequence[LoadPart]) -> str:
    """Return the jobs as the singular subject of a sentence: `the job`, "job `a`", "each of the jobs `a`, `b`"."""
    if len(case.load.parts) == 1:
        return "the job"
    names = ", ".join(f"`{job.name}`" for job in jobs[:_MOST_NAMES])
    if len(jobs) > _MOST_NAMES:
        names += f" and {len(jobs) - _MOST_NAMES} more"
    return f"job {names}" if len(jobs) == 1 else f"each of the jobs {names}"


def count(number: int, noun: str) -> str:
    """Return the number with its noun: `1 job`, `8 jobs`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
