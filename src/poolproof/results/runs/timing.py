"""How long a run's trials and the builds of its layouts took."""

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
    """How long trials and builds took, in seconds.

    `trials` maps each cell to the durations of its trials, including dropping caches, draining and saving the result.
    `builds` maps each layout to the duration of its last build. `building_s` is the total of all builds.
    """

    trials: Mapping[CellKey, tuple[float, ...]]
    builds: Mapping[str, float]
    building_s: float = 0.0


def took(trials: Sequence[Trial], begun_s: float) -> Took:
    """Return the durations of a run. `trials` are in the order in which they ended.

    `begun_s` is the time, in seconds since 1970, when the first build began. If the run was resumed, it is the time of
    the resume, which is between two trials. The gap between two trials of the same build is the time for saving the
    result. The gap between trials of two builds is the time for the second build, unless the gap is so long that the
    run was probably stopped and resumed. If a layout could not be built, its build is taken to last until its trials
    fail.
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
    """Return how many seconds of the budget were spent on builds and on these trials.

    Time during which the run was stopped is left out.
    """
    return past.building_s + sum(sum(trial.seconds.values()) for trial in trials)


def _gap_s(a: Trial, b: Trial, begun_s: float) -> float:
    """Return the seconds between two trials: from the end of `a` (or from a later resume) to the start of `b`."""
    ended_s, next_s = end_s(a), b.begun_s
    return next_s - (begun_s if ended_s < begun_s <= next_s else ended_s)


def end_s(trial: Trial) -> float:
    """Return when the last part of a trial ended, in seconds since 1970."""
    return trial.begun_s + sum(trial.seconds.values())
