"""What a live screen shows: the run as its events have told it so far."""

import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from poolproof.campaign.calibration import all_cells, calibrated_device
from poolproof.campaign.model import Campaign
from poolproof.measure.events import Listener, LiveRates
from poolproof.presentation.terminal.time_left import Forecast, race_s, time_left_s
from poolproof.presentation.terminal.trials_expected import in_the_race, likely
from poolproof.results.runs.model import Trial
from poolproof.results.runs.summary import WORST_FIRST
from poolproof.results.runs.timing import end_s, paid_s, took
from poolproof.rules.model import Verdict

_KEPT_RATES = 240
_KEPT_NEWS = 50
_STEPS = {
    "measure": "fio is measuring",
    "cool the caches": "cooling the caches",
    "drain to the disks": "waiting until all is on the disks",
}


@dataclass(frozen=True)
class News:
    """Something that was found: the trial's verdict, its first finding, the trial; without a verdict a warning."""

    text: str
    verdict: Verdict | None = None
    at: tuple[str, str, int] | None = None


class LiveState(Listener):
    """Hears a run, or what follows one in its files; nothing in it draws.

    `done` are the trials from before; `begun_s` is when the run began, seconds since 1970, now if None.
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
        self.title = campaign.question or campaign.name
        cells = all_cells(campaign)
        self.layouts = tuple(layout.name for layout, _ in cells)
        self.workloads = tuple(workload.name for workload in campaign.workloads)
        self._planned = {(layout.name, each.name): campaign.measure.trials for layout, own in cells for each in own}
        self.layout = ""
        self.at: tuple[str, str, int] | None = None
        self.words = "preparing"
        self.rates: deque[LiveRates] = deque(maxlen=_KEPT_RATES)
        self.rates_of: tuple[str, str, int] | None = None
        self.news: deque[News] = deque(maxlen=_KEPT_NEWS)
        self.last: Trial | None = None
        self._clock = clock
        self._begun_s = clock() if begun_s is None else begun_s
        self._since_s = self._stepped_s = self._begun_s
        self._building = True
        self._added: dict[tuple[str, str], int] = {}
        self._verdicts: dict[tuple[str, str], list[Verdict]] = {}
        self._worst: dict[tuple[str, str], Verdict] = {}
        self._trials: list[Trial] = []
        self._campaign = campaign
        self._forecast: Forecast | None = None
        self._race: dict[tuple[str, str], int] = {}
        self._paid_s = 0.0
        for trial in done:
            self._count(trial)

    def layout_begins(self, layout: str, trials_to_do: int) -> None:
        del trials_to_do  # counted here from what has ended
        self.layout, self.at, self.words = layout, None, "building"
        self._building, self._since_s = True, self._now()

    def trial_added(self, layout: str, workload: str) -> None:
        self._added[layout, workload] = self._added.get((layout, workload), 0) + 1

    def step(self, title: str) -> None:
        self.words = _STEPS.get(title, title)
        self._stepped_s = self._clock()

    def trial_begins(self, layout: str, workload: str, number: int) -> None:
        cell = (layout, workload)
        if cell in self._planned:  # more than planned, and nobody told: the run was gone on with, or followed late
            self._added[cell] = max(self._added.get(cell, 0), number - self._planned[cell])
        self.layout, self.at, self.words = layout, (*cell, number), "waiting for the disks to be quiet"
        self._building, self._since_s = False, self._now()

    def live(self, rates: LiveRates) -> None:
        trial = self.at or (self.last.key if self.last else None)
        if self.rates_of != trial:
            self.rates.clear()
            self.rates_of = trial
        self.rates.append(rates)

    def trial_ends(self, trial: Trial) -> None:
        self._count(trial)
        self.at, self.words = None, "between two trials"
        self._building, self._since_s = False, self._now()

    def warning(self, message: str) -> None:
        self.news.append(News(message))

    def _count(self, trial: Trial) -> None:
        cell = (trial.layout, trial.workload)
        self._verdicts.setdefault(cell, []).append(trial.verdict)
        self._worst[cell] = min(trial.verdict, self._worst.get(cell, "sound"), key=WORST_FIRST.index)
        self._trials.append(trial)
        self._forecast, self.last = None, trial
        if trial.verdict != "sound" and trial.findings:
            first = trial.findings[0]
            at = (trial.layout, trial.workload, trial.number)
            self.news.append(News(f"{first.message} ({first.rule})", trial.verdict, at))

    def began(self, at_s: float) -> None:
        """What is at hand began at that time, seconds since 1970; for one who came later."""
        self._since_s = self._stepped_s = at_s

    def _now(self) -> float:
        self._stepped_s = self._clock()
        return self._stepped_s

    def verdicts(self, layout: str, workload: str) -> Sequence[Verdict]:
        """Those of a cell's trials so far."""
        return self._verdicts.get((layout, workload), ())

    def worst(self, layout: str, workload: str) -> Verdict | None:
        """The verdict of a cell so far: the worst of its trials."""
        return self._worst.get((layout, workload))

    def wanted(self, layout: str, workload: str) -> int:
        """How many trials the cell gets, as far as is known; 0 where a disk alone has no such workload."""
        cell = (layout, workload)
        return max(self._planned.get(cell, 0) + self._added.get(cell, 0), len(self._verdicts.get(cell, ())))

    @property
    def done(self) -> int:
        """Trials that are finished."""
        return len(self._trials)

    @property
    def total(self) -> int:
        """Trials of the run, as far as is known."""
        return sum(self.wanted(layout, workload) for layout in self.layouts for workload in self.workloads)

    @property
    def step_s(self) -> float:
        """Seconds that the present step has taken so far."""
        return max(0.0, self._clock() - self._stepped_s)

    def left_s(self) -> float | None:
        """Seconds until the run is done; None as long as nothing tells.

        Of a budget that is left which building and trials did not take: a run that stood still spent nothing.
        """
        if self._forecast is None:
            past = took(self._trials, self._begun_s)
            self._forecast = Forecast(self._campaign, past)
            self._paid_s = self._paid_of_budget_s()
            self._race = in_the_race(self._campaign, self._trials)
        wanted = {cell: self.wanted(*cell) for cell in self._planned}
        counts = {cell: len(self.verdicts(*cell)) for cell in self._planned}
        ahead = likely(self._campaign, wanted, counts, self.layout)
        standing = set() if self._building else {self.layout}
        at = self.layout if self._building else None if self.at is None else self.at[:2]
        since_s = self._clock() - self._since_s
        builds = {layout for layout, _workload in ahead} - standing
        certain_s = time_left_s(self._forecast, ahead, builds, at=at, since_s=since_s)
        if certain_s is None or self._campaign.budget_s is None:
            return certain_s
        coming_s, is_alone = self._alone_s(ahead, builds), calibrated_device(self.layout) is not None
        budget_s = self._campaign.budget_s + coming_s - self._paid_s - (0.0 if is_alone else since_s)
        least_s = sum(map(self._forecast.build_s, builds)) + sum(ahead.values()) * self._campaign.measure.shortest_s
        return min(certain_s + race_s(self._forecast, self._race), max(budget_s, least_s))

    def _paid_of_budget_s(self) -> float:
        """What was spent of a budget: of the disks alone nothing, neither their trials nor their building."""
        own = [trial for trial in self._trials if calibrated_device(trial.layout) is None]
        alone_s = [end_s(trial) for trial in self._trials if calibrated_device(trial.layout) and trial.begun_at]
        return paid_s(took(own, max([self._begun_s, *alone_s])), own)

    def _alone_s(self, ahead: Mapping[tuple[str, str], float], builds: Iterable[str]) -> float:
        """What the disks alone will take yet."""
        assert self._forecast is not None, "asked for the time left"
        trials = (count * self._forecast.trial_s(*cell) for cell, count in ahead.items() if calibrated_device(cell[0]))
        return sum(trials) + sum(self._forecast.build_s(name) for name in builds if calibrated_device(name))
