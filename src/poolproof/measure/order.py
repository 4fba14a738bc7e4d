"""In which order the trials of a layout run, and which of its cells need another."""

import random
from collections.abc import Callable, Iterable, Iterator, Sequence

from poolproof.campaign.model import Measure, Workload
from poolproof.runs.model import Trial
from poolproof.runs.settled import needs_trial
from poolproof.stopping.model import Spread


class Order:
    """The trials of a layout that are ahead: rounds in which each workload runs once, shuffled.

    So a drift of the machine strikes all workloads alike. The same seed gives the same order. A workload whose figure
    is known has no place in the rounds after that; so `add` must be told of each trial as it ends. `done` are trials
    from before: a resumed run goes on where it was. `spread` tells how much trials differ in the cells of the run.
    """

    def __init__(
        self,
        layout: str,
        workloads: Sequence[Workload],
        measure: Measure,
        seed: int,
        done: Iterable[Trial] = (),
        spread: Callable[[], Spread | None] = lambda: None,
    ) -> None:
        self.layout = layout
        self._measure, self._spread = measure, spread
        self._workloads = {workload.name: workload for workload in workloads}
        self._trials: dict[str, dict[int, Trial]] = {name: {} for name in self._workloads}
        chance = random.Random(f"{seed}:{layout}")
        self._rounds: list[list[Workload]] = []
        for _ in range(measure.trials_max):
            round_ = list(workloads)
            chance.shuffle(round_)
            self._rounds.append(round_)
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

    def allow_one_more(self, workloads: Iterable[str]) -> None:
        """Each of these workloads may have one more trial than it had."""
        for name in workloads:
            self._limits[name] = min(self._measure.trials_max, max(self._trials[name], default=0) + 1)

    def announce(self) -> int:
        """How many trials are certain now; `is_new` tells later which are more than these."""
        self._announced = frozenset((workload.name, number) for workload, number in self.certain())
        return len(self._announced)

    def is_new(self, workload: Workload, number: int) -> bool:
        """Whether the trial was not announced."""
        return (workload.name, number) not in self._announced

    def ahead(self) -> Iterator[tuple[Workload, int]]:
        """Each trial that is needed, at the moment when it is its turn: `add` it before asking for the next."""
        for number, round_ in enumerate(self._rounds, start=1):
            for workload in round_:
                if number not in self._trials[workload.name] and self._is_needed(workload, number):
                    yield workload, number

    def certain(self) -> tuple[tuple[Workload, int], ...]:
        """The trials that will run whatever comes: those of each cell's least number, and one where more are needed."""
        return tuple(
            (workload, number)
            for number, round_ in enumerate(self._rounds, start=1)
            for workload in round_
            if self._is_certain(workload, number)
        )

    def _is_certain(self, workload: Workload, number: int) -> bool:
        own = self._trials[workload.name]
        follows = number <= self._measure.trials or number == max(own, default=0) + 1
        return number not in own and follows and self._is_needed(workload, number)

    def _is_needed(self, workload: Workload, number: int) -> bool:
        if number <= self._measure.trials:
            return True
        return number <= self._limits[workload.name] and needs_trial(
            self._before(workload.name), self._measure, self._spread()
        )

    def _before(self, workload: str) -> list[Trial]:
        return [trial for _, trial in sorted(self._trials[workload].items())]

    def cells_of(self, workloads: Iterable[str]) -> list[list[Trial]]:
        """The trials of these workloads so far, cell by cell."""
        return [self._before(name) for name in workloads]

    def cells(self) -> list[list[Trial]]:
        """The trials so far, cell by cell."""
        return [self._before(name) for name in self._workloads]
