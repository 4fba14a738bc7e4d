"""The order in which layouts are built, the order of a layout's trials, and the cells that need more trials."""

import random
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache
from itertools import count

from poolproof.campaign.model import Measure, Workload
from poolproof.results.runs.convergence import VariancePriors, needs_trial
from poolproof.results.runs.model import Trial


def build_rounds(layouts: Sequence[str], builds: int, seed: int) -> list[list[str]]:
    """Return the order of the layouts in each round. Every round builds each layout once.

    A single round has the campaign's order. With several rounds, each layout is built early in a round about as often
    as late, for example in the order ABBA. A steady drift in the machine's speed then affects all layouts equally.

    The rounds form pairs: the first of a pair is in random order, and the second is its reverse. The sum of a layout's
    two positions is therefore the same for all layouts. If the number of rounds is odd, the last three form a group, in
    which these sums differ by at most 1. The same seed always gives the same order.
    """
    if builds == 1:
        return [list(layouts)]
    chance = random.Random(f"{seed}:builds")
    rounds: list[list[str]] = []
    while len(rounds) < builds:
        order = list(layouts)
        chance.shuffle(order)
        if builds - len(rounds) == 3:
            even, odd = order[::2][::-1], order[1::2][::-1]
            rounds += [order, odd + even, even + odd]
        else:
            rounds += [order, order[::-1]]
    return rounds


class TrialOrder:
    """A layout's remaining trials, in rounds. Each round runs every workload once, in random order.

    Because of the rounds, a drift in the machine's speed affects all workloads equally. The same seed always gives the
    same order. A workload that has converged skips later rounds, but catches up if later trials turn out to vary more
    than assumed. Every trial must therefore be passed to `add` when it ends.

    Each build of the layout has its own rounds. Whether another trial is needed depends only on the trials of the same
    build.

    `done`: the finished trials of an interrupted run.
    `priors`: a function that returns the typical variance between a cell's trials in this run.
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
        self.builds = range(1, measure.builds + 1)
        self._measure, self._priors = measure, priors
        self._workloads = {workload.name: workload for workload in workloads}
        self._trials: dict[str, dict[int, Trial]] = {name: {} for name in self._workloads}
        self._positions = {build: self._rounds(seed, build) for build in self.builds}
        self._limits = dict.fromkeys(self._workloads, measure.trials_max)
        self._announced: dict[tuple[str, int], int] = {}
        for trial in done:
            if trial.layout == layout and trial.workload in self._trials:
                self.add(trial)

    def _rounds(self, seed: int, build: int) -> list[dict[str, int]]:
        """Return the position of each workload in each round of a build."""
        chance = random.Random(f"{seed}:{self.layout}" if build == 1 else f"{seed}:{self.layout}:{build}")
        positions = []
        for _ in range(self._measure.trials_max):
            round_ = list(self._workloads)
            chance.shuffle(round_)
            positions.append({name: position for position, name in enumerate(round_)})
        return positions

    def add(self, trial: Trial) -> None:
        self._trials[trial.workload][trial.number] = trial

    def limit(self) -> None:
        """Limit every workload to the minimum number of trials."""
        self._limits = dict.fromkeys(self._workloads, self._measure.trials)

    def allow(self, workloads: Iterable[str], most: int) -> None:
        """Limit each of these workloads to `most` trials, or to the campaign's maximum if that is lower."""
        for name in workloads:
            self._limits[name] = min(self._measure.trials_max, most)

    def announce(self) -> int:
        """Return the number of trials that are guaranteed to run.

        From this call on, `is_new` is true for all other trials.
        """
        self._announced = {
            (name, build): len(self._done(name, build)) + self._missing(name, build, cache(self._priors))
            for name in self._workloads
            for build in self.builds
        }
        return len(self.certain())

    def is_new(self, workload: Workload, build: int = 1) -> bool:
        """True if the workload's next trial in this build was not yet guaranteed to run when `announce` was called."""
        return len(self._done(workload.name, build)) >= self._announced.get((workload.name, build), 0)

    def ahead(self, among: Collection[str] | None = None, build: int = 1) -> Iterator[tuple[Workload, int]]:
        """Yield the next trial of a build, with its number, until the build needs no more trials.

        The workload with the fewest trials comes first. Among equals, the order of the round decides. Each trial must
        be passed to `add` before the next one is requested.

        `among`: the workloads whose files were prepared. A workload that had converged before that gets no further
        trial, even if it turns out to need one.
        """
        names = self._workloads if among is None else among
        while True:
            priors = cache(self._priors)
            keys = sorted(self._sort_key(name, build, len(self._done(name, build))) for name in names)
            name = next((name for _, _, name in keys if self._is_needed(name, build, priors)), None)
            if name is None:
                return
            yield self._workloads[name], next(self._free_numbers(name))

    def certain(self, build: int | None = None) -> tuple[tuple[Workload, int], ...]:
        """Return the trials that are guaranteed to run in the given build (default: in all builds), with their numbers.

        These are the trials that each workload still needs to reach the minimum number per build. If a workload has
        reached the minimum, but its result is not precise enough yet, one more trial is guaranteed.
        """
        priors = cache(self._priors)
        numbers = {name: self._free_numbers(name) for name in self._workloads}
        found = []
        for each in self.builds:
            keys = sorted(
                self._sort_key(name, each, len(self._done(name, each)) + offset)
                for name in self._workloads
                for offset in range(self._missing(name, each, priors))
            )
            found += [(each, self._workloads[name], next(numbers[name])) for _, _, name in keys]
        return tuple((workload, number) for each, workload, number in found if build in (None, each))

    def builds_ahead(self) -> tuple[int, ...]:
        """Return the builds in which at least one more trial is guaranteed to run."""
        priors = cache(self._priors)
        return tuple(
            build for build in self.builds if any(self._missing(name, build, priors) for name in self._workloads)
        )

    def _missing(self, name: str, build: int, priors: Callable[[], VariancePriors | None]) -> int:
        missing = self._measure.trials - len(self._done(name, build))
        return max(missing, int(self._is_needed(name, build, priors)))

    def _sort_key(self, name: str, build: int, done: int) -> tuple[int, int, str]:
        """Return the sort key of a workload's next trial: its round, its position in that round, and its name."""
        positions = self._positions[build]
        return done, positions[min(done, len(positions) - 1)][name], name

    def _free_numbers(self, name: str) -> Iterator[int]:
        """Return the trial numbers that the workload has not used yet, lowest first."""
        return (number for number in count(1) if number not in self._trials[name])

    def _is_needed(self, name: str, build: int, priors: Callable[[], VariancePriors | None]) -> bool:
        own = self._done(name, build)
        if len(own) < self._measure.trials:
            return True
        return len(own) < self._limits[name] and needs_trial(own, self._measure, priors())

    def _done(self, workload: str, build: int | None = None) -> list[Trial]:
        trials = (trial for _, trial in sorted(self._trials[workload].items()))
        return [trial for trial in trials if build in (None, trial.build)]

    def cells(self, workloads: Iterable[str] | None = None) -> list[list[Trial]]:
        """Return the trials so far of these workloads (default: of all), as one list per cell."""
        return [self._done(name) for name in (self._workloads if workloads is None else workloads)]

    def cells_of_builds(self) -> list[list[Trial]]:
        """Return the trials so far, as one list for each build of each cell."""
        return [self._done(name, build) for name in self._workloads for build in self.builds]
