"""Results as flat tables of figures, to compare what different formats say of the same run."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass

from poolproof.load.outcome import Outcome, PartOutcome

Figures = dict[str, float]


def figures_of(result: Outcome) -> Figures:
    """Every number of a result that is known, by its path: `0.read.clat.percentiles_ns.99.0`."""
    found: Figures = {}
    for number, job in enumerate(result.parts):
        found.update(_numbers(job, str(number)))
    return found


def job_figures(job: PartOutcome) -> Figures:
    """Every number of one job that is known, by its path."""
    return dict(_numbers(job, ""))


def _numbers(value: object, path: str) -> Iterator[tuple[str, float]]:
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return
    if isinstance(value, int | float):
        yield path, float(value)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _numbers(item, f"{path}.{key}")
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from _numbers(getattr(value, field.name), f"{path}.{field.name}")
