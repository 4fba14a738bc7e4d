"""Compute a run's progress from its events, and print the events as plain lines, for example to a pipe or log file."""

import contextlib
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TextIO

from poolproof.campaign.calibration import builds_of, calibrated_device, campaign_cells
from poolproof.campaign.cell_key import CellKey
from poolproof.campaign.model import Campaign
from poolproof.measure.model import Listener, LiveRates
from poolproof.presentation.terminal.words import trial_text
from poolproof.results.runs.model import Trial, TrialKey
from poolproof.results.runs.timing import end_s, paid_s, took
from poolproof.units import format_duration, format_number_of
from poolproof.verdicts import WORST_FIRST, Verdict

_MOST_RATES = 240
_MOST_NEWS = 50
_ACTIVITIES = {"drop caches": "dropping caches", "drain to the disks": "waiting for all data to reach the disks"}


@dataclass(frozen=True)
class News:
    """A finding with its trial, or a warning without a trial."""

    text: str
    trial: Trial | None = None


class RunProgress(Listener):
    """Tracks the progress of a run from its events, which are live or reconstructed from the run's files.

    Prints nothing.

    `rows`: each layout's cells, one per workload, keyed by the layout's name and state. Bare disks come first.
    `done`: the trials that were finished in earlier sessions.
    `begun_s`: the run's start time in seconds since 1970, or None for the current time.
    """

    wants_live = True

    def __init__(
        self,
        campaign: Campaign,
        done: Sequence[Trial] = (),
        *,
        begun_s: float | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        cells = campaign_cells(campaign)
        self.title = campaign.question or campaign.name
        self.generators = campaign.generator_names
        self.workloads = tuple(workload.name for workload in campaign.workloads)
        self.rows = {
            cell.layout_in_state: tuple(cell._replace(workload=each) for each in self.workloads) for cell in cells
        }
        self.layout = ""
        self.running: TrialKey | None = None
        self.activity = "preparing"
        self.rates: deque[LiveRates] = deque(maxlen=_MOST_RATES)
        self.rates_of: TrialKey | None = None
        self.news: deque[News] = deque(maxlen=_MOST_NEWS)
        self.warnings: list[str] = []
        self.trials: list[Trial] = []
        self._campaign, self._clock = campaign, clock
        self._activities = {**_ACTIVITIES, "measure": f"{self.generators} is measuring"}
        self._begun_s = clock() if begun_s is None else begun_s
        self._since_s = self._activity_since_s = self._begun_s
        self._planned = {cell: campaign.measure.trials * builds_of(campaign, cell.layout) for cell in cells}
        self._added: Counter[CellKey] = Counter()
        self._verdicts: defaultdict[CellKey, list[Verdict]] = defaultdict(list)
        self._mean_s: float | None = None
        for trial in done:
            self._count(trial)

    def layout_begins(self, layout: str, trials_to_do: int, build: int = 1) -> None:
        del trials_to_do, build  # computed from the finished trials instead
        self.layout, self.running, self.activity = layout, None, "building"
        self.set_start(self._clock())

    def trial_added(self, cell: CellKey) -> None:
        self._added[cell] += 1

    def activity_begins(self, title: str) -> None:
        self.activity = self._activities.get(title, title)
        self._activity_since_s = self._clock()

    def trial_begins(self, key: TrialKey) -> None:
        cell = key.cell
        # trials added before a resumed or already running run was followed are not reported
        if cell in self._planned:
            self._added[cell] = max(self._added[cell], key.number - self._planned[cell])
        self.layout, self.running, self.activity = key.layout, key, "waiting for the disks to be idle"
        self.set_start(self._clock())

    def live(self, rates: LiveRates) -> None:
        trial = self.running or (self.trials[-1].key if self.trials else None)
        if self.rates_of != trial:
            self.rates.clear()
            self.rates_of = trial
        self.rates.append(rates)

    def trial_ends(self, trial: Trial) -> None:
        self._count(trial)
        self.running, self.activity = None, "between two trials"
        self.set_start(self._clock())

    def warning(self, message: str) -> None:
        self.warnings.append(message)
        self.news.append(News(message))

    def set_start(self, at_s: float) -> None:
        """Set the time at which the current trial or build began, in seconds since 1970."""
        self._since_s = self._activity_since_s = at_s

    def worst(self, cell: CellKey) -> Verdict | None:
        """Return the worst verdict among the cell's finished trials, or None if none has finished."""
        return min(self._verdicts[cell], key=WORST_FIRST.index, default=None)

    def expected(self, cell: CellKey) -> int:
        """Return the expected number of trials of the cell, or 0 if it is not measured."""
        return max(self._planned.get(cell, 0) + self._added[cell], len(self._verdicts[cell]))

    @property
    def done(self) -> int:
        return len(self.trials)

    @property
    def total(self) -> int:
        return sum(self.expected(cell) for row in self.rows.values() for cell in row)

    @property
    def activity_s(self) -> float:
        """Return the number of seconds since the current activity began."""
        return max(0.0, self._clock() - self._activity_since_s)

    def left_text(self) -> str:
        """Format the remaining time, for example as `, about 7 s left`.

        The text is empty if the time is unknown or no trial is left.
        """
        left_s = self.left_s()
        return f", about {whole_seconds(left_s)} left" if left_s and self.done < self.total else ""

    def left_s(self) -> float | None:
        """Estimate the remaining time in seconds. Return None if no trial has finished yet.

        Without a budget, the estimate is the mean duration of a finished trial, including building, multiplied by the
        number of remaining trials. With a budget, it is the rest of the budget, plus the time for the remaining trials
        of single disks, because the budget doesn't cover those. In both cases, the time since the current trial or
        build began is subtracted.
        """
        if self._mean_s is None:
            paid = paid_s(took(self.trials, self._begun_s), self.trials)
            self._mean_s = paid / len(self.trials) if self.trials else 0.0
        if not self._mean_s:
            return None
        since_s = max(0.0, self._clock() - self._since_s)
        if self._campaign.budget_s is None:
            return max(0.0, self._mean_s * (self.total - self.done) - since_s)
        bare = [cell for cell in self._planned if calibrated_device(cell.layout) is not None]
        bare_left = sum(self.expected(cell) - len(self._verdicts[cell]) for cell in bare)
        # The budget does not cover the building and measuring of single disks.
        own = [trial for trial in self.trials if calibrated_device(trial.layout) is None]
        bare_s = [end_s(trial) for trial in self.trials if calibrated_device(trial.layout)]
        budget_left_s = self._campaign.budget_s - paid_s(took(own, max([self._begun_s, *bare_s])), own)
        return max(0.0, self._mean_s * bare_left + budget_left_s - since_s)

    def _count(self, trial: Trial) -> None:
        self._verdicts[trial.cell_key].append(trial.result().verdict)
        self.trials.append(trial)
        self._mean_s = None
        if trial.result().verdict != "sound" and (findings := trial.findings_on()):
            first = findings[0]
            self.news.append(News(f"{first.message} ({first.rule})", trial))


class PlainLines(RunProgress):
    """Prints a line for each layout, each finished trial and each warning."""

    wants_live = False

    def __init__(
        self,
        stream: TextIO,
        campaign: Campaign,
        done: Sequence[Trial] = (),
        *,
        begun_s: float | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(campaign, done, begun_s=begun_s, clock=clock)
        self._stream = stream

    def layout_begins(self, layout: str, trials_to_do: int, build: int = 1) -> None:
        super().layout_begins(layout, trials_to_do, build)
        builds = builds_of(self._campaign, layout)
        which = f", build {build} of {builds}" if builds > 1 else ""
        self._print(f"building {layout}{which} ({format_number_of(trials_to_do, 'trial')})")

    def trial_ends(self, trial: Trial) -> None:
        super().trial_ends(trial)
        place = f"[{self.done}/{self.total}] {trial.key.layout_in_state} · {trial.workload} #{trial.number}"
        self._print(f"{place}: {trial_text(trial)}, {trial.result().verdict}{self.left_text()}")

    def warning(self, message: str) -> None:
        super().warning(message)
        self._print(f"warning: {message}")

    def _print(self, line: str) -> None:
        with contextlib.suppress(OSError, ValueError):  # a closed pipe must not end the run
            print(line, file=self._stream, flush=True)


def whole_seconds(value: float) -> str:
    """Format a duration in whole seconds, for example as `7 s` or `1 min 12 s`."""
    return format_duration(value) if value >= 60 else f"{max(1.0, value):.0f} s"
