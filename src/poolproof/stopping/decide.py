"""The stopping rule of one trial: is its figure known?"""

import math
from collections.abc import Sequence
from dataclasses import replace

from poolproof.stopping.checkpoints import checkpoint_before
from poolproof.stopping.fio_steady import fio_steady
from poolproof.stopping.model import RateSeries, Reason, StoppingDecision, StoppingRule
from poolproof.stopping.snia import snia_steady
from poolproof.stopping.window import LEAST_SAMPLES, view

_TINY = 1e-9


def decide(series: RateSeries, rule: StoppingRule) -> StoppingDecision:
    """What the series says at the last look that it has reached. Asking between two looks changes nothing."""
    if rule.steady == "snia":
        return _if_reported(snia_steady(series, rule), series, rule)
    if rule.steady != "poolproof":
        return _if_reported(fio_steady(series, rule), series, rule)
    look_s, next_s = checkpoint_before(rule, series.duration_s)
    values = () if look_s is None else series.values[: math.floor(look_s / series.interval_s + _TINY)]
    if len(values) < LEAST_SAMPLES:
        return _too_short(series, rule, next_s)
    found = _at_look(values, series.interval_s, rule, next_s, is_first=look_s == rule.least_s)
    return _if_reported(found, series, rule)


def _if_reported(decision: StoppingDecision, series: RateSeries, rule: StoppingRule) -> StoppingDecision:
    """Nothing is known by fewer reports than an interval takes: what lies between two is a straight line, made here.

    fio reports nothing while its queue is stuck, as for seconds behind a transaction group of ZFS.
    """
    count, seconds = series.reports_between(decision.warmup_s, decision.used_s), decision.used_s - decision.warmup_s
    least = LEAST_SAMPLES if rule.steady == "poolproof" else math.ceil(seconds / series.interval_s / 2)
    if decision.low is None or not series.reports_s or count >= least:
        return decision
    next_s = checkpoint_before(rule, series.duration_s)[1]
    sentence = f"fio reported {count} times in {seconds:.3g} s; it takes {least}"
    reason = Reason("few-samples", sentence, {"reports": count})
    found = replace(decision, settled=False, low=None, high=None, reasons=(*decision.reasons, reason))
    return replace(found, done=next_s is None, next_s=next_s)


def _at_look(
    values: Sequence[float], interval_s: float, rule: StoppingRule, next_s: float | None, *, is_first: bool
) -> StoppingDecision:
    seen = view(values, interval_s, rule, is_first=is_first)
    settled = not seen.unsteady and not seen.unknown
    done = settled or next_s is None
    bounds = None if seen.unsteady or seen.half is None else (max(0.0, seen.mean - seen.half), seen.mean + seen.half)
    return StoppingDecision(
        done=done,
        settled=settled,
        mean=seen.mean,
        low=None if bounds is None else bounds[0],
        high=None if bounds is None else bounds[1],
        warmup_s=seen.warmup_s,
        used_s=len(values) * interval_s,
        reasons=seen.unsteady + seen.unknown,
        next_s=None if done else next_s,
        least=seen.least,
        most=seen.most,
    )


def _too_short(series: RateSeries, rule: StoppingRule, next_s: float | None) -> StoppingDecision:
    mean = math.fsum(series.values) / len(series.values) if series.values else None
    least_s = max(rule.least_s, LEAST_SAMPLES * series.interval_s)
    sentence = f"it takes {least_s:.3g} s at least, and {LEAST_SAMPLES} samples"
    reason = Reason("too-short", sentence, {"least_s": least_s, "samples": len(series.values)})
    return StoppingDecision(next_s is None, False, mean, None, None, 0.0, series.duration_s, (reason,), next_s)
