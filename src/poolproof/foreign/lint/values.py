"""Options with a value that fio cannot take, where they stand."""

from collections.abc import Iterator

from poolproof.foreign.lint.model import Unit
from poolproof.foreign.lint.variables import UNKNOWN
from poolproof.load.fio.job_draft import MOST_PROBLEMS
from poolproof.load.fio.option_values import refusal


def refused_values(unit: Unit) -> Iterator[tuple[int, str]]:
    """The line and what is wrong, of each value that cannot stand; a value with an unknown variable may be any."""
    found: dict[tuple[int, str], None] = {}
    for job in unit.jobs.jobs:
        for name, value in job.options.items():
            why = None if UNKNOWN.search(value) else refusal(name, value)
            if why is not None:
                found[job.lines.get(name, unit.line), why] = None
        if len(found) >= MOST_PROBLEMS:
            break
    yield from found
