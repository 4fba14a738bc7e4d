"""Convert results to flat tables of numbers, so that different formats of the same run can be compared."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass

from poolproof.load.outcome import Outcome, PartOutcome

Numbers = dict[str, float]


def numbers_of(result: Outcome) -> Numbers:
    """Return all known numbers in a result, keyed by path, for example `0.read.clat.percentiles_ns.99.0`."""
    found: Numbers = {}
    for number, job in enumerate(result.parts):
        found.update(_numbers(job, str(number)))
    return found


def job_numbers(job: PartOutcome) -> Numbers:
    """Return all known numbers of one job, keyed by path."""
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
