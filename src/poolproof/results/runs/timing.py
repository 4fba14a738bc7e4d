"""What the trials of a run took, and the building of its layouts between them."""

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from poolproof.results.runs.model import Trial

_NIGHT_S = 3600.0
_NIGHT_TIMES = 5


@dataclass(frozen=True)
class Took:
    """Seconds: of the trials of each cell, cooling, draining and writing down among them; of building each layout.

    `builds` are those of the last time that each was built, `building_s` of all times together.
    """

    trials: Mapping[tuple[str, str], tuple[float, ...]]
    builds: Mapping[str, float]
    building_s: float = 0.0


def took(trials: Sequence[Trial], begun_s: float) -> Took:
    """What a run with these trials took, in the order in which they ended.

    `begun_s`: seconds since 1970 at which the building of the first layout began; where that lies between two trials,
    the run was gone on with then. Between trials of one layout lies what writing them down took, between those of two
    the building, unless the run stood still meanwhile. A layout that could not be built took what passed before its
    trials failed.
    """
    known = [trial for trial in trials if trial.begun_at]
    if not any(trial.seconds for trial in known):
        return Took({}, {})
    gaps = [(a, b, _gap_s(a, b, begun_s)) for a, b in pairwise(known)]
    same = [gap for a, b, gap in gaps if a.layout == b.layout and a.seconds and b.seconds and gap >= 0]
    between = _median(same) or 0.0
    builds = [(known[0].layout, begin_s(known[0]) - begun_s)]
    builds += [(b.layout, gap) for a, b, gap in gaps if a.layout != b.layout]
    cells: dict[tuple[str, str], list[float]] = {}
    for trial in known:
        if trial.seconds:
            cells.setdefault((trial.layout, trial.workload), []).append(sum(trial.seconds.values()) + between)
    built = list(_without_nights(builds))
    return Took({cell: tuple(found) for cell, found in cells.items()}, dict(built), sum(gap for _layout, gap in built))


def paid_s(past: Took, trials: Iterable[Trial]) -> float:
    """What building and all parts of these trials took of a budget, in seconds; a run that stood still paid nothing."""
    return past.building_s + sum(sum(trial.seconds.values()) for trial in trials)


def _gap_s(a: Trial, b: Trial, begun_s: float) -> float:
    """From the end of one trial, or from when the run was gone on with, to the begin of the next."""
    ended_s, next_s = end_s(a), begin_s(b)
    return next_s - (begun_s if ended_s < begun_s <= next_s else ended_s)


def _without_nights(builds: Sequence[tuple[str, float]]) -> Iterator[tuple[str, float]]:
    """A run may have been stopped and gone on with."""
    usual = _median([gap for _layout, gap in builds if gap >= 0]) or 0.0
    longest = max(_NIGHT_S, _NIGHT_TIMES * usual)
    return ((layout, gap) for layout, gap in builds if 0 <= gap <= longest)


def begin_s(trial: Trial) -> float:
    """When a trial began, seconds since 1970; of a trial that says so."""
    return datetime.fromisoformat(trial.begun_at).timestamp()


def end_s(trial: Trial) -> float:
    """When its last part was over."""
    return begin_s(trial) + sum(trial.seconds.values())


def _median(values: Sequence[float]) -> float | None:
    return statistics.median(values) if values else None
