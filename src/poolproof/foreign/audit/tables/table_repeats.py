"""Find rows of tables that repeat the results of output in the same text."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from operator import attrgetter, itemgetter

from poolproof.load.fio.pairing import FoundResult
from poolproof.load.outcome import PartOutcome

_LEAST_TOLERANCE, _MOST_TOLERANCE = 0.01, 0.06
_UNITS = (1.0, 1e3, 1e6, 1e9, 1024.0, 1024.0**2, 1024.0**3)
_MOST_DECIMALS = 2
_FEWEST_VALUES = 2

_Values = dict[tuple[str, str], float]
"""The known values of a part, keyed by their direction and `iops` or `bandwidth`."""


def without_repeated_rows(rows: Sequence[FoundResult], others: Iterable[FoundResult]) -> list[FoundResult]:
    """Return the rows of tables, in line order, without those that repeat the values of another result.

    A single value may be the same by chance, so a row must have at least two: IOPS and a rate, or reads and writes.
    """
    known = _by_value(others)
    kept: list[FoundResult] = []
    for _, group in groupby(rows, key=attrgetter("line")):
        row = list(group)
        values = {kind: value for found in row for part in found.result.parts for kind, value in _values(part).items()}
        if len(values) < _FEWEST_VALUES or not _is_known(values, known):
            kept += row
    return kept


def _by_value(others: Iterable[FoundResult]) -> dict[tuple[str, str], list[tuple[float, _Values]]]:
    """Return the parts of the results, sorted by each of their values, so that a row is compared only with a few."""
    known: dict[tuple[str, str], list[tuple[float, _Values]]] = defaultdict(list)
    for other in others:
        for part in other.result.parts:
            values = _values(part)
            for kind, value in values.items():
                known[kind].append((value, values))
    for entries in known.values():
        entries.sort(key=itemgetter(0))
    return known


def _values(part: PartOutcome) -> _Values:
    found = {
        (name, field): value
        for name, each in part.directions.items()
        for field, value in (("iops", each.iops), ("bandwidth", each.bandwidth_bytes))
    }
    return {kind: value for kind, value in found.items() if value is not None}


def _is_known(row: _Values, known: Mapping[tuple[str, str], Sequence[tuple[float, _Values]]]) -> bool:
    """True if a result has all values of a row, and moved data in the same directions."""
    directions = {name for name, _ in row}
    ranges = {kind: (value * (1 - _rounding(value)), value * (1 + _rounding(value))) for kind, value in row.items()}
    near = [_between(known.get(kind, ()), low, high) for kind, (low, high) in ranges.items()]
    return any(
        directions == {name for name, _ in other}
        and all(each in other and first <= other[each] <= last for each, (first, last) in ranges.items())
        for _, other in min(near, key=len)
    )


def _between(entries: Sequence[tuple[float, _Values]], low: float, high: float) -> Sequence[tuple[float, _Values]]:
    return entries[bisect_left(entries, low, key=itemgetter(0)) : bisect_right(entries, high, key=itemgetter(0))]


def _rounding(value: float) -> float:
    """Return the largest relative error of a value that a table rounds, from 1% to 6%.

    The unit and the number of decimals are unknown. `0.9 MiB/s` is 943718.4 bytes per second, and only in MiB does it
    have a single decimal.
    """
    found = [_LEAST_TOLERANCE]
    for unit in _UNITS if value else ():
        amount = value / unit
        for decimals in range(_MOST_DECIMALS + 1):
            if abs(amount - round(amount, decimals)) <= 1e-9 * amount:
                found.append(0.5 * 10.0**-decimals / amount)
                break
    return min(_MOST_TOLERANCE, max(found))
