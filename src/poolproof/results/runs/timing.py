"""The time taken by a run's trials and by the builds of its layouts."""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from poolproof.campaign.cell_key import CellKey
from poolproof.results.runs.model import Trial

_NIGHT_S = 3600.0
_NIGHT_TIMES = 5


@dataclass(frozen=True)
class Took:
    """The durations of trials and builds, in seconds.

    `trials`: the durations of each cell's trials, including dropping caches, draining and saving the results.
    `builds`: the duration of each layout's last build.
    `building_s`: the duration of all builds together.
    """

    trials: Mapping[CellKey, tuple[float, ...]]
    builds: Mapping[str, float]
    building_s: float = 0.0


def took(trials: Sequence[Trial], begun_s: float) -> Took:
    """Return the durations of a run's trials and builds, estimated from the gaps between trials.

    A gap within a build is the time for saving a result. A gap between two builds is the time for the second build,
    unless it is so long that the run was probably stopped and resumed. If a layout could not be built, the time until
    its trials fail counts as its build.

    `trials`: the trials in the order in which they ended.
    `begun_s`: the start of the first build, in seconds since 1970. For a resumed run, this is the time of the resume,
    between two of the trials.
    """
    known = [trial for trial in trials if trial.begun_at]
    if not any(trial.seconds for trial in known):
        return Took({}, {})
    gaps = [(a, b, _gap_s(a, b, begun_s)) for a, b in pairwise(known)]
    same = [gap for a, b, gap in gaps if _is_same_build(a, b) and a.seconds and b.seconds and gap >= 0]
    between = statistics.median(same) if same else 0.0
    builds = [(known[0].layout, known[0].begun_s - begun_s)]
    builds += [(b.layout, gap) for a, b, gap in gaps if not _is_same_build(a, b)]
    builds = [(layout, gap) for layout, gap in builds if gap >= 0]
    longest = max(_NIGHT_S, _NIGHT_TIMES * statistics.median(gap for _, gap in builds)) if builds else 0.0
    built = [(layout, gap) for layout, gap in builds if gap <= longest]
    cells: dict[CellKey, list[float]] = {}
    for trial in known:
        if trial.seconds:
            cells.setdefault(trial.cell_key, []).append(sum(trial.seconds.values()) + between)
    return Took({cell: tuple(found) for cell, found in cells.items()}, dict(built), sum(gap for _layout, gap in built))


def _is_same_build(a: Trial, b: Trial) -> bool:
    return (a.layout, a.build) == (b.layout, b.build)


def paid_s(past: Took, trials: Iterable[Trial]) -> float:
    """Return how many seconds of the budget were spent on builds and on these trials. Pauses of the run don't count."""
    return past.building_s + sum(sum(trial.seconds.values()) for trial in trials)


def _gap_s(a: Trial, b: Trial, begun_s: float) -> float:
    """Return the seconds from the end of trial `a`, or from the resume if that was later, to the start of trial `b`."""
    ended_s, next_s = end_s(a), b.begun_s
    return next_s - (begun_s if ended_s < begun_s <= next_s else ended_s)


def end_s(trial: Trial) -> float:
    """Return the end of the trial's last part, in seconds since 1970."""
    return trial.begun_s + sum(trial.seconds.values())
