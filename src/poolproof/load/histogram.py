"""Latency histograms: bins are latencies in nanoseconds, each with the number of I/Os counted there."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping

DEFAULT_PERCENTILES = (
    1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99,
)  # fmt: skip


def percentiles_of(bins: Mapping[int, int], wanted: Iterable[float]) -> dict[float, float]:
    """Return percentiles by fio's rule: the first bin at which the running count reaches its share of all."""
    total = sum(bins.values())
    found: dict[float, float] = {}
    if not total:
        return found
    rising = iter(sorted(bins.items()))
    value, seen = next(rising)
    for percent in sorted(wanted):
        needed = percent / 100 * total
        while seen < needed and not math.isclose(seen, needed, rel_tol=1e-12):
            value, count = next(rising, (value, total - seen))
            seen += count
        found[percent] = float(value)
    return found


def add_bins(histograms: Iterable[Mapping[int, int]]) -> dict[int, int]:
    """Return the sum of histograms."""
    total: Counter[int] = Counter()
    for bins in histograms:
        total.update(bins)
    return dict(sorted(total.items()))
