"""What the stopping rule is asked and what it answers, as frozen values.

A series is one trial's rate (I/Os or bytes per second) or mean latency (nanoseconds) per interval of time; every figure
here is in the unit of the series, every time in seconds since the series began, every tolerance relative to the mean.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Steady = Literal["poolproof", "snia", "fio", "fio-slope", "fio-iops", "fio-iops-slope", "fio-bw", "fio-bw-slope"]
ReasonName = Literal[
    "too-short",
    "idle",
    "warm-up",
    "drift",
    "step",
    "burst",
    "bimodal",
    "periodic",
    "few-samples",
    "noise",
    "percentile",
    "criterion",
]

IMPRECISE: frozenset[ReasonName] = frozenset({"noise", "percentile", "few-samples", "periodic"})
"""Reasons for which a trial does not know its figure well enough, though it saw no rate that changes for good.

How far it may be off, several trials tell of each other; docs/stopping.md has how often that held.
"""
FIO_WINDOW_S = 10.0
"""What `steady: fio` and its kin look at, at least, in seconds."""


@dataclass(frozen=True)
class RateSeries:
    """What one trial did in each interval of equal length, from its start; fio's ramp is not in it.

    `reports_s`: when the reports came that the values were made of; empty where each value has its own.
    """

    interval_s: float
    values: tuple[float, ...]
    reports_s: tuple[float, ...] = ()

    @property
    def duration_s(self) -> float:
        """Seconds that the series covers."""
        return self.interval_s * len(self.values)

    def reports_between(self, start_s: float, end_s: float) -> int:
        """How many of `reports_s` came after the one moment and until the other, or one interval late."""
        return sum(start_s < at_s <= end_s + self.interval_s for at_s in self.reports_s)


@dataclass(frozen=True)
class StoppingRule:
    """When a figure counts as known.

    `until` is the half width of the interval, relative to the mean; `confidence` is the share of intervals that hold
    the truth. A trial lasts from `min_s` to `max_s` seconds, and three turns of the layout's write-back (`turnover_s`,
    0 for reads) at least. A cell has from `trials_min` to `trials_max` trials. `steady` names the criterion.

    Raises:
        ValueError: no rule can be like that; the text says which part and what is wrong with it.
    """

    until: float = 0.03
    confidence: float = 0.95
    min_s: float = 3.0
    max_s: float = 180.0
    steady: Steady = "poolproof"
    turnover_s: float = 0.0
    trials_min: int = 2
    trials_max: int = 6

    TURNS = 3

    def __post_init__(self) -> None:
        if not 0 < self.until < 1:
            raise ValueError(f"until {self.until:g} is no tolerance: it lies between 0 and 1, 0.03 is 3 %")
        if not 0.5 <= self.confidence < 1:
            raise ValueError(f"confidence {self.confidence:g} is out of range: from 0.5 to less than 1")
        if not 0 < self.min_s <= self.max_s:
            raise ValueError(f"min {self.min_s:g} s and max {self.max_s:g} s: max is at least min, and min above 0")
        if self.turnover_s < 0:
            raise ValueError(f"a write-back turn of {self.turnover_s:g} s cannot be")
        if not 1 <= self.trials_min <= self.trials_max:
            raise ValueError(f"{self.trials_min} to {self.trials_max} trials: the most are at least the least")

    @property
    def least_s(self) -> float:
        """Seconds that a trial lasts at least: `min_s`, and three turns of write-back."""
        return max(self.min_s, self.TURNS * self.turnover_s)

    @property
    def most_s(self) -> float:
        """Seconds after which a trial ends whatever is known: `max_s`, or `least_s` where that is more."""
        return max(self.max_s, self.least_s)


@dataclass(frozen=True)
class Reason:
    """Why a figure is not known (yet): a name, a sentence for users, and the figures that the sentence rests on."""

    name: ReasonName
    sentence: str
    figures: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class StoppingDecision:
    """What a trial's series says so far.

    `done`: the trial can end: its figure is known, or `most_s` has passed. `settled`: it is known: stationary after
    `warmup_s`, and its interval inside the tolerance. `mean` is that of the seconds from `warmup_s` to `used_s`, None
    without a sample; `low` and `high` bound it with the rule's confidence, and are None as long as the series is not
    stationary, because no interval of it would hold. `reasons` is empty when settled. `next_s` is when to ask again:
    asking earlier is harmless and changes nothing; None when done. `half_share` is half the interval of the percentile
    that was asked for, as a share of it; None where none was asked for or the samples give none. `least` and `most` are
    the means of the lowest and the highest tenth of those seconds; None by the criteria of others.
    """

    done: bool
    settled: bool
    mean: float | None
    low: float | None
    high: float | None
    warmup_s: float
    used_s: float
    reasons: tuple[Reason, ...] = ()
    next_s: float | None = None
    half_share: float | None = None
    least: float | None = None
    most: float | None = None


@dataclass(frozen=True)
class TrialMean:
    """The mean of one trial and, where its series gave one, the interval of that mean."""

    mean: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class VariancePrior:
    """How much trials of a cell differ on this machine: the typical deviation, relative, and its degrees of freedom."""

    deviation: float
    freedom: float


@dataclass(frozen=True)
class AcrossTrials:
    """The trials of a cell together.

    `done`: no further trial is needed, or no further one is allowed. `known`: the interval is inside the tolerance.
    `low` and `high` hold the mean of all trials that could have been made (None with one trial). `between_sd` is the
    standard deviation of the trials' means, `within_se` the standard error of one trial's mean by its own series (both
    in the unit of the figure; None where unknown). `disagree`: the trials differ by more than their insides explain.
    """

    done: bool
    known: bool
    mean: float
    low: float | None
    high: float | None
    between_sd: float | None
    within_se: float | None
    disagree: bool

    @property
    def half_width(self) -> float | None:
        """Half the interval's width; None without an interval."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2
