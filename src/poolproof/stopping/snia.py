"""`steady: snia`: the steady state of the SNIA Solid State Storage Performance Test Specification.

A trial is steady after five rounds whose means differ by at most 20 % of their average, and whose best straight line
rises or falls by at most 10 % of it (PTS 2.0.2, "steady state", 2020). There are at most 25 rounds. A round of the
specification lasts one minute; here it is a 25th of the rule's `max`, so `max: 25m` gives that minute.
"""

import math
from collections.abc import Sequence
from itertools import pairwise

from poolproof.statistics.autocorrelation import long_run
from poolproof.statistics.distributions import quantile
from poolproof.statistics.stationarity import slope
from poolproof.statistics.variances import variance_of
from poolproof.stopping.model import NotConverged, RateSeries, StoppingDecision, StoppingRule

WINDOW_ROUNDS = 5
MOST_ROUNDS = 25
_EXCURSION = 0.20
_SLOPE = 0.10
_TINY = 1e-9


def snia_steady(series: RateSeries, rule: StoppingRule) -> StoppingDecision:
    """Return whether the last five rounds are steady, with their mean and its interval."""
    round_s = rule.most_s / MOST_ROUNDS
    rounds = min(MOST_ROUNDS, math.floor(series.duration_s / round_s + _TINY))
    window = _window(series, round_s, rounds)
    means = [math.fsum(part) / len(part) for part in window if part]
    next_s = None if rounds == MOST_ROUNDS else (max(rounds + 1, WINDOW_ROUNDS)) * round_s
    if len(means) < WINDOW_ROUNDS or rounds * round_s < rule.least_s - _TINY:
        return _too_few(series, rounds, round_s, next_s)
    reason = _unsteady(means)
    converged = reason is None
    mean = math.fsum(means) / len(means)
    half = _half(means, [value for part in window for value in part], rule) if converged else None
    return StoppingDecision(
        done=converged or next_s is None,
        converged=converged,
        mean=mean,
        low=None if half is None else mean - half,
        high=None if half is None else mean + half,
        warmup_s=(rounds - WINDOW_ROUNDS) * round_s,
        used_s=rounds * round_s,
        reasons=() if reason is None else (reason,),
        next_s=None if converged else next_s,
    )


def _window(series: RateSeries, round_s: float, rounds: int) -> list[tuple[float, ...]]:
    """Return the samples of each of the last five rounds."""
    bounds = [round(at * round_s / series.interval_s) for at in range(max(0, rounds - WINDOW_ROUNDS), rounds + 1)]
    return [series.values[a:b] for a, b in pairwise(bounds)]


def _unsteady(means: Sequence[float]) -> NotConverged | None:
    average = math.fsum(means) / len(means)
    if average <= 0:
        return NotConverged("idle", "nothing was read or written")
    excursion = (max(means) - min(means)) / average
    rise = abs(slope(means)) * (len(means) - 1) / average
    if excursion <= _EXCURSION and rise <= _SLOPE:
        return None
    sentence = f"the last five rounds differ by {excursion:.0%} and their trend is {rise:.0%}"
    return NotConverged("criterion", f"{sentence}; SNIA allows 20 % and 10 %")


def _half(means: Sequence[float], values: Sequence[float], rule: StoppingRule) -> float:
    """Return half the interval of the mean: by its samples or by its rounds, whichever is wider."""
    by_rounds = quantile((1 + rule.confidence) / 2, len(means) - 1) * math.sqrt(variance_of(means) / len(means))
    if len(values) < 4 * WINDOW_ROUNDS:
        return by_rounds
    return max(by_rounds, long_run(values).half_width(rule.confidence))


def _too_few(series: RateSeries, rounds: int, round_s: float, next_s: float | None) -> StoppingDecision:
    mean = math.fsum(series.values) / len(series.values) if series.values else None
    sentence = f"SNIA requires {WINDOW_ROUNDS} rounds of {round_s:.3g} s; {rounds} have passed"
    reason = NotConverged("too-short", sentence)
    return StoppingDecision(next_s is None, False, mean, None, None, 0.0, series.duration_s, (reason,), next_s)
