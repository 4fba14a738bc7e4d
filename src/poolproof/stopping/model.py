"""The input and output values of the stopping rule.

A series is a trial's rate (I/Os or bytes per second) or mean latency (nanoseconds) in consecutive intervals. Values
have the unit of the series. Times are in seconds since the series began. Tolerances are relative to the mean.
"""

from dataclasses import dataclass
from typing import Literal

Steady = Literal["poolproof", "snia"]
IMPRECISE = frozenset({"noise", "percentile", "few-samples", "periodic"})
"""The reasons why a trial is not precise enough although its rate did not change.

The spread of several trials then shows how far the mean may be off. docs/stopping.md has the measured coverage.
"""


@dataclass(frozen=True)
class RateSeries:
    """A trial's rate in intervals of equal length, starting at the end of fio's ramp.

    `reports_s` lists the times of the reports from which the values were computed. It is empty if each value has its
    own report.
    """

    interval_s: float
    values: tuple[float, ...]
    reports_s: tuple[float, ...] = ()

    @property
    def duration_s(self) -> float:
        """Return how many seconds the series covers."""
        return self.interval_s * len(self.values)


@dataclass(frozen=True)
class StoppingRule:
    """The conditions under which a trial and a cell have converged.

    `until` is the maximum half width of the interval, relative to the mean. `confidence` is the share of intervals that
    cover the truth. A trial lasts from `min_s` to `max_s` seconds, but at least three write-back cycles of the layout.
    `turnover_s` is the length of a write-back cycle, or 0 for reads. A cell has `trials_min` to `trials_max` trials.
    `steady` names the criterion for a steady rate. `ignored` lists the names of reasons that are not tested
    (`benchmarks/ablation.py`).

    Raises a ValueError if a value is out of range. The message names the value.
    """

    until: float = 0.03
    confidence: float = 0.95
    min_s: float = 3.0
    max_s: float = 180.0
    steady: Steady = "poolproof"
    turnover_s: float = 0.0
    trials_min: int = 2
    trials_max: int = 6
    ignored: frozenset[str] = frozenset()

    TURNS = 3

    def __post_init__(self) -> None:
        if not 0 < self.until < 1:
            raise ValueError(f"until {self.until:g} is out of range: it must be between 0 and 1; 0.03 is 3 %")
        if not 0.5 <= self.confidence < 1:
            raise ValueError(f"confidence {self.confidence:g} is out of range: it must be at least 0.5 and less than 1")
        if not 0 < self.min_s <= self.max_s:
            raise ValueError(f"min {self.min_s:g} s, max {self.max_s:g} s: min must be above 0, and max at least min")
        if self.turnover_s < 0:
            raise ValueError(f"a write-back cycle of {self.turnover_s:g} s is negative")
        if not 1 <= self.trials_min <= self.trials_max:
            raise ValueError(
                f"{self.trials_min} to {self.trials_max} trials: the minimum must be between 1 and the maximum"
            )

    @property
    def least_s(self) -> float:
        """Return the minimum length of a trial in seconds: `min_s` or three write-back cycles, whichever is longer."""
        return max(self.min_s, self.TURNS * self.turnover_s)

    @property
    def most_s(self) -> float:
        """Return the maximum length of a trial in seconds: `max_s` or `least_s`, whichever is longer."""
        return max(self.max_s, self.least_s)


@dataclass(frozen=True)
class NotConverged:
    """Why a trial or a cell has not converged: a name (`drift`, `noise`, …) and a sentence with the values."""

    name: str
    sentence: str


@dataclass(frozen=True)
class StoppingDecision:
    """The decision about a trial, based on the part of its series that has been recorded so far.

    `done`: the trial can end, because it has converged or `most_s` has passed. `converged`: the trial is stationary
    after `warmup_s`, and its interval is within the tolerance. If not, `reasons` says why. `next_s` is the next
    checkpoint, or None when done.

    `mean` is the mean from `warmup_s` to `used_s`, or None without samples. `low` and `high` are the ends of the mean's
    interval at the rule's confidence. Both are None if there are too few samples. They are also None if the series is
    not stationary, because no interval would be valid. `lowest` and `highest` are the means of the tenths with the
    lowest and the highest rate. They are None with `steady: snia`, or if the trial is too short.

    `half_share` is the relative half width of the requested percentile's interval. It is None if no percentile was
    requested, or if there are too few samples. `error_share` is the relative standard error of the percentile or, if
    none was requested, of the mean, with `freedom` degrees of freedom. Unlike the interval, it is not widened for
    repeated checks. It is None if there is no interval.
    """

    done: bool
    converged: bool
    mean: float | None
    low: float | None
    high: float | None
    warmup_s: float
    used_s: float
    reasons: tuple[NotConverged, ...] = ()
    next_s: float | None = None
    half_share: float | None = None
    lowest: float | None = None
    highest: float | None = None
    error_share: float | None = None
    freedom: float = 1.0


@dataclass(frozen=True)
class TrialMean:
    """The mean of one trial and its interval.

    `low` and `high` are None if the series is too short or not stationary. `error` is the standard error of the mean,
    with `freedom` degrees of freedom. Trials of older runs have only the interval. It may have been widened for
    repeated checks.
    """

    mean: float
    low: float | None = None
    high: float | None = None
    error: float | None = None
    freedom: float = 30.0


@dataclass(frozen=True)
class AcrossTrials:
    """The mean over the trials of a cell.

    `done`: no further trial is needed or allowed. `is_precise`: the interval from `low` to `high` is within the
    tolerance. `low` and `high` are None if there is no interval. `disagree`: the trials differ by more than the
    variation within each trial can explain.
    """

    done: bool
    is_precise: bool
    mean: float
    low: float | None
    high: float | None
    disagree: bool
