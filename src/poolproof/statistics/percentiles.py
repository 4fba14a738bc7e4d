"""Estimate a percentile and its error from consecutive histograms.

The method is sectioning (Asmussen and Glynn 2007, Stochastic Simulation, III.5; Nakayama 2014, ACM TOMACS 24, 19). The
estimate is the percentile of all samples. Its error is computed from the percentiles of five to ten sections of equal
length, each of which must have ten samples above the percentile. Like batches, sections preserve the correlation
between consecutive samples.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from poolproof.statistics.distributions import t_half_width
from poolproof.statistics.resolution import bin_deviation

MOST_SECTIONS, LEAST_SECTIONS = 10, 5
LEAST_BEYOND = 10

Histogram = Mapping[int, int]


@dataclass(frozen=True)
class PercentileEstimate:
    """An estimated percentile, in the unit of the bins.

    `half`: the half width of its confidence interval, or None if there are too few samples.
    `error`, `freedom`: its standard error, and the degrees of freedom. The error is None if there are too few samples.
    """

    value: float
    half: float | None
    error: float | None = None
    freedom: float = 1.0


def estimate(
    histograms: Sequence[Histogram], percent: float, confidence: float, bin_width: float
) -> PercentileEstimate | None:
    """Return the percentile of all samples with its error, or None if there are no samples.

    `histograms`: the histograms of consecutive periods of equal length.
    `bin_width`: the width of a bin relative to its value, or 0 for exact values. The percentile is never more precise
    than its bin.
    """
    whole = _merged(histograms)
    if not whole:
        return None
    value = percentile(whole, percent)
    sections = _sections(histograms, percent)
    if sections is None:
        return PercentileEstimate(value, None)
    squares = math.fsum((percentile(section, percent) - value) ** 2 for section in sections)
    error = math.sqrt(squares / (len(sections) - 1) / len(sections))
    half = t_half_width(error, len(sections) - 1, confidence)
    half, error = max(half, value * bin_width / 2), max(error, value * bin_deviation(bin_width))
    return PercentileEstimate(value, half, error, len(sections) - 1.0)


def extremes(histograms: Sequence[Histogram], percent: float) -> tuple[float, float] | None:
    """Return the lowest and highest value of the percentile among ten sections of equal length.

    If there are fewer than ten histograms, each of them is a section. None if there are fewer than five, or if a
    section is empty.
    """
    if len(histograms) < LEAST_SECTIONS:
        return None
    sections = _split(histograms, min(MOST_SECTIONS, len(histograms)))
    if not all(sections):
        return None
    found = [percentile(section, percent) for section in sections]
    return min(found), max(found)


def percentile(histogram: Histogram, percent: float) -> float:
    """Return the value of the bin that contains the percentile."""
    rank, below = math.ceil(sum(histogram.values()) * percent / 100 * (1 - 1e-12)), 0  # 41,000 × 99.9% is 40,959
    for value in sorted(histogram):
        below += histogram[value]
        if below >= rank:
            return float(value)
    return float(max(histogram))


def _sections(histograms: Sequence[Histogram], percent: float) -> list[Histogram] | None:
    """Divide the histograms into as many equal sections as possible, each with enough samples above the percentile.

    None if this is impossible with at least five sections.
    """
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
