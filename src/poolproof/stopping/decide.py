"""The stopping rule for a trial: when to check it, and how to decide whether it has converged.

A confidence interval covers the true value less often than it claims if it is checked continuously and used as soon as
it is narrow (Law and Kelton 1982, Management Science 28, 550-562). The usual remedy in sequential procedures is to
check rarely, at growing intervals.

`steady: snia` uses the steady state of the SNIA Solid State Storage Performance Test Specification (PTS 2.0.2, 2020).
The means of the last five rounds must span at most 20% of their average. A least-squares line through them must rise or
fall by at most 10% of that average. A trial has at most 25 rounds, each of which takes a 25th of `most_s`.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from poolproof.statistics.autocorrelation import long_run
from poolproof.statistics.distributions import t_half_width
from poolproof.statistics.intervals import Interval, standard_error
from poolproof.statistics.stationarity import slope
from poolproof.stopping.model import NotConverged, RateSeries, StoppingDecision, StoppingRule
from poolproof.stopping.steady_window import LEAST_SAMPLES, estimate_window
from poolproof.units import format_number

STEP = 1.25
"""The ratio between the times of two consecutive checkpoints."""

MOST_ROUNDS = 25
_ROUNDS = 5
_EXCURSION = 0.20
_SLOPE = 0.10
_TINY = 1e-9


def checkpoints(rule: StoppingRule) -> Iterator[float]:
    """Yield the checkpoints, in seconds since the start of the trial, from its minimum to its maximum length."""
    at_s = rule.least_s
    while at_s < rule.most_s:
        yield at_s
        at_s *= STEP
    yield rule.most_s


def decide(series: RateSeries, rule: StoppingRule) -> StoppingDecision:
    """Return the decision at the latest checkpoint that the series has reached."""
    if rule.steady == "snia":
        return _if_reported(_snia_steady(series, rule), series, rule)
    checkpoint_s, next_s = _surrounding(rule, series.duration_s)
    values = () if checkpoint_s is None else series.values[: math.floor(checkpoint_s / series.interval_s + _TINY)]
    if len(values) < LEAST_SAMPLES:
        least_s = max(rule.least_s, LEAST_SAMPLES * series.interval_s)
        return _too_short(
            series, f"a trial needs at least {format_number(least_s, 3)} s and {LEAST_SAMPLES} samples", next_s
        )
    found = estimate_window(values, series.interval_s, rule, is_first=checkpoint_s == rule.least_s)
    reasons = found.unsteady + found.imprecise
    done = not reasons or next_s is None
    interval = Interval.around(found.mean, None if found.unsteady else found.half)
    decision = StoppingDecision(
        done=done,
        converged=not reasons,
        mean=found.mean,
        low=interval.low,
        high=interval.high,
        warmup_s=found.warmup_s,
        used_s=len(values) * series.interval_s,
        reasons=reasons,
        next_s=None if done else next_s,
        lowest=found.lowest,
        highest=found.highest,
        error_share=None if found.unsteady or found.error is None else found.error / found.mean,
        freedom=found.freedom,
        trend=found.trend,
    )
    return _if_reported(decision, series, rule)


def _surrounding(rule: StoppingRule, elapsed_s: float) -> tuple[float | None, float | None]:
    """Return the last checkpoint up to this time and the next one after it, with None in place of a missing one."""
    last = None
    for at_s in checkpoints(rule):
        if at_s > elapsed_s * (1 + _TINY):
            return last, at_s
        last = at_s
    return last, None


def _if_reported(decision: StoppingDecision, series: RateSeries, rule: StoppingRule) -> StoppingDecision:
    """Return the decision, without its confidence interval if the load generator sent too few reports.

    The interval would be unreliable, because values between reports are only interpolated. fio sends no report while
    its queue is stuck, which can last seconds while ZFS commits a transaction group.
    """
    seconds = decision.used_s - decision.warmup_s
    count = sum(decision.warmup_s < at_s <= decision.used_s + series.interval_s for at_s in series.reports_s)
    least = LEAST_SAMPLES if rule.steady == "poolproof" else math.ceil(seconds / series.interval_s / 2)
    if decision.low is None or not series.reports_s or count >= least:
        return decision
    next_s = _surrounding(rule, series.duration_s)[1]
    sent = "1 report" if count == 1 else f"{count} reports"
    sentence = f"the load generator sent {sent} in {format_number(seconds, 3)} s; at least {least} are needed"
    reasons = (*decision.reasons, NotConverged("few-samples", sentence))
    return replace(
        decision,
        converged=False,
        low=None,
        high=None,
        error_share=None,
        reasons=reasons,
        done=next_s is None,
        next_s=next_s,
    )


def _too_short(series: RateSeries, why: str, next_s: float | None) -> StoppingDecision:
    mean = math.fsum(series.values) / len(series.values) if series.values else None
    reason = NotConverged("too-short", why)
    return StoppingDecision(next_s is None, False, mean, None, None, 0.0, series.duration_s, (reason,), next_s)


def _snia_steady(series: RateSeries, rule: StoppingRule) -> StoppingDecision:
    round_s = rule.most_s / MOST_ROUNDS
    rounds = min(MOST_ROUNDS, math.floor(series.duration_s / round_s + _TINY))
    bounds = [round(at * round_s / series.interval_s) for at in range(max(0, rounds - _ROUNDS), rounds + 1)]
    window = [series.values[a:b] for a, b in pairwise(bounds)]
    means = [math.fsum(part) / len(part) for part in window if part]
    next_s = None if rounds == MOST_ROUNDS else (max(rounds + 1, _ROUNDS)) * round_s
    if len(means) < _ROUNDS:
        return _too_short(
            series,
            f"SNIA requires {_ROUNDS} rounds of {format_number(round_s, 3)} s, and only {rounds} finished",
            next_s,
        )
    if rounds * round_s < rule.least_s - _TINY:
        return _too_short(series, f"a trial needs at least {format_number(rule.least_s, 3)} s", next_s)
    reason = _unsteady(means)
    converged = reason is None
    mean = math.fsum(means) / len(means)
    half = _half(means, [value for part in window for value in part], rule.confidence) if converged else None
    interval = Interval.around(mean, half)
    return StoppingDecision(
        done=converged or next_s is None,
        converged=converged,
        mean=mean,
        low=interval.low,
        high=interval.high,
        warmup_s=(rounds - _ROUNDS) * round_s,
        used_s=rounds * round_s,
        reasons=() if reason is None else (reason,),
        next_s=None if converged else next_s,
    )


def _unsteady(means: Sequence[float]) -> NotConverged | None:
    average = math.fsum(means) / len(means)
    if average <= 0:
        return NotConverged("idle", "nothing was read or written")
    excursion = (max(means) - min(means)) / average
    rise = abs(slope(means)) * (len(means) - 1) / average
    if excursion <= _EXCURSION and rise <= _SLOPE:
        return None
    sentence = f"the means of the last five rounds span {excursion:.0%} of their average and drift by {rise:.0%}"
    return NotConverged("criterion", f"{sentence}; SNIA allows 20% and 10%")


def _half(means: Sequence[float], values: Sequence[float], confidence: float) -> float:
    """Return the half width of the mean's confidence interval, from samples or from rounds, whichever is wider."""
    by_rounds = t_half_width(standard_error(means), len(means) - 1, confidence)
    if len(values) < 4 * _ROUNDS:
        return by_rounds
    return max(by_rounds, long_run(values).half_width(confidence))
