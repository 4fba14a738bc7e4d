"""Find rows of tables that repeat the results of output in the same text."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from operator import attrgetter

from poolproof.load.fio.pairing import FoundResult
from poolproof.load.outcome import Direction

_LEAST_TOLERANCE, _MOST_TOLERANCE = 0.01, 0.06
_UNITS = (1.0, 1e3, 1e6, 1e9, 1024.0, 1024.0**2, 1024.0**3)
_MOST_DECIMALS = 2
_FEWEST_VALUES = 2


def without_repeated_rows(rows: Sequence[FoundResult], others: Iterable[FoundResult]) -> list[FoundResult]:
    """Return the rows of tables, in line order, without those that repeat the values of another result.

    A single value may be the same by chance, so a row must have at least two: IOPS and a rate, or reads and writes.
    """
    known = [directions for other in others for directions in _parts(other)]
    kept: list[FoundResult] = []
    for _, group in groupby(rows, key=attrgetter("line")):
        row = list(group)
        values = {name: each for found in row for part in _parts(found) for name, each in part.items()}
        count = sum(value is not None for each in values.values() for value in (each.iops, each.bandwidth_bytes))
        if count < _FEWEST_VALUES or not any(_repeats(values, other) for other in known):
            kept += row
    return kept


def _parts(found: FoundResult) -> list[Mapping[str, Direction]]:
    return [part.directions for part in found.result.parts]


def _repeats(row: Mapping[str, Direction], other: Mapping[str, Direction]) -> bool:
    return row.keys() == other.keys() and all(
        _same(each.iops, other[name].iops) and _same(each.bandwidth_bytes, other[name].bandwidth_bytes)
        for name, each in row.items()
    )


def _same(value: float | None, other: float | None) -> bool:
    """True if a value of a row is that of the other result, or is missing from the row."""
    return value is None or (other is not None and abs(value - other) <= _rounding(value) * value)


def _rounding(value: float) -> float:
    """Return the largest relative error of a value that a table rounds, from 1% to 6%.

    The unit and the number of decimals are unknown. `0.9 MiB/s` is 943718.4 bytes per second, and only in MiB does it
    have a single decimal.
    """
    found = [_LEAST_TOLERANCE]
    for unit in _UNITS:
        amount = value / unit
        for decimals in range(_MOST_DECIMALS + 1):
            if abs(amount - round(amount, decimals)) <= 1e-9 * amount:
                found.append(0.5 * 10.0**-decimals / amount)
                break
    return min(_MOST_TOLERANCE, max(found))
