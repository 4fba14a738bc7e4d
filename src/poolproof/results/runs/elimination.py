"""The state of adaptive sampling under a budget: the leader, the eliminated layouts and the remaining candidates.

The state is not stored. It is recomputed from the trials, in the same way as when the trials were scheduled.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from poolproof.campaign.calibration import cell_keys
from poolproof.campaign.cell_key import CellKey
from poolproof.campaign.model import Campaign, Measure
from poolproof.results.runs.cell_builds import are_apart, counting, samples_of
from poolproof.results.runs.changing_rates import mean_to_test, unsteady_reasons, with_changes
from poolproof.results.runs.convergence import VariancePriors, by_cell, metric_log_mean, priors_among
from poolproof.results.runs.disturbed import is_mostly_disturbed
from poolproof.results.runs.few_events import few_events
from poolproof.results.runs.model import Trial
from poolproof.statistics.comparison import LogMean, eliminated, leader_of, mixture, risk_of_a_test
from poolproof.verdicts import Verdict, worst

GoalCells = Mapping[str, Sequence[Sequence[Trial]]]
"""The trials of each layout, as one sequence for each of the goal's workloads, in the goal's order."""


@dataclass(frozen=True)
class EliminatedLayout:
    """A layout that was eliminated and therefore gets no more trials.

    `leader`: the layout that was significantly faster.
    `trials`: the number of trials per workload at the time of elimination.
    `times`: the leader's speed relative to this layout.
    `least`: a lower confidence bound on `times`, which is wrong with a probability of at most `Elimination.test_risk`.
    """

    layout: str
    leader: str
    trials: int
    times: float
    least: float


@dataclass(frozen=True)
class Elimination:
    """The current result of adaptive sampling.

    `leader_verdict`: the worst verdict of the leader's trials. None without a leader.
    `left`: the layouts that may still be the best, including the leader.
    `excluded`: the layouts that are not compared, because one of their cells failed or was refuted.
    `unsteady`: the layouts in `left` whose rate changed within a trial (`drift`, `step` …). As in a ranking, the
    extremes of their rate are tested. They get no more trials, because these would not bring the extremes closer
    together. A layout whose extremes are unknown can neither lead nor be eliminated.
    `risk`: an upper bound on the probability that the best layout was eliminated.
    `test_risk`: the part of that risk allotted to a single test.
    `checkpoints`: the maximum number of times that layouts are tested.
    `pairs`: the maximum number of tests at each checkpoint.
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
    leader_verdict: Verdict | None = None

    @property
    def candidates(self) -> tuple[str, ...]:
        """Return the layouts that may still be the best, except those for which more trials would not help."""
        return tuple(name for name in self.left if name not in self.unsteady)


def elimination_of(trials: Iterable[Trial], campaign: Campaign) -> Elimination | None:
    """Return the state of adaptive sampling after these trials. None without a budget or trials."""
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
    """Return the state of adaptive sampling after these trials. `measure` must have `until`.

    Layouts are tested at checkpoints: before each round, and after the last one. The number of rounds is the maximum
    minus the minimum number of trials of a cell (`Schedule.begin_round`). If layouts are built several times, the only
    checkpoint is at the end, because there are no rounds.
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
    leader = leader_of(scores)
    leading = [] if leader is None else [trial for cell in goal_cells[leader] for trial in cell]
    return Elimination(
        goal=tuple(goal),
        leader=leader,
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
        leader_verdict=worst(trial.result().verdict for trial in leading) if leading else None,
    )


def _score(cells: Sequence[Sequence[Trial]], priors: VariancePriors, by_build: bool) -> LogMean | None:
    """Return the mean over the goal's workloads, all with the same weight. None if any of them has no mean."""
    means = [mean for cell in cells if (mean := _log_mean(cell, priors, by_build)) is not None]
    if not means or len(means) < len(cells):
        return None
    return mixture(((1 / len(means), mean) for mean in means), independent=not by_build)


def _log_mean(cell: Sequence[Trial], priors: VariancePriors, by_build: bool) -> LogMean | None:
    """Return the mean logarithm of a cell, or None if the cell can't be tested.

    A cell can't be tested if it has fewer than two samples, a percentile with too few events, a trial whose value is
    missing or 0, or a rate that changes by an unknown amount, or if other work disturbed most of its trials.
    """
    metric = cell[0].metric if cell else ""
    if not cell or few_events(cell, metric) is not None or is_mostly_disturbed(cell):
        return None
    samples = samples_of(cell, metric, by_build=by_build)
    if len(samples.values) < 2 or any(not trial.result(metric).value for trial in cell):
        return None
    mean = metric_log_mean(samples, metric, priors.of(metric))
    if mean is None:
        return None
    return with_changes(mean, cell, metric) if unsteady_reasons(cell) else mean_to_test(mean, cell, metric)
