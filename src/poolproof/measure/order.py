"""In which order the trials of a layout run, and which of its cells need another."""

import random
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache
from itertools import count, islice

from poolproof.campaign.model import Measure, Workload
from poolproof.results.runs.convergence import VariancePriors, needs_trial
from poolproof.results.runs.model import Trial

_Turn = tuple[int, int, str, int]
"""Round, place in the round, workload, number of the trial: sorted, they stand in the order in which they run."""


class TrialOrder:
    """The trials of a layout that are ahead: rounds in which each workload runs once, shuffled.

    So a drift of the machine strikes all workloads alike. The same seed gives the same order. A workload whose figure
    is known has no place in the rounds after that, unless a later trial shows that trials differ by more: then it
    catches up. So `add` must be told of each trial as it ends. `done` are trials from before: a resumed run goes on
    where it was. `spread` tells how much trials differ in the cells of the run.
    """

    def __init__(
        self,
        layout: str,
        workloads: Sequence[Workload],
        measure: Measure,
        seed: int,
        done: Iterable[Trial] = (),
        spread: Callable[[], VariancePriors | None] = lambda: None,
    ) -> None:
        self.layout = layout
        self._measure, self._spread = measure, spread
        self._workloads = {workload.name: workload for workload in workloads}
        self._trials: dict[str, dict[int, Trial]] = {name: {} for name in self._workloads}
        chance = random.Random(f"{seed}:{layout}")
        self._places: list[dict[str, int]] = []
        for _ in range(measure.trials_max):
            round_ = list(self._workloads)
            chance.shuffle(round_)
            self._places.append({name: place for place, name in enumerate(round_)})
        self._limits = dict.fromkeys(self._workloads, measure.trials_max)
        self._announced: frozenset[tuple[str, int]] = frozenset()
        for trial in done:
            if trial.layout == layout and trial.workload in self._trials:
                self.add(trial)

    def add(self, trial: Trial) -> None:
        """The trial has ended."""
        self._trials[trial.workload][trial.number] = trial

    def limit(self) -> None:
        """For now each workload has the least number of trials and no more."""
        self._limits = dict.fromkeys(self._workloads, self._measure.trials)

    def allow(self, workloads: Iterable[str], most: int) -> None:
        """Each of these workloads may have as many trials in all, if it needs them."""
        for name in workloads:
            self._limits[name] = min(self._measure.trials_max, most)

    def announce(self) -> int:
        """How many trials are certain now; `is_new` tells later which are more than these."""
        self._announced = frozenset((workload.name, number) for workload, number in self.certain())
        return len(self._announced)

    def is_new(self, workload: Workload, number: int) -> bool:
        """Whether the trial was not announced."""
        return (workload.name, number) not in self._announced

    def ahead(self, among: Collection[str] | None = None) -> Iterator[tuple[Workload, int]]:
        """Each trial that is needed, at the moment when it is its turn: `add` it before asking for the next.

        `among` these workloads alone, where given: each trial tells how much trials differ, so a figure that counted as
        known when the layout was prepared may need another one now, and its files are not there.
        """
        names = self._workloads if among is None else among
        while (turn := self._next(names)) is not None:
            yield turn

    def certain(self) -> tuple[tuple[Workload, int], ...]:
        """The trials that will run whatever comes: those of each cell's least number, and one where more are needed."""
        spread = cache(self._spread)
        turns = [turn for name in self._workloads for turn in self._certain_of(name, spread)]
        return tuple((self._workloads[name], number) for _, _, name, number in sorted(turns))

    def _certain_of(self, name: str, spread: Callable[[], VariancePriors | None]) -> Iterator[_Turn]:
        done = len(self._trials[name])
        missing = max(self._measure.trials - done, int(self._is_needed(name, spread)))
        for offset, number in enumerate(islice(self._free_numbers(name), missing)):
            yield *self._turn(name, done + offset), number

    def _next(self, names: Collection[str]) -> tuple[Workload, int] | None:
        """Of the workloads that need a trial the one with the fewest; among these the order of their round decides."""
        spread = cache(self._spread)
        for _, _, name in sorted(self._turn(name, len(self._trials[name])) for name in names):
            if self._is_needed(name, spread):
                return self._workloads[name], next(self._free_numbers(name))
        return None

    def _turn(self, name: str, done: int) -> tuple[int, int, str]:
        """(round, place in it, workload) of the trial that follows so many."""
        places = self._places[min(done, len(self._places) - 1)]
        return done, places[name], name

    def _free_numbers(self, name: str) -> Iterator[int]:
        """The numbers of its trials to come: 1, 2, 3 … without those that it has, so that none is left out."""
        return (number for number in count(1) if number not in self._trials[name])

    def _is_needed(self, name: str, spread: Callable[[], VariancePriors | None]) -> bool:
        done = len(self._trials[name])
        if done < self._measure.trials:
            return True
        return done < self._limits[name] and needs_trial(self._before(name), self._measure, spread())

    def _before(self, workload: str) -> list[Trial]:
        return [trial for _, trial in sorted(self._trials[workload].items())]

    def cells_of(self, workloads: Iterable[str]) -> list[list[Trial]]:
        """The trials of these workloads so far, cell by cell."""
        return [self._before(name) for name in workloads]

    def cells(self) -> list[list[Trial]]:
        """The trials so far, cell by cell."""
        return [self._before(name) for name in self._workloads]
