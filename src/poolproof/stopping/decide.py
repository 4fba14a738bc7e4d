"""The stopping rule of one trial: at which times it is checked, and whether the trial has converged.

Stopping at the first moment at which an interval happens to be narrow makes it cover the truth less often than it
claims (Law and Kelton 1982, Management Science 28, 550-562). All sequential procedures share the cure: few checkpoints,
ever further apart.
"""

import math
from collections.abc import Iterator
from dataclasses import replace

from poolproof.stopping.model import NotConverged, RateSeries, StoppingDecision, StoppingRule
from poolproof.stopping.snia import snia_steady
from poolproof.stopping.window import LEAST_SAMPLES, estimate_window

STEP = 1.25
"""From one checkpoint to the next, the trial gets longer by this factor."""

_TINY = 1e-9


def checkpoints(rule: StoppingRule) -> Iterator[float]:
    """Yield the time of every checkpoint in seconds, from the shortest to the longest trial."""
    at_s = rule.least_s
    while at_s < rule.most_s:
        yield at_s
        at_s *= STEP
    yield rule.most_s


def decide(series: RateSeries, rule: StoppingRule) -> StoppingDecision:
    """Return what the series says at the last checkpoint that it has reached.

    Calling this between two checkpoints changes nothing.
    """
    if rule.steady == "snia":
        return _if_reported(snia_steady(series, rule), series, rule)
    checkpoint_s, next_s = _surrounding(rule, series.duration_s)
    values = () if checkpoint_s is None else series.values[: math.floor(checkpoint_s / series.interval_s + _TINY)]
    if len(values) < LEAST_SAMPLES:
        return _too_short(series, rule, next_s)
    is_first = checkpoint_s == rule.least_s
    return _if_reported(_at_checkpoint(values, series.interval_s, rule, next_s, is_first=is_first), series, rule)


def _surrounding(rule: StoppingRule, elapsed_s: float) -> tuple[float | None, float | None]:
    """Return the last checkpoint at or before this time, and the next one; None if there is none."""
    last = None
    for at_s in checkpoints(rule):
        if at_s > elapsed_s * (1 + _TINY):
            return last, at_s
        last = at_s
    return last, None


def _at_checkpoint(
    values: tuple[float, ...], interval_s: float, rule: StoppingRule, next_s: float | None, *, is_first: bool
) -> StoppingDecision:
    found = estimate_window(values, interval_s, rule, is_first=is_first)
    reasons = found.unsteady + found.imprecise
    done = not reasons or next_s is None
    half = None if found.unsteady else found.half
    return StoppingDecision(
        done=done,
        converged=not reasons,
        mean=found.mean,
        low=None if half is None else max(0.0, found.mean - half),
        high=None if half is None else found.mean + half,
        warmup_s=found.warmup_s,
        used_s=len(values) * interval_s,
        reasons=reasons,
        next_s=None if done else next_s,
        lowest=found.lowest,
        highest=found.highest,
    )


def _if_reported(decision: StoppingDecision, series: RateSeries, rule: StoppingRule) -> StoppingDecision:
    """Withdraw an interval that rests on too few of fio's reports: values between two reports are interpolated.

    fio reports nothing while its queue is stuck, for example for seconds behind a transaction group of ZFS.
    """
    count, seconds = series.reports_between(decision.warmup_s, decision.used_s), decision.used_s - decision.warmup_s
    least = LEAST_SAMPLES if rule.steady == "poolproof" else math.ceil(seconds / series.interval_s / 2)
    if decision.low is None or not series.reports_s or count >= least:
        return decision
    next_s = _surrounding(rule, series.duration_s)[1]
    sentence = f"fio reported {count} times in {seconds:.3g} s; at least {least} are needed"
    reason = NotConverged("few-samples", sentence)
    found = replace(decision, converged=False, low=None, high=None, reasons=(*decision.reasons, reason))
    return replace(found, done=next_s is None, next_s=next_s)


def _too_short(series: RateSeries, rule: StoppingRule, next_s: float | None) -> StoppingDecision:
    mean = math.fsum(series.values) / len(series.values) if series.values else None
    least_s = max(rule.least_s, LEAST_SAMPLES * series.interval_s)
    sentence = f"it needs at least {least_s:.3g} s and {LEAST_SAMPLES} samples"
    reason = NotConverged("too-short", sentence)
    return StoppingDecision(next_s is None, False, mean, None, None, 0.0, series.duration_s, (reason,), next_s)
