"""`steady: fio` and its kin: the steady state of fio's own `steadystate` option, with the rule's tolerance.

fio collects a rate each second in a rolling window (`ss_dur`, here the rule's `min`, ten seconds at least). `iops:3%`
is attained when every second of the window is within 3 % of its mean; `iops_slope:3%` when the least-squares slope,
per second, is within 3 % of it; `bw` and `bw_slope` are the same of bytes. Source: fio(1), steadystate, and
`steadystate_deviation` and `steadystate_slope` in steadystate.c.
"""

import math
from collections.abc import Sequence
from typing import Literal

from poolproof.stopping.autoregression import long_run
from poolproof.stopping.model import FIO_WINDOW_S, RateSeries, Reason, Steady, StoppingDecision, StoppingRule

_SECOND = 1.0
_TINY = 1e-9


def rate_of(steady: Steady) -> Literal["bytes", "ios"] | None:
    """Which rate a criterion is about; None where it takes the one that the workload is compared by."""
    if steady.startswith("fio-bw"):
        return "bytes"
    return "ios" if steady.startswith("fio-iops") else None


def fio_steady(series: RateSeries, rule: StoppingRule) -> StoppingDecision:
    """Whether the last window is steady by fio; the mean and its interval are those of this window."""
    per_second = max(1, round(_SECOND / series.interval_s))
    second_s = per_second * series.interval_s
    seconds = min(len(series.values), math.floor(rule.most_s / series.interval_s + _TINY)) // per_second
    size = max(round(FIO_WINDOW_S / _SECOND), math.ceil(rule.least_s / second_s - _TINY))
    is_last = (seconds + 1) * second_s > max(rule.most_s, size * second_s) + _TINY
    used = series.values[: seconds * per_second]
    if seconds < size:
        mean = math.fsum(used) / len(used) if used else None
        sentence = f"fio looks at {size * second_s:.3g} s at once; {seconds * second_s:.3g} s have passed"
        reason = Reason("too-short", sentence, {"window_s": size * second_s})
        return StoppingDecision(is_last, False, mean, None, None, 0.0, seconds * second_s, (reason,), size * second_s)
    window = used[-size * per_second :]
    found = _unsteady(window, per_second, rule)
    settled = found is None
    run = long_run(window)
    half = run.half_width(rule.confidence)
    return StoppingDecision(
        done=settled or is_last,
        settled=settled,
        mean=run.mean,
        low=max(0.0, run.mean - half) if settled else None,
        high=run.mean + half if settled else None,
        warmup_s=(seconds - size) * second_s,
        used_s=seconds * second_s,
        reasons=() if found is None else (found,),
        next_s=None if settled or is_last else (seconds + 1) * second_s,
    )


def _unsteady(window: Sequence[float], per_second: int, rule: StoppingRule) -> Reason | None:
    rates = [math.fsum(window[at : at + per_second]) / per_second for at in range(0, len(window), per_second)]
    mean = math.fsum(rates) / len(rates)
    if mean <= 0:
        return Reason("idle", "nothing moved")
    by_slope = rule.steady.endswith("slope")
    off = (_slope(rates) if by_slope else max(abs(rate - mean) for rate in rates)) / mean
    if off < rule.until:
        return None
    what = "its slope is {:.1%} a second" if by_slope else "a second is {:.1%} off the window's mean"
    sentence = f"{what.format(off)}; fio was asked for {rule.until:.1%}"
    return Reason("criterion", sentence, {"off": off, "until": rule.until})


def _slope(rates: Sequence[float]) -> float:
    middle = (len(rates) - 1) / 2
    spread = math.fsum((at - middle) ** 2 for at in range(len(rates)))
    return abs(math.fsum((at - middle) * rate for at, rate in enumerate(rates)) / spread)
