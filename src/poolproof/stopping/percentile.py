"""How well a percentile is known, from the histograms of the stretches of one trial.

Sectioning (Asmussen and Glynn 2007, Stochastic Simulation, III.5; Nakayama 2014, ACM TOMACS 24, 19): the percentile of
all is the figure, those of ten equal stretches, five at least, tell its error; a stretch keeps the correlation of what
follows each other in it, as batch means do. Each must have ten samples beyond the percentile, or its own says little.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from poolproof.statistics.students_t import quantile

MOST_PARTS, LEAST_PARTS = 10, 5
LEAST_BEYOND = 10
BIN_ERROR = 1 / 128
"""Relative: half of fio's bins. No percentile is known better than its bin (fio's stat.h, FIO_IO_U_PLAT_BITS)."""
BIN_DEVIATION = BIN_ERROR / math.sqrt(3)
"""Relative standard deviation of what may lie anywhere in its bin: the same bin in every trial proves no more."""

Histogram = Mapping[int, int]


@dataclass(frozen=True)
class Known:
    """A percentile and half its interval, in the unit of the bins. `half` is None where the samples are too few."""

    value: float
    half: float | None


def known(stretches: Sequence[Histogram], percent: float, confidence: float) -> Known | None:
    """What equal stretches of a trial tell of a percentile; None without a sample."""
    whole = _joined(stretches)
    if not whole:
        return None
    value = percentile(whole, percent)
    parts = _parts(stretches, percent)
    if parts is None:
        return Known(value, None)
    squares = math.fsum((percentile(part, percent) - value) ** 2 for part in parts)
    error = math.sqrt(squares / (len(parts) - 1) / len(parts))
    return Known(value, max(quantile((1 + confidence) / 2, len(parts) - 1) * error, value * BIN_ERROR))


def extremes(stretches: Sequence[Histogram], percent: float) -> tuple[float, float] | None:
    """The lowest and the highest percentile of ten equal parts, or five at least; None where one is empty."""
    if len(stretches) < LEAST_PARTS:
        return None
    parts = _split(stretches, min(MOST_PARTS, len(stretches)))
    if not all(parts):
        return None
    found = [percentile(part, percent) for part in parts]
    return min(found), max(found)


def percentile(histogram: Histogram, percent: float) -> float:
    """The value of the bin that holds it."""
    wanted, below = math.ceil(sum(histogram.values()) * percent / 100), 0
    for value in sorted(histogram):
        below += histogram[value]
        if below >= wanted:
            return float(value)
    return float(max(histogram))


def _parts(stretches: Sequence[Histogram], percent: float) -> list[Histogram] | None:
    """As many parts of equal length as have samples enough each; None where not even the fewest have."""
    for count in range(min(MOST_PARTS, len(stretches)), LEAST_PARTS - 1, -1):
        parts = _split(stretches, count)
        if all(sum(part.values()) * (1 - percent / 100) >= LEAST_BEYOND for part in parts):
            return parts
    return None


def _split(stretches: Sequence[Histogram], count: int) -> list[Histogram]:
    bounds = [round(len(stretches) * part / count) for part in range(count + 1)]
    return [_joined(stretches[a:b]) for a, b in pairwise(bounds)]


def _joined(stretches: Sequence[Histogram]) -> Histogram:
    whole: Counter[int] = Counter()
    for each in stretches:
        whole.update(each)
    return whole
