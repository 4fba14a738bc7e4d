"""How a budget of time is spent: the least on every cell, the rest where it decides which layout is best."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import fmean

from poolproof.campaign.least_trial import least_trials_s
from poolproof.campaign.model import Campaign, Measure
from poolproof.measure.order import TrialOrder
from poolproof.measure.trial import Prepared
from poolproof.results.runs.convergence import is_rate, needs_trial, priors_among
from poolproof.results.runs.elimination import eliminate
from poolproof.results.runs.model import Trial
from poolproof.results.runs.timing import Took, paid_s, took
from poolproof.statistics.variances import LEAST_GROUPS

_DEARER = 1.2
"""How much dearer a round of the race may be than it looked after the first layout."""
_MOST_KEPT = 0.75
"""Of the time that is spare, how much at most is kept for the race."""
_SAMPLE = 2 * LEAST_GROUPS
"""Cells of each kind that may have a second trial where one is the least: some of them may fail."""


def schedule_of(campaign: Campaign, orders: Mapping[str, TrialOrder]) -> "Schedule | None":
    """The schedule of a campaign with a budget, None without one; all orders are held to the least from then on."""
    if campaign.budget_s is None or campaign.measure.until is None:
        return None
    for order in orders.values():
        order.limit()
    unfinished = {
        name for name, order in orders.items() if order.certain()
    }  # of a resumed run no others are built again
    if campaign.measure.trials == 1:
        for layout, workload in _sample(campaign):
            if layout in unfinished:
                orders[layout].allow((workload,), 2)
    return Schedule(campaign, orders, campaign.budget_s)


def _sample(campaign: Campaign) -> Iterator[tuple[str, str]]:
    """Cells that may tell how much trials differ here, so that one alone has an interval: evenly over each kind.

    Of a kind with too few cells to tell it, none. Those of the goal as well, unless all are: one trial decides nothing,
    and a second one now takes no building.
    """
    if len(campaign.goal_workloads) < len(campaign.workloads):
        yield from ((layout.name, goal.name) for layout in campaign.layouts for goal in campaign.goal_workloads)
    for rates in (True, False):
        names = [workload.name for workload in campaign.workloads if is_rate(workload.metric) is rates]
        cells = [(layout.name, name) for layout in campaign.layouts for name in names]
        if len(cells) >= LEAST_GROUPS:
            count = min(len(cells), _SAMPLE)
            yield from (cells[at * len(cells) // count] for at in range(count))


class Schedule:
    """Time that is left of a budget, and the race of layouts for it; trials from before a kill have been paid for."""

    def __init__(self, campaign: Campaign, orders: Mapping[str, TrialOrder], budget_s: float) -> None:
        self._campaign, self._orders, self._budget_s = campaign, orders, budget_s
        self._holds_s = least_trials_s(campaign)
        self._kept_s: float | None = None
        self._fills_s: dict[str, float] = {}
        self.start()
        self.goal = tuple(workload.name for workload in campaign.goal_workloads)
        self._most = campaign.measure.trials

    def start(self) -> None:
        """The budget runs from now on: what came before it, such as bare disks, is not of it."""
        self._begun_s = time.time()
        self._ends = time.monotonic() + self._budget_s - paid_s(self._took(), self._trials())

    @property
    def left_s(self) -> float:
        """Seconds left; below 0 when the least took longer."""
        return self._ends - time.monotonic()

    def filled(self, layout: str, prepared: Mapping[str, Prepared]) -> None:
        """What its building took for files of no workload of the goal: a round of the race does without them."""
        needed = {each.fill for name, each in prepared.items() if name in self.goal}
        fills = {each.fill for each in prepared.values() if each.fill is not None}
        self._fills_s[layout] = sum(fill.seconds for fill in fills if fill not in needed)

    def measure(self, standing: str, workload: str) -> Measure:
        """How the next trial is measured: no longer than leaves every other one that is certain its least.

        `standing` is the layout that it is of; the others are to be built. What is left then is for the trials of the
        goal, which decide, as much as those may take that do not settle; the rest for those of other workloads; of
        either all together take a share each. The race has its first round kept for it.
        """
        measure = self._campaign.measure
        assert measure.until is not None, "only such campaigns have a schedule"
        ahead = [(name, workload.name) for name, order in self._orders.items() for workload, _number in order.certain()]
        spare_s = max(0.0, self.left_s - self._least_s(ahead, standing))
        spare_s -= min(spare_s, self._reserve_s(spare_s))
        decides = workload in self.goal
        alike = [name for _layout, name in ahead if (name in self.goal) is decides]
        decisive = len(alike) if decides else len(ahead) - len(alike)
        if 0 < decisive < len(ahead):
            wanted_s = decisive * (measure.longest_s - measure.shortest_s) / self._shares(decides=True)
            decisive_s = min(wanted_s, spare_s)
            spare_s = decisive_s if decides else spare_s - decisive_s
        most_s = measure.shortest_s + min(spare_s, self._shares(decides=decides) * spare_s / max(1, len(alike)))
        return replace(measure, until=replace(measure.until, max_s=min(measure.until.max_s, most_s)))

    def _shares(self, *, decides: bool) -> float:
        """How many equal shares a trial may take, so that all together take one each: by how many did not settle."""
        goes = [
            trial.settling.settled
            for trial in self._trials()
            if trial.settling is not None and (trial.workload in self.goal) is decides
        ]
        return (1 + len(goes)) / (1 + goes.count(False))

    def _reserve_s(self, spare_s: float) -> float:
        """What is kept for the first round of the race, as soon as a second layout was built, which tells its price.

        Nothing where it would take nearly all: then the trials at hand are the answer. Half before that is known.
        """
        if self._campaign.measure.trials_max == self._campaign.measure.trials or len(self._orders) < 2:
            return 0.0
        if self._kept_s is None:
            if len(self._took().builds) < 2:
                return spare_s / 2
            round_s = _DEARER * self._round_s(list(self._orders))
            self._kept_s = round_s if round_s <= _MOST_KEPT * spare_s else 0.0
        return self._kept_s

    def begin_round(self, racing: Sequence[str]) -> list[str]:
        """A round of the race begins: one more trial of the goal's workloads for each of these that needs it.

        Those that have one in it. A layout that needed none in a round before may catch up, so that there are no more
        rounds than a cell may have trials beyond its least, and the race looks no oftener than its risk is shared out
        for (`eliminate`).
        """
        self._kept_s = 0.0  # now it is spent
        self._most = min(self._campaign.measure.trials_max, self._most_so_far() + 1)
        for name in racing:
            self._orders[name].allow(self.goal, self._most)
        return [name for name in racing if self._orders[name].certain()]

    def racing(self) -> list[str]:
        """The layouts that get one more trial of the goal's workloads: those that may be the best, while it is open.

        None after the last round, when one alone is left, or nothing of what is left needs a trial. One of whose rate a
        trial saw a change gets none: no trial more narrows its extremes.
        """
        measure, spread = self._campaign.measure, priors_among(self._cells())
        if self._most >= measure.trials_max:
            return []
        goal_cells = {name: self._goal_cells(name) for name in self._orders}
        race = eliminate(goal_cells, self.goal, measure, spread)
        if len(race.candidates) < 2:
            return []
        return [
            name for name in race.candidates if any(needs_trial(cell, measure, spread) for cell in goal_cells[name])
        ]

    def _most_so_far(self) -> int:
        """How many trials a cell of the goal may have had."""
        return max([self._most, *(len(cell) for name in self._orders for cell in self._goal_cells(name))])

    def affords(self, layouts: Sequence[str]) -> bool:
        """Whether one more trial of the goal's workloads on these fits into what is left, by what it took before.

        They are built anew for it, which counts as well, and the files of these workloads laid out. Of a layout that
        stood before a resumed run nobody knows what of its building other files took.
        """
        return self.left_s >= self._round_s(layouts)

    def _round_s(self, layouts: Sequence[str]) -> float:
        found, measure = self._took(), self._campaign.measure
        builds = {name: max(0.0, build_s - self._fills_s.get(name, 0.0)) for name, build_s in found.builds.items()}
        usual_s = fmean(builds.values()) if builds else 0.0
        needed_s = sum(builds.get(name, usual_s) for name in layouts)
        for workload in self.goal:
            seen = [second for (_layout, name), own in found.trials.items() if name == workload for second in own]
            usual_s = fmean(seen) if seen else measure.shortest_s
            needed_s += sum(fmean(found.trials.get((name, workload)) or (usual_s,)) for name in layouts)
        return needed_s

    def _took(self) -> Took:
        return took(sorted(self._trials(), key=lambda trial: trial.begun_at), self._begun_s)

    def _goal_cells(self, name: str) -> list[list[Trial]]:
        return self._orders[name].cells_of(self.goal)

    def _least_s(self, ahead: Sequence[tuple[str, str]], standing: str) -> float:
        """What trials of these cells take at least, with all around them, and the layouts to be built for them.

        A trial lasts as long as was asked for, and three turns of what its layout usually holds back; less where the
        shortest before it of its workload, on any layout, was shorter, for then turns are shorter on this host. What
        one lasted beyond what it was allowed, its queue stuck behind a flush, is of all around it.
        """
        found, ran = self._took(), self._ran_s()
        lasting_s = sum(self._shortest_s(cell, ran) for cell in ahead)
        trials_s, counting_s = sum(map(sum, found.trials.values())), self._as_asked_s()
        beside_s = max(0.0, trials_s - counting_s) / max(1, sum(map(len, found.trials.values())))
        build_s = fmean(found.builds.values()) if found.builds else 0.0
        ahead_of = [name for name, order in self._orders.items() if name != standing and order.certain()]
        return lasting_s + len(ahead) * beside_s + sum(found.builds.get(name, build_s) for name in ahead_of)

    def _shortest_s(self, cell: tuple[str, str], ran: Mapping[str, Sequence[float]]) -> float:
        least_s = max(self._campaign.measure.shortest_s, self._holds_s[cell])
        seen_s = ran.get(cell[1]) or [min(own) for own in ran.values()]
        return min([least_s, *seen_s])

    def _as_asked_s(self) -> float:
        """How long all trials so far were measured, each no longer than it was allowed."""
        goes = [trial.settling for trial in self._trials() if trial.settling is not None]
        return sum(min(each.ran_s, each.most_s) for each in goes)

    def _ran_s(self) -> dict[str, list[float]]:
        """By workload, how long each trial so far was measured."""
        ran: dict[str, list[float]] = {}
        for trial in self._trials():
            if trial.settling is not None:
                ran.setdefault(trial.workload, []).append(trial.settling.ran_s)
        return ran

    def _trials(self) -> list[Trial]:
        return [trial for cell in self._cells() for trial in cell]

    def _cells(self) -> list[list[Trial]]:
        return [cell for order in self._orders.values() for cell in order.cells()]
