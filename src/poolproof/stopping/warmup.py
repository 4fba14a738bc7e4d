"""Where a series has warmed up: MSER-5.

White's rule (1997, Simulation 69, 323-334; the batches of five are Spratt's, 1998) cuts where the squared standard
error of what remains is least. It always finds a least value; so the cut is made only where the part cut off differs
from the rest by more than chance and by more than the tolerance. A cut in the second half of the series is usually
taken to mean that it has not warmed up yet (White, Cobb and Spratt 2000, WSC, 755-760); `window.py` asks for more: the
cut may take a third.
"""

import math
from collections.abc import Sequence

from poolproof.statistics.students_t import quantile
from poolproof.stopping.autoregression import joined, long_run

_BATCH = 5
_LEAST_BATCHES = 10
_LEAST_LEFT = 10
_SIGNIFICANCE = 0.001
_MOST_BINS = 300


def warm_up(values: Sequence[float], until: float) -> int:
    """How many samples at the start are warm-up; a large share of them where it still changes."""
    cut = _cut(values)
    if cut == 0 or len(values) - cut < _LEAST_LEFT:
        return 0
    rest = long_run(joined(values[cut:], math.ceil((len(values) - cut) / _MOST_BINS)))
    difference = math.fsum(values[:cut]) / cut - rest.mean
    error = rest.standard_error * math.sqrt(1 + (len(values) - cut) / cut)
    is_chance = abs(difference) <= quantile(1 - _SIGNIFICANCE / 2, rest.freedom) * error
    return 0 if is_chance or abs(difference) <= until * rest.mean else cut


def _cut(values: Sequence[float]) -> int:
    """Samples before the cut that MSER chooses: the least of the sum of squares over the square of what remains."""
    size = max(1, min(_BATCH, len(values) // _LEAST_BATCHES))
    batches = joined(values, size)
    shift = batches[-1]
    total = squares = 0.0
    best, cut = math.inf, 0
    for kept, value in enumerate(reversed(batches), start=1):
        total += value - shift
        squares += (value - shift) ** 2
        if kept <= len(batches) // _LEAST_BATCHES:
            continue
        statistic = max(0.0, squares - total * total / kept) / kept**2
        if statistic <= best:
            best, cut = statistic, len(batches) - kept
    return cut * size + len(values) % size if cut else 0
