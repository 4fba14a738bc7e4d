"""The state of adaptive sampling for a budget: the leader, the eliminated layouts, and the remaining candidates.

It is not stored but recomputed from the trials, exactly as when the trials were scheduled.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from poolproof.campaign.calibration import cell_keys
from poolproof.campaign.cell_key import CellKey
from poolproof.campaign.model import Campaign, Measure
from poolproof.results.runs.cell_builds import are_apart, counting, samples_of
from poolproof.results.runs.convergence import (
    VariancePriors,
    by_cell,
    metric_log_mean,
    priors_among,
    unsteady_reasons,
    with_extremes,
)
from poolproof.results.runs.few_events import few_events
from poolproof.results.runs.model import Trial
from poolproof.statistics.comparison import LogMean, eliminated, leader_of, mixture, risk_of_a_test

GoalCells = Mapping[str, Sequence[Sequence[Trial]]]
"""Each layout's trials: a sequence for each of the goal's workloads, in the goal's order."""


@dataclass(frozen=True)
class EliminatedLayout:
    """A layout that gets no further trials.

    After `trials` trials of each workload, the leader was `times` times as fast. `least` is a lower confidence bound
    for `times`. It is wrong with a probability of at most `Elimination.test_risk`.
    """

    layout: str
    leader: str
    trials: int
    times: float
    least: float


@dataclass(frozen=True)
class Elimination:
    """The result of adaptive sampling so far. `left` lists the layouts that may be the best, including the leader.

    `excluded` layouts have a failed or refuted cell and are not compared. `unsteady` layouts are in `left`, but the
    rate of one of their trials changed (`drift`, `step` …). They are tested at their extremes, as in a ranking. They
    get no further trials, because more trials would not narrow the extremes. A layout with unknown extremes neither
    leads nor is eliminated.

    `risk` is an upper bound for the probability that the truly best layout was eliminated. `test_risk` is the risk of a
    single test. At each of the `checkpoints`, up to `pairs` pairs of layouts are tested.
    """

    goal: tuple[str, ...]
    leader: str | None
    dropped: tuple[EliminatedLayout, ...]
    left: tuple[str, ...]
    excluded: tuple[str, ...]
    risk: float
    pairs: int
    checkpoints: int
    test_risk: float
    unsteady: tuple[str, ...] = ()

    @property
    def candidates(self) -> tuple[str, ...]:
        """Return the layouts that may be the best, leaving out any that further trials cannot distinguish."""
        return tuple(name for name in self.left if name not in self.unsteady)


def elimination_of(trials: Iterable[Trial], campaign: Campaign) -> Elimination | None:
    """Return which layouts have been eliminated after these trials.

    None if the campaign has no budget or there is no trial yet.
    """
    if campaign.budget_s is None or campaign.measure.until is None:
        return None
    keys = cell_keys(campaign.layouts, campaign.workloads, campaign.states)
    found = by_cell(sorted(trials, key=lambda trial: trial.number), keys)
    cells = {key: counting(own) for key, own in found.items()}
    if not any(cells.values()):
        return None
    goal = tuple(workload.name for workload in campaign.goal_workloads)
    goal_cells = {layout.name: [cells[CellKey(layout.name, name)] for name in goal] for layout in campaign.layouts}
    priors = priors_among(cells.values(), by_build=are_apart(cells.values()))
    return eliminate(goal_cells, goal, campaign.measure, priors)


def eliminate(goal_cells: GoalCells, goal: Sequence[str], measure: Measure, priors: VariancePriors) -> Elimination:
    """Return which layouts have been eliminated after these trials. `measure` must have `until`.

    There is a checkpoint before each round and one after the last round. The number of rounds is the maximum number of
    trials of a cell minus the minimum number (`Schedule.begin_round`). With several builds, there are no rounds, and
    the only checkpoint is at the end.
    """
    assert measure.until is not None, "adaptive sampling needs intervals"
    excluded = [
        name for name, cells in goal_cells.items() if not all(trial.result().counts for cell in cells for trial in cell)
    ]
    by_build = are_apart(cell for cells in goal_cells.values() for cell in cells)
    scores = {name: _score(cells, priors, by_build) for name, cells in goal_cells.items() if name not in excluded}
    checkpoints = measure.trials_max - measure.trials + 1 if measure.builds == 1 else 1
    beaten = eliminated(scores, measure.until.confidence, checkpoints)
    left = tuple(name for name in scores if name not in beaten)
    return Elimination(
        goal=tuple(goal),
        leader=leader_of(scores),
        dropped=tuple(
            EliminatedLayout(name, each.leader, min(map(len, goal_cells[name])), each.times, each.least)
            for name, each in beaten.items()
        ),
        left=left,
        excluded=tuple(excluded),
        risk=1 - measure.until.confidence,
        pairs=max(1, len(scores) - 1),
        checkpoints=checkpoints,
        test_risk=risk_of_a_test(measure.until.confidence, len(scores), checkpoints),
        unsteady=tuple(name for name in left if any(map(unsteady_reasons, goal_cells[name]))),
    )


def _score(cells: Sequence[Sequence[Trial]], priors: VariancePriors, by_build: bool) -> LogMean | None:
    """Return the mean over the goal's workloads, with equal weights. None if one of the workloads has no mean."""
    means = [mean for cell in cells if (mean := _log_mean(cell, priors, by_build)) is not None]
    return mixture((1 / len(means), mean) for mean in means) if means and len(means) == len(cells) else None


def _log_mean(cell: Sequence[Trial], priors: VariancePriors, by_build: bool) -> LogMean | None:
    """Return the mean logarithm of a cell.

    None if there are fewer than two samples, if a percentile has too few events, if a trial has no value or the value
    0, or if the rate changes by an unknown amount.
    """
    metric = cell[0].metric if cell else ""
    if not cell or few_events(cell, metric) is not None:
        return None
    samples = samples_of(cell, metric, by_build=by_build)
    if len(samples.values) < 2 or any(not trial.result(metric).value for trial in cell):
        return None
    mean = metric_log_mean(samples, metric, priors.of(metric))
    return with_extremes(mean, cell, metric) if mean is not None and unsteady_reasons(cell) else mean
