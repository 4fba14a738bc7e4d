"""A run followed in its files: what is new in them, told to a listener as the run itself would tell it."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import msgspec

from poolproof.campaign.calibration import all_cells
from poolproof.campaign.model import Campaign
from poolproof.campaign.yaml import parse_campaign
from poolproof.errors import RunError
from poolproof.measure.events import Listener, LiveRates
from poolproof.presentation.live.rates import rates_of
from poolproof.results.runs.directory import RunDirectory
from poolproof.results.runs.files import decode
from poolproof.results.runs.live import LiveNotes
from poolproof.results.runs.model import SCHEMA, RunRecord, Trial

MEASURED = "being measured"
_TAKEN_DOWN = "taking down"
_BETWEEN = "between two trials"
_TAIL_BYTES = 65_536
Key = tuple[str, str, int]


class _Line(msgspec.Struct):
    """A line of journal.jsonl, as far as it is told here."""

    line: str
    title: str = ""


@dataclass(frozen=True)
class Glance:
    """`going`: a poolproof works on the run. `since_s`: when what is at hand began, seconds since 1970, if known."""

    going: bool
    since_s: float | None


class Follower:
    """Reads a run directory and never writes to it. The trials that are there already are `before`.

    Raises:
        RunError: the path is no run directory, or it is of another schema.
        CampaignError: its campaign is of another poolproof.
    """

    def __init__(self, path: Path) -> None:
        self.run = RunDirectory.open(path)
        self.record: RunRecord = self.run.record()
        self.campaign: Campaign = parse_campaign(self.record.campaign, str(self.run.path / "run.json"), recorded=True)
        self._cells = {layout.name: [each.name for each in own] for layout, own in all_cells(self.campaign)}
        self._trials_path = self.run.path / "trials.jsonl"
        self._offset = 0
        self._done: dict[tuple[str, str], int] = {}
        self._layout = self._step = ""
        self._at: Key | None = None
        self._told_s = 0.0
        self._notes = LiveNotes(self.run)
        self.before, _ = self._new_trials()
        for trial in self.before:
            self._count(trial)

    def watching(self) -> AbstractContextManager[None]:
        """As long as this lasts, the run writes down its rates while it measures, and `look` tells them."""
        return self._notes.watched()

    @property
    def begun_s(self) -> float:
        """When the run began, seconds since 1970; 0 where it does not say so."""
        try:
            return datetime.fromisoformat(self.record.begun_at).timestamp()
        except ValueError:
            return 0.0

    def why_still(self, done: int, total: int) -> str:
        """Why nothing happens any more, with so many of its trials done."""
        if self.record.imported:
            return "This run was imported; nothing goes on in it."
        if done >= total:
            return "The run has ended."
        return f"No poolproof works on this run; to go on: poolproof resume {self.run.path}"

    def last_rates(self, listener: Listener) -> None:
        """Tell the rates of the last trial that was there before."""
        if self.before:
            self._tell_rates(self.before[-1], listener)

    def look(self, listener: Listener) -> Glance:
        """Tell what is new. The lock is looked at first, so that nothing is missed once the run has ended."""
        going = self.run.is_going()
        trials, damaged = self._new_trials()
        for trial in trials:
            self._tell_trial(trial, listener)
        if damaged:
            listener.warning(f"{damaged} lines of trials.jsonl cannot be read; left out")
        return Glance(going, self._tell_present(listener) if going else None)

    def _new_trials(self) -> tuple[tuple[Trial, ...], int]:
        """The trials of the lines that came since; and how many lines could not be read."""
        try:
            with self._trials_path.open("rb") as file:
                file.seek(self._offset)
                text = file.read()
        except FileNotFoundError:
            return (), 0
        whole = text[: text.rfind(b"\n") + 1]
        self._offset += len(whole)
        found, damaged = [], 0
        for line in whole.splitlines():
            try:
                found.append(decode(line, Trial, SCHEMA, "trials.jsonl"))
            except RunError:
                damaged += 1
        return tuple(found), damaged

    def _count(self, trial: Trial) -> None:
        cell = (trial.layout, trial.workload)
        self._done[cell] = max(self._done.get(cell, 0), trial.number)
        self._layout = trial.layout

    def _tell_trial(self, trial: Trial, listener: Listener) -> None:
        self._begins(trial.key, listener)
        if not self._told_s:
            self._tell_rates(trial, listener)
        self._count(trial)
        self._at = None
        listener.trial_ends(trial)

    def _tell_rates(self, trial: Trial, listener: Listener) -> None:
        if listener.wants_live:
            for rates in rates_of(self.run.trial_path(*trial.key)):
                listener.live(rates)

    def _begins(self, key: Key, listener: Listener) -> None:
        layout, workload, number = key
        if key == self._at:
            return
        self._enter(layout, listener)
        if number > self.campaign.measure.trials:
            listener.trial_added(layout, workload)
        self._at, self._step, self._told_s = key, "", 0.0
        listener.trial_begins(layout, workload, number)

    def _enter(self, layout: str, listener: Listener) -> None:
        if layout != self._layout:
            self._layout = layout
            done = sum(count for (name, _), count in self._done.items() if name == layout)
            wanted = len(self._cells.get(layout, ())) * self.campaign.measure.trials
            listener.layout_begins(layout, max(0, wanted - done))

    def _tell_present(self, listener: Listener) -> float | None:
        """What is at hand, by what was written last: the directory of a trial, or a line of the journal."""
        journal_s = _changed_s(self.run.journal_path)
        begun = self._trial_at_hand()
        if begun is not None and begun[1] >= (journal_s or 0.0):
            self._begins(begun[0], listener)
            self._tell_step(MEASURED, listener)
            self._tell_live(listener)
            return begun[1]
        if self._at is not None or journal_s is None:
            return None
        ended_s = _changed_s(self._trials_path) or 0.0
        self._tell_step(_last_step(self.run.journal_path) if journal_s > ended_s else _BETWEEN, listener)
        return max(journal_s, ended_s)

    def _tell_live(self, listener: Listener) -> None:
        """The rates of the trial at hand that came since."""
        if self._at is None or not listener.wants_live:
            return
        for line in self._notes.lines(self._at):
            if line.elapsed_s > self._told_s:
                self._told_s = line.elapsed_s
                listener.live(LiveRates(line.elapsed_s, line.fio_bytes_per_s, line.leaf_bytes_per_s))

    def _tell_step(self, title: str, listener: Listener) -> None:
        if title and title != self._step:
            self._step = title
            listener.step(title)

    def _trial_at_hand(self) -> tuple[Key, float] | None:
        """The trial whose directory was made, and whose line is not there yet; the newest, if a crash left others."""
        written_s = _changed_s(self._trials_path) or 0.0
        found: list[tuple[float, Key]] = []
        for layout, workloads in self._cells.items():
            for workload in workloads:
                key = (layout, workload, self._done.get((layout, workload), 0) + 1)
                changed_s = _changed_s(self.run.trial_path(*key))
                if changed_s is not None and changed_s >= written_s:
                    found.append((changed_s, key))
        if not found:
            return None
        changed_s, key = max(found)
        return key, changed_s


def _changed_s(path: Path) -> float | None:
    try:
        return path.stat().st_mtime
    except OSError:
        return None


def _last_step(journal: Path) -> str:
    """What the last whole line of the journal is about."""
    try:
        with journal.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - _TAIL_BYTES))
            last = file.read().rpartition(b"\n")[0].rpartition(b"\n")[2]
        line = msgspec.json.decode(last, type=_Line)
    except (OSError, msgspec.DecodeError):
        return ""
    return line.title if line.line == "change" else _TAKEN_DOWN
