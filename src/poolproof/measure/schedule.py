"""How a budget of time is spent: the least on every cell, the rest where it decides which layout is best."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean

from poolproof.campaign.model import Campaign, Measure
from poolproof.measure.order import Order
from poolproof.runs.model import Trial
from poolproof.runs.race import race_among
from poolproof.runs.settled import needs_trial, spread_among
from poolproof.runs.timing import Took, took

_SHARES = 4
"""How many times its equal share of the time that is left a trial may take: most need far less."""


def schedule_of(campaign: Campaign, orders: Mapping[str, Order]) -> "Schedule | None":
    """The schedule of a campaign with a budget, None without one; all orders are held to the least from then on."""
    if campaign.budget_s is None or campaign.measure.until is None:
        return None
    for order in orders.values():
        order.limit()
    return Schedule(campaign, orders, campaign.budget_s)


class Schedule:
    """Time that is left of a budget, and the race of layouts for it; trials from before a kill have been paid for."""

    def __init__(self, campaign: Campaign, orders: Mapping[str, Order], budget_s: float) -> None:
        self._campaign, self._orders, self._budget_s = campaign, orders, budget_s
        self.start()
        self.goal = tuple(workload.name for workload in campaign.goal_workloads)

    def start(self) -> None:
        """The budget runs from now on: what came before it, such as bare disks, is not of it."""
        self._begun_s = time.time()
        before = self._took()
        paid_s = sum(before.builds.values()) + sum(sum(trial.seconds.values()) for trial in self._trials())
        self._ends = time.monotonic() + self._budget_s - paid_s

    @property
    def left_s(self) -> float:
        """Seconds left; below 0 when the least took longer."""
        return self._ends - time.monotonic()

    def measure(self) -> Measure:
        """How the next trial is measured: no longer than leaves every other one that is certain its least."""
        measure = self._campaign.measure
        assert measure.until is not None, "only such campaigns have a schedule"
        ahead = max(1, sum(len(order.certain()) for order in self._orders.values()))
        least_s = measure.until.min_s + self._overhead_s()
        most_s = measure.until.min_s + _SHARES * max(0.0, self.left_s - ahead * least_s) / ahead
        return replace(measure, until=replace(measure.until, max_s=min(measure.until.max_s, most_s)))

    def racing(self) -> list[str]:
        """The layouts that get one more trial of the goal's workloads: those that may be the best, while it is open.

        None when one alone is left, or nothing of what is left needs a trial.
        """
        measure, spread = self._campaign.measure, spread_among(self._cells())
        goal_cells = {name: self._goal_cells(name) for name in self._orders}
        left = race_among(goal_cells, self.goal, measure, spread).left
        if len(left) < 2:
            return []
        return [name for name in left if any(needs_trial(cell, measure, spread) for cell in goal_cells[name])]

    def affords(self, layouts: Sequence[str]) -> bool:
        """Whether one more trial of the goal's workloads on these fits into what is left, by what it took before.

        They are built anew for it, which counts as well.
        """
        found, measure = self._took(), self._campaign.measure
        usual_s = fmean(found.builds.values()) if found.builds else 0.0
        needed_s = sum(found.builds.get(name, usual_s) for name in layouts)
        for name in layouts:
            for workload in self.goal:
                needed_s += fmean(found.trials.get((name, workload)) or (measure.shortest_s,))
        return self.left_s >= needed_s

    def _took(self) -> Took:
        return took(sorted(self._trials(), key=lambda trial: trial.begun_at), self._begun_s)

    def _goal_cells(self, name: str) -> list[list[Trial]]:
        return self._orders[name].cells_of(self.goal)

    def _overhead_s(self) -> float:
        """What a trial takes beside fio, by the mean of those before."""
        taken = [sum(trial.seconds.values()) - trial.seconds.get("fio", 0.0) for trial in self._trials()]
        return sum(taken) / len(taken) if taken else 0.0

    def _trials(self) -> list[Trial]:
        return [trial for cell in self._cells() for trial in cell]

    def _cells(self) -> list[list[Trial]]:
        return [cell for order in self._orders.values() for cell in order.cells()]
