"""Follow a run by reading its files, and report the same events to a listener as the process that measures the run."""

import bisect
from collections import Counter, defaultdict
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from poolproof.campaign.calibration import builds_of, campaign_cells
from poolproof.campaign.cell_key import CellKey
from poolproof.campaign.yaml import parse_campaign
from poolproof.errors import as_word, one_line
from poolproof.files.reading import NOT_THE_JSON, read_end
from poolproof.measure.model import Listener, LiveRates
from poolproof.presentation.charts.trial_data import TrialData, trial_data
from poolproof.results.runs.directory import RunDirectory
from poolproof.results.runs.live_rates import LiveNotes
from poolproof.results.runs.loading import TrialFollower
from poolproof.results.runs.model import Trial, TrialKey
from poolproof.units import format_number_of

MEASURING = "measuring"
_BETWEEN = "between two trials"
_TAIL_BYTES = 65_536
_ALL_SAMPLES = 10**9
_EVERY_S = 1.0
_MOST_RATES = 100_000  # a run from a stranger can claim that a trial took millennia
Totals = tuple[list[float], list[float]]
"""Times in seconds since 1970, and the total bytes moved by each of these times."""


class _Line(msgspec.Struct):
    """The fields of a line of journal.jsonl that are used here."""

    line: str
    title: str = ""


@dataclass(frozen=True)
class Update:
    """The run's state after an update.

    `running`: whether a poolproof process is working on the run.
    `since_s`: the start time of the current activity in seconds since 1970, or None if unknown.
    """

    running: bool
    since_s: float | None


class Follower:
    """Follows a run by reading its directory, which it doesn't change.

    `before`: the trials that had already finished when this object was created.

    Raises:
        RunError: the path is not a run directory, or its schema version is not supported.
        CampaignError: this version of poolproof does not accept the run's campaign.
    """

    def __init__(self, path: Path) -> None:
        self.run = RunDirectory.open(path)
        self.record = self.run.record()
        self.campaign = parse_campaign(self.record.campaign, str(self.run.path / "run.json"), recorded=True)
        self._cells = campaign_cells(self.campaign)
        self._cells_of = Counter(cell.layout for cell in self._cells)
        self._trials = TrialFollower(self.run.path / "trials.jsonl")
        self._done: Counter[CellKey] = Counter()
        self._done_of_build: dict[tuple[str, int], set[TrialKey]] = defaultdict(set)
        self._layout = self._activity = ""
        self._build = 0
        self._running: TrialKey | None = None
        self._reported_s = 0.0
        self._notes = LiveNotes(self.run)
        self.before, _ = self._trials.new_trials()
        for trial in self.before:
            self._count(trial)

    def watching(self) -> AbstractContextManager[None]:
        """Return a context in which the process that measures the run writes live rates to files.

        `update` reports these rates.
        """
        return self._notes.watched()

    def why_idle(self, done: int, total: int) -> str:
        """Return a message that explains why the run is not in progress.

        `done`: the number of finished trials.
        `total`: the number of all trials.
        """
        if self.record.imported:
            return "This run was imported, so it is not in progress."
        if done >= total:
            return "The run has ended."
        return f"The run is not in progress; to continue it: poolproof resume {as_word(self.run.path)}"

    def last_rates(self, listener: Listener) -> None:
        """Report the rates of the last trial that had finished when this object was created."""
        if self.before:
            self._report_rates(self.before[-1], listener)

    def update(self, listener: Listener) -> Update:
        """Report everything that has happened since the previous update.

        The lock is checked before the files are read. Otherwise, the last trials could be missed if the run ended in
        between.
        """
        running = self.run.is_going()
        trials, damaged = self._trials.new_trials()
        for trial in trials:
            self._report_trial(trial, listener)
        if damaged:
            listener.warning(f"skipped {format_number_of(damaged, 'unreadable line')} of trials.jsonl")
        return Update(running, self._report_present(listener) if running else None)

    def _count(self, trial: Trial) -> None:
        self._done[trial.cell_key] = max(self._done[trial.cell_key], trial.number)
        self._done_of_build[trial.layout, trial.build].add(trial.key)
        self._layout, self._build = trial.layout, trial.build

    def _report_trial(self, trial: Trial, listener: Listener) -> None:
        self._begin(trial.key, trial.build, listener)
        if not self._reported_s:
            self._report_rates(trial, listener)
        self._count(trial)
        self._running = None
        listener.trial_ends(trial)

    def _report_rates(self, trial: Trial, listener: Listener) -> None:
        if listener.wants_live:
            for rates in rates_of(trial_data(self.run.path, trial, _ALL_SAMPLES)):
                listener.live(rates)

    def _begin(self, key: TrialKey, build: int, listener: Listener) -> None:
        """Report the start of a trial. If the trial uses a different layout or build, report that first."""
        layout, number = key.layout, key.number
        if key == self._running and build == self._build:
            return
        trials = self.campaign.measure.trials
        if (layout, build) != (self._layout, self._build):
            self._layout, self._build = layout, build
            done = len(self._done_of_build[layout, build])
            listener.layout_begins(layout, max(0, self._cells_of[layout] * trials - done), build)
        if number > trials * builds_of(self.campaign, layout):
            listener.trial_added(key.cell)
        self._running, self._activity, self._reported_s = key, "", 0.0
        listener.trial_begins(key)

    def _build_of(self, key: TrialKey, *, has_built: bool) -> int:
        """Infer the build number of the running trial from the run's files.

        `has_built`: whether a step that builds or removes a layout has ended since the last trial.
        """
        layout, number = key.layout, key.number
        builds, measure = builds_of(self.campaign, layout), self.campaign.measure
        if measure.until is None or builds == 1:
            return min(builds, (number - 1) // measure.trials + 1)
        if key == self._running:
            return self._build
        last = max((build for name, build in self._done_of_build if name == layout), default=0)
        return min(builds, last + 1 if has_built or layout != self._layout else max(1, last))

    def _report_present(self, listener: Listener) -> float | None:
        """Report the current activity, and return its start time in seconds since 1970, or None if unknown.

        The step is inferred from the file that changed most recently: a trial's directory or the journal.
        """
        journal_s = _changed_s(self.run.journal_path)
        trials_s = _changed_s(self._trials.path) or 0.0
        begun_s, key = self._newest_directory(trials_s)
        if key is not None and begun_s >= (journal_s or 0.0):
            self._begin(key, self._build_of(key, has_built=(journal_s or 0.0) > trials_s), listener)
            self._report_activity(MEASURING, listener)
            if listener.wants_live:
                for line in self._notes.lines(key):
                    if line.elapsed_s > self._reported_s:
                        self._reported_s = line.elapsed_s
                        listener.live(LiveRates(line.elapsed_s, line.fio_bytes_per_s, line.leaf_bytes_per_s))
            return begun_s
        if self._running is not None or journal_s is None:
            return None
        self._report_activity(_last_step(self.run.journal_path) if journal_s > trials_s else _BETWEEN, listener)
        return max(journal_s, trials_s)

    def _report_activity(self, title: str, listener: Listener) -> None:
        if title and title != self._activity:
            self._activity = title
            listener.activity_begins(title)

    def _newest_directory(self, since_s: float) -> tuple[float, TrialKey | None]:
        """Return the running trial's start time and key, or (0, None) if no trial is running.

        A running trial has a directory, but no line in trials.jsonl yet. A crash can leave other directories of this
        kind behind. The newest directory is that of the running trial.
        """
        found: list[tuple[float, TrialKey]] = []
        for cell in self._cells:
            key = TrialKey(cell.layout, cell.workload, self._done[cell] + 1, cell.state)
            changed_s = _changed_s(self.run.trial_path(key))
            if changed_s is not None and changed_s >= since_s:
                found.append((changed_s, key))
        return max(found, default=(0.0, None))


def _changed_s(path: Path) -> float | None:
    try:
        return path.stat().st_mtime
    except OSError:
        return None


def _last_step(journal: Path) -> str:
    """Return the title of the last change in the journal, or "cleaning up" if it has been undone or can't be undone.

    Only the last complete line is read. Returns an empty string if that line is unreadable.
    """
    try:
        last = read_end(journal, -_TAIL_BYTES).rpartition(b"\n")[0].rpartition(b"\n")[2]
        line = msgspec.json.decode(last, type=_Line)
    except (OSError, *NOT_THE_JSON):
        return ""
    return one_line(line.title) if line.line == "change" else "cleaning up"


def rates_of(trial: TrialData | None) -> list[LiveRates]:
    """Reconstruct the rates that were reported live during the trial, at most those of its last 28 hours.

    Without data, the list is empty.
    """
    if trial is None:
        return []
    disks, fio = (
        ([each.at_s for each in counters], [float(each.read_bytes + each.write_bytes) for each in counters])
        for counters in (trial.samples, trial.reports)
    )
    begun, end = disks[0][0], disks[0][-1]
    count = int((end - begun) / _EVERY_S)
    moments = [begun + number * _EVERY_S for number in range(max(1, count - _MOST_RATES + 1), count + 1)]
    return [LiveRates(at - begun, _rate(fio, at), _rate(disks, at) or 0.0) for at in moments]


def _rate(totals: Totals, at_s: float) -> float | None:
    """Return the mean rate in bytes/s during the second before `at_s`.

    Return None if the counters don't cover that second.
    """
    times, moved = totals
    first, last = (bisect.bisect_right(times, moment) - 1 for moment in (at_s - _EVERY_S, at_s))
    if first < 0 or times[last] <= times[first] or moved[last] < moved[first]:
        return None
    return (moved[last] - moved[first]) / (times[last] - times[first])
