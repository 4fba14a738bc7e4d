"""The stopping rule of one trial: is its figure known?"""

import math
from collections.abc import Sequence

from poolproof.stopping.looks import look_before
from poolproof.stopping.model import Decision, Reason, Rule, Series
from poolproof.student import quantile

_BATCHES = 10


def decide(series: Series, rule: Rule) -> Decision:
    """What the series says at the last look that it has reached. Asking between two looks changes nothing."""
    look_s, next_s = look_before(rule, series.duration_s)
    if look_s is None:
        mean = math.fsum(series.values) / len(series.values) if series.values else None
        reason = Reason("too-short", f"a trial lasts {rule.least_s:g} s at least", {"least_s": rule.least_s})
        return Decision(False, False, mean, None, None, 0.0, series.duration_s, (reason,), next_s)
    values = series.values[: round(look_s / series.interval_s)]
    used_s = len(values) * series.interval_s
    mean, half = _batched(values)
    low, high = mean - half, mean + half
    settled = half <= rule.until * mean
    done = settled or next_s is None
    reasons = () if settled else (Reason("noise", "the interval is wider than the tolerance"),)
    return Decision(done, settled, mean, low, high, 0.0, used_s, reasons, None if done else next_s)


def _batched(values: Sequence[float]) -> tuple[float, float]:
    size = len(values) // _BATCHES
    means = [math.fsum(values[i * size : (i + 1) * size]) / size for i in range(_BATCHES)]
    mean = math.fsum(means) / _BATCHES
    variance = math.fsum((value - mean) ** 2 for value in means) / (_BATCHES - 1)
    return mean, quantile(0.975, _BATCHES - 1) * math.sqrt(variance / _BATCHES)
