"""The input and output types of the stopping rule.

A series is a trial's rate (I/Os or bytes per second) or mean latency (nanoseconds) in consecutive intervals. Values are
in the unit of the series, times in seconds since its start, and tolerances relative to its mean.
"""

from dataclasses import dataclass
from typing import Literal

Steady = Literal["poolproof", "snia"]
IMPRECISE = frozenset({"noise", "percentile", "few-samples", "periodic"})
"""The reasons for which a trial may be too imprecise even though its rate is steady.

In these cases, the spread between several trials shows how far off the mean may be. docs/stopping.md has the measured
coverage.
"""


@dataclass(frozen=True)
class RateSeries:
    """A trial's rate in intervals of equal length, from the end of the ramp.

    `reports_s`: the times of the reports from which the values were computed. Empty if each report gave one value.
    """

    interval_s: float
    values: tuple[float, ...]
    reports_s: tuple[float, ...] = ()

    @property
    def duration_s(self) -> float:
        """Return the length of the series in seconds."""
        return self.interval_s * len(self.values)


@dataclass(frozen=True)
class StoppingRule:
    """The conditions for the convergence of a trial and of a cell.

    `until`: the maximum half width of the confidence interval, relative to the mean.
    `confidence`: the confidence level of the interval.
    `min_s`, `max_s`: the minimum and maximum length of a trial. A trial also lasts at least three write-back cycles.
    `turnover_s`: the length of the layout's write-back cycle in seconds, or 0 for reads.
    `trials_min`, `trials_max`: the minimum and maximum number of trials of a cell.
    `steady`: the criterion for a steady rate.
    `ignored`: the reasons for not converging that are not tested, by name (`benchmarks/ablation.py`).

    Raises a ValueError that names the value if a value is out of range.
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
            raise ValueError(f"until {self.until:g} is out of range: it must be between 0 and 1; 0.03 is 3%")
        if not 0.5 <= self.confidence < 1:
            raise ValueError(f"confidence {self.confidence:g} is out of range: it must be at least 0.5 and less than 1")
        if not 0 < self.min_s <= self.max_s:
            raise ValueError(f"min {self.min_s:g} s, max {self.max_s:g} s: min must be above 0, and max at least min")
        if self.turnover_s < 0:
            raise ValueError(f"the write-back cycle must not be negative: {self.turnover_s:g} s")
        if not 1 <= self.trials_min <= self.trials_max:
            raise ValueError(
                f"{self.trials_min} to {self.trials_max} trials: the minimum must be between 1 and the maximum"
            )

    @property
    def least_s(self) -> float:
        """Return the minimum length of a trial in seconds: the longer of `min_s` and three write-back cycles."""
        return max(self.min_s, self.TURNS * self.turnover_s)

    @property
    def most_s(self) -> float:
        """Return the maximum length of a trial in seconds: the longer of `max_s` and `least_s`."""
        return max(self.max_s, self.least_s)


@dataclass(frozen=True)
class NotConverged:
    """A reason why a trial or cell has not converged.

    `name`: a word such as `drift` or `noise`.
    `sentence`: an explanation with the measured values.
    """

    name: str
    sentence: str


@dataclass(frozen=True)
class StoppingDecision:
    """The decision about a trial, based on the part of its series recorded so far.

    `done`: the trial can end, because it has converged or reached `most_s`.
    `converged`: the trial is stationary after `warmup_s`, and its confidence interval is within the tolerance.
    `reasons`: the reasons why it has not converged.
    `next_s`: the next checkpoint, or None if done.
    `mean`: the mean from `warmup_s` to `used_s`, or None without samples.
    `low`, `high`: the bounds of the mean's confidence interval. None if there are too few samples or reports, or if the
    series is not stationary, in which case no interval would be valid.
    `lowest`, `highest`: the lowest and highest mean of any tenth of the trial. None with `steady: snia`, or if the
    trial is too short.
    `trend`: the mean of the second half of the trial minus that of the first half, relative to the mean. None in the
    same cases.
    `half_share`: the half width of the requested percentile's confidence interval, relative to the percentile. None if
    no percentile was requested, or if there are too few samples.
    `error_share`, `freedom`: the relative standard error of the requested percentile, or else of the mean, and its
    degrees of freedom. Unlike the interval, the error is not widened to allow for repeated checks. None if the mean has
    no interval.
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
    trend: float | None = None


@dataclass(frozen=True)
class TrialMean:
    """The mean of one trial with its confidence interval.

    `low`, `high`: the bounds of the interval, or None if the series is too short or not stationary.
    `error`, `freedom`: the standard error of the mean and its degrees of freedom. Trials of older runs have only the
    interval, which may have been widened to allow for repeated checks.
    """

    mean: float
    low: float | None = None
    high: float | None = None
    error: float | None = None
    freedom: float = 30.0


@dataclass(frozen=True)
class AcrossTrials:
    """The mean over the trials of a cell.

    `done`: True if no further trial is needed or allowed.
    `is_precise`: True if the confidence interval is within the tolerance.
    `low`, `high`: the bounds of the interval, or None without an interval.
    `disagree`: True if the trials differ by more than the variation within each trial explains.
    """

    done: bool
    is_precise: bool
    mean: float
    low: float | None
    high: float | None
    disagree: bool
