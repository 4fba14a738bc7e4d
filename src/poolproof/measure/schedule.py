"""Decide how to spend a time budget.

Each cell gets its minimum time. The rest pays for longer trials, first those of the goal's workloads, and for further
trials on the layouts that may be the best.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import fmean

from poolproof.campaign.cell_key import CellKey
from poolproof.campaign.model import Campaign, Measure
from poolproof.campaign.trial_length import SLOW_PER_S
from poolproof.hosts.local import now_s
from poolproof.layers.least_trial import least_trials_s
from poolproof.measure.model import PreparedWorkload
from poolproof.measure.order import TrialOrder
from poolproof.metrics import metric_of
from poolproof.results.runs.cell_builds import counting
from poolproof.results.runs.convergence import needs_trial, priors_among
from poolproof.results.runs.elimination import eliminate
from poolproof.results.runs.few_events import events_s
from poolproof.results.runs.model import Trial
from poolproof.results.runs.timing import Took, paid_s, took
from poolproof.statistics.shared_variance import LEAST_GROUPS

_MARGIN = 1.2
"""The safety factor for the estimated times of a sampling round and of a trial with enough events."""
_MOST_RESERVED = 0.75
"""The maximum fraction of the spare time that may be reserved for adaptive sampling."""
_SAMPLED_CELLS = 2 * LEAST_GROUPS
"""The number of cells of each kind that get a second trial if the minimum is one trial.

The two kinds are cells measured by a rate and cells measured by a percentile. The number is twice the minimum for
estimating the typical variance, so half of the second trials may fail.
"""


def schedule_of(campaign: Campaign, orders: Mapping[str, TrialOrder]) -> "Schedule | None":
    """Return the schedule of a campaign, or None if the campaign has no budget or no `until`.

    This also limits every trial order to the minimum number of trials. If the minimum is one, some cells get a second
    trial.
    """
    if campaign.budget_s is None or campaign.measure.until is None:
        return None
    for order in orders.values():
        order.limit()
    # a resumed run does not build finished layouts again
    unfinished = {name for name, order in orders.items() if order.certain()}
    if campaign.measure.trials * campaign.measure.builds == 1:
        for cell in _sampled_cells(campaign):
            if cell.layout in unfinished:
                orders[cell.layout].allow((cell.workload,), 2)
    return Schedule(campaign, orders, campaign.budget_s)


def _sampled_cells(campaign: Campaign) -> Iterator[CellKey]:
    """Yield the cells that get a second trial.

    Second trials show how much trials vary, so that even a single trial can have a confidence interval. They are spread
    evenly over the cells measured by a rate, and over those measured by a percentile, unless there are too few of a
    kind. If the goal does not cover all workloads, its cells are included: a decision needs more than one trial, and
    the second one is cheaper now than after the layout has been removed.
    """
    if len(campaign.goal_workloads) < len(campaign.workloads):
        yield from (CellKey(layout.name, goal.name) for layout in campaign.layouts for goal in campaign.goal_workloads)
    for rates in (True, False):
        names = [workload.name for workload in campaign.workloads if metric_of(workload.metric).is_rate is rates]
        cells = [CellKey(layout.name, name) for layout in campaign.layouts for name in names]
        if len(cells) >= LEAST_GROUPS:
            count = min(len(cells), _SAMPLED_CELLS)
            yield from (cells[at * len(cells) // count] for at in range(count))


class Schedule:
    """The remaining time of a budget, and the layouts that get it.

    Trials from before an interruption count towards the time spent.
    """

    def __init__(self, campaign: Campaign, orders: Mapping[str, TrialOrder], budget_s: float) -> None:
        self._campaign, self._orders, self._budget_s = campaign, orders, budget_s
        self._least_trials_s = least_trials_s(campaign)
        self._reserved_s: float | None = None
        self._fills_s: dict[str, float] = {}
        self.start()
        self.goal = tuple(workload.name for workload in campaign.goal_workloads)
        self._most = campaign.measure.trials

    def start(self) -> None:
        """Start the clock of the budget.

        Earlier work in this session, such as measuring individual disks, is not counted.
        """
        self._begun_s = now_s()
        self._ends = time.monotonic() + self._budget_s - paid_s(self._took(), self._trials())

    @property
    def left_s(self) -> float:
        """Return the remaining time in seconds. It is negative if the minimum trials took longer than the budget."""
        return self._ends - time.monotonic()

    def filled(self, layout: str, prepared: Mapping[str, PreparedWorkload]) -> None:
        """Record the time for filling files that only workloads outside the goal use.

        Adaptive sampling does not fill these files again, so this time is subtracted from its estimates.
        """
        needed = {each.fill for name, each in prepared.items() if name in self.goal}
        fills = {each.fill for each in prepared.values() if each.fill is not None}
        self._fills_s[layout] = sum(fill.seconds for fill in fills if fill not in needed)

    def measure(self, layout: str, workload: str) -> Measure:
        """Return the settings for the next trial, whose time limit depends on the budget.

        Enough time is set aside for the minimum length of all other guaranteed trials. Any spare time is first reserved
        for the first round of adaptive sampling, then used to lengthen the goal's trials up to their maximum, and then
        given to the other workloads. Trials of the same kind get equal shares. However, if the goal is a percentile,
        each of its trials may continue until it has enough events.

        `layout`: the layout that is currently built.
        """
        measure = self._campaign.measure
        assert measure.until is not None, "a schedule needs `until`"
        ahead = [
            CellKey(name, workload.name)
            for name, order in self._orders.items()
            for workload, _number in order.certain()
        ]
        spare_s = max(0.0, self.left_s - self._least_s(ahead, layout))
        spare_s -= min(spare_s, self._reserve_s(spare_s))
        decides = workload in self.goal
        same_kind = [cell for cell in ahead if (cell.workload in self.goal) is decides]
        decisive = len(same_kind) if decides else len(ahead) - len(same_kind)
        if 0 < decisive < len(ahead):
            needed_s = decisive * (measure.longest_s - measure.shortest_s) / self._shares(decides=True)
            decisive_s = min(needed_s, spare_s)
            spare_s = decisive_s if decides else spare_s - decisive_s
        most_s = measure.shortest_s + min(spare_s, self._shares(decides=decides) * spare_s / max(1, len(same_kind)))
        if decides:
            most_s = max(most_s, min(measure.shortest_s + spare_s, self._events_s(layout, workload)))
        return replace(measure, until=replace(measure.until, max_s=min(measure.until.max_s, most_s)))

    def _events_s(self, layout: str, workload: str) -> float:
        """Return the time, in seconds, in which a trial should get enough events for its percentile, or 0 for a rate.

        The rate of events is taken from the cell's earlier trials or, if there are none, from the slowest layout so
        far. Before the first trial of the workload, a low rate is assumed. The result includes a margin of 20%.
        """
        of_workload = [trial for trial in self._trials() if trial.workload == workload]
        own = [trial for trial in of_workload if trial.layout == layout] or of_workload
        metric = next(each.metric for each in self._campaign.workloads if each.name == workload)
        unknown_s = metric_of(metric).events_needed / SLOW_PER_S
        return _MARGIN * max((needed_s for each in own if (needed_s := events_s(each)) is not None), default=unknown_s)

    def _shares(self, *, decides: bool) -> float:
        """Return the number of equal shares that a trial may use. It is more than 1 if other trials converged early."""
        converged = [
            trial.settling.settled
            for trial in self._trials()
            if trial.settling is not None and (trial.workload in self.goal) is decides
        ]
        return (1 + len(converged)) / (1 + converged.count(False))

    def _reserve_s(self, spare_s: float) -> float:
        """Return the time, in seconds, reserved for the first round of adaptive sampling.

        The cost of a round is known as soon as a second layout has been built. Until then, half of the spare time is
        reserved. If the round would take more than three quarters of the spare time, nothing is reserved.
        """
        measure = self._campaign.measure
        if measure.trials_max == measure.trials or measure.builds > 1 or len(self._orders) < 2:
            return 0.0
        if self._reserved_s is None:
            if len(self._took().builds) < 2:
                return spare_s / 2
            round_s = _MARGIN * self._round_s(list(self._orders))
            self._reserved_s = round_s if round_s <= _MOST_RESERVED * spare_s else 0.0
        return self._reserved_s

    def begin_round(self, candidates: Sequence[str]) -> list[str]:
        """Allow one more trial of the goal's workloads on these layouts, and return the layouts that need one.

        Layouts that skipped earlier rounds catch up. The number of rounds is therefore at most a cell's maximum minus
        its minimum number of trials. `eliminate` relies on this.
        """
        self._reserved_s = 0.0  # this round uses up the reserve
        had = max([self._most, *(len(cell) for name in self._orders for cell in self._goal_cells(name))])
        self._most = min(self._campaign.measure.trials_max, had + 1)
        for name in candidates:
            self._orders[name].allow(self.goal, self._most)
        return [name for name in candidates if self._orders[name].certain()]

    def candidates(self) -> list[str]:
        """Return the layouts that get one more trial of the goal's workloads, because they may still be the best.

        The result is empty after the last round, if only one layout is left, or if no layout needs a trial. A layout
        whose rate changed during its trials needs none, because more trials would not narrow its confidence interval.
        If layouts are built several times, the result is always empty, because a single trial on one more build would
        add little information.
        """
        measure, priors = self._campaign.measure, priors_among(self._cells())
        if self._most >= measure.trials_max or measure.builds > 1:
            return []
        goal_cells = {name: self._goal_cells(name) for name in self._orders}
        counted = {name: [*map(counting, cells)] for name, cells in goal_cells.items()}
        found = eliminate(counted, self.goal, measure, priors).candidates
        if len(found) < 2:
            return []
        return [name for name in found if any(needs_trial(cell, measure, priors) for cell in goal_cells[name])]

    def affords(self, layouts: Sequence[str]) -> bool:
        """True if the remaining time should suffice for one more trial of the goal's workloads on these layouts.

        The estimate includes building the layouts again, and filling these workloads' files. For a layout that was
        built before the run was resumed, it also includes filling the other files, because their part of the time is
        unknown.
        """
        return self.left_s >= self._round_s(layouts)

    def _round_s(self, layouts: Sequence[str]) -> float:
        found, measure = self._took(), self._campaign.measure
        builds = {name: max(0.0, build_s - self._fills_s.get(name, 0.0)) for name, build_s in found.builds.items()}
        usual_s = fmean(builds.values()) if builds else 0.0
        needed_s = sum(builds.get(name, usual_s) for name in layouts)
        for workload in self.goal:
            seen = [second for cell, own in found.trials.items() if cell.workload == workload for second in own]
            usual_s = fmean(seen) if seen else measure.shortest_s
            needed_s += sum(fmean(found.trials.get(CellKey(name, workload)) or (usual_s,)) for name in layouts)
        return needed_s

    def _took(self) -> Took:
        return took(sorted(self._trials(), key=lambda trial: trial.begun_s), self._begun_s)

    def _goal_cells(self, name: str) -> list[list[Trial]]:
        return self._orders[name].cells(self.goal)

    def _least_s(self, ahead: Sequence[CellKey], built: str) -> float:
        """Return the minimum time, in seconds, for trials of these cells, including overhead and the builds they need.

        A trial takes the campaign's minimum or three write-back cycles of its layout, whichever is longer. However, if
        an earlier trial of the workload (or, without one, of any workload) was shorter, its length is used, because the
        actual cycles on this host are evidently shorter. Time beyond a trial's limit counts as overhead, for example
        when a queue is stuck behind a flush.
        """
        found, ran = self._took(), self._ran_s()
        lasting_s = sum(self._shortest_s(cell, ran) for cell in ahead)
        windows = [trial.settling for trial in self._trials() if trial.settling is not None]
        measured_s = sum(min(each.ran_s, each.most_s) for each in windows)
        trials_s, count = sum(map(sum, found.trials.values())), sum(map(len, found.trials.values()))
        overhead_s = max(0.0, trials_s - measured_s) / max(1, count)
        build_s = fmean(found.builds.values()) if found.builds else 0.0
        builds = {name: len(order.builds_ahead()) - (name == built) for name, order in self._orders.items()}
        building_s = sum(max(0, count) * found.builds.get(name, build_s) for name, count in builds.items())
        return lasting_s + len(ahead) * overhead_s + building_s

    def _shortest_s(self, cell: CellKey, ran: Mapping[str, Sequence[float]]) -> float:
        least_s = max(self._campaign.measure.shortest_s, self._least_trials_s[cell])
        seen_s = ran.get(cell.workload) or [min(own) for own in ran.values()]
        return min([least_s, *seen_s])

    def _ran_s(self) -> dict[str, list[float]]:
        """Return how long the load generator has run in the trials so far, in seconds, keyed by workload."""
        ran: dict[str, list[float]] = {}
        for trial in self._trials():
            if trial.settling is not None:
                ran.setdefault(trial.workload, []).append(trial.settling.ran_s)
        return ran

    def _trials(self) -> list[Trial]:
        return [trial for cell in self._cells() for trial in cell]

    def _cells(self) -> list[list[Trial]]:
        return [cell for order in self._orders.values() for cell in order.cells_of_builds()]
