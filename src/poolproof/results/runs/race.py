"""The race of layouts for a budget: who leads, who was dropped and why, who may still be the best.

Nothing of it is kept: it follows from the trials, as it did when each further trial was given out.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from poolproof.campaign.model import LOWER_IS_BETTER, Campaign, Measure, Metric
from poolproof.results.runs.convergence import Spreads, resolution_of, spread_among, unsteady_by
from poolproof.results.runs.extremes import extremes_of
from poolproof.results.runs.model import Trial
from poolproof.stopping.racing import Contender, ContenderSamples, leader_of, out_of_race, risk_of_a_test

GoalCells = Mapping[str, Sequence[Sequence[Trial]]]
"""By layout: the trials of each workload of the goal, in the goal's order."""


@dataclass(frozen=True)
class Dropped:
    """A layout that gets no further trial: after `trials` of each workload the leader was `times` as fast.

    `least` is the lower bound of that at the risk of the race.
    """

    layout: str
    leader: str
    trials: int
    times: float
    least: float


@dataclass(frozen=True)
class Race:
    """Where the race stands. `left` are the layouts that may be the best, the leader among them.

    `excluded` have a failed or refuted cell and never ran. `unsteady` are those of `left` of which a trial saw a change
    of its rate (`drift`, `step` …): they are tested at their extremes, as in a ranking, and get no further trial, for
    none makes these narrower; where the extremes are not known they lead nobody and are not dropped. `risk` bounds the
    chance that the true best was dropped; `test_risk` is that of each test of one of `pairs` pairs at one of `looks`
    looks.
    """

    goal: tuple[str, ...]
    leader: str | None
    dropped: tuple[Dropped, ...]
    left: tuple[str, ...]
    excluded: tuple[str, ...]
    risk: float
    pairs: int
    looks: int
    test_risk: float
    unsteady: tuple[str, ...] = ()

    @property
    def racing(self) -> tuple[str, ...]:
        """Those of `left` to which a further trial can make a difference."""
        return tuple(name for name in self.left if name not in self.unsteady)


def race_of(trials: Iterable[Trial], campaign: Campaign) -> Race | None:
    """The race of a run with these trials; None without a budget, or before anything was measured."""
    if campaign.budget_s is None or campaign.measure.until is None:
        return None
    cells: dict[tuple[str, str], list[Trial]] = {
        (layout.name, workload.name): [] for layout in campaign.layouts for workload in campaign.workloads
    }
    for trial in sorted(trials, key=lambda trial: trial.number):
        if (trial.layout, trial.workload) in cells:  # not one of a disk alone
            cells[trial.layout, trial.workload].append(trial)
    if not any(cells.values()):
        return None
    goal = tuple(workload.name for workload in campaign.goal_workloads)
    goal_cells = {layout.name: [cells[layout.name, name] for name in goal] for layout in campaign.layouts}
    return race_among(goal_cells, goal, campaign.measure, spread_among(cells.values()))


def race_among(goal_cells: GoalCells, goal: Sequence[str], measure: Measure, spreads: Spreads) -> Race:
    """Who is out by these trials. `measure` is one with `until`.

    The race is looked at before each of its rounds and after the last, and there are as many rounds as a cell may have
    trials beyond its least (`Schedule.begin_round`).
    """
    assert measure.until is not None, "a race needs intervals"
    excluded = [name for name, cells in goal_cells.items() if _is_excluded(cells)]
    contenders = [
        Contender(name, tuple(_figures(cell, spreads) for cell in cells))
        for name, cells in goal_cells.items()
        if name not in excluded
    ]
    looks = measure.trials_max - measure.trials + 1
    beaten = out_of_race(contenders, measure.until.confidence, looks)
    left = tuple(each.name for each in contenders if each.name not in beaten)
    return Race(
        goal=tuple(goal),
        leader=leader_of(contenders),
        dropped=tuple(
            Dropped(name, each.leader, min(map(len, goal_cells[name])), each.times, each.least)
            for name, each in beaten.items()
        ),
        left=left,
        excluded=tuple(excluded),
        risk=1 - measure.until.confidence,
        pairs=max(1, len(contenders) - 1),
        looks=looks,
        test_risk=risk_of_a_test(measure.until.confidence, len(contenders), looks),
        unsteady=tuple(name for name in left if any(map(unsteady_by, goal_cells[name]))),
    )


def _figures(cell: Sequence[Trial], spreads: Spreads) -> ContenderSamples:
    """What the race knows of a workload on a layout: nothing where a rate changes and nobody knows how far."""
    if not cell:
        return ContenderSamples(())
    metric: Metric = cell[0].metric
    found = ContenderSamples(tuple(map(goodness, cell)), spreads.of(metric), resolution_of(metric))
    if not unsteady_by(cell):
        return found
    extremes = extremes_of(cell, metric)
    if extremes is None or min(found.trials) <= 0:
        return ContenderSamples(())
    below, above = extremes.reach(math.fsum(map(math.log, found.trials)) / len(found.trials), metric)
    return replace(found, below=below, above=above)


def goodness(trial: Trial) -> float:
    """The trial's figure where more is better, its inverse where less is; 0 without one."""
    value = trial.figures.metric(trial.metric) if trial.figures else None
    if not value:
        return 0.0
    return 1 / value if trial.metric in LOWER_IS_BETTER else value


def _is_excluded(cells: Iterable[Iterable[Trial]]) -> bool:
    return any(trial.verdict in ("failed", "refuted") for cell in cells for trial in cell)
