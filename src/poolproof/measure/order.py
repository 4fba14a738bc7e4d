"""The order in which the trials of a layout run, and which of its cells need another trial."""

import random
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache
from itertools import count, islice

from poolproof.campaign.model import Measure, Workload
from poolproof.results.runs.convergence import VariancePriors, needs_trial
from poolproof.results.runs.model import Trial


class TrialOrder:
    """The next trials of a layout, in rounds in which each workload runs once, in random order.

    So a drift of the machine affects all workloads equally. The same seed gives the same order. A workload that has
    converged skips later rounds, unless a later trial shows that trials differ by more; then it catches up. So each
    trial must be passed to `add` when it ends. `done` are the trials of an interrupted run. `priors` returns how much
    trials differ in the cells of the run.
    """

    def __init__(
        self,
        layout: str,
        workloads: Sequence[Workload],
        measure: Measure,
        seed: int,
        done: Iterable[Trial] = (),
        priors: Callable[[], VariancePriors | None] = lambda: None,
    ) -> None:
        self.layout = layout
        self._measure, self._priors = measure, priors
        self._workloads = {workload.name: workload for workload in workloads}
        self._trials: dict[str, dict[int, Trial]] = {name: {} for name in self._workloads}
        chance = random.Random(f"{seed}:{layout}")
        self._positions: list[dict[str, int]] = []
        for _ in range(measure.trials_max):
            round_ = list(self._workloads)
            chance.shuffle(round_)
            self._positions.append({name: position for position, name in enumerate(round_)})
        self._limits = dict.fromkeys(self._workloads, measure.trials_max)
        self._announced: frozenset[tuple[str, int]] = frozenset()
        for trial in done:
            if trial.layout == layout and trial.workload in self._trials:
                self.add(trial)

    def add(self, trial: Trial) -> None:
        """Add a trial that has ended."""
        self._trials[trial.workload][trial.number] = trial

    def limit(self) -> None:
        """Limit each workload to the least number of trials."""
        self._limits = dict.fromkeys(self._workloads, self._measure.trials)

    def allow(self, workloads: Iterable[str], most: int) -> None:
        """Allow each of these workloads this many trials in all, if it needs them."""
        for name in workloads:
            self._limits[name] = min(self._measure.trials_max, most)

    def announce(self) -> int:
        """Return how many trials are certain now; `is_new` is True for any other one later."""
        self._announced = frozenset((workload.name, number) for workload, number in self.certain())
        return len(self._announced)

    def is_new(self, workload: Workload, number: int) -> bool:
        """True if the trial was not certain at `announce`."""
        return (workload.name, number) not in self._announced

    def ahead(self, among: Collection[str] | None = None) -> Iterator[tuple[Workload, int]]:
        """Yield each trial that is needed when it is due; `add` it before the next one.

        It is of the workload with the fewest trials; the order of the round breaks ties.

        `among` limits the workloads to those whose files were prepared. A workload that had converged then may need
        another trial now, because each trial shows how much trials differ.
        """
        names = self._workloads if among is None else among
        while True:
            priors = cache(self._priors)
            turns = sorted(self._turn(name, len(self._trials[name])) for name in names)
            name = next((name for _, _, name in turns if self._is_needed(name, priors)), None)
            if name is None:
                return
            yield self._workloads[name], next(self._free_numbers(name))

    def certain(self) -> tuple[tuple[Workload, int], ...]:
        """Return the trials that will run in any case: each cell's least number, and one more if it is needed now."""
        priors = cache(self._priors)
        turns = []
        for name in self._workloads:
            done = len(self._trials[name])
            missing = max(self._measure.trials - done, int(self._is_needed(name, priors)))
            numbers = islice(self._free_numbers(name), missing)
            turns += [(*self._turn(name, done + offset), number) for offset, number in enumerate(numbers)]
        return tuple((self._workloads[name], number) for _, _, name, number in sorted(turns))

    def _turn(self, name: str, done: int) -> tuple[int, int, str]:
        """Return the round, the position in it and the workload of the trial after `done` trials."""
        positions = self._positions[min(done, len(self._positions) - 1)]
        return done, positions[name], name

    def _free_numbers(self, name: str) -> Iterator[int]:
        """Return the numbers of its next trials: 1, 2, 3 … without those that it has, so none is left out."""
        return (number for number in count(1) if number not in self._trials[name])

    def _is_needed(self, name: str, priors: Callable[[], VariancePriors | None]) -> bool:
        done = len(self._trials[name])
        if done < self._measure.trials:
            return True
        return done < self._limits[name] and needs_trial(self._done(name), self._measure, priors())

    def _done(self, workload: str) -> list[Trial]:
        return [trial for _, trial in sorted(self._trials[workload].items())]

    def cells(self, workloads: Iterable[str] | None = None) -> list[list[Trial]]:
        """Return the trials so far, cell by cell: of these workloads, or of all."""
        return [self._done(name) for name in (self._workloads if workloads is None else workloads)]
