"""Estimate the mean of a trial's samples so far, after cutting off the warm-up and testing for stationarity."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from poolproof.statistics.autocorrelation import LongRun, batch_means, long_run
from poolproof.statistics.stationarity import (
    LEAST_PERIODS,
    MOST_WARM_UP,
    Bursts,
    Modes,
    SeriesChange,
    bursts,
    change,
    modes,
    period,
    warm_up,
    without_period,
)
from poolproof.stopping.model import NotConverged, StoppingRule
from poolproof.units import format_number

LEAST_SAMPLES = 12
LEAST_EFFECTIVE = 12
"""The minimum number of independent samples, bursts or changes of speed that a confidence interval requires."""

_MOST_SAMPLES = 2000
_TENTHS = 10
_WIDER = 4.0
_RANGE_IN_ERRORS = 2.0  # the range serves as the half width of an interval: two standard errors


@dataclass(frozen=True)
class WindowEstimate:
    """The mean after the warm-up, with the half width of its confidence interval (`half`).

    `unsteady`, `imprecise`: the reasons why the trial is not stationary or not precise.
    `lowest`, `highest`: the lowest and highest mean of any tenth of the samples.
    `trend`: the mean of the second half of the samples minus that of the first half, relative to the mean.
    `error`, `freedom`: the standard error of the mean and its degrees of freedom. Unlike `half`, the error is not
    widened to allow for repeated checks.

    Both `half` and `error` are None if there are too few samples.
    """

    mean: float
    half: float | None
    warmup_s: float
    unsteady: tuple[NotConverged, ...] = ()
    imprecise: tuple[NotConverged, ...] = ()
    lowest: float | None = None
    highest: float | None = None
    error: float | None = None
    freedom: float = 1.0
    trend: float | None = None


@dataclass(frozen=True)
class _SteadySamples:
    """The samples from which a mean is computed.

    `head`: the samples cut off as warm-up. Empty if the rate is periodic.
    `values`: the remaining samples.
    `flat`: the remaining samples without their periodic component.
    `periods`: the number of whole periods, or 0 if the rate is not periodic.
    """

    head: Sequence[float]
    values: Sequence[float]
    flat: Sequence[float]
    periods: int = 0

    def long_run(self) -> LongRun:
        """Return the mean and its standard error, which is increased because the periodic component is estimated."""
        run = long_run(self.flat)
        wider = math.sqrt(self.periods / (self.periods - 1)) if self.periods else 1.0
        return replace(run, standard_error=run.standard_error * wider)


def estimate_window(
    values: Sequence[float], interval_s: float, rule: StoppingRule, *, is_first: bool
) -> WindowEstimate:
    """Return the mean of the samples recorded after the warm-up, with its confidence interval.

    `values`: the samples recorded so far, including the warm-up; at least `LEAST_SAMPLES`.

    After the first checkpoint, the half width is multiplied by 1 + 4 / degrees of freedom, because repeated checks
    favour moments at which the interval happens to be narrow (docs/stopping.md).
    """
    size = math.ceil(len(values) / _MOST_SAMPLES)
    values, interval_s = batch_means(values, size), interval_s * size
    mean = math.fsum(values) / len(values)
    if mean <= 0:
        return WindowEstimate(mean, None, 0.0, unsteady=(NotConverged("idle", "nothing was read or written"),))
    cut = 0 if "warm-up" in rule.ignored else warm_up(values, rule.until)
    is_late = cut > MOST_WARM_UP * len(values)
    window, cycle = _window(values, 0 if is_late else cut, interval_s, rule)
    if math.fsum(window.values) <= 0:
        sentence = f"nothing was read or written after {format_number(cut * interval_s, 3)} s"
        return WindowEstimate(mean, None, 0.0, unsteady=(NotConverged("idle", sentence),))
    reason, events = _unsteady(window, interval_s, rule)
    unsteady = tuple(each for each in (cycle, reason) if each)
    if is_late and not unsteady:
        unsteady = (
            NotConverged("warm-up", f"the trial was still warming up after {format_number(cut * interval_s, 3)} s"),
        )
    run = window.long_run()
    run = replace(run, effective=min(run.effective, events))
    half = run.half_width(rule.confidence) * (1 if is_first else 1 + _WIDER / run.freedom)
    bounds = [round(len(window.values) * part / _TENTHS) for part in range(_TENTHS + 1)]
    tenths = [math.fsum(window.values[a:b]) / (b - a) for a, b in pairwise(bounds) if b > a]
    lowest, highest = min(tenths), max(tenths)
    error = run.standard_error
    if run.effective < LEAST_EFFECTIVE and highest - lowest <= rule.until * run.mean:
        # strongly correlated, but the range is too small for that to matter
        half, error = max(half, highest - lowest), max(error, (highest - lowest) / _RANGE_IN_ERRORS)
        run = replace(run, effective=LEAST_EFFECTIVE)
    has_interval = run.effective >= LEAST_EFFECTIVE
    return WindowEstimate(
        mean=run.mean,
        half=half if has_interval else None,
        warmup_s=(len(values) - len(window.values)) * interval_s,
        unsteady=unsteady,
        imprecise=() if unsteady else _imprecise(run, half, len(window.values), rule),
        lowest=lowest,
        highest=highest,
        error=error if has_interval else None,
        freedom=run.freedom,
        trend=_trend(window.values) / run.mean,
    )


def _trend(values: Sequence[float]) -> float:
    half = len(values) // 2
    return math.fsum(values[half:]) / (len(values) - half) - math.fsum(values[:half]) / half


def _window(
    values: Sequence[float], start: int, interval_s: float, rule: StoppingRule
) -> tuple[_SteadySamples, NotConverged | None]:
    """Return the samples from `start` on, and the reason `periodic` if they contain fewer than 3 whole periods.

    The reason is None if the samples contain enough periods or are not periodic. Periodic samples are always cut to
    whole periods, so that their mean does not depend on where the window ends.
    """
    rest = values[start:]
    samples = None if "periodic" in rule.ignored else period(rest, rule.until)
    if samples is None:
        return _SteadySamples(values[:start], rest, rest), None
    count = len(rest) // samples
    whole = rest[len(rest) % samples :]
    window = _SteadySamples((), whole, without_period(whole, samples), count)
    if count >= LEAST_PERIODS:
        return window, None
    length, period_s = f"{format_number(len(rest) * interval_s, 3)} s", samples * interval_s
    repeats = f"the rate repeats every {format_number(period_s, 3)} s"
    sentence = f"{repeats}, so {length} contains fewer than {LEAST_PERIODS} periods"
    return window, NotConverged("periodic", sentence)


def _unsteady(window: _SteadySamples, interval_s: float, rule: StoppingRule) -> tuple[NotConverged | None, float]:
    """Return the reason why the window is not stationary, and the number of bursts or speed changes in it.

    The reason is None if the window is stationary. The number is ∞ if there are no bursts or speed changes. A step,
    bursts and two speeds look alike, so only the first one found is reported.
    """
    until = rule.until
    changing = change(window.flat, until, len(window.head) + len(window.flat))
    if changing is not None and (reason := _changing(changing, len(window.flat) * interval_s)).name not in rule.ignored:
        return reason, math.inf
    burst = bursts((*window.head, *window.flat), len(window.head), until)
    if burst is not None and "burst" not in rule.ignored:
        few = burst.episodes < LEAST_EFFECTIVE
        return _few_bursts(burst, burst.samples * interval_s) if few else None, burst.episodes
    split = modes(window.flat, until)
    if split is not None and "bimodal" not in rule.ignored:
        return _two_speeds(split) if split.changes < LEAST_EFFECTIVE else None, split.changes
    return None, math.inf


def _changing(found: SeriesChange, seconds: float) -> NotConverged:
    if found.at is None:
        word = "rises" if found.by > 0 else "falls"
        return NotConverged("drift", f"the rate {word} by {abs(found.by):.0%} over {format_number(seconds, 3)} s")
    word = "jumps" if found.by > 0 else "drops"
    return NotConverged(
        "step", f"the rate {word} by {abs(found.by):.0%} after {format_number(found.at * seconds, 3)} s"
    )


def _few_bursts(found: Bursts, seconds: float) -> NotConverged:
    """Return the reason `burst`, which means that the mean depends on only a few bursts or stalls.

    Such a mean is imprecise, because the relative error of a count of k events is 1/√k.
    """
    name = ("burst" if found.moved > 0 else "stall") + ("s" if found.episodes > 1 else "")
    verb = "move" if found.episodes > 1 else "moves"
    sentence = (
        f"{found.episodes} {name} ({format_number(seconds)} s in total) {verb} the mean by {abs(found.moved):.1%}"
    )
    return NotConverged("burst", f"{sentence}; at least {LEAST_EFFECTIVE} are needed to know how often they occur")


def _two_speeds(found: Modes) -> NotConverged:
    times = "once" if found.changes == 1 else f"{found.changes} times"
    sentence = f"the rate was 0 for {found.share:.0%} of the time, and it switched between 0 and a higher value {times}"
    if found.low > 0:
        sentence = (
            f"there are two speeds, {found.high / found.low - 1:.0%} apart, and the rate switched between them {times}"
        )
    return NotConverged("bimodal", sentence)


def _imprecise(run: LongRun, half: float, count: int, rule: StoppingRule) -> tuple[NotConverged, ...]:
    if run.effective < LEAST_EFFECTIVE:
        sentence = f"the {count} samples are so strongly correlated that they count as only {run.effective:.0f}"
        return (NotConverged("few-samples", sentence),)
    if half <= rule.until * run.mean:
        return ()
    return (NotConverged("noise", f"the precision is ±{half / run.mean:.1%}, but ±{rule.until:.1%} is required"),)
