"""One look at a series: cut its warm-up, look for what is not stationary, and give its mean an interval."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from poolproof.stopping.autoregression import LongRun, joined, long_run
from poolproof.stopping.bursts import bursts
from poolproof.stopping.model import Reason, StoppingRule
from poolproof.stopping.modes import modes
from poolproof.stopping.period import LEAST_PERIODS, period, whole_periods, without_period
from poolproof.stopping.trend import trend
from poolproof.stopping.warmup import warm_up

LEAST_SAMPLES = 12
LEAST_EFFECTIVE = 12
"""Independent samples, bursts, or changes of speed, with fewer of which no interval is given."""

_MOST_SAMPLES = 2000
_MOST_WARM_UP = 1 / 3
_PARTS = 10
_WIDER = 4.0


@dataclass(frozen=True)
class View:
    """What one look found: the mean from `warmup_s` on, half its interval, and why it is not stationary, or not known.

    `half` is None without an interval: too few samples. `least` and `most`: the means of its lowest and highest tenth.
    """

    mean: float
    half: float | None
    warmup_s: float
    unsteady: tuple[Reason, ...] = ()
    unknown: tuple[Reason, ...] = ()
    least: float | None = None
    most: float | None = None


@dataclass(frozen=True)
class _Part:
    """The samples that a mean is of. `head` was cut off before them; `flat` is without what repeats in them.

    `periods` is the number of whole periods in them, 0 where nothing repeats.
    """

    head: Sequence[float]
    values: Sequence[float]
    flat: Sequence[float]
    periods: int = 0

    def long_run(self) -> LongRun:
        """How well the mean is known; the profile of a period, estimated itself, takes one period's worth of it."""
        run = long_run(self.flat)
        wider = math.sqrt(self.periods / (self.periods - 1)) if self.periods else 1.0
        return replace(run, standard_error=run.standard_error * wider)


def view(values: Sequence[float], interval_s: float, rule: StoppingRule, *, is_first: bool) -> View:
    """Look at the samples so far, of which there are `LEAST_SAMPLES` or more. `is_first`: no look came before.

    A rule that looks again and again stops when the interval is narrow, hence rather when it is narrow by chance. What
    that costs in coverage falls with the degrees of freedom (Woodroofe 1977, Annals of Statistics 5, 984-995); so from
    the second look on the interval is widened by 4 over them, chosen by the coverage in docs/stopping.md.
    """
    size = math.ceil(len(values) / _MOST_SAMPLES)
    values, interval_s = joined(values, size), interval_s * size
    mean = math.fsum(values) / len(values)
    if mean <= 0:
        return View(mean, None, 0.0, unsteady=(Reason("idle", "nothing moved"),))
    cut = warm_up(values, rule.until)
    late = cut > _MOST_WARM_UP * len(values)
    part, cycle = _part(values, 0 if late else cut, interval_s, rule.until)
    if math.fsum(part.values) <= 0:
        return View(mean, None, 0.0, unsteady=(Reason("idle", f"nothing moved after {cut * interval_s:.3g} s"),))
    reason, events = _unsteady(part, interval_s, rule.until)
    unsteady = tuple(each for each in (cycle, reason) if each) or ((_warming(cut * interval_s),) if late else ())
    run = part.long_run()
    run = replace(run, effective=min(run.effective, events))
    half = run.half_width(rule.confidence) * (1 if is_first else 1 + _WIDER / run.freedom)
    least, most = _extremes(part.values)
    range_ = most - least
    if run.effective < LEAST_EFFECTIVE and range_ <= rule.until * run.mean:
        half, run = max(half, range_), replace(run, effective=LEAST_EFFECTIVE)  # slow, but too small to matter
    return View(
        mean=run.mean,
        half=None if run.effective < LEAST_EFFECTIVE else half,
        warmup_s=(len(values) - len(part.values)) * interval_s,
        unsteady=unsteady,
        unknown=() if unsteady else tuple(_unknown(run, half, len(part.values), rule)),
        least=least,
        most=most,
    )


def _part(values: Sequence[float], start: int, interval_s: float, until: float) -> tuple[_Part, Reason | None]:
    """The samples from `start` on; whole periods of them where they repeat, and a reason where those are too few.

    Then too the mean is one of whole periods, so that it does not depend on where the window cuts them.
    """
    kept = values[start:]
    found = period(kept, until)
    if found is None:
        return _Part(values[:start], kept, kept), None
    count = len(kept) // found.samples
    whole = whole_periods(kept, found)
    too_few = found.reason(interval_s, len(kept)) if count < LEAST_PERIODS else None
    return _Part((), whole, without_period(whole, found), count), too_few


def _unsteady(part: _Part, interval_s: float, until: float) -> tuple[Reason | None, float]:
    """What is not stationary, and how many events the mean rests on, ∞ where it rests on none.

    Of a step, bursts and two speeds the first is told, for they look alike.
    """
    changing = trend(part.flat, interval_s, until, len(part.head) + len(part.flat))
    if changing is not None:
        return changing, math.inf
    burst = bursts((*part.head, *part.flat), len(part.head), until)
    if burst is not None:
        few = burst.episodes < LEAST_EFFECTIVE
        return burst.reason(interval_s, LEAST_EFFECTIVE) if few else None, burst.episodes
    split = modes(part.flat, until)
    if split is not None:
        return split.reason() if split.changes < LEAST_EFFECTIVE else None, split.changes
    return None, math.inf


def _unknown(run: LongRun, half: float, count: int, rule: StoppingRule) -> Iterator[Reason]:
    if run.effective < LEAST_EFFECTIVE:
        sentence = f"its {count} samples follow one another so closely that they count as {run.effective:.0f}"
        yield Reason("few-samples", sentence, {"effective": run.effective, "least": LEAST_EFFECTIVE})
    elif half > rule.until * run.mean:
        sentence = f"it is known to ±{half / run.mean:.1%}, and ±{rule.until:.1%} was asked for"
        yield Reason("noise", sentence, {"half": half / run.mean, "until": rule.until})


def _warming(cut_s: float) -> Reason:
    return Reason("warm-up", f"it was still warming up after {cut_s:.3g} s", {"cut_s": cut_s})


def _extremes(values: Sequence[float]) -> tuple[float, float]:
    """The lowest and the highest of ten parts of the series."""
    bounds = [round(len(values) * part / _PARTS) for part in range(_PARTS + 1)]
    means = [math.fsum(values[a:b]) / (b - a) for a, b in pairwise(bounds) if b > a]
    return min(means), max(means)
