"""A percentile and its error, from histograms of consecutive sections of a series.

Sectioning (Asmussen and Glynn 2007, Stochastic Simulation, III.5; Nakayama 2014, ACM TOMACS 24, 19): the percentile of
all samples is the estimate; those of five to ten sections of equal length give its error. Like batch means, a section
keeps the correlation between consecutive samples. Each section needs ten samples beyond the percentile.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from poolproof.statistics.distributions import quantile

MOST_SECTIONS, LEAST_SECTIONS = 10, 5
LEAST_BEYOND = 10
BIN_ERROR = 1 / 128
"""Half the relative width of fio's bins: no percentile is more precise than that (fio's stat.h, FIO_IO_U_PLAT_BITS)."""
BIN_DEVIATION = BIN_ERROR / math.sqrt(3)
"""The relative standard deviation of a value that may be anywhere in its bin: the same bin in every trial proves no
more."""

Histogram = Mapping[int, int]


@dataclass(frozen=True)
class PercentileEstimate:
    """A percentile and half its interval, in the unit of the bins. `half` is None if there are too few samples."""

    value: float
    half: float | None


def estimate(histograms: Sequence[Histogram], percent: float, confidence: float) -> PercentileEstimate | None:
    """Return the percentile of histograms that cover equal times, in order; None without a sample."""
    whole = _merged(histograms)
    if not whole:
        return None
    value = percentile(whole, percent)
    sections = _sections(histograms, percent)
    if sections is None:
        return PercentileEstimate(value, None)
    squares = math.fsum((percentile(section, percent) - value) ** 2 for section in sections)
    error = math.sqrt(squares / (len(sections) - 1) / len(sections))
    half = quantile((1 + confidence) / 2, len(sections) - 1) * error
    return PercentileEstimate(value, max(half, value * BIN_ERROR))


def extremes(histograms: Sequence[Histogram], percent: float) -> tuple[float, float] | None:
    """Return the lowest and highest percentile of ten equal sections, or at least five; None if one is empty."""
    if len(histograms) < LEAST_SECTIONS:
        return None
    sections = _split(histograms, min(MOST_SECTIONS, len(histograms)))
    if not all(sections):
        return None
    found = [percentile(section, percent) for section in sections]
    return min(found), max(found)


def percentile(histogram: Histogram, percent: float) -> float:
    """Return the value of the bin that holds the percentile."""
    rank, below = math.ceil(sum(histogram.values()) * percent / 100), 0
    for value in sorted(histogram):
        below += histogram[value]
        if below >= rank:
            return float(value)
    return float(max(histogram))


def _sections(histograms: Sequence[Histogram], percent: float) -> list[Histogram] | None:
    """Return as many equal sections as have enough samples each; None if five do not."""
    for count in range(min(MOST_SECTIONS, len(histograms)), LEAST_SECTIONS - 1, -1):
        sections = _split(histograms, count)
        if all(sum(section.values()) * (1 - percent / 100) >= LEAST_BEYOND for section in sections):
            return sections
    return None


def _split(histograms: Sequence[Histogram], count: int) -> list[Histogram]:
    bounds = [round(len(histograms) * section / count) for section in range(count + 1)]
    return [_merged(histograms[a:b]) for a, b in pairwise(bounds)]


def _merged(histograms: Sequence[Histogram]) -> Histogram:
    whole: Counter[int] = Counter()
    for each in histograms:
        whole.update(each)
    return whole
