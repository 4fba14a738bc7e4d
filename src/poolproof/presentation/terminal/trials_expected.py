"""How many trials each cell of a run has ahead, as far as can be told: those planned, and those that others needed."""

import statistics
from collections.abc import Mapping, Sequence

from poolproof.campaign.calibration import calibrated_device
from poolproof.campaign.model import Campaign
from poolproof.results.runs.convergence import needs_trial, spread_among
from poolproof.results.runs.model import Trial
from poolproof.results.runs.race import race_of

Cell = tuple[str, str]


def planned(wanted: Mapping[Cell, int], counts: Mapping[Cell, int]) -> dict[Cell, float]:
    """Trials that are certain: `wanted` less those that are over, without cells that need none."""
    missing = {cell: number - counts.get(cell, 0) for cell, number in wanted.items()}
    return {cell: float(number) for cell, number in missing.items() if number > 0}


def likely(
    campaign: Campaign, wanted: Mapping[Cell, int], counts: Mapping[Cell, int], now_at: str
) -> dict[Cell, float]:
    """The certain ones, and as many more as each workload needed on layouts that are over.

    `now_at` is the layout at hand. For trials that are repeated until they agree; with a fixed number, and with a
    budget, there are no more than the certain ones.
    """
    measure = campaign.measure
    if measure.trials_max == measure.trials or campaign.budget_s is not None:
        return planned(wanted, counts)
    over = _over(wanted, counts, now_at)
    extra = {cell: counts[cell] - measure.trials for cell in wanted if cell[0] in over}
    found = {}
    for cell, number in wanted.items():
        if cell[0] not in over:
            own = [value for (_layout, workload), value in extra.items() if workload == cell[1]]
            usual = statistics.fmean(own) if own else statistics.fmean(extra.values()) if extra else 0.0
            missing = max(float(number), min(measure.trials + usual, measure.trials_max)) - counts.get(cell, 0)
            if missing > 0:
                found[cell] = missing
    return found


def _over(wanted: Mapping[Cell, int], counts: Mapping[Cell, int], now_at: str) -> set[str]:
    """Layouts to which nobody comes back: each of their cells has what was wanted."""
    open_ones = {layout for (layout, workload), number in wanted.items() if counts.get((layout, workload), 0) < number}
    return {layout for layout, _workload in wanted} - open_ones - {now_at}


def in_the_race(campaign: Campaign, trials: Sequence[Trial]) -> dict[Cell, int]:
    """With a budget: the trials that layouts which may be the best could still get of the goal's workloads."""
    race, measure = race_of(trials, campaign), campaign.measure
    if race is None or len(race.racing) < 2:
        return {}
    cells: dict[Cell, list[Trial]] = {(layout, name): [] for layout in race.racing for name in race.goal}
    others: dict[Cell, list[Trial]] = {}
    for trial in trials:
        if calibrated_device(trial.layout) is not None:
            continue
        others.setdefault((trial.layout, trial.workload), []).append(trial)
        if (trial.layout, trial.workload) in cells:
            cells[trial.layout, trial.workload].append(trial)
    spread = spread_among(others.values())
    return {
        cell: measure.trials_max - max(measure.trials, len(own))
        for cell, own in cells.items()
        if measure.trials_max > max(measure.trials, len(own)) and needs_trial(own, measure, spread)
    }
