"""The order in which a layout's trials run, and which of its cells need another trial."""

import random
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache
from itertools import count, islice

from poolproof.campaign.model import Measure, Workload
from poolproof.results.runs.convergence import VariancePriors, needs_trial
from poolproof.results.runs.model import Trial


class TrialOrder:
    """The remaining trials of a layout, in rounds. Each round runs every workload once, in random order.

    If the machine's speed drifts, all workloads are affected equally. The same seed gives the same order. A workload
    that has converged skips later rounds; it catches up if later trials show that trials differ more. So each trial
    must be passed to `add` when it ends. `done`: the trials of an interrupted run. `priors` returns how much trials
    differ in the run.
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
        """Record a finished trial."""
        self._trials[trial.workload][trial.number] = trial

    def limit(self) -> None:
        """Cap every workload at the minimum number of trials."""
        self._limits = dict.fromkeys(self._workloads, self._measure.trials)

    def allow(self, workloads: Iterable[str], most: int) -> None:
        """Cap each of these workloads at `most` trials, or at the campaign's maximum if that is lower."""
        for name in workloads:
            self._limits[name] = min(self._measure.trials_max, most)

    def announce(self) -> int:
        """Return the number of trials that are certain now. From then on, `is_new` is true for all others."""
        self._announced = frozenset((workload.name, number) for workload, number in self.certain())
        return len(self._announced)

    def is_new(self, workload: Workload, number: int) -> bool:
        """True if the trial was not certain at `announce`."""
        return (workload.name, number) not in self._announced

    def ahead(self, among: Collection[str] | None = None) -> Iterator[tuple[Workload, int]]:
        """Yield the next trial until none is needed.

        Each trial must be passed to `add` before the next one is requested.

        The workload with the fewest trials is next; the order of the round breaks ties.

        `among`: the workloads whose files were prepared. Workloads that had converged by then are left out, even if
        later trials show that they need another one.
        """
        names = self._workloads if among is None else among
        while True:
            priors = cache(self._priors)
            keys = sorted(self._sort_key(name, len(self._trials[name])) for name in names)
            name = next((name for _, _, name in keys if self._is_needed(name, priors)), None)
            if name is None:
                return
            yield self._workloads[name], next(self._free_numbers(name))

    def certain(self) -> tuple[tuple[Workload, int], ...]:
        """Return the trials that will certainly run: up to each cell's minimum, or one more if it is needed now."""
        priors = cache(self._priors)
        keys = []
        for name in self._workloads:
            done = len(self._trials[name])
            missing = max(self._measure.trials - done, int(self._is_needed(name, priors)))
            numbers = islice(self._free_numbers(name), missing)
            keys += [(*self._sort_key(name, done + offset), number) for offset, number in enumerate(numbers)]
        return tuple((self._workloads[name], number) for _, _, name, number in sorted(keys))

    def _sort_key(self, name: str, done: int) -> tuple[int, int, str]:
        """Return the sort key of a workload's next trial: its round, its position in the round, its name."""
        positions = self._positions[min(done, len(self._positions) - 1)]
        return done, positions[name], name

    def _free_numbers(self, name: str) -> Iterator[int]:
        """Return the trial numbers that the workload has not used yet, lowest first."""
        return (number for number in count(1) if number not in self._trials[name])

    def _is_needed(self, name: str, priors: Callable[[], VariancePriors | None]) -> bool:
        done = len(self._trials[name])
        if done < self._measure.trials:
            return True
        return done < self._limits[name] and needs_trial(self._done(name), self._measure, priors())

    def _done(self, workload: str) -> list[Trial]:
        return [trial for _, trial in sorted(self._trials[workload].items())]

    def cells(self, workloads: Iterable[str] | None = None) -> list[list[Trial]]:
        """Return the trials so far, one list per cell, for these workloads or for all."""
        return [self._done(name) for name in (self._workloads if workloads is None else workloads)]
