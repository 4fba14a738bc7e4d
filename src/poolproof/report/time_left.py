"""How long a run will go on, by what its trials and the building of its layouts have taken so far."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from poolproof.runs.model import Trial
from poolproof.units import format_duration


@dataclass(frozen=True)
class Pace:
    """Seconds that a trial takes, by workload and altogether, and that it takes to build a layout. None: not known."""

    by_workload: Mapping[str, float]
    trial_s: float | None
    build_s: float | None


def pace_of(trials: Sequence[Trial], begun_s: float) -> Pace:
    """The pace of a run with these trials, in the order in which they ended.

    `begun_s`: seconds since 1970 at which the building of the first layout began. Between trials of one layout lies
    what writing them down took, between those of two the building. Medians, since a run may have been stopped and gone
    on with.
    """
    timed = [trial for trial in trials if trial.begun_at and trial.seconds]
    if not timed:
        return Pace({}, None, None)
    gaps = [(a.layout == b.layout, begin_s(b) - end_s(a)) for a, b in pairwise(timed)]
    between = _median([gap for same, gap in gaps if same and gap >= 0]) or 0.0
    builds = [begin_s(timed[0]) - begun_s, *(gap for same, gap in gaps if not same)]
    groups: dict[str, list[float]] = {}
    for trial in timed:
        groups.setdefault(trial.workload, []).append(sum(trial.seconds.values()) + between)
    means = {workload: statistics.fmean(found) for workload, found in groups.items()}
    return Pace(means, statistics.fmean(means.values()), _median([gap for gap in builds if gap >= 0]))


def time_left_s(pace: Pace, ahead: Mapping[str, int], builds: int, *, building: bool, since_s: float) -> float | None:
    """Seconds until all is done; None as long as no trial is.

    `ahead` counts the trials still to make, by workload, the one at hand among them; `builds` the layouts still to
    build. `building`: the first of them is being built now. `since_s`: how long the trial or the building at hand
    has taken; it counts as no longer than it was expected to take.
    """
    if pace.trial_s is None:
        return None
    build_s = pace.build_s or 0.0
    left_s = builds * build_s
    left_s += sum(count * pace.by_workload.get(workload, pace.trial_s) for workload, count in ahead.items())
    return left_s - min(max(0.0, since_s), build_s if building else pace.trial_s, left_s)


def whole_seconds(value: float) -> str:
    """A span of time without tenths, which are nothing to look at: `7 s`, `1 min 12 s`."""
    return format_duration(value) if value >= 60 else f"{max(1.0, value):.0f} s"


def begin_s(trial: Trial) -> float:
    """When a trial began, seconds since 1970; of a trial that says so."""
    return datetime.fromisoformat(trial.begun_at).timestamp()


def end_s(trial: Trial) -> float:
    """When its last part was over."""
    return begin_s(trial) + sum(trial.seconds.values())


def _median(values: Sequence[float]) -> float | None:
    return statistics.median(values) if values else None
